// The admin port by itself, and the text of figures.
#include "admin/admin_server.h"

#include <gtest/gtest.h>

#include <vector>

#include "admin_visit.h"

namespace app {
namespace {

TEST(AdminPort, TellsWhetherTheProgramWorksAndTakesNewcomers) {
  AdminServer admin;
  ASSERT_EQ(admin.start("127.0.0.1:0", "", R"({"bind":1})"), "");
  EXPECT_TRUE(has(get(admin.address(), "/live"), "200 OK"));
  EXPECT_TRUE(has(get(admin.address(), "/ready"), "503"));
  admin.set_ready(true, "");
  EXPECT_TRUE(has(get(admin.address(), "/ready"), "200 OK"));
  admin.set_ready(false, "it drains");
  EXPECT_TRUE(has(get(admin.address(), "/ready"), "it drains"));
  EXPECT_TRUE(has(get(admin.address(), "/config"), R"({"bind":1})"));
  EXPECT_TRUE(has(get(admin.address(), "/else"), "404"));
  // Nothing was heard of the program for more than 2 s.
  admin.beat(monotonic_ns() - 3'000'000'000);
  EXPECT_TRUE(has(get(admin.address(), "/live"), "503"));
  EXPECT_TRUE(has(get(admin.address(), "/live"), "no work was done for 3."));
  admin.beat(monotonic_ns());
  EXPECT_TRUE(has(get(admin.address(), "/live"), "200 OK"));
}

TEST(AdminPort, AnswersWhileAThousandSocketsAreIdle) {
  AdminServer admin;
  ASSERT_EQ(admin.start("127.0.0.1:0", "", "{}"), "");
  std::vector<int> idle;
  for (int i = 0; i < 1000; ++i) {
    const int fd = connect_to(admin.address());
    if (fd >= 0) idle.push_back(fd);
  }
  EXPECT_GT(idle.size(), 500u);
  EXPECT_TRUE(eventually([&] { return has(get(admin.address(), "/live"), "200 OK"); }));
  for (const int fd : idle) close(fd);
}

TEST(AdminPort, BeyondLoopbackItNeedsATokenAndAsksForIt) {
  AdminServer open;
  EXPECT_TRUE(has(open.start("0.0.0.0:0", "", "{}"), "Give it a token"));
  AdminServer admin;
  ASSERT_EQ(admin.start("127.0.0.1:0", "0123456789abcdef", "{}"), "");
  EXPECT_TRUE(has(get(admin.address(), "/live"), "401"));
  EXPECT_TRUE(has(get(admin.address(), "/live", "Authorization: Bearer 0123456789abcdeF\r\n"), "401"));
  EXPECT_TRUE(has(get(admin.address(), "/live", "Authorization: Bearer 0123456789abcdef\r\n"), "200 OK"));
}

TEST(AdminPort, ARequestUnderAnotherNameIsRefused) {
  AdminServer admin;
  ASSERT_EQ(admin.start("127.0.0.1:0", "", "{}"), "");
  EXPECT_TRUE(has(get(admin.address(), "/config", "", "evil.example"), "403"));
  EXPECT_TRUE(has(get(admin.address(), "/config", "", "localhost:1"), "200 OK"));
}

TEST(AdminPort, NoVisitorMakesItKeepMoreThanAHeader) {
  AdminServer admin;
  ASSERT_EQ(admin.start("127.0.0.1:0", "", "{}"), "");
  // Chunks with an extension or a trailer that never ends, a long body, a header that never ends.
  const std::string chunked = "Transfer-Encoding: chunked\r\n";
  EXPECT_TRUE(has(get(admin.address(), "/live", chunked), "400 Bad Request"));
  EXPECT_TRUE(has(get(admin.address(), "/live", "Content-Length: 10\r\n"), "400 Bad Request"));
  EXPECT_FALSE(has(get(admin.address(), "/live", "Content-Length: 1000000000\r\n"), "200 OK"));
  const int fd = connect_to(admin.address());
  ASSERT_GE(fd, 0);
  const std::string begin = "GET /live HTTP/1.1\r\nA: ";
  const std::string more(65536, 'a');
  size_t taken = 0;
  ssize_t sent = send(fd, begin.data(), begin.size(), MSG_NOSIGNAL);
  while (sent > 0 && taken < (64u << 20)) {
    sent = send(fd, more.data(), more.size(), MSG_NOSIGNAL);
    if (sent > 0) taken += static_cast<size_t>(sent);
  }
  EXPECT_LT(taken, 64u << 20) << "the connection is closed long before";
  close(fd);
  EXPECT_TRUE(has(get(admin.address(), "/live"), "200 OK"));
}

TEST(AdminPort, AnAddressThatIsNoneOrTakenIsSaid) {
  AdminServer admin, second;
  EXPECT_TRUE(has(admin.start("nowhere", "", "{}"), "'nowhere' is not an address"));
  EXPECT_TRUE(has(admin.start("127.0.0.1:70000", "", "{}"), "is not an address"));
  ASSERT_EQ(admin.start("127.0.0.1:0", "", "{}"), "");
  EXPECT_TRUE(has(second.start(admin.address(), "", "{}"), "cannot listen on " + admin.address()));
}

TEST(Figures, AreInTheTextFormat) {
  Figures figures;
  figures.counter("a_total", "Of two kinds.", 3, {{"kind", "x\"y"}});
  figures.counter("a_total", "", 4, {{"kind", "z"}});
  Histogram<2> histogram(std::array<double, 2>{1, 2});
  for (const double value : {0.5, 1.0, 1.5, 9.0}) histogram.add(value);
  figures.histogram("b_seconds", "How long.", histogram);
  const std::string text = to_prometheus_text(figures);
  for (const char* line :
       {"# HELP a_total Of two kinds.\n", "# TYPE a_total counter\n", "a_total{kind=\"x\\\"y\"} 3\n",
        "a_total{kind=\"z\"} 4\n", "# TYPE b_seconds histogram\n", "b_seconds_bucket{le=\"1\"} 2\n",
        "b_seconds_bucket{le=\"2\"} 3\n", "b_seconds_bucket{le=\"+Inf\"} 4\n", "b_seconds_count 4\n",
        "b_seconds_sum 12\n"}) {
    EXPECT_TRUE(has(text, line)) << line << "is not in\n" << text;
  }
}

}  // namespace
}  // namespace app
