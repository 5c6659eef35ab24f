#include "abi/refusal_log.h"

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "transport/connection/rate_subject.h"
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

std::string refused_name(const connection::RefusedClient& client) {
  char path[socket::kPathTextBytes];
  socket::format_path(client.from, path);
  return std::string(path) + player_text(client.who).data();
}

// Whether the log gains from another line: the player was not named lately, and in this second nobody of the
// same address range was. A name can be made up, an address range cannot.
bool RefusalLog::is_news(const Window& window, const Name& name) {
  return std::ranges::none_of(window.named, [&](const Name& other) {
    if (other.at_ns == 0) return false;
    const bool is_same =
        other.player == name.player && (other.prefix == name.prefix || other.player != wire::Id16{});
    const bool is_in_window = other.prefix == name.prefix && other.at_ns + kWindowNs > name.at_ns;
    return is_in_window || (is_same && other.at_ns + kNamedNs > name.at_ns);
  });
}

bool RefusalLog::take_name(Window& window, const connection::RefusedClient& client, uint64_t now_ns,
                           size_t most_names) {
  if (now_ns >= window.ends_ns) {
    window.ends_ns = now_ns + kWindowNs;
    window.names = 0;
  }
  const Name name{client.who.player, connection::prefix_of(client.from), now_ns};
  if (window.names == most_names || !is_news(window, name)) return false;
  ++window.names;
  window.named[window.next_name++ % kNamesKept] = name;
  return true;
}

bool RefusalLog::takes_difference(const connection::RefusedClient& client, uint64_t now_ns) {
  return take_name(tellers_, client, now_ns, kTellersPerWindow);
}

void RefusalLog::note(const connection::RefusedClient& client, uint64_t now_ns, WriteLine write, void* ctx) {
  Window& window = windows_[static_cast<size_t>(client.refusal)];
  if (!take_name(window, client, now_ns, kNamesPerWindow)) {
    ++window.held_back;
    window.last = client.from;
    next_flush_ns_ = std::min(next_flush_ns_, window.ends_ns);
    return;
  }
  char line[256];
  std::snprintf(line, sizeof line, "refused %s: %s%s%.*s", refused_name(client).c_str(),
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
    write(ctx, line);
  }
}

}  // namespace lattice::abi
