#include "server_identity.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

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
  ServerIdentity made{}, again{}, read{};
  EXPECT_NE(load_identity(path, read).find("Cannot read"), std::string::npos);
  ASSERT_EQ(load_or_make_identity(path, made), "");
  ASSERT_EQ(load_or_make_identity(path, again), "");
  ASSERT_EQ(load_identity(path, read), "");
  EXPECT_EQ(made, again);
  EXPECT_EQ(made, read);
  struct stat status {};
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(ServerIdentityFile, ThatOthersMayReadIsRefused) {
  const std::string path = identity_path(dir_);
  ServerIdentity identity{};
  ASSERT_EQ(load_or_make_identity(path, identity), "");
  ASSERT_EQ(chmod(path.c_str(), 0640), 0);
  EXPECT_NE(load_identity(path, identity).find("chmod 600"), std::string::npos);
}

TEST_F(ServerIdentityFile, ThatIsDamagedIsRefusedAndNotReplaced) {
  const std::string path = identity_path(dir_);
  for (const std::string& text :
       {std::string(), std::string(127, 'a'), std::string(129, 'a'), std::string(128, 'g')}) {
    ASSERT_TRUE(write_whole_file(path, text, 0600));
    ServerIdentity identity{};
    EXPECT_NE(load_or_make_identity(path, identity).find("128 hexadecimal digits"), std::string::npos)
        << text;
    std::string after;
    ASSERT_TRUE(read_whole_file(path, after));
    EXPECT_EQ(after, text);
  }
}

TEST_F(ServerIdentityFile, WithoutItsFolderSaysSo) {
  ServerIdentity identity{};
  EXPECT_NE(load_or_make_identity(dir_ + "/none/server.key", identity).find("Cannot write"),
            std::string::npos);
}

TEST_F(ServerIdentityFile, IsOptionalInTheDataFolderAndNeededWhereItWasNamed) {
  std::optional<ServerIdentity> found;
  EXPECT_EQ(find_identity("", dir_, found), "");
  EXPECT_FALSE(found);
  EXPECT_NE(find_identity(dir_ + "/elsewhere", dir_, found), "");
  ServerIdentity made{};
  ASSERT_EQ(load_or_make_identity(identity_path(dir_), made), "");
  found.reset();
  EXPECT_EQ(find_identity("", dir_, found), "");
  EXPECT_EQ(found, made);
}

}  // namespace
}  // namespace app
