#include "hex_list.h"

#include <algorithm>
#include <string_view>

#include "process.h"
#include "text_codec.h"

namespace app {
namespace {

constexpr size_t kMostListBytes = 64 << 20;

}  // namespace

std::string read_hex_list(const std::string& path, size_t bytes,
                          const std::function<void(std::span<const uint8_t>)>& take) {
  std::string content;
  if (std::string problem = read_file(path, kMostListBytes, content); !problem.empty()) return problem;
  std::vector<uint8_t> entry(bytes);
  int number = 0;
  for (std::string_view rest = content; !rest.empty();) {
    ++number;
    const size_t length = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, length);
    rest.remove_prefix(std::min(length + 1, rest.size()));
    line = line.substr(0, line.find('#'));
    const size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) continue;
    line = line.substr(begin, line.find_last_not_of(" \t\r") - begin + 1);
    // The line itself is not quoted: a file that was given by mistake may hold a secret.
    if (!from_hex(line, entry)) {
      return path + ":" + std::to_string(number) + ": not " + std::to_string(2 * bytes) +
             " hexadecimal digits. Correct the line.";
    }
    take(entry);
  }
  return "";
}

}  // namespace app
