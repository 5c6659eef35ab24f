// The file of captures, byte by byte.
#include "pcapng_writer.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <vector>

#include "process.h"
#include "text_codec.h"

namespace app {
namespace {

class PcapngWriterTest : public testing::Test {
 protected:
  PcapngWriterTest() : path_(testing::TempDir() + "lattice-" + std::to_string(getpid()) + ".pcapng") {}
  ~PcapngWriterTest() override { std::remove(path_.c_str()); }

  std::string written_hex() {
    EXPECT_TRUE(writer_.close());
    std::string content;
    EXPECT_TRUE(read_whole_file(path_, content));
    return to_hex({reinterpret_cast<const uint8_t*>(content.data()), content.size()});
  }
  static PcapngAddress ipv4(uint8_t last, uint16_t port) {
    return {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 192, 0, 2, last}, port};
  }

  std::string path_;
  PcapngWriter writer_;
};

constexpr const char* kSectionAndInterface =
    "0a0d0d0a1c0000004d3c2b1a01000000ffffffffffffffff1c000000"
    "0100000014000000fc0000000000000014000000";

TEST_F(PcapngWriterTest, NothingCaptured) {
  ASSERT_EQ(writer_.open(path_), "");
  EXPECT_EQ(written_hex(), kSectionAndInterface);
}

TEST_F(PcapngWriterTest, OneDatagramOverIpv4) {
  ASSERT_EQ(writer_.open(path_), "");
  const uint8_t data[] = {0xde, 0xad, 0xbe};
  writer_.write(0x0102030405060708, ipv4(1, 40000), ipv4(7, 27015), "lattice", data);
  EXPECT_EQ(writer_.datagram_count(), 1u);
  EXPECT_EQ(written_hex(), std::string(kSectionAndInterface) +
                               "06000000"
                               "5c000000"
                               "00000000"
                               "04030201"
                               "08070605"
                               "3b000000"
                               "3b000000"
                               "000c0008"
                               "6c61747469636500"
                               "00140004"
                               "c0000201"
                               "00150004"
                               "c0000207"
                               "00180004"
                               "00000003"
                               "00190004"
                               "00009c40"
                               "001a0004"
                               "00006987"
                               "00000000"
                               "deadbe00"
                               "5c000000");
}

TEST_F(PcapngWriterTest, Ipv6AddressesHaveTagsOfTheirOwn) {
  ASSERT_EQ(writer_.open(path_), "");
  PcapngAddress loopback;
  loopback.ip[15] = 1;
  loopback.port = 5;
  writer_.write(0, loopback, ipv4(1, 6), "lattice_opened", {});
  const std::string hex = written_hex();
  EXPECT_NE(hex.find("00160010"
                     "00000000000000000000000000000001"),
            std::string::npos);
  EXPECT_NE(hex.find("00170010"
                     "00000000000000000000ffffc0000201"),
            std::string::npos);
}

TEST_F(PcapngWriterTest, ItIsPrivateFromItsFirstByte) {
  const mode_t mask = umask(0);
  const std::string said = writer_.open(path_);
  umask(mask);
  ASSERT_EQ(said, "");
  struct stat status {};
  ASSERT_EQ(stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(PcapngWriterTest, AnOlderFileKeepsItsContentAndTheNextNameIsTaken) {
  ASSERT_TRUE(write_whole_file(path_, "notes", 0644));
  ASSERT_EQ(writer_.open(path_), "");
  const std::string next = path_.substr(0, path_.rfind('.')) + "-2.pcapng";
  EXPECT_EQ(writer_.path(), next);
  std::string content;
  ASSERT_TRUE(read_whole_file(path_, content));
  EXPECT_EQ(content, "notes");
  std::remove(path_.c_str());
  path_ = next;  // removed with the test
  EXPECT_EQ(written_hex(), kSectionAndInterface);
}

TEST_F(PcapngWriterTest, WhatAFullDiskDidNotTakeIsToldAtTheNextDatagram) {
  signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit limit = before;
  limit.rlim_cur = 1000;
  ASSERT_EQ(writer_.open(path_), "");
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  const std::vector<uint8_t> data(1200, 7);
  uint64_t written = 0;
  while (writer_.look() != LossWatch::Change::kBegan) {
    writer_.write(written++, ipv4(1, 1), ipv4(2, 2), "lattice", data);
    ASSERT_LT(written, 5000u);
  }
  writer_.write(written++, ipv4(1, 1), ipv4(2, 2), "lattice", data);
  EXPECT_EQ(writer_.error(), EFBIG);
  EXPECT_EQ(writer_.look(), LossWatch::Change::kNone) << "it goes on";
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  writer_.flush();
  writer_.write(written++, ipv4(1, 1), ipv4(2, 2), "lattice", data);
  writer_.flush();
  EXPECT_EQ(writer_.look(), LossWatch::Change::kEnded);
  EXPECT_EQ(writer_.lost(), 2u);
  EXPECT_EQ(writer_.datagram_count(), written - 2);
  EXPECT_FALSE(writer_.close());
  std::string content;
  ASSERT_TRUE(read_whole_file(path_, content));
  EXPECT_NE(content.find("2 datagrams are missing before this one"), std::string::npos);
  // The file is whole: its blocks lead from one to the next and to its end.
  size_t at = 0, blocks = 0;
  while (at + 12 <= content.size()) {
    uint32_t bytes = 0;
    std::memcpy(&bytes, &content[at + 4], 4);
    ASSERT_GE(bytes, 12u);
    at += bytes;
    ++blocks;
  }
  EXPECT_EQ(at, content.size());
  EXPECT_EQ(blocks, 2 + written - 2);
}

TEST_F(PcapngWriterTest, AFolderThatDoesNotExistIsSaidAndADiskThatIsFullNoticed) {
  EXPECT_NE(writer_.open("/nowhere/at/all.pcapng").find("'/nowhere/at/all.pcapng'"), std::string::npos);
  ASSERT_EQ(writer_.open("/dev/full"), "");
  EXPECT_FALSE(writer_.close());
}

}  // namespace
}  // namespace app
