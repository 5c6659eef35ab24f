#include "process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "exit_code.h"

namespace app {
namespace {

volatile std::sig_atomic_t g_stop = 0;

// The paths that the second stop signal removes. They are prepared beforehand: a signal handler may not
// allocate.
char g_abort_files[8][256];
size_t g_abort_file_count = 0;
char g_abort_folder[256];

void on_stop_signal(int number) {
  if (g_stop != 0 && number != SIGHUP) {
    for (size_t i = 0; i < g_abort_file_count; ++i) unlink(g_abort_files[i]);
    if (g_abort_folder[0] != 0) rmdir(g_abort_folder);
    _exit(kExitInterrupted);
  }
  g_stop = 1;
}

}  // namespace

void catch_stop_signals() {
  struct sigaction action {};
  action.sa_handler = on_stop_signal;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  struct sigaction before {};
  sigaction(SIGHUP, nullptr, &before);
  if (before.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

bool stop_requested() {
  return g_stop != 0;
}

void remove_on_abort(const std::string& folder, std::span<const char* const> files) {
  if (folder.size() + 64 > sizeof g_abort_folder) return;
  for (const char* file : files) {
    if (g_abort_file_count == std::size(g_abort_files)) break;
    std::snprintf(g_abort_files[g_abort_file_count++], sizeof g_abort_files[0], "%s/%s", folder.c_str(),
                  file);
  }
  std::snprintf(g_abort_folder, sizeof g_abort_folder, "%s", folder.c_str());
}

void die_with_parent() {
  const char* text = std::getenv("LATTICE_PARENT_PID");
  if (text == nullptr) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent may have ended before the call above took effect.
  if (getppid() != static_cast<pid_t>(std::strtol(text, nullptr, 10))) _exit(kExitFailed);
}

uint64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

uint64_t unix_ms() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000u + static_cast<uint64_t>(now.tv_nsec) / 1'000'000u;
}

double unix_time_ms() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

void sleep_ns(uint64_t ns) {
  sleep_or_readable(-1, ns);
}

void sleep_until_ns(uint64_t monotonic_time_ns) {
  const uint64_t now_ns = monotonic_ns();
  if (monotonic_time_ns > now_ns) sleep_ns(monotonic_time_ns - now_ns);
}

void sleep_or_readable(int fd, uint64_t ns) {
  pollfd entry = {fd, POLLIN, 0};
  timespec wait{};
  wait.tv_sec = static_cast<time_t>(ns / 1'000'000'000u);
  wait.tv_nsec = static_cast<long>(ns % 1'000'000'000u);
  ppoll(&entry, fd >= 0 ? 1 : 0, &wait, nullptr);
}

bool read_whole_file(const std::string& path, std::string& out) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  out.clear();
  char buffer[4096];
  ssize_t got = 0;
  while ((got = read(fd, buffer, sizeof buffer)) > 0) out.append(buffer, static_cast<size_t>(got));
  close(fd);
  return got == 0;
}

bool write_whole_file(const std::string& path, std::string_view content, unsigned mode) {
  // A name of this call: another process or thread may replace the same file at the same time.
  static std::atomic<unsigned> calls = 0;
  const std::string temporary =
      path + "." + std::to_string(getpid()) + "-" + std::to_string(calls.fetch_add(1)) + ".new";
  unlink(temporary.c_str());
  const int fd = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, static_cast<mode_t>(mode));
  if (fd < 0) return false;
  size_t done = 0;
  while (done < content.size()) {
    const ssize_t put = write(fd, content.data() + done, content.size() - done);
    if (put <= 0) {
      close(fd);
      unlink(temporary.c_str());
      return false;
    }
    done += static_cast<size_t>(put);
  }
  close(fd);
  return rename(temporary.c_str(), path.c_str()) == 0;
}

bool make_folder(const std::string& path) {
  for (size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    const std::string part = path.substr(0, slash);
    if (mkdir(part.c_str(), 0700) != 0 && errno != EEXIST) return false;
    if (slash == std::string::npos) break;
  }
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return false;
  if (S_ISDIR(info.st_mode)) return true;
  errno = ENOTDIR;
  return false;
}

void set_nonblocking(int fd) {
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

bool LineReader::read(int fd, std::vector<std::string>& lines) {
  char buffer[16384];
  for (int round = 0; round < 64; ++round) {
    const ssize_t got = ::read(fd, buffer, sizeof buffer);
    if (got == 0) return false;
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    const char* at = buffer;
    const char* const end = buffer + got;
    while (at < end) {
      const char* newline = std::find(at, end, '\n');
      if (!skipping_) partial_.append(at, newline);
      if (partial_.size() > line_limit_) {
        partial_.clear();
        skipping_ = true;
        ++dropped_lines_;
      }
      if (newline == end) break;
      if (!skipping_) lines.push_back(std::move(partial_));
      partial_.clear();
      skipping_ = false;
      at = newline + 1;
    }
  }
  return true;
}

void close_on_exec(int fd) {
  fcntl(fd, F_SETFD, fcntl(fd, F_GETFD) | FD_CLOEXEC);
}

}  // namespace app
