#include "data_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "process.h"

namespace app {
namespace {

// The file stays when its owner ends: who removed it might remove the lock of the next owner.
constexpr const char* kLockFile = "/server.lock";

std::string owner_of(int fd) {
  char text[128];
  const ssize_t got = pread(fd, text, sizeof text - 1, 0);
  if (got <= 0) return "by another server";
  std::string owner(text, static_cast<size_t>(got));
  if (owner.ends_with('\n')) owner.pop_back();
  return "by " + owner;
}

void write_owner(int fd, const std::string& address) {
  const std::string text =
      "process " + std::to_string(getpid()) + (address.empty() ? "" : " at " + address) + "\n";
  // Only a courtesy to the reader: the lock holds without it.
  if (ftruncate(fd, 0) == 0) static_cast<void>(!pwrite(fd, text.data(), text.size(), 0));
}

}  // namespace

DataFolder::~DataFolder() {
  if (lock_fd_ >= 0) close(lock_fd_);
}

std::string DataFolder::take(const std::string& path) {
  const auto cannot = [](const std::string& what) {
    return "Cannot " + what + ": " + std::strerror(errno) +
           ". Choose another folder with --data-dir, or correct its permissions.";
  };
  if (!make_folder(path)) return cannot("make the folder " + path);
  const std::string file = path + kLockFile;
  const int fd = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return cannot("write " + file);
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    const bool is_taken = errno == EWOULDBLOCK;
    const std::string problem =
        is_taken ? "The folder " + path + " is in use " + owner_of(fd) +
                       ". Stop that server, or give this one a folder of its own with --data-dir."
                 : cannot("lock " + file);
    close(fd);
    return problem;
  }
  lock_fd_ = fd;
  write_owner(fd, "");
  return "";
}

void DataFolder::tell(const std::string& address) const {
  write_owner(lock_fd_, address);
}

}  // namespace app
