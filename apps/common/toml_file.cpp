#include "toml_file.h"

#include <filesystem>
#include <sstream>
#include <system_error>

#include <toml++/toml.h>

namespace app {
namespace {

std::string place(const std::string& path, const toml::source_position& at) {
  return path + ":" + std::to_string(at.line) + ":" + std::to_string(at.column);
}

void flatten(const std::string& path, const std::string& prefix, const toml::table& table, TomlFile& out) {
  for (const auto& [key, node] : table) {
    const std::string name = prefix + std::string(key.str());
    const toml::source_position at = key.source().begin;
    if (const toml::table* inner = node.as_table()) {
      flatten(path, name + ".", *inner, out);
      continue;
    }
    std::string value;
    if (const auto* text = node.as_string()) {
      value = text->get();
    } else if (const auto* number = node.as_integer()) {
      value = std::to_string(number->get());
    } else if (const auto* real = node.as_floating_point()) {
      std::ostringstream stream;
      stream << real->get();
      value = stream.str();
    } else if (const auto* flag = node.as_boolean()) {
      value = flag->get() ? "true" : "false";
    } else {
      if (out.error.empty()) {
        out.error =
            place(path, at) + ": '" + name + "' is a list or a date. Give one text, number or truth value.";
      }
      continue;
    }
    out.entries.push_back({name, value, at.line, at.column});
  }
}

}  // namespace

TomlFile read_toml(const std::string& path) {
  TomlFile out;
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    out.error = "The configuration file '" + path + "' is a folder. Give a file.";
    return out;
  }
  try {
    flatten(path, "", toml::parse_file(path), out);
  } catch (const toml::parse_error& error) {
    const toml::source_position at = error.source().begin;
    if (at.line == 0) {
      out.error = "Cannot read the configuration file '" + path + "'. Check the path and its permissions.";
    } else {
      out.error = place(path, at) + ": " + std::string(error.description()) + ". Correct the line.";
    }
  }
  return out;
}

}  // namespace app
