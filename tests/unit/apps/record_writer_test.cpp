// A log or telemetry whose reader is slow, gone or has a full disk.
#include "record_writer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
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

class RecordWriterTo : public testing::TestWithParam<bool> {};

TEST_P(RecordWriterTo, AReaderWhoSleepsStopsNobodyAndGetsWholeLines) {
  const Ends ends(GetParam());
  RecordWriter writer(ends.ends[1]);
  size_t written = 0;
  while (writer.dropped() < 1000) writer.write_line(number_line(written++));  // Never returns if it blocks.
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
  for (size_t i = 0; i < written - writer.dropped(); ++i) expected += number_line(i) + "\n";
  EXPECT_EQ(got, expected);
  writer.write_line("later");
  EXPECT_EQ(ends.read_all(), "later\n");
}

TEST_P(RecordWriterTo, WhatWasKeptForAReaderWhoIsGoneIsCounted) {
  signal(SIGPIPE, SIG_IGN);
  const Ends ends(GetParam());
  RecordWriter writer(ends.ends[1]);
  size_t written = 0;
  while (writer.idle()) writer.write_line(number_line(written++));
  for (int i = 0; i < 10; ++i) writer.write_line("kept");
  const int nobody = open("/dev/null", O_RDONLY);
  ASSERT_EQ(dup2(nobody, ends.ends[0]), ends.ends[0]);  // Closes the reading end.
  close(nobody);
  EXPECT_FALSE(writer.flush());
  EXPECT_LE(writer.waiting_bytes(), number_line(written).size() + 1) << "at most the rest of a line";
  EXPECT_GE(writer.dropped(), 10u);
  EXPECT_EQ(writer.lost_on_disk(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Both, RecordWriterTo, testing::Values(false, true),
                         [](const auto& instance) { return instance.param ? "Socket" : "Pipe"; });

TEST(RecordWriter, AFullDiskTakesTheRestLater) {
  const int full = open("/dev/full", O_WRONLY);
  ASSERT_GE(full, 0);
  RecordWriter writer(full);
  writer.write_line("x");
  EXPECT_FALSE(writer.idle());
  EXPECT_TRUE(writer.flush()) << "there may be room again";
  for (size_t i = 0; i < 2 * RecordWriter::kBufferedBytes / 100; ++i) writer.write_line(number_line(i));
  EXPECT_GT(writer.dropped(), RecordWriter::kBufferedBytes / 200);
  EXPECT_EQ(writer.lost_on_disk(), writer.dropped());
  EXPECT_EQ(writer.error(), ENOSPC);
  close(full);
}

/// A file that may not grow beyond a bound, which stands for a disk without room.
class RecordWriterToFile : public testing::Test {
 protected:
  RecordWriterToFile() : path_(testing::TempDir() + "lattice-record-" + std::to_string(getpid())) {
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    fd_ = open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
    EXPECT_GE(fd_, 0);
  }
  ~RecordWriterToFile() override {
    setrlimit(RLIMIT_FSIZE, &before_);
    close(fd_);
    unlink(path_.c_str());
  }
  void allow(rlim_t bytes) const {
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  }
  std::string content() const {
    std::string out;
    char buffer[65536];
    lseek(fd_, 0, SEEK_SET);
    for (ssize_t got; (got = read(fd_, buffer, sizeof buffer)) > 0;) out.append(buffer, size_t(got));
    return out;
  }
  std::string path_;
  rlimit before_{};
  int fd_ = -1;
};

TEST_F(RecordWriterToFile, WritingGoesOnWhereItStoppedOnceThereIsRoom) {
  RecordWriter writer(fd_);
  LossWatch watch;
  std::string expected;
  allow(1000);
  size_t kept = 0;
  while (watch.look(writer) == LossWatch::Change::kNone) {
    writer.write_line(number_line(kept));
    if (writer.dropped() == 0) expected += number_line(kept++) + "\n";
  }
  writer.write_line(number_line(0));
  EXPECT_EQ(watch.look(writer), LossWatch::Change::kNone);
  ASSERT_NO_FATAL_FAILURE(allow(before_.rlim_cur));
  writer.write_line("there is room again");
  EXPECT_EQ(writer.dropped(), 2u) << "a line that comes when there is room is not lost";
  EXPECT_EQ(watch.look(writer), LossWatch::Change::kEnded);
  EXPECT_EQ(watch.lost(), 2u);
  expected += "there is room again\n";
  EXPECT_TRUE(content() == expected);
}

TEST_F(RecordWriterToFile, AFileDoesNotEndInsideARecord) {
  RecordWriter writer(fd_);
  allow(150);
  writer.write_line(number_line(0));
  writer.write_line(number_line(1));
  EXPECT_EQ(content().size(), 150u);
  lseek(fd_, 0, SEEK_END);
  writer.finish();
  EXPECT_EQ(content(), number_line(0) + "\n");
  EXPECT_EQ(writer.lost_on_disk(), 1u);
}

TEST(RecordWriter, WhoOpensThePipeAgainReadsOn) {
  signal(SIGPIPE, SIG_IGN);
  const std::string path = testing::TempDir() + "lattice-fifo-" + std::to_string(getpid());
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  int reader = open(path.c_str(), O_RDONLY | O_NONBLOCK);
  const int end = open(path.c_str(), O_WRONLY);
  RecordWriter writer(end);
  EXPECT_TRUE(writer.has_reader());
  close(reader);
  EXPECT_FALSE(writer.has_reader());
  writer.write_line("lost");
  EXPECT_EQ(writer.dropped(), 1u);
  reader = open(path.c_str(), O_RDONLY | O_NONBLOCK);
  EXPECT_TRUE(writer.has_reader());
  writer.write_line("read");
  char buffer[16];
  ASSERT_EQ(read(reader, buffer, sizeof buffer), 5);
  EXPECT_EQ(std::string(buffer, 5), "read\n");
  close(reader);
  close(end);
  unlink(path.c_str());
}

}  // namespace
}  // namespace app
