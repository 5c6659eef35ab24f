#include "data_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "process.h"

namespace app {
namespace {

// The file stays when its owner ends: who removed it might remove the lock of the next owner.
constexpr const char* kLockFile = "/server.lock";

struct flock whole_file() {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

/// Who has the folder: the kernel knows the process, and the file may say where it listens.
std::string owner_of(int fd) {
  struct flock lock = whole_file();
  if (fcntl(fd, F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return "by another server";
  const std::string owner = "process " + std::to_string(lock.l_pid);
  char text[128];
  const ssize_t got = pread(fd, text, sizeof text, 0);
  std::string said(text, got > 0 ? static_cast<size_t>(got) : 0);
  if (said.ends_with('\n')) said.pop_back();
  return "by " + (said.starts_with(owner + " ") ? said : owner);
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
  const int fd = open(file.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) return cannot("write " + file);
  struct stat status {};
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
    close(fd);
    return file + " is not a file. Remove it.";
  }
  struct flock lock = whole_file();
  if (fcntl(fd, F_SETLK, &lock) != 0) {
    const bool is_taken = errno == EAGAIN || errno == EACCES;
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
