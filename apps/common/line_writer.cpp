#include "line_writer.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace app {

LineWriter::LineWriter(int fd) : fd_(fd) {
  struct stat info {};
  if (fstat(fd, &info) != 0) return;  // Every write says why.
  if (S_ISSOCK(info.st_mode)) {
    way_ = Way::kSocket;
  } else if (S_ISFIFO(info.st_mode) || S_ISCHR(info.st_mode)) {
    const std::string name = "/proc/self/fd/" + std::to_string(fd);
    const int own = open(name.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    is_own_ = own >= 0;
    if (is_own_) {
      fd_ = own;
    } else {
      way_ = Way::kAskFirst;
    }
  }
}

LineWriter::~LineWriter() {
  if (is_own_) close(fd_);
}

long LineWriter::put(std::string_view bytes) {
  if (way_ == Way::kSocket) return send(fd_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (way_ == Way::kNeverBlocks) return write(fd_, bytes.data(), bytes.size());
  // A pipe that says it has room takes PIPE_BUF bytes, unless another process is faster.
  pollfd asked{fd_, POLLOUT, 0};
  if (poll(&asked, 1, 0) == 1) return write(fd_, bytes.data(), std::min<size_t>(bytes.size(), PIPE_BUF));
  errno = EAGAIN;
  return -1;
}

void LineWriter::drop_pending() {
  dropped_lines_ += static_cast<uint64_t>(std::count(pending_.begin(), pending_.end(), '\n'));
  pending_.clear();
}

void LineWriter::write_line(std::string_view line) {
  if (pending_.size() + line.size() >= kBufferedBytes) {
    flush();
    if (pending_.size() + line.size() >= kBufferedBytes) {
      ++dropped_lines_;
      return;
    }
  }
  pending_ += line;
  pending_ += '\n';
  flush();
}

bool LineWriter::flush() {
  size_t done = 0;
  bool is_gone = false;
  while (done < pending_.size()) {
    const long put_bytes = put(std::string_view(pending_).substr(done));
    if (put_bytes > 0) {
      done += static_cast<size_t>(put_bytes);
      continue;
    }
    if (put_bytes < 0 && errno == EINTR) continue;
    // A full disk may have room again later; who has closed the pipe does not come back to these lines.
    is_gone = put_bytes < 0 && (errno == EPIPE || errno == EBADF || errno == ECONNRESET || errno == ENOTCONN);
    break;
  }
  pending_.erase(0, done);
  if (is_gone) drop_pending();
  return !is_gone;
}

}  // namespace app
