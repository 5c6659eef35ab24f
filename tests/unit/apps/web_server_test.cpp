// The page's server over real sockets: what it tells browsers, and what idle connections cost.
#include "web_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <vector>

#include "process.h"

namespace app {
namespace {

class Page : public testing::Test, public WebHandler {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "page_XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    dir_ = name;
    ASSERT_TRUE(write_whole_file(dir_ + "/index.html", "a page", 0600));
    server_ = std::make_unique<WebServer>(dir_, *this);
    ASSERT_EQ(server_->start(0), "");
  }
  void TearDown() override {
    for (const int fd : fds_) close(fd);
    server_->stop();
    std::filesystem::remove_all(dir_);
  }

  int connect_to_page() {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(server_->port());
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    set_nonblocking(fd);
    fds_.push_back(fd);
    server_->run_for_ms(2);
    return fd;
  }
  /// What the server answers to `request` on `fd`; "" when it closed the connection.
  std::string ask(int fd, const std::string& request) {
    std::string answer;
    if (send(fd, request.data(), request.size(), MSG_NOSIGNAL) < 0) return answer;
    for (int round = 0; round < 100; ++round) {
      server_->run_for_ms(5);
      char buffer[4096];
      const ssize_t got = read(fd, buffer, sizeof buffer);
      if (got == 0) break;
      if (got > 0) answer.append(buffer, static_cast<size_t>(got));
      if (answer.find("\r\n\r\n") != std::string::npos) break;
    }
    return answer;
  }
  bool is_closed(int fd) {
    server_->run_for_ms(2);
    char byte;
    return read(fd, &byte, 1) == 0;
  }
  static constexpr const char* kGet = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";

  std::unique_ptr<WebServer> server_;

 private:
  std::string hello() override { return "{}"; }
  void viewer_message(std::string_view) override {}
  void viewers_gone() override {}

  std::string dir_;
  std::vector<int> fds_;
};

TEST_F(Page, NoOtherPageMayFrameIt) {
  const std::string answer = ask(connect_to_page(), kGet);
  EXPECT_NE(answer.find("200 OK"), std::string::npos) << answer;
  const size_t policy = answer.find("Content-Security-Policy: ");
  ASSERT_NE(policy, std::string::npos) << answer;
  EXPECT_NE(answer.find("frame-ancestors 'none'", policy), std::string::npos) << answer;
}

TEST_F(Page, IdleConnectionsKeepNobodyOut) {
  const int used = connect_to_page();
  std::vector<int> idle;
  for (int i = 0; i < 200; ++i) {
    idle.push_back(connect_to_page());
    if (i % 20 != 0) continue;
    EXPECT_NE(ask(used, kGet).find("200 OK"), std::string::npos) << i;
  }
  EXPECT_NE(ask(connect_to_page(), kGet).find("200 OK"), std::string::npos) << "a newcomer gets the page";
  size_t open_count = 0;
  for (const int fd : idle) open_count += is_closed(fd) ? 0u : 1u;
  EXPECT_LE(open_count, 64u);
  EXPECT_GE(open_count, 60u) << "as many as there are places stay";
  EXPECT_TRUE(is_closed(idle.front())) << "the oldest went first";
}

// One byte a second would otherwise hold a connection for ever.
TEST_F(Page, ASlowRequestIsClosedAfterItsTime) {
  const int fd = connect_to_page();
  const uint64_t began_ns = monotonic_ns();
  const std::string request = kGet;
  for (size_t sent = 0; sent < 30; ++sent) {
    if (send(fd, &request[sent], 1, MSG_NOSIGNAL) < 0 || is_closed(fd)) break;
    server_->run_for_ms(700);
  }
  const uint64_t took_ms = (monotonic_ns() - began_ns) / 1'000'000;
  EXPECT_TRUE(took_ms > 14'000 && took_ms < 18'000) << took_ms;
}

TEST_F(Page, NoChildInheritsItsSockets) {
  const int fd = connect_to_page();
  EXPECT_NE(ask(fd, kGet), "");
  for (int own = 3; own < 256; ++own) {
    const int flags = fcntl(own, F_GETFD);
    struct sockaddr_storage name {};
    socklen_t bytes = sizeof name;
    if (flags < 0 || getsockname(own, reinterpret_cast<sockaddr*>(&name), &bytes) != 0) continue;
    if (name.ss_family != AF_INET) continue;
    EXPECT_NE(flags & FD_CLOEXEC, 0) << own;
  }
}

}  // namespace
}  // namespace app
