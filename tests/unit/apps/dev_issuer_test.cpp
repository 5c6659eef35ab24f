#include "dev_issuer.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <barrier>
#include <thread>
#include <vector>

#include "process.h"
#include "text_codec.h"

namespace app {
namespace {

class DevIssuer : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "dev_issuer_XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
    dir_ = name + "/data";
  }
  void TearDown() override {
    for (const char* file : {"/issuer.key", "/issuer.pub", "/server.json"}) unlink((dir_ + file).c_str());
    rmdir(dir_.c_str());
    rmdir(root_.c_str());
  }
  std::string root_, dir_;
};

TEST_F(DevIssuer, MakesAKeyOnceAndKeepsItPrivate) {
  IssuerKeys made, read;
  EXPECT_NE(load_issuer(dir_, made), "");
  ASSERT_EQ(load_or_make_issuer(dir_, made), "");
  ASSERT_EQ(load_or_make_issuer(dir_, read), "");
  EXPECT_EQ(to_hex(read.seed.bytes()), to_hex(made.seed.bytes()));
  EXPECT_EQ(read.public_key, made.public_key);
  struct stat info {};
  ASSERT_EQ(stat((dir_ + "/issuer.key").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  std::string text;
  ASSERT_TRUE(read_whole_file(dir_ + "/issuer.pub", text));
  EXPECT_EQ(text, to_hex(made.public_key) + "\n");
}

TEST_F(DevIssuer, RefusesADamagedKeyInsteadOfReplacingIt) {
  ASSERT_TRUE(make_folder(dir_));
  ASSERT_TRUE(write_whole_file(dir_ + "/issuer.key", "12", 0600));
  IssuerKeys keys;
  EXPECT_NE(load_or_make_issuer(dir_, keys).find("issuer.key"), std::string::npos);
}

TEST_F(DevIssuer, RefusesANoteWhoseProcessIdIsNoWholeNumber) {
  ASSERT_TRUE(make_folder(dir_));
  const std::string start =
      R"({"address":"a","server_public_key":")" + std::string(64, '5') + R"(","schema_id":"1","pid":)";
  ServerNote note;
  ASSERT_TRUE(write_whole_file(dir_ + "/server.json", start + "77}", 0644));
  EXPECT_EQ(read_server_note(dir_, note), "");
  for (const char* pid : {"1.5", "1e300", "-1", "18446744073709551615", "\"77\""}) {
    ASSERT_TRUE(write_whole_file(dir_ + "/server.json", start + pid + "}", 0644));
    EXPECT_NE(read_server_note(dir_, note).find("damaged"), std::string::npos) << pid;
  }
}

TEST_F(DevIssuer, RefusesAKeyThatOthersMayRead) {
  IssuerKeys keys;
  ASSERT_EQ(load_or_make_issuer(dir_, keys), "");
  const std::string path = dir_ + "/issuer.key";
  for (const mode_t mode : {0640u, 0604u, 0620u}) {
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
    EXPECT_NE(load_issuer(dir_, keys).find("Run 'chmod 600 " + path + "'"), std::string::npos);
    EXPECT_NE(load_or_make_issuer(dir_, keys).find("chmod 600"), std::string::npos);
  }
}

TEST_F(DevIssuer, RefusesAKeyOfZerosInASentence) {
  ASSERT_TRUE(make_folder(dir_));
  ASSERT_TRUE(write_whole_file(dir_ + "/issuer.key", std::string(64, '0'), 0600));
  IssuerKeys keys;
  EXPECT_NE(load_issuer(dir_, keys).find("a key of zeros"), std::string::npos);
}

TEST_F(DevIssuer, TellsThePublicKeyAgainWhereItIsMissing) {
  IssuerKeys keys;
  ASSERT_EQ(load_or_make_issuer(dir_, keys), "");
  unlink((dir_ + "/issuer.pub").c_str());
  ASSERT_EQ(load_or_make_issuer(dir_, keys), "");
  std::string text;
  EXPECT_TRUE(read_whole_file(dir_ + "/issuer.pub", text));
}

TEST_F(DevIssuer, MadeBySeveralServersAtOnceIsOne) {
  for (int round = 0; round < 50; ++round) {
    for (const char* file : {"/issuer.key", "/issuer.pub"}) unlink((dir_ + file).c_str());
    std::array<std::string, 6> issuers;
    std::barrier start(std::ssize(issuers));
    {
      std::vector<std::jthread> servers;
      for (std::string& own : issuers) {
        servers.emplace_back([&] {
          IssuerKeys keys;
          start.arrive_and_wait();
          const std::string problem = load_or_make_issuer(dir_, keys);
          own = problem.empty() ? to_hex(keys.seed.bytes()) + to_hex(keys.public_key) : problem;
        });
      }
    }
    for (const std::string& own : issuers) ASSERT_EQ(own, issuers[0]) << "round " << round;
    ASSERT_EQ(issuers[0].size(), 128u) << issuers[0];
  }
}

TEST_F(DevIssuer, ServerNoteRoundTrips) {
  ASSERT_TRUE(make_folder(dir_));
  ServerNote note, back;
  note.address = "127.0.0.1:5";
  note.server_public_key.fill(0xAB);
  note.schema_id = 18446744073709551615u;
  note.pid = 77;
  EXPECT_NE(read_server_note(dir_, back), "");
  ASSERT_EQ(write_server_note(dir_, note), "");
  ASSERT_EQ(read_server_note(dir_, back), "");
  EXPECT_EQ(back.address, note.address);
  EXPECT_EQ(back.server_public_key, note.server_public_key);
  EXPECT_EQ(back.schema_id, note.schema_id);
  EXPECT_EQ(back.pid, note.pid);
  ASSERT_TRUE(write_whole_file(dir_ + "/server.json", "{\"address\":5}", 0644));
  EXPECT_NE(read_server_note(dir_, back), "");
}

}  // namespace
}  // namespace app
