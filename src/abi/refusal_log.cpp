#include "abi/refusal_log.h"

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "transport/socket/path_address.h"

namespace lattice::abi {
namespace {

constexpr std::string_view kUnproven = " (unproven)";
using PlayerText = std::array<char, 10 + 2 * sizeof(wire::Id16) + kUnproven.size()>;

/// " player 0a1b…", or nothing when no token named one.
PlayerText player_text(const connection::RefusedPlayer& who) {
  PlayerText text{};
  if (who.player == wire::Id16{}) return text;
  size_t used = static_cast<size_t>(std::snprintf(text.data(), text.size(), " player "));
  for (const uint8_t byte : who.player) {
    used += static_cast<size_t>(std::snprintf(&text[used], text.size() - used, "%02x", byte));
  }
  if (!who.is_proven) kUnproven.copy(&text[used], text.size() - used - 1);
  return text;
}

}  // namespace

void RefusalLog::note(const connection::RefusedClient& client, uint64_t now_ns, WriteLine write, void* ctx) {
  Window& window = windows_[static_cast<size_t>(client.refusal)];
  if (now_ns < window.ends_ns) {
    ++window.held_back;
    window.last = client.from;
    next_flush_ns_ = std::min(next_flush_ns_, window.ends_ns);
    return;
  }
  window.ends_ns = now_ns + kWindowNs;
  char path[socket::kPathTextBytes];
  socket::format_path(client.from, path);
  char line[256];
  std::snprintf(line, sizeof line, "refused %s%s: %s%s%.*s", path, player_text(client.who).data(),
                connection::server_refusal_name(client.refusal), client.text.empty() ? "" : ": ",
                static_cast<int>(client.text.size()), client.text.data());
  write(ctx, line);
}

void RefusalLog::flush(uint64_t now_ns, WriteLine write, void* ctx) {
  if (now_ns < next_flush_ns_) return;
  next_flush_ns_ = UINT64_MAX;
  for (size_t reason = 0; reason < kReasons; ++reason) {
    Window& window = windows_[reason];
    if (window.held_back == 0) continue;
    if (now_ns < window.ends_ns) {
      next_flush_ns_ = std::min(next_flush_ns_, window.ends_ns);
      continue;
    }
    char path[socket::kPathTextBytes];
    socket::format_path(window.last, path);
    char line[256];
    std::snprintf(line, sizeof line, "refused %llu more: %s, the last one %s",
                  static_cast<unsigned long long>(window.held_back),
                  connection::server_refusal_name(static_cast<connection::ServerRefusal>(reason)), path);
    window.held_back = 0;
    window.ends_ns = now_ns + kWindowNs;
    write(ctx, line);
  }
}

}  // namespace lattice::abi
