// The decisions of the page's server that need no network: which requests it answers, and with which file.
#include "web_server.h"

namespace app {

std::string page_file_of(std::string_view target) {
  target = target.substr(0, target.find_first_of("?#"));
  if (target.empty() || target.front() != '/') return "";
  target.remove_prefix(1);
  if (target.empty()) return "index.html";
  bool starts_part = true;
  for (const char c : target) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    // No part of a path may begin with a dot. So there is no "..", and no hidden file.
    if (!plain && (starts_part || (c != '.' && c != '/'))) return "";
    starts_part = c == '/';
  }
  return starts_part ? "" : std::string(target);
}

}  // namespace app
