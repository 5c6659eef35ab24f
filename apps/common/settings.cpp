#include "settings.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <deque>

#include <CLI/CLI.hpp>

#include "exit_code.h"
#include "json_writer.h"
#include "lattice/lattice.h"
#include "suggest.h"
#include "text_codec.h"
#include "toml_file.h"

namespace app {
namespace {

std::string flag_of(const SettingSpec& spec) {
  std::string flag = "--";
  for (const char* c = spec.key; *c != 0; ++c) flag += *c == '_' ? '-' : *c;
  return flag;
}

std::string variable_of(const SettingSpec& spec) {
  std::string name = "LATTICE_";
  for (const char* c = spec.key; *c != 0; ++c)
    name += static_cast<char>(*c >= 'a' && *c <= 'z' ? *c - 32 : *c);
  return name;
}

bool parse_whole(const std::string& text, int64_t& out) {
  char* end = nullptr;
  errno = 0;
  out = std::strtoll(text.c_str(), &end, 10);
  return errno == 0 && !text.empty() && *end == 0;
}

bool parse_real(const std::string& text, double& out) {
  char* end = nullptr;
  errno = 0;
  out = std::strtod(text.c_str(), &end);
  return errno == 0 && !text.empty() && *end == 0;
}

bool parse_truth(const std::string& text, bool& out) {
  out = text == "true" || text == "1" || text == "on" || text == "yes";
  return out || text == "false" || text == "0" || text == "off" || text == "no" || text.empty();
}

std::string shortest(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", number);
  return text;
}

void print_options(const ProgramSpec& program, bool all) {
  size_t width = 0;
  const auto left = [](const SettingSpec& spec) {
    return flag_of(spec) + (spec.placeholder[0] != 0 ? std::string(" ") + spec.placeholder : "");
  };
  for (const SettingSpec& spec : program.settings) width = std::max(width, left(spec).size());
  std::printf("\nOptions:\n");
  const auto line = [&](const std::string& name, const std::string& help) {
    std::printf("  %-*s  %s\n", static_cast<int>(width), name.c_str(), help.c_str());
  };
  for (const SettingSpec& spec : program.settings) {
    std::string help = spec.help;
    if (spec.kind != SettingKind::kSwitch && spec.fallback[0] != 0)
      help += std::string(" [") + spec.fallback + "]";
    if (all && spec.max > spec.min) help += " (" + shortest(spec.min) + ".." + shortest(spec.max) + ")";
    if (all && spec.scope == SettingScope::kEverywhere) help += " (" + variable_of(spec) + ")";
    line(left(spec), help);
  }
  if (program.has_config_file) {
    line("--config FILE", "read settings from a TOML file (LATTICE_CONFIG)");
    line("--print-config", "print every setting with its origin and exit");
  }
  line("--version", "print the version and exit");
  line("--help-all", "this text with ranges and environment variables");
}

void print_help(const ProgramSpec& program, bool all) {
  std::printf("%s\n\nUsage: %s\n\nExamples:\n%s", program.summary, program.usage, program.examples);
  print_options(program, all);
  if (program.has_config_file)
    std::printf("\nPrecedence: flag, LATTICE_* variable, --config file, default.\n");
  if (program.notes[0] != 0) std::printf("\n%s", program.notes);
}

std::string usage_text(const ProgramSpec& program, const std::string& sentence) {
  return std::string(program.name) + ": " + sentence + " Run '" + program.name + " --help'.";
}

}  // namespace

/// The words of the command line, before they are checked.
struct Settings::CommandLine {
  std::deque<std::string> values;  // parallel to program.settings; addresses are kept by the parser
  std::deque<bool> switches;
  std::vector<bool> given;
  std::string config_path;
  bool print_config = false;
};

int usage_error(const ProgramSpec& program, const std::string& sentence) {
  std::fprintf(stderr, "%s\n", usage_text(program, sentence).c_str());
  return kExitUsage;
}

int Settings::refuse(int exit, const std::string& sentence) const {
  if (error_ != nullptr) {
    *error_ = sentence;
  } else {
    std::fprintf(stderr, "%s\n", printable(sentence).c_str());
  }
  return exit;
}

int Settings::refuse_usage(const ProgramSpec& program, const std::string& sentence) const {
  return refuse(kExitUsage, usage_text(program, sentence));
}

std::optional<int> Settings::read_command_line(const ProgramSpec& program, int argc, const char* const* argv,
                                               CommandLine& out) {
  CLI::App parser;
  parser.set_help_flag();
  parser.allow_extras();
  bool help = false, help_all = false, version = false;
  parser.add_flag("-h,--help", help);
  parser.add_flag("--help-all", help_all);
  parser.add_flag("--version", version);
  std::vector<std::string> names = {"--help", "--help-all", "--version"};
  if (program.has_config_file) {
    parser.add_option("--config", out.config_path);
    parser.add_flag("--print-config", out.print_config);
    names.insert(names.end(), {"--config", "--print-config"});
  }
  std::vector<CLI::Option*> options;
  for (const SettingSpec& spec : program.settings) {
    const std::string flag = flag_of(spec);
    names.push_back(flag);
    std::string& text = out.values.emplace_back();
    bool& on = out.switches.emplace_back(false);
    options.push_back(spec.kind == SettingKind::kSwitch ? parser.add_flag(flag, on)
                                                        : parser.add_option(flag, text));
    // The last value given wins: scripts that append flags expect that.
    options.back()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }
  try {
    parser.parse(argc, argv);
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string what = error.what();
    return refuse_usage(program, "'" + what.substr(0, what.find(':')) + "' needs a value.");
  } catch (const CLI::ParseError& error) {
    return refuse_usage(program, std::string(error.what()) + ".");
  }
  if (help || help_all) {
    print_help(program, help_all);
    return kExitOk;
  }
  if (version) {
    std::printf("%s %s (ABI %u)\n", program.name, lattice_version(), lattice_abi_version());
    return kExitOk;
  }
  if (const std::vector<std::string> unknown = parser.remaining(); !unknown.empty()) {
    const std::vector<std::string_view> known(names.begin(), names.end());
    const std::string word = unknown.front().substr(0, unknown.front().find('='));
    return refuse_usage(program, "unknown argument '" + word + "'." + did_you_mean(word, known));
  }
  for (size_t i = 0; i < options.size(); ++i) {
    out.given.push_back(options[i]->count() > 0);
    if (program.settings[i].kind == SettingKind::kSwitch) out.values[i] = out.switches[i] ? "true" : "false";
  }
  return std::nullopt;
}

std::optional<int> Settings::apply_file(const ProgramSpec& program, const std::string& path) {
  const TomlFile file = read_toml(path);
  if (!file.error.empty()) return refuse(kExitConfig, file.error);
  std::vector<std::string_view> known;
  for (const SettingSpec& spec : program.settings) {
    if (spec.scope == SettingScope::kEverywhere) known.push_back(spec.key);
  }
  for (const TomlEntry& entry : file.entries) {
    const std::string place = path + ":" + std::to_string(entry.line) + ":" + std::to_string(entry.column);
    if (std::find(known.begin(), known.end(), entry.key) == known.end()) {
      const std::string hint = did_you_mean(entry.key, known);
      return refuse(kExitConfig, place + ": unknown key '" + entry.key + "'." +
                                     (hint.empty() ? " Remove it, or see --help for the keys." : hint));
    }
    for (Value& value : values_) {
      if (value.spec->key != entry.key) continue;
      value.text = entry.value;
      value.origin = place;
    }
  }
  return std::nullopt;
}

std::optional<int> Settings::apply_environment() {
  for (Value& value : values_) {
    if (value.spec->scope != SettingScope::kEverywhere) continue;
    const std::string name = variable_of(*value.spec);
    if (const char* text = std::getenv(name.c_str()); text != nullptr) {
      value.text = text;
      value.origin = name;
    }
  }
  return std::nullopt;
}

std::optional<int> Settings::check(const Value& value) const {
  const SettingSpec& spec = *value.spec;
  std::string wanted;
  bool ok = true;
  if (spec.kind == SettingKind::kInteger) {
    int64_t number = 0;
    ok = parse_whole(value.text, number) && static_cast<double>(number) >= spec.min &&
         static_cast<double>(number) <= spec.max;
    wanted = "a whole number from " + shortest(spec.min) + " to " + shortest(spec.max);
  } else if (spec.kind == SettingKind::kNumber) {
    double number = 0;
    ok = parse_real(value.text, number) && number >= spec.min && number <= spec.max;
    wanted = "a number from " + shortest(spec.min) + " to " + shortest(spec.max);
  } else if (spec.kind == SettingKind::kSwitch) {
    bool on = false;
    ok = parse_truth(value.text, on);
    wanted = "true or false";
  }
  if (ok) return std::nullopt;
  return refuse(
      value.origin.starts_with("--") ? kExitUsage : kExitConfig,
      value.origin + ": '" + value.text + "' is not a value for " + spec.key + ". Give " + wanted + ".");
}

void Settings::print_config() const {
  for (const Value& value : values_) {
    if (value.spec->scope != SettingScope::kEverywhere) continue;
    const bool quoted = value.spec->kind == SettingKind::kText;
    std::string text = value.text;
    if (quoted) {
      text = "\"";
      for (const char c : value.text) {
        if (c == '"' || c == '\\') text += '\\';
        text += c;
      }
      text += "\"";
    } else if (text.empty()) {
      text = "false";
    }
    std::printf("%s = %s  # %s\n", value.spec->key, text.c_str(), value.origin.c_str());
  }
}

std::vector<std::string> Settings::keys() const {
  std::vector<std::string> out;
  for (const Value& value : values_) out.emplace_back(value.spec->key);
  return out;
}

std::string Settings::to_json() const {
  JsonWriter json;
  json.begin_object();
  for (const Value& value : values_) {
    json.key(value.spec->key).begin_object();
    json.member("value", value.text);
    json.member("origin", value.origin);
    json.end_object();
  }
  json.end_object();
  return json.text();
}

std::optional<int> Settings::load(const ProgramSpec& program, int argc, const char* const* argv,
                                  std::string* error) {
  error_ = error;
  values_.clear();
  for (const SettingSpec& spec : program.settings) values_.push_back({&spec, spec.fallback, "default"});

  CommandLine line;
  if (const auto exit = read_command_line(program, argc, argv, line)) return exit;
  if (program.has_config_file) {
    const char* variable = std::getenv("LATTICE_CONFIG");
    if (line.config_path.empty() && variable != nullptr) line.config_path = variable;
    if (!line.config_path.empty()) {
      if (const auto exit = apply_file(program, line.config_path)) return exit;
    }
  }
  if (const auto exit = apply_environment()) return exit;
  for (size_t i = 0; i < values_.size(); ++i) {
    if (!line.given[i]) continue;
    values_[i].text = line.values[i];
    values_[i].origin = flag_of(*values_[i].spec);
  }
  for (const Value& value : values_) {
    if (const auto exit = check(value)) return exit;
  }
  if (line.print_config) {
    print_config();
    return kExitOk;
  }
  return std::nullopt;
}

const Settings::Value& Settings::value(std::string_view key) const {
  for (const Value& candidate : values_) {
    if (candidate.spec->key == key) return candidate;
  }
  std::fprintf(stderr, "no such setting: %.*s\n", static_cast<int>(key.size()), key.data());
  std::abort();
}

const std::string& Settings::text(std::string_view key) const {
  return value(key).text;
}
const std::string& Settings::origin(std::string_view key) const {
  return value(key).origin;
}

int64_t Settings::integer(std::string_view key) const {
  int64_t number = 0;
  parse_whole(value(key).text, number);
  return number;
}

double Settings::number(std::string_view key) const {
  double number = 0;
  parse_real(value(key).text, number);
  return number;
}

bool Settings::is_on(std::string_view key) const {
  bool on = false;
  parse_truth(value(key).text, on);
  return on;
}

}  // namespace app
