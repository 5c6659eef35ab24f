// The log lines of a server about clients it did not let in: at most one line per reason and second, however
// many there are. The first of a second is told at once, the others in one line when the second is over.
//
// Must stay true: what strangers send costs a bounded number of lines; nothing that is refused is silent for
// ever.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "platform/address.h"
#include "transport/connection/server_handshake.h"

namespace lattice::abi {

class RefusalLog {
 public:
  /// One line, without the end of the line; valid during the call.
  using WriteLine = void (*)(void* ctx, const char* line);

  /// `from` was refused at `now_ns`. `text` is what the client was told, or empty.
  void note(connection::ServerRefusal refusal, const platform::Address& from, std::string_view text,
            uint64_t now_ns, WriteLine write, void* ctx);
  /// Tells what was held back and is due by `now_ns`. Cheap when there is nothing.
  void flush(uint64_t now_ns, WriteLine write, void* ctx);

 private:
  static constexpr uint64_t kWindowNs = 1'000'000'000;
  static constexpr size_t kReasons = static_cast<size_t>(connection::ServerRefusal::kCount);

  struct Window {
    uint64_t ends_ns = 0;  ///< Until then, further refusals are only counted.
    uint64_t held_back = 0;
    platform::Address last;
  };
  std::array<Window, kReasons> windows_{};
  uint64_t next_flush_ns_ = UINT64_MAX;  ///< No window with something held back ends earlier.
};

}  // namespace lattice::abi
