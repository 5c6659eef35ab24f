// Reads a TOML file into flat "table.key" entries. Only toml_file.cpp includes the TOML library.
#pragma once

#include <string>
#include <vector>

namespace app {

struct TomlEntry {
  std::string key;    // "impairment" or "log.level"
  std::string value;  // as a user would type it on a command line
  uint32_t line = 0, column = 0;
};

struct TomlFile {
  std::vector<TomlEntry> entries;
  std::string error;  // "server.toml:3:5: ..." or "" when all is well
};

TomlFile read_toml(const std::string& path);

}  // namespace app
