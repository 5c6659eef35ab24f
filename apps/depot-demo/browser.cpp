#include "browser.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>

extern char** environ;

namespace app {

std::string Browser::open(const std::string& url) {
  if (std::getenv("DISPLAY") == nullptr && std::getenv("WAYLAND_DISPLAY") == nullptr) return "";
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  // If the browser held our stdout, a pipe on it would not end before the browser does.
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDWR, 0);
  posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, STDERR_FILENO);
  // Our own descriptors are closed on exec. This closes the descriptors that we inherited.
  posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t default_again;
  sigemptyset(&default_again);
  sigaddset(&default_again, SIGPIPE);  // this process ignores SIGPIPE, and exec would hand that on
  posix_spawnattr_setsigdefault(&attributes, &default_again);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF);
  std::string program = "xdg-open", argument = url;
  char* words[] = {program.data(), argument.data(), nullptr};
  const int failed = posix_spawnp(&pid_, program.c_str(), &actions, &attributes, words, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (failed == 0) return "";
  pid_ = -1;
  return "Cannot start xdg-open: " + std::string(std::strerror(failed)) + ". Open the address by hand.";
}

void Browser::reap() {
  if (pid_ > 0 && waitpid(pid_, nullptr, WNOHANG) == pid_) pid_ = -1;
}

}  // namespace app
