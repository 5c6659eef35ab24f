#include "toml_file.h"

#include <algorithm>
#include <sstream>

#include <toml++/toml.h>

#include "process.h"

namespace app {
namespace {

constexpr size_t kMostBytes = 1 << 20;
constexpr size_t kMostLineBytes = 1024;

std::string place(const std::string& path, const toml::source_position& at) {
  return path + ":" + std::to_string(at.line) + ":" + std::to_string(at.column);
}

// The parser of a key calls itself for each part of it, so a line has a bound.
std::string check_lines(const std::string& path, const std::string& content) {
  size_t begin = 0;
  for (size_t line = 1; begin < content.size(); ++line) {
    const size_t end = std::min(content.find('\n', begin), content.size());
    if (end - begin > kMostLineBytes) {
      return path + ":" + std::to_string(line) + ": a line of more than " + std::to_string(kMostLineBytes) +
             " bytes. Correct the line.";
    }
    begin = end + 1;
  }
  return "";
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
  std::string content;
  out.error = read_file(path, kMostBytes, content);
  if (out.error.empty()) out.error = check_lines(path, content);
  if (!out.error.empty()) return out;
  try {
    flatten(path, "", toml::parse(content), out);
  } catch (const toml::parse_error& error) {
    const toml::source_position at = error.source().begin;
    out.error = place(path, at) + ": " + std::string(error.description()) + ". Correct the line.";
  }
  return out;
}

}  // namespace app
