// The settings of one program, declared once: a table gives each its name, default, range and help, and
// from it follow the command line flag (--tick-rate), the environment variable (LATTICE_TICK_RATE), the
// TOML key (tick_rate), --help, --print-config and every error message.
//
// Precedence: flag > environment > --config file > default. A wrong command line ends with kExitUsage, a
// wrong file or environment value with kExitConfig; both say in one sentence what is wrong and in one what
// to do.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace app {

enum class SettingKind {
  kText,
  kInteger,  // min..max
  kNumber,   // min..max
  kSwitch,   // a flag without a value; "true" or "false" elsewhere
};

enum class SettingScope {
  kEverywhere,   // flag, environment, file
  kCommandLine,  // only the flag: --seconds of a single run
};

struct SettingSpec {
  const char* key;  // "tick_rate"
  SettingKind kind = SettingKind::kText;
  const char* placeholder = "";  // "HZ" in --help
  const char* fallback = "";     // the default, as it would be typed
  const char* help = "";
  double min = 0, max = 0;
  SettingScope scope = SettingScope::kEverywhere;
};

struct ProgramSpec {
  const char* name;     // "lattice-gameserver"
  const char* summary;  // one or two lines
  const char* usage;    // "lattice-gameserver [options]"
  const char* examples;
  const char* notes;  // further paragraphs of --help, or ""
  std::span<const SettingSpec> settings;
  bool has_config_file;  // offers --config and --print-config
};

class Settings {
 public:
  /// Parses everything. A value: the program is to end with that exit code now (--help, --version,
  /// --print-config, or an error that has been printed to stderr).
  std::optional<int> load(const ProgramSpec& program, int argc, const char* const* argv);

  const std::string& text(std::string_view key) const;
  int64_t integer(std::string_view key) const;
  double number(std::string_view key) const;
  bool is_on(std::string_view key) const;
  /// "default", "--tick-rate", "LATTICE_TICK_RATE" or "server.toml:3:1".
  const std::string& origin(std::string_view key) const;
  bool is_default(std::string_view key) const { return origin(key) == "default"; }

 private:
  struct Value {
    const SettingSpec* spec;
    std::string text;
    std::string origin;
  };
  struct CommandLine;

  const Value& value(std::string_view key) const;
  std::optional<int> read_command_line(const ProgramSpec& program, int argc, const char* const* argv,
                                       CommandLine& out);
  std::optional<int> apply_file(const ProgramSpec& program, const std::string& path);
  std::optional<int> apply_environment();
  std::optional<int> check(const Value& value) const;
  void print_config() const;

  std::vector<Value> values_;
};

/// The nearest-flag message for a word nobody knows: shared with programs that have sub-commands.
int usage_error(const ProgramSpec& program, const std::string& sentence);

}  // namespace app
