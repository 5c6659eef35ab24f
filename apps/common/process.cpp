#include "process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <new>
#include <system_error>

#include "exit_code.h"

namespace app {
namespace {

volatile std::sig_atomic_t g_stops = 0;
volatile std::sig_atomic_t g_most_stops = 1;
volatile std::sig_atomic_t g_reload = 0;
volatile std::sig_atomic_t g_dump = 0;

void on_stop_signal(int number) {
  if (g_stops >= g_most_stops && number != SIGHUP) _exit(kExitInterrupted);
  if (g_stops == 0 || number != SIGHUP) g_stops = g_stops + 1;
}

void on_service_signal(int number) {
  (number == SIGHUP ? g_reload : g_dump) = 1;
}

void handle(int number, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigaction(number, &action, nullptr);
}

bool take(volatile std::sig_atomic_t& request) {
  const bool was_set = request != 0;
  request = 0;
  return was_set;
}

}  // namespace

void open_standard_descriptors() {
  int fd = -1;
  do {
    fd = open("/dev/null", O_RDWR);
  } while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd >= 0) close(fd);
}

void catch_stop_signals(int most) {
  g_most_stops = most;
  for (const int number : {SIGINT, SIGTERM, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGPWR,
                           SIGXCPU, SIGIO, SIGSTKFLT}) {
    handle(number, on_stop_signal);
  }
  for (int number = SIGRTMIN; number <= SIGRTMAX; ++number) handle(number, on_stop_signal);
  struct sigaction before {};
  sigaction(SIGHUP, nullptr, &before);
  if (before.sa_handler != SIG_IGN) handle(SIGHUP, on_stop_signal);
  handle(SIGPIPE, SIG_IGN);
  handle(SIGXFSZ, SIG_IGN);
}

bool stop_requested() {
  return g_stops != 0;
}

int stop_requests() {
  return g_stops;
}

void catch_service_signals() {
  handle(SIGHUP, on_service_signal);
  handle(SIGUSR1, on_service_signal);
}

bool take_reload_request() {
  return take(g_reload);
}

bool take_dump_request() {
  return take(g_dump);
}

namespace {

/// Waits for the other end of `pipe` to be closed, then removes the folder. Does not return.
[[noreturn]] void guard_folder(int pipe, const std::string& folder) {
  // A session of its own: what ends a terminal or a process group does not end it.
  setsid();
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) signal(number, SIG_IGN);
  dup2(pipe, STDIN_FILENO);
  close_range(STDIN_FILENO + 1, ~0u, 0);
  char byte;
  while (read(STDIN_FILENO, &byte, 1) < 0 && errno == EINTR) {
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  _exit(0);
}

}  // namespace

bool remove_folder_at_end(const std::string& folder) {
  int ends[2];  // the kernel closes ends[1] at the end of this process, and no child inherits it
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  const pid_t pid = fork();
  if (pid == 0) {
    const pid_t guard = fork();  // not a child of this process, which need not wait for it
    if (guard == 0) guard_folder(ends[0], folder);
    _exit(guard < 0 ? kExitFailed : kExitOk);
  }
  close(ends[0]);
  int status = 0;
  const bool is_started = pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
  if (!is_started) close(ends[1]);
  return is_started;
}

void die_with_parent() {
  const char* text = std::getenv("LATTICE_PARENT_PID");
  if (text == nullptr) return;
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  // The parent may have ended before the call above took effect.
  if (getppid() != static_cast<pid_t>(std::strtol(text, nullptr, 10))) _exit(kExitFailed);
}

void say_when_out_of_memory() {
  std::set_new_handler([] {
    static constexpr char kText[] = "The program ends: the system gives it no more memory. Give it more.\n";
    static_cast<void>(!write(STDERR_FILENO, kText, sizeof kText - 1));
    _exit(kExitFailed);
  });
}

bool wait_for_entropy(void (*tell)()) {
  constexpr uint64_t kPauseNs = 100'000'000;
  bool was_told = false;
  char byte;
  while (getrandom(&byte, 1, GRND_NONBLOCK) < 0 && errno == EAGAIN) {
    if (!was_told) tell();
    was_told = true;
    if (stop_requested()) return false;
    sleep_ns(kPauseNs);
  }
  return true;
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

std::string read_file(const std::string& path, size_t most, std::string& out) {
  const auto cannot = [&path] {
    return "Cannot read " + path + ": " + std::strerror(errno) + ". Check the path and its permissions.";
  };
  out.clear();
  const int fd = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) return cannot();
  std::string problem;
  struct stat status {};
  if (fstat(fd, &status) != 0) {
    problem = cannot();
  } else if (!S_ISREG(status.st_mode)) {
    problem = path + " is not a file. Give a file: it is read again while the program runs.";
  }
  char buffer[65536];
  ssize_t got = 1;
  while (problem.empty() && got > 0) {
    got = read(fd, buffer, sizeof buffer);
    if (got > 0) out.append(buffer, static_cast<size_t>(got));
    if (got < 0) problem = cannot();
    if (out.size() > most)
      problem = path + " has more than " + std::to_string(most) + " bytes. Give another file.";
  }
  close(fd);
  if (!problem.empty()) out.clear();
  return problem;
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
  if (rename(temporary.c_str(), path.c_str()) == 0) return true;
  const int error = errno;
  unlink(temporary.c_str());
  errno = error;
  return false;
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
