#include "child.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <utility>

extern char** environ;

namespace app {
namespace {

constexpr size_t kMaxPendingBytes = 1 << 20;

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

std::vector<std::string> child_environment() {
  std::vector<std::string> out;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    // Settings in the environment are for this program: they must not configure its children too.
    if (std::strncmp(*entry, "LATTICE_", 8) != 0) out.emplace_back(*entry);
  }
  out.push_back("LATTICE_PARENT_PID=" + std::to_string(getpid()));
  return out;
}

}  // namespace

Child::Child(Child&& other) noexcept {
  *this = std::move(other);
}

Child& Child::operator=(Child&& other) noexcept {
  std::swap(name_, other.name_);
  std::swap(pid_, other.pid_);
  std::swap(in_fd_, other.in_fd_);
  std::swap(out_fd_, other.out_fd_);
  std::swap(exit_code_, other.exit_code_);
  std::swap(pending_, other.pending_);
  std::swap(reader_, other.reader_);
  return *this;
}

Child::~Child() {
  if (running()) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  close_pipes();
}

void Child::close_pipes() {
  if (in_fd_ >= 0) close(std::exchange(in_fd_, -1));
  if (out_fd_ >= 0) close(std::exchange(out_fd_, -1));
}

std::string Child::start(const std::string& program, const std::vector<std::string>& arguments,
                         std::string_view first_lines) {
  name_ = program.substr(program.rfind('/') + 1);
  int to_child[2], from_child[2];
  if (pipe2(to_child, O_CLOEXEC) != 0) return std::string("Cannot make a pipe: ") + std::strerror(errno);
  if (pipe2(from_child, O_CLOEXEC) != 0) {
    close(to_child[0]);
    close(to_child[1]);
    return std::string("Cannot make a pipe: ") + std::strerror(errno);
  }
  in_fd_ = to_child[1];
  out_fd_ = from_child[0];
  set_nonblocking(in_fd_);
  set_nonblocking(out_fd_);
  pending_ = first_lines;
  send_line({});

  std::vector<std::string> words = arguments;
  words.insert(words.begin(), program);
  std::vector<std::string> environment = child_environment();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, to_child[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, from_child[1], STDOUT_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // The child gets a process group of its own. So Ctrl-C reaches this process only, which ends the children
  // in order.
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  const int failed = posix_spawn(&pid_, program.c_str(), &actions, &attributes, pointers(words).data(),
                                 pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  close(to_child[0]);
  close(from_child[1]);
  if (failed == 0) return "";
  pid_ = -1;
  close_pipes();
  return "Cannot start " + program + ": " + std::strerror(failed) + ". Build it first: ./lattice demo does.";
}

void Child::send_line(std::string_view line) {
  if (in_fd_ < 0) return;
  if (!line.empty() && pending_.size() + line.size() < kMaxPendingBytes) {
    pending_ += line;
    pending_ += '\n';
  }
  const ssize_t put = write(in_fd_, pending_.data(), pending_.size());
  if (put > 0) pending_.erase(0, static_cast<size_t>(put));
}

void Child::read_lines(std::vector<std::string>& lines) {
  if (out_fd_ >= 0 && !reader_.read(out_fd_, lines)) close(std::exchange(out_fd_, -1));
  if (!pending_.empty()) send_line({});
}

bool Child::running() {
  if (pid_ < 0) return false;
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) != pid_) return true;
  exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  pid_ = -1;
  return false;
}

void Child::signal(int number) {
  if (running()) kill(pid_, number);
}

}  // namespace app
