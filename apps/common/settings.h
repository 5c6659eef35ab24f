// The settings of one program, declared once. A table gives each setting its name, default, range and help.
// From the table follow the command line flag (--tick-rate), the environment variable (LATTICE_TICK_RATE),
// the TOML key (tick_rate), --help, --print-config and every error message.
//
// Precedence: flag > environment > --config file > default. A wrong command line ends with kExitUsage. A
// wrong file or environment value ends with kExitConfig. Both print one sentence of cause and one of action.
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
  const char* fallback = "";     // the default, as a user would type it
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
  /// Parses the command line, the environment and the file. When it returns a value, the program must end
  /// with that exit code now: after --help, --version or --print-config, or after an error printed to stderr.
  /// With `error` it is not printed but stored there, for a program that reads its settings again.
  std::optional<int> load(const ProgramSpec& program, int argc, const char* const* argv,
                          std::string* error = nullptr);

  const std::string& text(std::string_view key) const;
  int64_t integer(std::string_view key) const;
  double number(std::string_view key) const;
  bool is_on(std::string_view key) const;
  /// Where the value comes from: "default", "--tick-rate", "LATTICE_TICK_RATE" or "server.toml:3:1".
  const std::string& origin(std::string_view key) const;
  bool is_default(std::string_view key) const { return origin(key) == "default"; }
  std::vector<std::string> keys() const;
  /// {"key":{"value","origin"}, …} of all settings.
  std::string to_json() const;

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
  int refuse(int exit, const std::string& sentence) const;
  int refuse_usage(const ProgramSpec& program, const std::string& sentence) const;
  void print_config() const;

  std::vector<Value> values_;
  std::string* error_ = nullptr;  // during load()
};

/// Prints a usage error and returns its exit code: shared with programs that have sub-commands.
int usage_error(const ProgramSpec& program, const std::string& sentence);

}  // namespace app
