#include "settings.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "exit_code.h"
#include "process.h"

namespace app {
namespace {

constexpr SettingSpec kSettings[] = {
    {"bind", SettingKind::kText, "ADDRESS", "0.0.0.0:1", "where"},
    {"tick_rate", SettingKind::kInteger, "HZ", "60", "how often", 1, 240},
    {"share", SettingKind::kNumber, "X", "0.5", "how much", 0, 1},
    {"quiet", SettingKind::kSwitch, "", "", "say less"},
    {"once", SettingKind::kInteger, "N", "1", "this run only", 0, 9, SettingScope::kCommandLine},
};
constexpr ProgramSpec kProgram = {"prog", "A program.", "prog [options]", "  prog\n", "", kSettings, true};

struct Outcome {
  std::optional<int> exit;
  Settings settings;
  std::string out, err;
};

/// Loads with `arguments`, `environment` and, unless empty, a configuration file of this content.
Outcome load(std::vector<const char*> arguments, const std::string& file = "",
             const std::vector<std::pair<const char*, const char*>>& environment = {}) {
  static const std::string path = testing::TempDir() + "settings_test_" + std::to_string(getpid()) + ".toml";
  arguments.insert(arguments.begin(), "prog");
  if (!file.empty()) {
    EXPECT_TRUE(write_whole_file(path, file, 0600));
    arguments.insert(arguments.end(), {"--config", path.c_str()});
  }
  for (const auto& [name, value] : environment) setenv(name, value, 1);
  Outcome outcome;
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  outcome.exit = outcome.settings.load(kProgram, static_cast<int>(arguments.size()), arguments.data());
  outcome.out = testing::internal::GetCapturedStdout();
  outcome.err = testing::internal::GetCapturedStderr();
  for (const auto& [name, value] : environment) unsetenv(name);
  unlink(path.c_str());
  return outcome;
}

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

TEST(Settings, DefaultsHold) {
  const Outcome outcome = load({});
  ASSERT_EQ(outcome.exit, std::nullopt) << outcome.err;
  EXPECT_EQ(outcome.settings.text("bind"), "0.0.0.0:1");
  EXPECT_EQ(outcome.settings.integer("tick_rate"), 60);
  EXPECT_EQ(outcome.settings.number("share"), 0.5);
  EXPECT_FALSE(outcome.settings.is_on("quiet"));
  EXPECT_TRUE(outcome.settings.is_default("tick_rate"));
}

TEST(Settings, FlagBeatsEnvironmentBeatsFileBeatsDefault) {
  const std::string file = "tick_rate = 10\nshare = 0.25\nquiet = true\n";
  Outcome outcome = load({}, file);
  ASSERT_EQ(outcome.exit, std::nullopt) << outcome.err;
  EXPECT_EQ(outcome.settings.integer("tick_rate"), 10);
  EXPECT_EQ(outcome.settings.number("share"), 0.25);
  EXPECT_TRUE(outcome.settings.is_on("quiet"));
  EXPECT_TRUE(contains(outcome.settings.origin("share"), ".toml:2:1"));

  outcome = load({}, file, {{"LATTICE_TICK_RATE", "20"}});
  EXPECT_EQ(outcome.settings.integer("tick_rate"), 20);
  EXPECT_EQ(outcome.settings.origin("tick_rate"), "LATTICE_TICK_RATE");

  outcome = load({"--tick-rate", "30"}, file, {{"LATTICE_TICK_RATE", "20"}});
  EXPECT_EQ(outcome.settings.integer("tick_rate"), 30);
  EXPECT_EQ(outcome.settings.origin("tick_rate"), "--tick-rate");
}

TEST(Settings, PrintConfigShowsEveryOriginAndCanBeReadBack) {
  const Outcome outcome = load({"--tick-rate=30", "--print-config"}, "share = 0.25\n");
  EXPECT_EQ(outcome.exit, kExitOk);
  EXPECT_TRUE(contains(outcome.out, "tick_rate = 30  # --tick-rate\n"));
  EXPECT_TRUE(contains(outcome.out, "bind = \"0.0.0.0:1\"  # default\n"));
  EXPECT_FALSE(contains(outcome.out, "once"));
  const Outcome again = load({"--print-config"}, outcome.out);
  EXPECT_EQ(again.exit, kExitOk) << again.err;
  EXPECT_TRUE(contains(again.out, "tick_rate = 30  # "));
}

TEST(Settings, WrongCommandLineIsUsage) {
  Outcome outcome = load({"--tick-rat", "5"});
  EXPECT_EQ(outcome.exit, kExitUsage);
  EXPECT_TRUE(contains(outcome.err, "Did you mean '--tick-rate'?")) << outcome.err;
  outcome = load({"--tick-rate"});
  EXPECT_EQ(outcome.exit, kExitUsage);
  EXPECT_TRUE(contains(outcome.err, "'--tick-rate' needs a value")) << outcome.err;
  outcome = load({"--tick-rate", "241"});
  EXPECT_EQ(outcome.exit, kExitUsage);
  EXPECT_TRUE(contains(outcome.err, "1 to 240")) << outcome.err;
  EXPECT_EQ(load({"--tick-rate", "6x"}).exit, kExitUsage);
  EXPECT_EQ(load({"--tick-rate", ""}).exit, kExitUsage);
  EXPECT_EQ(load({"stray"}).exit, kExitUsage);
}

TEST(Settings, WrongFileOrEnvironmentIsConfig) {
  Outcome outcome = load({}, "bind = \"x\"\ntick_rat = 5\n");
  EXPECT_EQ(outcome.exit, kExitConfig);
  EXPECT_TRUE(contains(outcome.err, ".toml:2:1: unknown key 'tick_rat'. Did you mean 'tick_rate'?"))
      << outcome.err;
  outcome = load({}, "tick_rate = 0\n");
  EXPECT_EQ(outcome.exit, kExitConfig);
  EXPECT_TRUE(contains(outcome.err, ".toml:1:1")) << outcome.err;
  EXPECT_EQ(load({}, "tick_rate = = 1\n").exit, kExitConfig);
  EXPECT_EQ(load({}, "tick_rate = [1]\n").exit, kExitConfig);
  EXPECT_EQ(load({}, "once = 3\n").exit, kExitConfig);
  EXPECT_EQ(load({}, "", {{"LATTICE_SHARE", "2"}}).exit, kExitConfig);
  EXPECT_EQ(load({"--config", "/nonexistent.toml"}).exit, kExitConfig);
}

TEST(Settings, HelpFitsAScreenAndSaysEverything) {
  const Outcome outcome = load({"--help"});
  EXPECT_EQ(outcome.exit, kExitOk);
  for (const char* part : {"Examples:", "--tick-rate HZ", "--config", "--print-config", "[60]"}) {
    EXPECT_TRUE(contains(outcome.out, part)) << part;
  }
  EXPECT_LT(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 40);
  EXPECT_TRUE(contains(load({"--help-all"}).out, "LATTICE_TICK_RATE"));
}

}  // namespace
}  // namespace app
