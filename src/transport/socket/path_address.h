// Between UDP addresses and paths, and paths as text.
#pragma once

#include <cstddef>

#include "base/path_id.h"
#include "platform/address.h"

namespace lattice::socket {

/// The path of a UDP address. An address without a family gives no path.
inline base::PathId path_of(const platform::Address& address) {
  // A form has the number of its address family.
  return {base::kUdpRoute, static_cast<base::PathForm>(address.family), address.port, address.ip};
}

/// The address of an IPv4 or IPv6 path, whatever its route; family 0 for other forms.
inline platform::Address address_of(const base::PathId& path) {
  if (!base::is_ip(path)) return {};
  return {static_cast<uint8_t>(path.form), path.number, path.bytes};
}

/// Longest text that format_path writes, with its terminating zero: "route7/" and an IPv6 address.
inline constexpr size_t kPathTextBytes = 7 + platform::kAddressTextBytes;

/// Writes a path as text, always terminated, and returns `out`: the address of an IPv4 or IPv6 path; for an
/// opaque one its number and, in hexadecimal, its bytes up to the last that is not 0. Paths of other routes
/// than UDP begin with "route1/".
const char* format_path(const base::PathId& path, char (&out)[kPathTextBytes]);

}  // namespace lattice::socket
