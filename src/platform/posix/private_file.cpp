// Private files by open, fstat and rename. The checks are made on the open descriptor, not on the path.
#include "platform/private_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "platform/entropy.h"

namespace lattice::platform {
namespace {

constexpr mode_t kOthersMask = S_IRWXG | S_IRWXO;

PrivateFileResult refuse(PrivateFileError error, const char* text) {
  PrivateFileResult result;
  result.error = error;
  std::snprintf(result.text, sizeof result.text, "%s", text);
  return result;
}

/// The result for errno. Call it before any function that may change errno.
PrivateFileResult system_error() {
  const int code = errno;
  if (code == ENOENT || code == ENOTDIR) return refuse(PrivateFileError::kNotFound, "no such file");
  if (code == ELOOP) return refuse(PrivateFileError::kNotPrivate, "is a symbolic link");
  return refuse(PrivateFileError::kIo, std::strerror(code));
}

/// A descriptor with one owner.
class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  bool is_open() const { return value_ >= 0; }
  int get() const { return value_; }

 private:
  int value_;
};

PrivateFileResult check_owner(const struct stat& status) {
  if (status.st_uid != geteuid()) return refuse(PrivateFileError::kNotPrivate, "it belongs to another user");
  if ((status.st_mode & kOthersMask) != 0) {
    return refuse(PrivateFileError::kNotPrivate, "other users have access to it");
  }
  return {};
}

/// Writes the user's folder to `out`. /run/user/UID is used only if it exists. XDG_RUNTIME_DIR is used if it
/// is an absolute path, and fails later if it is unusable: a fallback would hide a broken session.
bool folder_path(char (&out)[kPrivatePathBytes]) {
  const char* runtime = secure_getenv("XDG_RUNTIME_DIR");
  const unsigned user = geteuid();
  int length = 0;
  if (runtime != nullptr && runtime[0] == '/') {
    length = std::snprintf(out, sizeof out, "%s/lattice", runtime);
  } else {
    std::snprintf(out, sizeof out, "/run/user/%u", user);
    struct stat status {};
    const bool has_session = stat(out, &status) == 0 && S_ISDIR(status.st_mode);
    length = std::snprintf(out, sizeof out, has_session ? "/run/user/%u/lattice" : "/tmp/lattice-%u", user);
  }
  return length > 0 && static_cast<size_t>(length) < sizeof out;
}

PrivateFileResult check_folder(const char* path) {
  const Descriptor folder(open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder.is_open()) {
    return errno == ENOTDIR ? refuse(PrivateFileError::kNotPrivate, "is not a folder") : system_error();
  }
  struct stat status {};
  if (fstat(folder.get(), &status) != 0) return system_error();
  return check_owner(status);
}

PrivateFileResult make_folder(const char* path) {
  if (mkdir(path, S_IRWXU) != 0 && errno != EEXIST) return system_error();
  return check_folder(path);
}

bool write_all(int descriptor, std::span<const uint8_t> content) {
  while (!content.empty()) {
    const ssize_t written = write(descriptor, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    content = content.subspan(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace

PrivateFileResult private_path(const char* name, bool make, char (&out)[kPrivatePathBytes]) {
  char folder[kPrivatePathBytes];
  if (!folder_path(folder)) return refuse(PrivateFileError::kTooLarge, "XDG_RUNTIME_DIR is too long");
  const int length = std::snprintf(out, sizeof out, "%s", folder);
  const size_t used = static_cast<size_t>(length);
  const int rest = std::snprintf(out + used, sizeof out - used, "/%s", name);
  if (rest < 0 || static_cast<size_t>(rest) >= sizeof out - used) {
    return refuse(PrivateFileError::kTooLarge, "XDG_RUNTIME_DIR is too long");
  }
  if (make) return make_folder(folder);
  // Without a folder there is no file either, and reading says so.
  const PrivateFileResult found = check_folder(folder);
  return found.error == PrivateFileError::kNotFound ? PrivateFileResult{} : found;
}

PrivateFileResult write_private_file(const char* path, std::span<const uint8_t> content) {
  // A random name, so that two writers never collide, also not with a file that a crashed writer left.
  uint32_t number = 0;
  fill_entropy(&number, sizeof number);
  char temporary[kPrivatePathBytes + 16];
  const int length = std::snprintf(temporary, sizeof temporary, "%s.%08x", path, number);
  if (length < 0 || static_cast<size_t>(length) >= sizeof temporary) {
    return refuse(PrivateFileError::kTooLarge, "the path is too long");
  }
  const Descriptor file(
      open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!file.is_open()) return system_error();
  if (!write_all(file.get(), content) || rename(temporary, path) != 0) {
    const PrivateFileResult result = system_error();
    unlink(temporary);
    return result;
  }
  return {};
}

PrivateFileResult read_private_file(const char* path, std::span<uint8_t> out, size_t* bytes) {
  *bytes = 0;
  // O_NONBLOCK: if the path is a pipe, opening it must not block.
  const Descriptor file(open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file.is_open()) return system_error();
  struct stat status {};
  if (fstat(file.get(), &status) != 0) return system_error();
  if (!S_ISREG(status.st_mode)) return refuse(PrivateFileError::kNotPrivate, "is not a regular file");
  const PrivateFileResult owner = check_owner(status);
  if (owner.error != PrivateFileError::kNone) return owner;
  if (status.st_size < 0 || static_cast<uint64_t>(status.st_size) > out.size()) {
    return refuse(PrivateFileError::kTooLarge, "is too large");
  }
  size_t used = 0;
  while (used < out.size()) {
    const ssize_t got = read(file.get(), out.data() + used, out.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error();
    if (got == 0) break;
    used += static_cast<size_t>(got);
  }
  *bytes = used;
  return {};
}

void remove_private_file(const char* path) {
  unlink(path);
}

}  // namespace lattice::platform
