#include "record_writer.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace app {
namespace {

// A disk that is full is offered no more than that with each attempt: the kernel looks at all of it.
constexpr size_t kPieceBytes = 65536;

/// Whether the error says that nobody reads. A disk that is full or broken may take more later.
bool is_nobody(int error) {
  return error == EPIPE || error == EBADF || error == ECONNRESET || error == ENOTCONN;
}

}  // namespace

RecordWriter::RecordWriter(int fd) : fd_(fd) {
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

RecordWriter::~RecordWriter() {
  if (is_own_) close(fd_);
}

long RecordWriter::put(std::string_view bytes) {
  if (way_ == Way::kSocket) return send(fd_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (way_ == Way::kNeverBlocks) return write(fd_, bytes.data(), bytes.size());
  // A pipe that says it has room takes PIPE_BUF bytes, unless another process is faster.
  pollfd asked{fd_, POLLOUT, 0};
  if (poll(&asked, 1, 0) == 1) return write(fd_, bytes.data(), std::min<size_t>(bytes.size(), PIPE_BUF));
  errno = EAGAIN;
  return -1;
}

bool RecordWriter::has_reader() const {
  pollfd asked{fd_, POLLOUT, 0};
  return poll(&asked, 1, 0) < 1 || (asked.revents & (POLLERR | POLLHUP | POLLNVAL)) == 0;
}

void RecordWriter::count_dropped(uint64_t records) {
  dropped_ += records;
  if (error_ != EAGAIN && !is_nobody(error_)) lost_on_disk_ += records;
}

void RecordWriter::took(size_t bytes) {
  while (bytes != 0) {
    const size_t part = std::min(bytes, sizes_.front());
    bytes -= part;
    written_ += part;
    sizes_.front() -= part;
    if (sizes_.front() != 0) return;
    sizes_.pop_front();
    written_ = 0;
  }
}

void RecordWriter::drop_whole_records() {
  // Who opens the other end again may find the beginning of the first record there.
  const size_t kept = written_ != 0 ? 1 : 0;
  count_dropped(sizes_.size() - kept);
  sizes_.resize(kept);
  pending_.resize(kept != 0 ? sizes_.front() : 0);
}

void RecordWriter::add(std::string_view record) {
  if (pending_.size() + record.size() > kBufferedBytes) flush();
  if (pending_.size() + record.size() > kBufferedBytes) return count_dropped(1);
  pending_ += record;
  sizes_.push_back(record.size());
}

void RecordWriter::write_line(std::string_view line) {
  std::string record(line);
  record += '\n';
  add(record);
  flush();
}

bool RecordWriter::flush() {
  size_t done = 0;
  error_ = 0;
  while (done < pending_.size() && error_ == 0) {
    const long put_bytes = put(std::string_view(pending_).substr(done, kPieceBytes));
    if (put_bytes > 0) done += static_cast<size_t>(put_bytes);
    if (put_bytes == 0) error_ = ENOSPC;
    if (put_bytes < 0 && errno != EINTR) error_ = errno;
  }
  took(done);
  pending_.erase(0, done);
  if (!is_nobody(error_)) return true;
  drop_whole_records();
  return false;
}

void RecordWriter::finish() {
  flush();
  count_dropped(sizes_.size());
  struct stat info {};
  if (written_ != 0 && fstat(fd_, &info) == 0 && S_ISREG(info.st_mode)) {
    // If it fails, the file has the beginning of a record at its end: a reader of a torn file knows that.
    static_cast<void>(!ftruncate(fd_, info.st_size - static_cast<off_t>(written_)));
  }
  pending_.clear();
  sizes_.clear();
  written_ = 0;
}

LossWatch::Change LossWatch::look(const RecordWriter& writer) {
  const uint64_t dropped = writer.dropped();
  const uint64_t more = dropped - seen_;
  seen_ = dropped;
  if (more != 0) {
    lost_ = is_losing_ ? lost_ + more : more;
    if (is_losing_) return Change::kNone;
    is_losing_ = true;
    return Change::kBegan;
  }
  if (!is_losing_ || !writer.idle() || writer.error() != 0) return Change::kNone;
  is_losing_ = false;
  return Change::kEnded;
}

}  // namespace app
