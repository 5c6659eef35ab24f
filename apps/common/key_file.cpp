#include "key_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "secret_bytes.h"
#include "text_codec.h"

namespace app {
namespace {

constexpr size_t kMostKeyBytes = 64;
constexpr size_t kMostTextBytes = 2 * kMostKeyBytes + 1;

/// A descriptor with one owner.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

/// Reads at most out.size() bytes; returns how many, or -1.
ssize_t read_some(int fd, std::span<uint8_t> out) {
  size_t used = 0;
  while (used < out.size()) {
    const ssize_t got = read(fd, out.data() + used, out.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) break;
    used += static_cast<size_t>(got);
  }
  return static_cast<ssize_t>(used);
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = write(fd, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    text.remove_prefix(static_cast<size_t>(put));
  }
  return fsync(fd) == 0;
}

/// Who owns the file can read and change it. The system's own user is trusted.
bool is_foreign(const struct stat& status) {
  return status.st_uid != geteuid() && status.st_uid != 0;
}

std::string foreign(const std::string& path, const struct stat& status) {
  return path + " belongs to another user, " + std::to_string(status.st_uid) +
         ", who may know and change it. Make a new one, as the user of this program, " +
         std::to_string(geteuid()) + ".";
}

/// systemd keeps credentials from others by its own means, and shows that in the bits of the group.
bool others_may_read(const std::string& path, const struct stat& status) {
  const char* credentials = std::getenv("CREDENTIALS_DIRECTORY");
  if (credentials != nullptr && path.starts_with(std::string(credentials) + "/")) {
    return (status.st_mode & S_IRWXO) != 0;
  }
  return (status.st_mode & (S_IRWXG | S_IRWXO)) != 0;
}

std::string instead(const std::string& path, const KeyAdvice& advice) {
  return "Put a copy of it back. Without a copy, move " + path + " aside, and " + advice.make + " " +
         advice.cost;
}

}  // namespace

std::string load_key_file(const std::string& path, const KeyAdvice& advice, std::span<uint8_t> out) {
  // O_NONBLOCK: if the path is a pipe, opening it must not block.
  const Descriptor file(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  struct stat status {};
  if (file.get() < 0 || fstat(file.get(), &status) != 0) {
    const std::string why = std::strerror(errno);
    std::string make = advice.make;
    make[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(make[0])));
    return "Cannot read " + path + ": " + why + ". " + make;
  }
  if (!S_ISREG(status.st_mode)) return path + " is not a file. Give the path of a key.";
  if (is_foreign(status)) return foreign(path, status);
  if (others_may_read(path, status)) {
    return path + " holds a secret that other users may read. Run 'chmod 600 " + path +
           "'. If another user may have read it, make another key: move the file aside, and " + advice.make +
           " " + advice.cost;
  }
  SecretBytes<kMostTextBytes + 1> buffer;  // one more than the longest key file: a longer one is noticed
  const ssize_t got = read_some(file.get(), buffer.bytes());
  if (got < 0) return "Cannot read " + path + ": " + std::strerror(errno) + ". Correct its permissions.";
  std::string_view text(reinterpret_cast<const char*>(buffer.data()), static_cast<size_t>(got));
  if (text.ends_with('\n')) text.remove_suffix(1);
  if (!from_hex(text, out)) {
    return path + " does not hold " + std::to_string(2 * out.size()) + " hexadecimal digits. " +
           instead(path, advice);
  }
  if (std::ranges::all_of(out, [](uint8_t byte) { return byte == 0; })) {
    return path + " holds a key of zeros, which everybody knows. " + instead(path, advice);
  }
  return "";
}

std::string check_private_file(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    return "Cannot read " + path + ": " + std::strerror(errno) + ". Check the path and its permissions.";
  }
  if (!S_ISREG(status.st_mode)) return path + " is not a file. Give a file.";
  if (is_foreign(status)) return foreign(path, status);
  if (!others_may_read(path, status)) return "";
  return path + " holds a secret that other users may read. Write a new one, and run 'chmod 600 " + path +
         "'.";
}

KeyFileMade make_key_file(const std::string& path, std::span<const uint8_t> key) {
  std::string temporary = path + ".XXXXXX";
  const Descriptor file(mkostemp(temporary.data(), O_CLOEXEC));  // mode 0600
  if (file.get() < 0) return KeyFileMade::kFailed;
  std::string text = to_hex(key);
  text += '\n';
  // link() and not rename(): it fails where there is a file already.
  const bool is_made = write_all(file.get(), text) && link(temporary.c_str(), path.c_str()) == 0;
  const int error = errno;
  wipe(text);
  unlink(temporary.c_str());
  errno = error;
  if (is_made) return KeyFileMade::kMade;
  return error == EEXIST ? KeyFileMade::kExists : KeyFileMade::kFailed;
}

}  // namespace app
