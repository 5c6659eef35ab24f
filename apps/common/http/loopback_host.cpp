#include "http/loopback_host.h"

namespace app {

bool is_loopback_host(std::string_view host) {
  if (const size_t colon = host.rfind(':'); colon != std::string_view::npos && host.back() != ']') {
    const std::string_view port = host.substr(colon + 1);
    if (port.empty() || port.size() > 5 || port.find_first_not_of("0123456789") != std::string_view::npos) {
      return false;
    }
    host = host.substr(0, colon);
  }
  return host == "127.0.0.1" || host == "localhost" || host == "[::1]";
}

}  // namespace app
