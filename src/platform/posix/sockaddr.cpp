// Conversion between Address and sockaddr_in / sockaddr_in6.
#include "platform/posix/sockaddr.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>

namespace lattice::platform {

Address address_from_sockaddr(const sockaddr* from) {
  Address out;
  if (from->sa_family == AF_INET) {
    sockaddr_in v4;
    std::memcpy(&v4, from, sizeof v4);
    uint8_t octets[4];
    std::memcpy(octets, &v4.sin_addr, sizeof octets);
    out = make_ipv4(octets[0], octets[1], octets[2], octets[3], ntohs(v4.sin_port));
  } else if (from->sa_family == AF_INET6) {
    sockaddr_in6 v6;
    std::memcpy(&v6, from, sizeof v6);
    std::memcpy(out.ip.data(), &v6.sin6_addr, out.ip.size());
    out.port = ntohs(v6.sin6_port);
    out.family = IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr) ? uint8_t{4} : uint8_t{6};
  }
  return out;
}

unsigned sockaddr_from_address(const Address& address, bool socket_is_ipv6, sockaddr* to) {
  if (address.family == 4 && !socket_is_ipv6) {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(address.port);
    std::memcpy(&v4.sin_addr, address.ip.data() + 12, 4);
    std::memcpy(static_cast<void*>(to), &v4, sizeof v4);
    return sizeof v4;
  }
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(address.port);
  std::memcpy(&v6.sin6_addr, address.ip.data(), address.ip.size());
  std::memcpy(static_cast<void*>(to), &v6, sizeof v6);
  return sizeof v6;
}

}  // namespace lattice::platform
