#include "server_identity.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <barrier>
#include <filesystem>
#include <thread>
#include <vector>

#include "process.h"
#include "text_codec.h"

namespace app {
namespace {

class ServerIdentityFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "server_identity_XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    dir_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }
  std::string dir_;
};

TEST_F(ServerIdentityFile, IsMadeOnceIsPrivateAndReadsBack) {
  const std::string path = identity_path(dir_);
  ServerIdentity made, again, read;
  EXPECT_NE(load_identity(path, read).find("Cannot read"), std::string::npos);
  ASSERT_EQ(load_or_make_identity(path, made), "");
  ASSERT_EQ(load_or_make_identity(path, again), "");
  ASSERT_EQ(load_identity(path, read), "");
  EXPECT_EQ(to_hex(made.bytes()), to_hex(again.bytes()));
  EXPECT_EQ(to_hex(made.bytes()), to_hex(read.bytes()));
  struct stat status {};
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(ServerIdentityFile, ThatOthersMayReadIsRefused) {
  const std::string path = identity_path(dir_);
  ServerIdentity identity;
  ASSERT_EQ(load_or_make_identity(path, identity), "");
  ASSERT_EQ(chmod(path.c_str(), 0640), 0);
  EXPECT_NE(load_identity(path, identity).find("chmod 600"), std::string::npos);
}

TEST_F(ServerIdentityFile, ThatIsDamagedIsRefusedAndNotReplaced) {
  const std::string path = identity_path(dir_);
  for (const std::string& text :
       {std::string(), std::string(127, 'a'), std::string(129, 'a'), std::string(128, 'g')}) {
    ASSERT_TRUE(write_whole_file(path, text, 0600));
    ServerIdentity identity;
    const std::string said = load_or_make_identity(path, identity);
    EXPECT_NE(said.find("128 hexadecimal digits"), std::string::npos) << said;
    std::string after;
    ASSERT_TRUE(read_whole_file(path, after));
    EXPECT_EQ(after, text);
  }
}

// An identity of which one digit is wrong can be repaired; one that was removed cannot.
TEST_F(ServerIdentityFile, WhatIsDamagedIsNeverToBeRemoved) {
  const std::string path = identity_path(dir_);
  for (const std::string& text : {std::string(128, 'g'), std::string(128, '0')}) {
    ASSERT_TRUE(write_whole_file(path, text, 0600));
    ServerIdentity identity;
    const std::string said = load_identity(path, identity);
    EXPECT_EQ(said.find("emove"), std::string::npos) << said;
    EXPECT_EQ(said.find("elete"), std::string::npos) << said;
    EXPECT_NE(said.find("Put a copy of it back"), std::string::npos) << said;
    EXPECT_NE(said.find("move " + path + " aside"), std::string::npos) << said;
  }
}

TEST_F(ServerIdentityFile, OfZerosIsRefusedInASentence) {
  const std::string path = identity_path(dir_);
  ASSERT_TRUE(write_whole_file(path, std::string(128, '0') + "\n", 0600));
  ServerIdentity identity;
  EXPECT_NE(load_identity(path, identity).find("a key of zeros, which everybody knows"), std::string::npos);
}

TEST_F(ServerIdentityFile, ThatIsNoFileIsRefusedWithoutWaiting) {
  const std::string path = identity_path(dir_);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  ServerIdentity identity;
  EXPECT_NE(load_identity(path, identity).find("is not a file"), std::string::npos);
}

TEST_F(ServerIdentityFile, MadeBySeveralAtOnceIsOne) {
  const std::string path = identity_path(dir_);
  for (int round = 0; round < 50; ++round) {
    unlink(path.c_str());
    std::array<std::string, 6> identities;
    std::barrier start(std::ssize(identities));
    {
      std::vector<std::jthread> processes;
      for (std::string& own : identities) {
        processes.emplace_back([&] {
          ServerIdentity identity;
          start.arrive_and_wait();
          const std::string problem = load_or_make_identity(path, identity);
          own = problem.empty() ? to_hex(identity.bytes()) : problem;
        });
      }
    }
    for (const std::string& own : identities) ASSERT_EQ(own, identities[0]) << "round " << round;
    ASSERT_EQ(identities[0].size(), 128u) << identities[0];
  }
  size_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(dir_)) ++files;
  EXPECT_EQ(files, 1u) << "a temporary file is left";
}

TEST_F(ServerIdentityFile, WithoutItsFolderSaysSo) {
  ServerIdentity identity;
  EXPECT_NE(load_or_make_identity(dir_ + "/none/server.key", identity).find("Cannot write"),
            std::string::npos);
}

TEST_F(ServerIdentityFile, IsOptionalInTheDataFolderAndNeededWhereItWasNamed) {
  std::optional<ServerIdentity> found;
  EXPECT_EQ(find_identity("", dir_, found), "");
  EXPECT_FALSE(found);
  EXPECT_NE(find_identity(dir_ + "/elsewhere", dir_, found), "");
  ServerIdentity made;
  ASSERT_EQ(load_or_make_identity(identity_path(dir_), made), "");
  found.reset();
  EXPECT_EQ(find_identity("", dir_, found), "");
  ASSERT_TRUE(found);
  EXPECT_EQ(to_hex(found->bytes()), to_hex(made.bytes()));
}

}  // namespace
}  // namespace app
