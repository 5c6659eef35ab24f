// A log or telemetry whose reader is slow, gone or has a full disk.
#include "line_writer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

namespace app {
namespace {

/// Something to write to, and its other end, which a test reads when it wants to.
struct Ends {
  explicit Ends(bool is_socket) {
    if (is_socket) {
      EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    } else {
      EXPECT_EQ(pipe(ends), 0);
    }
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
  }
  ~Ends() {
    close(ends[0]);
    close(ends[1]);
  }
  std::string read_all() const {
    std::string out;
    char buffer[65536];
    for (ssize_t got; (got = read(ends[0], buffer, sizeof buffer)) > 0;) out.append(buffer, size_t(got));
    return out;
  }
  int ends[2] = {-1, -1};
};

std::string number_line(size_t i) {
  return "line " + std::to_string(i) + std::string(100, '.');
}

class LineWriterTo : public testing::TestWithParam<bool> {};

TEST_P(LineWriterTo, AReaderWhoSleepsStopsNobodyAndGetsWholeLines) {
  const Ends ends(GetParam());
  LineWriter writer(ends.ends[1]);
  size_t written = 0;
  while (writer.dropped_lines() < 1000)
    writer.write_line(number_line(written++));  // Never returns if it blocks.
  EXPECT_FALSE(writer.idle());
  EXPECT_EQ(fcntl(ends.ends[1], F_GETFL) & O_NONBLOCK, 0) << "the open file may be shared";
  std::string got;
  while (!writer.idle()) {
    const std::string part = ends.read_all();
    got += part;
    ASSERT_TRUE(writer.flush());
  }
  got += ends.read_all();
  std::string expected;
  for (size_t i = 0; i < written - writer.dropped_lines(); ++i) expected += number_line(i) + "\n";
  EXPECT_EQ(got, expected);
  writer.write_line("later");
  EXPECT_EQ(ends.read_all(), "later\n");
}

TEST_P(LineWriterTo, WhatWasKeptForAReaderWhoIsGoneIsCounted) {
  signal(SIGPIPE, SIG_IGN);
  const Ends ends(GetParam());
  LineWriter writer(ends.ends[1]);
  size_t written = 0;
  while (writer.idle()) writer.write_line(number_line(written++));
  for (int i = 0; i < 10; ++i) writer.write_line("kept");
  const int nobody = open("/dev/null", O_RDONLY);
  ASSERT_EQ(dup2(nobody, ends.ends[0]), ends.ends[0]);  // Closes the reading end.
  close(nobody);
  EXPECT_FALSE(writer.flush());
  EXPECT_TRUE(writer.idle());
  EXPECT_GE(writer.dropped_lines(), 11u);
}

INSTANTIATE_TEST_SUITE_P(Both, LineWriterTo, testing::Values(false, true),
                         [](const auto& instance) { return instance.param ? "Socket" : "Pipe"; });

TEST(LineWriter, AFullDiskTakesTheRestLater) {
  const int full = open("/dev/full", O_WRONLY);
  ASSERT_GE(full, 0);
  LineWriter writer(full);
  writer.write_line("x");
  EXPECT_FALSE(writer.idle());
  EXPECT_TRUE(writer.flush()) << "there may be room again";
  for (size_t i = 0; i < 2 * LineWriter::kBufferedBytes / 100; ++i) writer.write_line(number_line(i));
  EXPECT_GT(writer.dropped_lines(), LineWriter::kBufferedBytes / 200);
  close(full);
}

}  // namespace
}  // namespace app
