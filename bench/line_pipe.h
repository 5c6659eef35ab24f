// Reads the output of a child process, line by line, with a time limit.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>

#include "child.h"

namespace bench {

/// A pipe from a child, read here without blocking, line by line.
class LinePipe {
 public:
  LinePipe() {
    int ends[2] = {-1, -1};
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return;
    fcntl(ends[0], F_SETPIPE_SZ, kPipeBytes);
    read_ = ends[0], write_ = ends[1];
  }
  ~LinePipe() { close_one(&read_), close_writer(); }
  LinePipe(const LinePipe&) = delete;
  LinePipe& operator=(const LinePipe&) = delete;

  /// The end for the child; close ours once the child has it.
  int writer() const { return write_; }
  void close_writer() { close_one(&write_); }

  /// Passes every line that arrives within `seconds` to `take`, which returns true to stop. True when it
  /// stopped.
  template <class Take>
  bool read_for(double seconds, const Take& take) {
    const uint64_t until_ns = monotonic_ns() + static_cast<uint64_t>(seconds * 1e9);
    for (;;) {
      for (size_t end; (end = partial_.find('\n')) != std::string::npos;) {
        const std::string line = partial_.substr(0, std::min<size_t>(end, 512));  // what we want comes first
        partial_.erase(0, end + 1);
        if (take(line)) return true;
      }
      const uint64_t now_ns = monotonic_ns();
      if (now_ns >= until_ns) break;
      pollfd readable = {read_, POLLIN, 0};
      poll(&readable, 1, static_cast<int>((until_ns - now_ns) / 1'000'000) + 1);
      if (readable.revents == 0) continue;
      static std::array<char, 65536> chunk;
      const ssize_t got = ::read(read_, chunk.data(), chunk.size());
      if (got <= 0) break;
      partial_.append(chunk.data(), static_cast<size_t>(got));
    }
    return false;
  }

 private:
  static constexpr int kPipeBytes = 1 << 20;

  static void close_one(int* fd) {
    if (*fd >= 0) close(*fd);
    *fd = -1;
  }
  int read_ = -1;
  int write_ = -1;
  std::string partial_;
};

}  // namespace bench
