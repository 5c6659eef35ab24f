// Asks an admin port over a plain socket.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <string>

#include "process.h"

namespace app {

inline bool eventually(const std::function<bool()>& holds, int seconds = 20) {
  for (int i = 0; i < seconds * 100; ++i) {
    if (holds()) return true;
    sleep_ns(10'000'000);
  }
  return false;
}

inline int connect_to(const std::string& address) {
  const size_t colon = address.rfind(':');
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<uint16_t>(std::stoi(address.substr(colon + 1))));
  inet_pton(AF_INET, address.substr(0, colon).c_str(), &to.sin_addr);
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0) return fd;
  close(fd);
  return -1;
}

/// The whole answer, with its head; "" when there is none within 5 s.
inline std::string get(const std::string& address, const std::string& target, const std::string& headers = "",
                       const std::string& host = "") {
  const int fd = connect_to(address);
  if (fd < 0) return "";
  const timeval wait = {5, 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
  const std::string request = "GET " + target + " HTTP/1.1\r\nHost: " + (host.empty() ? address : host) +
                              "\r\nConnection: close\r\n" + headers + "\r\n";
  std::string answer;
  char buffer[4096];
  if (send(fd, request.data(), request.size(), MSG_NOSIGNAL) > 0) {
    for (ssize_t got; (got = recv(fd, buffer, sizeof buffer, 0)) > 0;) answer.append(buffer, size_t(got));
  }
  close(fd);
  return answer;
}

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace app
