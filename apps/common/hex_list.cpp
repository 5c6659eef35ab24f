#include "hex_list.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <sstream>

#include "process.h"
#include "text_codec.h"

namespace app {

std::string read_hex_list(const std::string& path, size_t bytes,
                          const std::function<void(std::span<const uint8_t>)>& take) {
  struct stat status {};
  if (stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    return path + " is not a file. Give a file: it is read again while the program runs.";
  }
  std::string content;
  if (!read_whole_file(path, content)) {
    return "Cannot read " + path + ": " + std::strerror(errno) + ". Check the path and its permissions.";
  }
  std::istringstream lines(content);
  std::vector<uint8_t> entry(bytes);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    line = line.substr(0, line.find('#'));
    const size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos) continue;
    line = line.substr(begin, line.find_last_not_of(" \t\r") - begin + 1);
    if (!from_hex(line, entry)) {
      return path + ":" + std::to_string(number) + ": '" + line.substr(0, 80) + "' is not " +
             std::to_string(2 * bytes) + " hexadecimal digits. Correct the line.";
    }
    take(entry);
  }
  return "";
}

}  // namespace app
