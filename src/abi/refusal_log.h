// The log lines of a server about refused clients: at most one line per reason and second. The first refusal
// of a second is logged at once, the others in one line when the second is over.
//
// Must stay true: refused datagrams cause a bounded number of lines; every refusal appears in a line or in
// its count.
#pragma once

#include <array>
#include <cstdint>

#include "base/path_id.h"
#include "transport/connection/server_handshake.h"

namespace lattice::abi {

class RefusalLog {
 public:
  /// One line, without the end of the line; valid during the call.
  using WriteLine = void (*)(void* ctx, const char* line);

  /// A client was refused at `now_ns`.
  void note(const connection::RefusedClient& client, uint64_t now_ns, WriteLine write, void* ctx);
  /// Logs the held-back refusals that are due by `now_ns`. Cheap when there are none.
  void flush(uint64_t now_ns, WriteLine write, void* ctx);

 private:
  static constexpr uint64_t kWindowNs = 1'000'000'000;
  static constexpr size_t kReasons = static_cast<size_t>(connection::ServerRefusal::kCount);

  struct Window {
    uint64_t ends_ns = 0;  ///< Until then, further refusals are only counted.
    uint64_t held_back = 0;
    base::PathId last;
  };
  std::array<Window, kReasons> windows_{};
  uint64_t next_flush_ns_ = UINT64_MAX;  ///< No window with held-back refusals ends earlier.
};

}  // namespace lattice::abi
