// The log lines of a server about refused clients. Of each reason, at most 8 lines a second name a client, no
// two of them from one address range, and one line more counts the others. A player who was named is counted
// for 10 s after, so that one who tries again and again does not hide those who try once.
//
// What clients tell of a difference of the schemas is logged with the same rule, for 2 clients a second.
//
// Must stay true: refused datagrams cause a bounded number of lines; every refusal appears in a line or in
// its count.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/path_id.h"
#include "transport/connection/server_handshake.h"

namespace lattice::abi {

/// "10.0.0.2:1000 player 0a1b…": whom a line is about; the player if a token named one.
std::string refused_name(const connection::RefusedClient& client);

class RefusalLog {
 public:
  /// One line, without the end of the line; valid during the call.
  using WriteLine = void (*)(void* ctx, const char* line);

  /// A client was refused at `now_ns`.
  void note(const connection::RefusedClient& client, uint64_t now_ns, WriteLine write, void* ctx);
  /// Whether the log has room for what this client tells of its schema, which a client without a valid token
  /// cannot do. Takes the room.
  bool takes_difference(const connection::RefusedClient& client, uint64_t now_ns);
  /// Logs the held-back refusals that are due by `now_ns`. Cheap when there are none.
  void flush(uint64_t now_ns, WriteLine write, void* ctx);

 private:
  static constexpr uint64_t kWindowNs = 1'000'000'000;
  static constexpr uint64_t kNamedNs = 10'000'000'000;
  static constexpr size_t kNamesPerWindow = 8;
  static constexpr size_t kTellersPerWindow = 2;
  static constexpr size_t kNamesKept = 16;
  static constexpr size_t kReasons = static_cast<size_t>(connection::ServerRefusal::kCount);

  /// Whom a line named.
  struct Name {
    wire::Id16 player{};  ///< Zero: a client without a player.
    uint64_t prefix = 0;
    uint64_t at_ns = 0;  ///< 0: nobody.
  };
  struct Window {
    uint64_t ends_ns = 0;  ///< Until then, further refusals of those below are only counted.
    size_t names = 0;      ///< Lines of this window.
    uint64_t held_back = 0;
    base::PathId last;
    std::array<Name, kNamesKept> named;  ///< A ring.
    size_t next_name = 0;
  };

  static bool is_news(const Window& window, const Name& name);
  /// Whether another line may name the client; it counts as named then.
  static bool take_name(Window& window, const connection::RefusedClient& client, uint64_t now_ns,
                        size_t most_names);

  std::array<Window, kReasons> windows_{};
  Window tellers_;
  uint64_t next_flush_ns_ = UINT64_MAX;  ///< No window with held-back refusals ends earlier.
};

}  // namespace lattice::abi
