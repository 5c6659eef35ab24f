// Converts Address to and from the operating system's socket addresses; for the files of this folder only.
// Declares the OS types forward, so it includes no OS header.
#pragma once

#include "platform/address.h"

struct sockaddr;

namespace lattice::platform {

/// Reads an AF_INET or AF_INET6 address; a v4-mapped IPv6 address becomes family 4. Family 0 for any
/// other address family.
Address address_from_sockaddr(const sockaddr* from);

/// Writes `address` for a socket of the given family to `to`, which has room for a sockaddr_in6, and returns
/// the length. For an IPv6 socket an IPv4 address is written v4-mapped. An IPv6 address is written unchanged
/// for every socket; the kernel refuses it on an IPv4 socket.
unsigned sockaddr_from_address(const Address& address, bool socket_is_ipv6, sockaddr* to);

}  // namespace lattice::platform
