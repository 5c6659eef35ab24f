#include "platform/private_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace lattice::platform {
namespace {

namespace fs = std::filesystem;

class PrivateFile : public testing::Test {
 protected:
  void SetUp() override {
    char folder[] = "/tmp/lattice-private-file-XXXXXX";
    ASSERT_NE(mkdtemp(folder), nullptr);
    folder_ = folder;
    const char* runtime = std::getenv("XDG_RUNTIME_DIR");
    if (runtime != nullptr) earlier_ = runtime;
    setenv("XDG_RUNTIME_DIR", folder, 1);
  }
  void TearDown() override {
    if (earlier_.empty()) {
      unsetenv("XDG_RUNTIME_DIR");
    } else {
      setenv("XDG_RUNTIME_DIR", earlier_.c_str(), 1);
    }
    fs::remove_all(folder_);
  }
  static std::span<const uint8_t> bytes_of(const std::string& text) {
    return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
  }
  std::string path() const { return folder_ + "/file"; }
  PrivateFileError read(const std::string& path, std::string& out) const {
    std::array<uint8_t, 64> buffer;
    size_t bytes = 0;
    const PrivateFileResult result = read_private_file(path.c_str(), buffer, &bytes);
    out.assign(reinterpret_cast<const char*>(buffer.data()), bytes);
    return result.error;
  }

  std::string folder_;
  std::string earlier_;
};

TEST_F(PrivateFile, IsWrittenReadableByItsOwnerOnlyAndReadBack) {
  umask(0);
  ASSERT_EQ(write_private_file(path().c_str(), bytes_of("one")).error, PrivateFileError::kNone);
  ASSERT_EQ(write_private_file(path().c_str(), bytes_of("two")).error, PrivateFileError::kNone);
  struct stat status {};
  ASSERT_EQ(stat(path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  std::string text;
  EXPECT_EQ(read(path(), text), PrivateFileError::kNone);
  EXPECT_EQ(text, "two");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1)
      << "a temporary was left";
  remove_private_file(path().c_str());
  EXPECT_EQ(read(path(), text), PrivateFileError::kNotFound);
  remove_private_file(path().c_str());
}

TEST_F(PrivateFile, ThatOthersMayReadIsRefused) {
  for (const mode_t mode : {0640u, 0604u, 0620u, 0601u}) {
    ASSERT_EQ(write_private_file(path().c_str(), bytes_of("key")).error, PrivateFileError::kNone);
    ASSERT_EQ(chmod(path().c_str(), mode), 0);
    std::string text;
    EXPECT_EQ(read(path(), text), PrivateFileError::kNotPrivate) << std::oct << mode;
    EXPECT_EQ(text, "");
  }
}

TEST_F(PrivateFile, OfAnotherUserIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "needs a file of another user, which only root can make";
  ASSERT_EQ(write_private_file(path().c_str(), bytes_of("key")).error, PrivateFileError::kNone);
  ASSERT_EQ(chown(path().c_str(), 12345, 12345), 0);
  std::string text;
  EXPECT_EQ(read(path(), text), PrivateFileError::kNotPrivate);
}

TEST_F(PrivateFile, ALinkIsNeitherReadNorWrittenThrough) {
  const std::string target = folder_ + "/target";
  ASSERT_EQ(write_private_file(target.c_str(), bytes_of("target")).error, PrivateFileError::kNone);
  ASSERT_EQ(symlink(target.c_str(), path().c_str()), 0);
  std::string text;
  EXPECT_EQ(read(path(), text), PrivateFileError::kNotPrivate);
  ASSERT_EQ(write_private_file(path().c_str(), bytes_of("new")).error, PrivateFileError::kNone);
  EXPECT_EQ(read(target, text), PrivateFileError::kNone);
  EXPECT_EQ(text, "target");
  EXPECT_EQ(read(path(), text), PrivateFileError::kNone);
  EXPECT_EQ(text, "new");
}

TEST_F(PrivateFile, APipeAndAFolderAreRefusedWithoutWaiting) {
  ASSERT_EQ(mkfifo(path().c_str(), 0600), 0);
  std::string text;
  EXPECT_EQ(read(path(), text), PrivateFileError::kNotPrivate);
  EXPECT_EQ(read(folder_, text), PrivateFileError::kNotPrivate);
}

TEST_F(PrivateFile, OfTheBuffersSizeIsReadAndOneByteMoreIsRefused) {
  std::string text;
  ASSERT_EQ(write_private_file(path().c_str(), bytes_of(std::string(64, 'x'))).error,
            PrivateFileError::kNone);
  EXPECT_EQ(read(path(), text), PrivateFileError::kNone);
  EXPECT_EQ(text.size(), 64u);
  ASSERT_EQ(write_private_file(path().c_str(), bytes_of(std::string(65, 'x'))).error,
            PrivateFileError::kNone);
  EXPECT_EQ(read(path(), text), PrivateFileError::kTooLarge);
}

TEST_F(PrivateFile, InAFolderThatIsNotThereSaysSo) {
  EXPECT_EQ(write_private_file((folder_ + "/none/file").c_str(), bytes_of("x")).error,
            PrivateFileError::kNotFound);
}

TEST_F(PrivateFile, TheFolderIsMadePrivateOnDemand) {
  umask(0);
  char path[kPrivatePathBytes];
  ASSERT_EQ(private_path("name", false, path).error, PrivateFileError::kNone);
  EXPECT_EQ(std::string(path), folder_ + "/lattice/name");
  EXPECT_FALSE(fs::exists(folder_ + "/lattice"));
  ASSERT_EQ(private_path("name", true, path).error, PrivateFileError::kNone);
  ASSERT_EQ(private_path("name", true, path).error, PrivateFileError::kNone) << "a second time";
  struct stat status {};
  ASSERT_EQ(stat((folder_ + "/lattice").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
}

TEST_F(PrivateFile, AFolderThatOthersMayEnterIsRefused) {
  ASSERT_EQ(mkdir((folder_ + "/lattice").c_str(), 0700), 0);
  ASSERT_EQ(chmod((folder_ + "/lattice").c_str(), 0755), 0);
  char path[kPrivatePathBytes];
  EXPECT_EQ(private_path("name", true, path).error, PrivateFileError::kNotPrivate);
  EXPECT_EQ(private_path("name", false, path).error, PrivateFileError::kNotPrivate);
  ASSERT_EQ(rmdir((folder_ + "/lattice").c_str()), 0);
  ASSERT_EQ(symlink("/tmp", (folder_ + "/lattice").c_str()), 0);
  EXPECT_EQ(private_path("name", true, path).error, PrivateFileError::kNotPrivate);
  EXPECT_EQ(private_path("name", false, path).error, PrivateFileError::kNotPrivate);
}

TEST_F(PrivateFile, TooLongAPathIsRefused) {
  char path[kPrivatePathBytes];
  EXPECT_EQ(private_path(std::string(300, 'n').c_str(), false, path).error, PrivateFileError::kTooLarge);
  setenv("XDG_RUNTIME_DIR", ("/" + std::string(300, 'd')).c_str(), 1);
  EXPECT_EQ(private_path("name", false, path).error, PrivateFileError::kTooLarge);
}

TEST_F(PrivateFile, WithoutARuntimeFolderThereIsStillOneOfThisUser) {
  unsetenv("XDG_RUNTIME_DIR");
  char path[kPrivatePathBytes];
  ASSERT_EQ(private_path("name", false, path).error, PrivateFileError::kNone);
  const std::string user = std::to_string(geteuid());
  const std::string expected = fs::exists("/run/user/" + user) ? "/run/user/" + user + "/lattice/name"
                                                               : "/tmp/lattice-" + user + "/name";
  EXPECT_EQ(std::string(path), expected);
  setenv("XDG_RUNTIME_DIR", "relative", 1);
  ASSERT_EQ(private_path("name", false, path).error, PrivateFileError::kNone);
  EXPECT_EQ(std::string(path), expected) << "a relative path is not believed";
}

}  // namespace
}  // namespace lattice::platform
