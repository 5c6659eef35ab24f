// Calls of the C interface whose arguments the input chooses. make_calls.py writes one call for each exported
// function; this is what those calls use.
//
// The world handles are a server's, a client's, those of worlds that the input made, stale ones, and handles
// of another kind. Callbacks of all worlds make calls too. Sizes are those of what a pointer points at, or
// too large for any buffer: a size that lies within the limits of the library about memory that is not there
// is beyond what a library can check.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "lattice/lattice.h"
#include "system/play_pair.h"

namespace lattice::fuzz {

inline void require(bool condition) {
  if (!condition) std::abort();
}

enum class Returns : uint8_t {
  kExempt,  // leaves lattice_last_result() alone
  kResult,  // a lattice_result
  kNumber   // a number or a pointer, 0 when it fails
};

struct Outcome {
  Returns kind;
  uint64_t returned;
  uint32_t documented;  // a bit for each result
  lattice_world* world;
  bool is_forbidden_in_callbacks;
};

class Play {
 public:
  explicit Play(std::span<const uint8_t> input);
  ~Play();
  Play(const Play&) = delete;
  Play& operator=(const Play&) = delete;

  /// Plays the whole input.
  void run();
  /// Ends what the input began; then honest worlds exchange messages on the same network.
  void finish();

  // ---- Arguments ----
  uint8_t u8();
  lattice_world* world();
  lattice_conn* conn();
  lattice_netsim* netsim();
  const lattice_path* path();
  const char* address();
  const char* name();
  uint32_t struct_size();
  uint32_t tick();
  uint32_t type_id();
  uint32_t small();
  uint16_t prop_id();
  uint16_t rpc_id();
  lattice_netid object();
  lattice_peer_id peer();
  lattice_transfer transfer();
  uint64_t time_ns();
  size_t bytes();
  uint64_t borrowed_bytes();
  size_t state_count();
  size_t token_bytes();
  int integer();
  double real();
  lattice_capture_fn capture();
  const void* const* states();
  const uint8_t* token();
  const void* given();
  const uint8_t* key();
  void* borrowed();
  uint8_t* room();
  lattice_netid* ids();
  lattice_event* events();
  char* text_room();
  lattice_transfer* transfer_place();
  template <class T>
  T* place() {
    static_assert(sizeof(T) <= sizeof place_);
    return u8() % 8 == 0 ? nullptr : reinterpret_cast<T*>(place_);
  }
  template <class T>
  T enumeration() {
    constexpr int kValues[] = {0, 1, 2, 3, 4, 5, 7, 8, 18, 256, -1, std::numeric_limits<int>::max()};
    const int number = pick(kValues);
    T out;
    static_assert(sizeof out == sizeof number);
    std::memcpy(&out, &number, sizeof out);
    return out;
  }
  /// A structure as its _init left it, filled with what a program may give; then perhaps with another member,
  /// another size, or NULL.
  template <class T>
  T* structure();
  template <class T>
  void change(T& member) {
    if constexpr (std::is_floating_point_v<T>) {
      member = real();
    } else if constexpr (std::is_enum_v<T>) {
      member = enumeration<T>();
    } else {
      constexpr uint32_t kValues[] = {0, 1, 2, 3, 7, 16, 60, 64, 255, 1000, 5000};
      const uint8_t which = u8() % 12;
      member = which == 11 ? std::numeric_limits<T>::max() : static_cast<T>(kValues[which]);
    }
  }

  // ---- Around a call ----
  void begin(lattice_world* world) { inside_.push_back(world); }
  void end(const char* name, const Outcome& outcome);
  void keep_world(lattice_world* made);
  void keep_netsim(lattice_netsim* made);
  void keep_conn(lattice_conn* made);
  void keep_object(lattice_netid made);
  void offered(lattice_transfer offer) { transfers_[offer % transfers_.size()] = offer; }
  /// A callback runs: it may make a call.
  void in_callback();

 private:
  template <class T, size_t N>
  T pick(const T (&values)[N]) {
    return values[u8() % N];
  }
  void fill(lattice_world_config& out);
  void fill(lattice_role_context& out);
  void fill(lattice_datagram_backend& out);
  void fill(lattice_callbacks& out);
  void fill(lattice_transfer_callbacks& out);
  void fill(lattice_token_request& out);
  void fill(lattice_type_desc& out);
  void fill(lattice_input_desc& out);
  template <class T>
  void fill(T&) {}
  void change_path(lattice_path& path);
  uint32_t receive(std::span<lattice_backend_datagram> out);
  void call();
  void pump(uint32_t steps);
  lattice_world* make(const char* address, lattice_role role);
  bool connect();
  void exchange(lattice_world* listening, lattice_world* connecting, const char* at);

  static constexpr size_t kMostEvents = 16384;  // more than one input can cause
  static constexpr size_t kRoomBytes = 65536;
  static constexpr size_t kStructBytes = 4096;
  static constexpr uint32_t kMaxDepth = 3;

  std::span<const uint8_t> input_;
  uint32_t depth_ = 0;   // calls from inside callbacks of calls
  bool silent_ = false;  // callbacks make no calls any more
  lattice_netsim* net_ = nullptr;
  std::vector<lattice_world*> worlds_;    // the server, the client, and those that the input made
  std::vector<lattice_netsim*> netsims_;  // those that the input made
  lattice_world* stale_world_ = nullptr;
  lattice_conn* stale_conn_ = nullptr;
  std::vector<lattice_conn*> conns_;
  std::vector<lattice_netid> objects_;
  std::array<lattice_transfer, 4> transfers_{};
  std::vector<lattice_world*> inside_;  // worlds of the calls that run now, outermost first
  std::array<uint8_t, LATTICE_TOKEN_MAX_BYTES> token_{};
  size_t token_bytes_ = 0;
  std::vector<uint8_t> data_ = std::vector<uint8_t>(kRoomBytes, 0x41);
  std::vector<uint8_t> borrowed_ = std::vector<uint8_t>(kRoomBytes);
  std::vector<uint8_t> room_ = std::vector<uint8_t>(kRoomBytes);
  std::vector<lattice_event> events_ = std::vector<lattice_event>(kMostEvents);
  bool records_events_ = false, transport_only_ = false;  // worlds that make() makes
  std::vector<lattice_netid> ids_ = std::vector<lattice_netid>(kRoomBytes / sizeof(lattice_netid));
  std::array<const void*, 4> states_{};
  alignas(64) uint8_t place_[64] = {};
  struct alignas(64) StructRoom {
    uint8_t bytes[kStructBytes];
  };
  std::array<StructRoom, 4> structs_{};
  size_t next_struct_ = 0;
  lattice_datagram_backend backend_{};
  std::array<const lattice_datagram_backend*, 2> backends_{&backend_, &backend_};
  lattice_path path_{};
  uint32_t heard_ = 0;  // messages of the honest exchange
};

using CallOf = void (*)(Play&);
/// One for each exported function.
const std::vector<CallOf>& calls();

// The _init functions under one name.
inline void initialise(lattice_callbacks* out) {
  lattice_callbacks_init(out);
}
inline void initialise(lattice_channel_settings* out) {
  lattice_channel_settings_init(out);
}
inline void initialise(lattice_datagram_backend* out) {
  lattice_datagram_backend_init(out);
}
inline void initialise(lattice_conn_info* out) {
  lattice_conn_info_init(out);
}
inline void initialise(lattice_conn_stats* out) {
  lattice_conn_stats_init(out);
}
inline void initialise(lattice_frame* out) {
  lattice_frame_init(out);
}
inline void initialise(lattice_impairment* out) {
  lattice_impairment_init(out);
}
inline void initialise(lattice_input_desc* out) {
  lattice_input_desc_init(out);
}
inline void initialise(lattice_input_sight* out) {
  lattice_input_sight_init(out);
}
inline void initialise(lattice_object_info* out) {
  lattice_object_info_init(out);
}
inline void initialise(lattice_object_interest* out) {
  lattice_object_interest_init(out);
}
inline void initialise(lattice_prediction_error* out) {
  lattice_prediction_error_init(out);
}
inline void initialise(lattice_role_context* out) {
  lattice_role_context_init(out, LATTICE_ROLE_CLIENT);
}
inline void initialise(lattice_token_request* out) {
  lattice_token_request_init(out);
}
inline void initialise(lattice_transfer_callbacks* out) {
  lattice_transfer_callbacks_init(out);
}
inline void initialise(lattice_type_desc* out) {
  lattice_type_desc_init(out);
}
inline void initialise(lattice_type_stats* out) {
  lattice_type_stats_init(out);
}
inline void initialise(lattice_viewer* out) {
  lattice_viewer_init(out);
}
inline void initialise(lattice_why_info* out) {
  lattice_why_info_init(out);
}
inline void initialise(lattice_world_config* out) {
  lattice_world_config_init(out);
}
inline void initialise(lattice_world_stats* out) {
  lattice_world_stats_init(out);
}

// Sets one member that is a number. make_calls.py writes them.
void change_member(lattice_callbacks& out, Play& f);
void change_member(lattice_channel_settings& out, Play& f);
void change_member(lattice_conn_info& out, Play& f);
void change_member(lattice_conn_stats& out, Play& f);
void change_member(lattice_datagram_backend& out, Play& f);
void change_member(lattice_frame& out, Play& f);
void change_member(lattice_impairment& out, Play& f);
void change_member(lattice_input_desc& out, Play& f);
void change_member(lattice_input_sight& out, Play& f);
void change_member(lattice_object_info& out, Play& f);
void change_member(lattice_object_interest& out, Play& f);
void change_member(lattice_prediction_error& out, Play& f);
void change_member(lattice_role_context& out, Play& f);
void change_member(lattice_token_request& out, Play& f);
void change_member(lattice_transfer_callbacks& out, Play& f);
void change_member(lattice_type_desc& out, Play& f);
void change_member(lattice_type_stats& out, Play& f);
void change_member(lattice_viewer& out, Play& f);
void change_member(lattice_why_info& out, Play& f);
void change_member(lattice_world_config& out, Play& f);
void change_member(lattice_world_stats& out, Play& f);

template <class T>
T* Play::structure() {
  static_assert(sizeof(T) <= kStructBytes);
  StructRoom& at = structs_[next_struct_++ % structs_.size()];
  std::fill_n(at.bytes, kStructBytes, uint8_t{0});
  T* out = new (at.bytes) T;
  initialise(out);
  fill(*out);
  const uint8_t how = u8() % 32;
  if (how >= 16) change_member(*out, *this);
  constexpr auto kSize = static_cast<uint32_t>(sizeof(T));
  constexpr uint32_t kSizes[] = {
      0, 3, 4, 8, kSize - 4, kSize + 8, kStructBytes, kStructBytes + 1, std::numeric_limits<uint32_t>::max()};
  if (how == 0) return nullptr;
  if (how == 1) out->struct_size = pick(kSizes);
  return out;
}

template <class T>
uint64_t number_of(T value) {
  if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<uintptr_t>(value);
  } else {
    return static_cast<uint64_t>(value);
  }
}

}  // namespace lattice::fuzz
