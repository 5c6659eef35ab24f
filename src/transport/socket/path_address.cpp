#include "transport/socket/path_address.h"

#include <cstdio>

namespace lattice::socket {

const char* format_path(const base::PathId& path, char (&out)[kPathTextBytes]) {
  size_t used = 0;
  if (path.route != base::kUdpRoute) {
    used = static_cast<size_t>(std::snprintf(out, sizeof out, "route%u/", unsigned{path.route}));
  }
  if (path.form != base::PathForm::kOpaque) {
    char address[platform::kAddressTextBytes];
    std::snprintf(out + used, sizeof out - used, "%s", platform::format_address(address_of(path), address));
    return out;
  }
  used += static_cast<size_t>(std::snprintf(out + used, sizeof out - used, "%u", unsigned{path.number}));
  size_t count = path.bytes.size();
  while (count != 0 && path.bytes[count - 1] == 0) --count;
  if (count != 0) out[used++] = ':';
  constexpr const char* kDigits = "0123456789abcdef";
  for (size_t i = 0; i < count; ++i) {
    out[used++] = kDigits[path.bytes[i] >> 4];
    out[used++] = kDigits[path.bytes[i] & 15];
  }
  out[used] = '\0';
  return out;
}

}  // namespace lattice::socket
