#include "system_manager.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace app {

SystemManager::SystemManager() {
  const char* path = std::getenv("NOTIFY_SOCKET");
  if (path == nullptr || (path[0] != '/' && path[0] != '@')) return;
  socket_ = path;
  if (socket_[0] == '@') socket_[0] = '\0';
  const char* watchdog = std::getenv("WATCHDOG_USEC");
  if (watchdog != nullptr) interval_ns_ = std::strtoull(watchdog, nullptr, 10) * 1000 / 3;
}

void SystemManager::tell(const std::string& state) const {
  sockaddr_un address{};
  if (socket_.empty() || socket_.size() > sizeof address.sun_path) return;
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, socket_.data(), socket_.size());
  const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  // Whether it arrives is the manager's care.
  static_cast<void>(sendto(fd, state.data(), state.size(), MSG_NOSIGNAL,
                           reinterpret_cast<const sockaddr*>(&address), bytes));
  close(fd);
}

void SystemManager::beat(uint64_t now_ns) {
  if (interval_ns_ == 0 || now_ns < next_ns_) return;
  next_ns_ = now_ns + interval_ns_;
  tell("WATCHDOG=1");
}

}  // namespace app
