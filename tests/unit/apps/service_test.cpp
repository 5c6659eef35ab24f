// The game server as an operator meets it: the admin port, signals, systemd. Starts the real program.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "admin_visit.h"
#include "dev_issuer.h"
#include "hex_list.h"
#include "process.h"
#include "toml_file.h"

namespace app {
namespace {

TEST(HexList, ReadsEntriesAndNamesTheLineThatIsWrong) {
  const std::string path = testing::TempDir() + "hex_list_" + std::to_string(getpid());
  std::vector<std::array<uint8_t, 2>> list;
  ASSERT_TRUE(write_whole_file(path, "# players\n0a0b  # Ann\n\n  FFfe\r\n", 0600));
  EXPECT_EQ(read_hex_list(path, list), "");
  EXPECT_EQ(list, (std::vector<std::array<uint8_t, 2>>{{0x0a, 0x0b}, {0xff, 0xfe}}));
  ASSERT_TRUE(write_whole_file(path, "0a0b\n0a0\n", 0600));
  EXPECT_EQ(read_hex_list(path, list), path + ":2: not 4 hexadecimal digits. Correct the line.");
  unlink(path.c_str());
  EXPECT_TRUE(has(read_hex_list(path, list), "Cannot read " + path));
  EXPECT_TRUE(has(read_hex_list("/tmp", list), "/tmp is not a file"));
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);  // Reading it would wait for a writer.
  EXPECT_TRUE(has(read_hex_list(path, list), path + " is not a file"));
  unlink(path.c_str());
}

// What an operator may be made to name: nothing of it is waited for, swallowed or quoted.
TEST(ReadFile, TakesFilesOfABoundedLengthOnly) {
  const std::string path = testing::TempDir() + "read_file_" + std::to_string(getpid());
  std::string text;
  ASSERT_TRUE(write_whole_file(path, "0123456789", 0600));
  EXPECT_EQ(read_file(path, 10, text), "");
  EXPECT_EQ(text, "0123456789");
  EXPECT_EQ(read_file(path, 9, text), path + " has more than 9 bytes. Give another file.");
  EXPECT_EQ(text, "");
  ASSERT_EQ(truncate(path.c_str(), 1ll << 40), 0);  // a terabyte of nothing
  EXPECT_TRUE(has(read_file(path, 1 << 20, text), "has more than 1048576 bytes"));
  std::vector<std::array<uint8_t, 2>> list;
  EXPECT_TRUE(has(read_hex_list(path, list), "has more than"));
  EXPECT_TRUE(has(read_toml(path).error, "has more than"));
  EXPECT_TRUE(has(read_file("/dev/zero", 10, text), "is not a file"));
  unlink(path.c_str());
}

TEST(ReadToml, RefusesKeysThatAreTooDeep) {
  const std::string path = testing::TempDir() + "deep_" + std::to_string(getpid());
  std::string deep = "a";
  for (int i = 0; i < 100'000; ++i) deep += ".a";
  for (const std::string& content : {deep + "=1\n", "[" + deep + "]\n", "x = " + deep + "\n"}) {
    ASSERT_TRUE(write_whole_file(path, content, 0600));
    EXPECT_EQ(read_toml(path).error, path + ":1: a line of more than 1024 bytes. Correct the line.");
  }
  ASSERT_TRUE(write_whole_file(path, deep.substr(0, 1001) + "=1\n", 0600));
  EXPECT_EQ(read_toml(path).error, "");
  unlink(path.c_str());
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);  // Reading it would wait for a writer.
  EXPECT_TRUE(has(read_toml(path).error, path + " is not a file"));
  unlink(path.c_str());
}

// ---- The program

class GameServerProgram : public testing::Test {
 protected:
  GameServerProgram() : folder_(testing::TempDir() + "lattice-service-XXXXXX") {
    EXPECT_NE(mkdtemp(folder_.data()), nullptr);
  }
  ~GameServerProgram() override {
    for (const pid_t pid : running_) {
      kill(pid, SIGKILL);
      waitpid(pid, nullptr, 0);
    }
    std::filesystem::remove_all(folder_);
  }
  pid_t run(const char* program, std::vector<std::string> words, const std::string& log) {
    words.insert(words.begin(), program);
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    const pid_t pid = fork();
    if (pid == 0) {
      const int fd = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      dup2(fd, STDERR_FILENO);
      dup2(fd, STDOUT_FILENO);
      execv(program, pointers.data());
      _exit(127);
    }
    running_.insert(pid);
    return pid;
  }
  void start(std::vector<std::string> more = {}) {
    std::vector<std::string> words = {"--bind", "127.0.0.1:0", "--data-dir", folder_, "--parcels", "0"};
    words.insert(words.end(), more.begin(), more.end());
    server_ = run(LATTICE_GAMESERVER, words, log_path());
    ASSERT_TRUE(eventually([this] { return read_server_note(folder_, note_).empty(); })) << log();
  }
  pid_t bot(double seconds, int seed = 1) {
    return run(LATTICE_CLIENT,
               {"--data-dir", folder_, "--bot", "--seconds", std::to_string(seconds), "--seed",
                std::to_string(seed)},
               folder_ + "/bot" + std::to_string(seed));
  }
  int wait_for(pid_t pid) {
    int status = 0;
    EXPECT_TRUE(eventually([&] { return waitpid(pid, &status, WNOHANG) == pid; })) << log();
    running_.erase(pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  std::string log_path() const { return folder_ + "/log"; }
  std::string log() const {
    std::string text;
    read_whole_file(log_path(), text);
    return text;
  }
  bool log_will_have(const std::string& part) {
    return eventually([&] { return has(log(), part); });
  }

  std::string folder_;
  pid_t server_ = -1;
  ServerNote note_;
  std::set<pid_t> running_;
};

/// The names in the table of the operator's guide.
std::set<std::string> documented_names() {
  std::string text;
  EXPECT_TRUE(read_whole_file(LATTICE_OPERATE_GUIDE, text));
  std::set<std::string> names;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| `lattice_") && !line.starts_with("| `process_")) continue;
    names.insert(line.substr(3, line.find_first_of("`{", 3) - 3));
  }
  return names;
}

TEST_F(GameServerProgram, ItsFiguresAreThoseOfTheGuide) {
  ASSERT_NO_FATAL_FAILURE(start());
  EXPECT_EQ(wait_for(bot(1)), 0);
  std::string text;
  ASSERT_TRUE(eventually([&] {
    text = get(note_.admin, "/metrics");
    return has(text, "\nlattice_connect_total 1\n") &&
           has(text, "lattice_disconnect_total{reason=\"requested\"} 1");
  })) << text;
  std::set<std::string> names;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# TYPE ")) names.insert(line.substr(7, line.find(' ', 7) - 7));
  }
  EXPECT_EQ(names, documented_names());
  EXPECT_TRUE(has(text, "lattice_connect_refused_total{reason=\"token_expired\"} 0"));
  EXPECT_FALSE(has(text, "127.0.0.1")) << "no label names an address";
  EXPECT_TRUE(has(get(note_.admin, "/config"), "\"parcels\":{\"value\":\"0\",\"origin\":\"--parcels\"}"));
}

TEST_F(GameServerProgram, SighupReadsTheListAgainAndABadOneChangesNothing) {
  const std::string list = folder_ + "/players";
  ASSERT_TRUE(write_whole_file(list, "ff000000000000000000000000000000\n", 0600));
  ASSERT_NO_FATAL_FAILURE(start({"--admission-list", list}));
  EXPECT_NE(wait_for(bot(10, 1)), 0) << "it is not on the list";
  EXPECT_TRUE(has(log(), "player 01000000000000000000000000000000: server_policy_refused")) << log();
  ASSERT_TRUE(write_whole_file(list, "01000000000000000000000000000000\n", 0600));
  kill(server_, SIGHUP);
  ASSERT_TRUE(log_will_have("\"msg\":\"read again\"")) << log();
  EXPECT_EQ(wait_for(bot(1, 1)), 0) << log();
  ASSERT_TRUE(write_whole_file(list, "01\n", 0600));
  kill(server_, SIGHUP);
  ASSERT_TRUE(log_will_have("all stays as it was: " + list + ":1: not 32 hexadecimal digits"));
  EXPECT_EQ(wait_for(bot(1, 1)), 0) << log();
  kill(server_, SIGUSR1);
  EXPECT_TRUE(log_will_have("\"cat\":\"statistics\"")) << log();
  kill(server_, SIGTERM);
  EXPECT_EQ(wait_for(server_), 0);
}

TEST_F(GameServerProgram, WhoIsStruckOffTheListIsSentAway) {
  const std::string list = folder_ + "/players";
  ASSERT_TRUE(
      write_whole_file(list, "01000000000000000000000000000000\n02000000000000000000000000000000\n", 0600));
  ASSERT_NO_FATAL_FAILURE(start({"--admission-list", list}));
  const pid_t stays = bot(60, 1), goes = bot(60, 2);
  ASSERT_TRUE(eventually([this] { return has(get(note_.admin, "/metrics"), "\nlattice_players 2\n"); }))
      << log();
  ASSERT_TRUE(write_whole_file(list, "01000000000000000000000000000000\n", 0600));
  kill(server_, SIGHUP);
  ASSERT_TRUE(log_will_have("\"reason\":\"kicked\",\"text\":\"not on the admission list\"")) << log();
  EXPECT_TRUE(has(log(), "\"admitted\":\"1\"")) << log();
  wait_for(goes);
  EXPECT_EQ(waitpid(stays, nullptr, WNOHANG), 0) << "who is listed plays on";
}

TEST_F(GameServerProgram, APlayerHasOnePlace) {
  ASSERT_NO_FATAL_FAILURE(start());
  const pid_t first = bot(60, 1);
  ASSERT_TRUE(log_will_have("\"msg\":\"connected\"")) << log();
  const pid_t again = bot(60, 1);
  ASSERT_TRUE(log_will_have("\"text\":\"the player joined again\"")) << log();
  wait_for(first);
  EXPECT_EQ(waitpid(again, nullptr, WNOHANG), 0);
}

TEST_F(GameServerProgram, WithoutStandardDescriptorsTheLogGoesNowhereElse) {
  const std::string program = std::string("exec ") + LATTICE_GAMESERVER +
                              " --bind 127.0.0.1:0 --parcels 0 --data-dir " + folder_ + " <&- >&- 2>&-";
  run("/bin/sh", {"-c", program}, log_path());
  ASSERT_TRUE(eventually([this] { return read_server_note(folder_, note_).empty(); }));
  EXPECT_EQ(wait_for(bot(1)), 0);
  std::string lock;
  ASSERT_TRUE(read_whole_file(folder_ + "/server.lock", lock));
  EXPECT_TRUE(lock.starts_with("process ") && lock.find('{') == std::string::npos) << lock;
}

TEST_F(GameServerProgram, DebugSaysWhatAConnectionDoes) {
  ASSERT_NO_FATAL_FAILURE(start({"--log-level", "debug"}));
  bot(60);
  for (const char* line :
       {"peer 2 (connection ", "): largest datagram", "): has the world", "): congestion\",\"phase\":\""}) {
    EXPECT_TRUE(log_will_have(line)) << line << " is not in\n" << log();
  }
}

TEST_F(GameServerProgram, ADrainWaitsForPlayersAndLetsNobodyIn) {
  ASSERT_NO_FATAL_FAILURE(start({"--drain-s", "60"}));
  const pid_t player = bot(3, 1);
  ASSERT_TRUE(log_will_have("\"msg\":\"connected\"")) << log();
  kill(server_, SIGTERM);
  ASSERT_TRUE(log_will_have("draining")) << log();
  EXPECT_TRUE(has(get(note_.admin, "/ready"), "it drains"));
  EXPECT_TRUE(has(get(note_.admin, "/live"), "200 OK"));
  EXPECT_NE(wait_for(bot(10, 2)), 0) << "nobody is let in";
  EXPECT_TRUE(has(log(), "server_policy_refused: the server is shutting down")) << log();
  EXPECT_TRUE(eventually([this] { return has(get(note_.admin, "/metrics"), "\nlattice_draining 1\n"); }));
  EXPECT_EQ(wait_for(player), 0) << "who plays plays on";
  EXPECT_EQ(wait_for(server_), 0) << "with the last player the server ends";
}

TEST_F(GameServerProgram, TheSecondSignalEndsADrainWithAGoodbye) {
  ASSERT_NO_FATAL_FAILURE(start({"--drain-s", "60"}));
  const pid_t player = bot(60, 1);
  ASSERT_TRUE(log_will_have("\"msg\":\"connected\"")) << log();
  kill(server_, SIGTERM);
  ASSERT_TRUE(log_will_have("draining")) << log();
  kill(server_, SIGTERM);
  EXPECT_EQ(wait_for(server_), 0);
  EXPECT_EQ(wait_for(player), 0);
  std::string said;
  ASSERT_TRUE(read_whole_file(folder_ + "/bot1", said));
  EXPECT_TRUE(has(said, "host_left")) << said;
}

TEST_F(GameServerProgram, NoSignalEndsItWithoutAGoodbye) {
  for (const int number : {SIGQUIT, SIGUSR2, SIGALRM, SIGPWR, SIGXCPU, SIGIO, SIGRTMIN + 3}) {
    ASSERT_NO_FATAL_FAILURE(start());
    const pid_t player = bot(60, 1);
    ASSERT_TRUE(log_will_have("\"msg\":\"connected\"")) << log();
    kill(server_, number);
    EXPECT_EQ(wait_for(server_), 0) << number;
    EXPECT_EQ(wait_for(player), 0) << number;
    std::string said;
    ASSERT_TRUE(read_whole_file(folder_ + "/bot1", said));
    EXPECT_TRUE(has(said, "host_left")) << said;
  }
}

TEST_F(GameServerProgram, SystemdHearsThatItIsReadyThatItWorksAndThatItStops) {
  const std::string path = folder_ + "/notify";
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  ASSERT_LT(path.size(), sizeof address.sun_path);
  path.copy(address.sun_path, path.size());
  ASSERT_EQ(bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  setenv("NOTIFY_SOCKET", path.c_str(), 1);
  setenv("WATCHDOG_USEC", "300000", 1);
  start();
  unsetenv("NOTIFY_SOCKET");
  unsetenv("WATCHDOG_USEC");
  std::string heard;
  const auto hears = [&](const char* word) {
    return eventually([&] {
      char buffer[512];
      for (ssize_t got; (got = recv(fd, buffer, sizeof buffer, 0)) > 0;) heard.append(buffer, size_t(got));
      return has(heard, word);
    });
  };
  EXPECT_TRUE(hears("READY=1")) << heard;
  EXPECT_TRUE(hears("WATCHDOG=1WATCHDOG=1")) << heard;
  kill(server_, SIGTERM);
  EXPECT_TRUE(hears("STOPPING=1")) << heard;
  EXPECT_EQ(wait_for(server_), 0);
  close(fd);
}

}  // namespace
}  // namespace app
