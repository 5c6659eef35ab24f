// The worlds that the generated misuse test calls into, and the expected result of each call.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "lattice/lattice.h"

namespace lattice::misuse {

inline constexpr uint32_t kThingType = 1;
inline constexpr uint16_t kThingRpc = 1;
struct Thing {
  int32_t value = 0;
};

/// The stage of a session.
enum class Stage { kFresh, kConnected, kEnded };

/// An authority and a client on a simulated network; `world` is the one under test.
struct Worlds {
  Worlds(Stage stage, bool is_client);
  ~Worlds();
  Worlds(const Worlds&) = delete;
  Worlds& operator=(const Worlds&) = delete;

  uint32_t next_tick() const;
  /// A structure as its _init left it.
  template <class T, class Init>
  T* structure(Init init) {
    static_assert(sizeof(T) <= sizeof room);
    T* out = new (room) T;
    init(out);
    return out;
  }

  lattice_netsim* netsim = nullptr;
  lattice_world* world = nullptr;
  lattice_conn* conn = nullptr;  // of `world`; null before there was one
  lattice_netid object = 0;
  lattice_peer_id peer = 0;
  lattice_world* stale_world = nullptr;
  lattice_conn* stale_conn = nullptr;
  lattice_netsim* stale_netsim = nullptr;
  lattice_world_config config;  // for one more world
  lattice_role_context role;
  uint8_t token[LATTICE_TOKEN_MAX_BYTES] = {};
  size_t token_bytes = 0;
  uint8_t buffer[65536] = {};
  const void* states[1] = {buffer};
  lattice_netid ids[65536 / sizeof(lattice_netid)] = {};
  lattice_event events[65536 / sizeof(lattice_event)] = {};
  intptr_t descriptor = 0;
  lattice_path path = {0, LATTICE_PATH_IPV4, 1000, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 10, 0, 0, 1}};
  size_t size = 0;
  uint32_t number = 0;
  uint64_t value = 0;
  alignas(64) unsigned char room[4096];

  lattice_world* server = nullptr;
  lattice_world* client = nullptr;
  lattice_conn* server_conn = nullptr;
  lattice_conn* client_conn = nullptr;
};

enum class Expect {
  kOk,
  kInvalid,     // LATTICE_ERROR_INVALID_ARGUMENT
  kStale,       // LATTICE_ERROR_STALE_HANDLE
  kRefused,     // any error
  kConsistent,  // any result, and it is the last result
  kExempt,      // the last result stays
};

/// The result of a call, if it returned a lattice_result.
using Returned = std::optional<lattice_result>;

void expect_result(const char* function, const char* what, Expect expectation, Returned returned);
void poison_last_result();

template <class Call>
void check(Worlds&, const char* function, const char* what, Expect expectation, Call call) {
  poison_last_result();
  const Returned returned = call();
  expect_result(function, what, expectation, returned);
}

/// A number as an enumerator, which C allows a caller to pass.
template <class Enum>
Enum out_of_range(int number) {
  Enum out;
  static_assert(sizeof out == sizeof number);
  std::memcpy(&out, &number, sizeof out);
  return out;
}

struct Misuse {
  const char* function;
  void (*run)(Worlds&);
};
/// One for each exported function.
const std::vector<Misuse>& misuses();
/// Every inline _init, of nothing.
void initialise_null();

}  // namespace lattice::misuse
