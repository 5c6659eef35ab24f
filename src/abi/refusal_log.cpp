#include "abi/refusal_log.h"

#include <algorithm>
#include <cstdio>

#include "transport/socket/path_address.h"

namespace lattice::abi {

void RefusalLog::note(connection::ServerRefusal refusal, const base::PathId& from, std::string_view text,
                      uint64_t now_ns, WriteLine write, void* ctx) {
  Window& window = windows_[static_cast<size_t>(refusal)];
  if (now_ns < window.ends_ns) {
    ++window.held_back;
    window.last = from;
    next_flush_ns_ = std::min(next_flush_ns_, window.ends_ns);
    return;
  }
  window.ends_ns = now_ns + kWindowNs;
  char path[socket::kPathTextBytes];
  socket::format_path(from, path);
  char line[256];
  std::snprintf(line, sizeof line, "refused %s: %s%s%.*s", path, connection::server_refusal_name(refusal),
                text.empty() ? "" : ": ", static_cast<int>(text.size()), text.data());
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
