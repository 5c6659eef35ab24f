#include "cast.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "exit_code.h"
#include "process.h"

namespace app {
namespace {

constexpr uint64_t kStartNs = 10'000'000'000;
constexpr uint64_t kEndNs = 1'500'000'000;
constexpr uint32_t kSparePlayers = 8;  // who may join from elsewhere
// The files that a second Ctrl-C removes. A regular end removes the whole folder.

/// The folder that holds all programs of the build, two levels above this program: …/apps.
std::string programs_dir() {
  char path[4096];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof path - 1);
  if (size <= 0) return ".";
  std::string dir(path, static_cast<size_t>(size));
  for (int up = 0; up < 2; ++up) dir.resize(dir.rfind('/'));
  return dir;
}

/// What an exit code of one of our programs means.
std::string meaning_of(int code) {
  const std::string number = " (exit code " + std::to_string(code) + ")";
  switch (code) {
    case kExitOk:
      return "it was asked to leave" + number;
    case kExitUnreachable:
      return "it had no answer from the server" + number;
    case kExitIncompatible:
      return "the server has another version or schema" + number;
    default:
      break;
  }
  if (code > 128) return "killed by signal " + std::to_string(code - 128) + number;
  return "its reason is in the terminal" + number;
}

template <class Range>
void wait_for(Range& children, uint64_t limit_ns) {
  const uint64_t until_ns = monotonic_ns() + limit_ns;
  for (Child* child : children) {
    while (child->running() && monotonic_ns() < until_ns) sleep_ns(5'000'000);
    child->signal(SIGKILL);
  }
}

}  // namespace

Cast::~Cast() {
  end();
}

std::string Cast::start(const CastConfig& config) {
  config_ = config;
  const char* parent = std::getenv("TMPDIR");
  std::string path = std::string(parent != nullptr ? parent : "/tmp") + "/lattice-demo-XXXXXX";
  if (mkdtemp(path.data()) == nullptr) {
    return "Cannot make a folder like " + path + ": " + std::strerror(errno) +
           ". Set TMPDIR to one that can be written.";
  }
  data_dir_ = path;
  ended_ = false;
  if (!remove_folder_at_end(data_dir_)) return std::string("Cannot start a process: ") + std::strerror(errno);
  if (std::string problem = start_server(config); !problem.empty()) return problem;
  return start_clients(config);
}

std::string Cast::start_server(const CastConfig& config) {
  std::vector<std::string> arguments = {
      "--bind", "127.0.0.1:0", "--data-dir", data_dir_, "--telemetry", "stdout", "--log-level",
      config.log_level, "--control", "stdio", "--telemetry-rate", std::to_string(config.report_rate_hz),
      // All clients connect from one address at once. With 400, the server lets 16 handshakes be half open. A
      // crowd joins a busy machine, where handshakes take longer.
      "--connects-per-s", config.crowd > 0 ? "2000" : "400",
      // A headless run shows no objects.
      "--telemetry-detail", config.players_are_bots ? "players" : "scene", "--max-players",
      std::to_string(kWatchedClients + config.bots + config.crowd + kSparePlayers)};
  if (!config.capture.empty()) arguments.insert(arguments.end(), {"--capture", config.capture});
  std::string problem =
      server_.start(programs_dir() + "/lattice-gameserver/lattice-gameserver", arguments, "");
  if (!problem.empty()) return problem;
  const uint64_t until_ns = monotonic_ns() + kStartNs;
  while (access((data_dir_ + "/server.json").c_str(), F_OK) != 0) {
    if (!server_.running()) return "The server did not start; its reason is above.";
    if (monotonic_ns() > until_ns)
      return "The server did not come up within 10 s. Is the machine overloaded?";
    sleep_ns(2'000'000);
  }
  return "";
}

std::string Cast::start_clients(const CastConfig& config) {
  const std::string program = programs_dir() + "/depot-client/depot-client";
  for (size_t i = 0; i < kWatchedClients; ++i) {
    std::vector<std::string> arguments = {"--data-dir",    data_dir_,
                                          "--control",     "stdio",
                                          "--seed",        std::to_string(1000 + i),
                                          "--log-level",   config.log_level,
                                          "--report-rate", std::to_string(config.report_rate_hz)};
    if (config.players_are_bots) arguments.emplace_back("--bot");
    std::string problem = players_[i].start(program, arguments, config.first_client_lines);
    if (!problem.empty()) return problem;
  }
  for (uint32_t i = 0; i < config.bots; ++i) {
    std::string problem = bots_.emplace_back().start(
        program,
        {"--data-dir", data_dir_, "--bot", "--seed", std::to_string(1 + i), "--log-level", config.log_level},
        "");
    if (!problem.empty()) return problem;
  }
  return "";
}

std::string Cast::start_crowd() {
  if (config_.crowd == 0) return "";
  // A bot at a time connects, fifty in a second.
  return crowd_.emplace_back().start(
      programs_dir() + "/depot-client/depot-client",
      {"--data-dir", data_dir_, "--bot", "--count", std::to_string(config_.crowd), "--seed", "5000",
       "--log-level", config_.log_level},
      "");
}

void Cast::listen(Watch& watch) {
  std::vector<std::string> lines;
  for (size_t i = 0; i < kWatchedClients; ++i) {
    players_[i].read_lines(lines);
    for (const std::string& line : lines) watch.client_line(i, line);
    lines.clear();
  }
  server_.read_lines(lines);
  for (const std::string& line : lines) watch.server_line(line);
}

std::string Cast::missing() {
  const auto gone = [](Child& child, const std::string& who) {
    return child.running() ? "" : who + " ended unexpectedly: " + meaning_of(child.exit_code()) + ".";
  };
  std::string text = gone(server_, "The server");
  for (size_t i = 0; i < kWatchedClients && text.empty(); ++i) {
    text = gone(players_[i], std::string("Client ") + kClientNames[i]);
  }
  for (size_t i = 0; i < bots_.size() && text.empty(); ++i)
    text = gone(bots_[i], "Bot " + std::to_string(i + 1));
  for (Child& crowd : crowd_) {
    if (text.empty()) text = gone(crowd, "The crowd");
  }
  return text;
}

void Cast::end() {
  if (ended_) return;
  ended_ = true;
  std::vector<Child*> clients;
  for (Child& child : players_) clients.push_back(&child);
  for (Child& child : bots_) clients.push_back(&child);
  for (Child& child : crowd_) clients.push_back(&child);
  for (Child* child : clients) child->signal(SIGTERM);
  wait_for(clients, kEndNs);
  std::vector<Child*> server = {&server_};
  server_.signal(SIGTERM);
  wait_for(server, kEndNs);
  std::error_code ignored;
  std::filesystem::remove_all(data_dir_, ignored);
}

}  // namespace app
