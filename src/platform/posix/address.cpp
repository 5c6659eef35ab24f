// Addresses as text. Numeric forms never touch the resolver.
#include "platform/address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>

#include <cstdio>
#include <cstring>

#include "platform/byte_order.h"
#include "platform/posix/sockaddr.h"

namespace lattice::platform {
namespace {

/// Longest host name DNS allows, in text.
constexpr size_t kMaxHostBytes = 253;

/// Decimal, 1 to 5 digits, at most 65535, nothing after.
bool parse_port(const char* text, uint16_t* out) {
  uint32_t value = 0;
  size_t digits = 0;
  for (; text[digits] != '\0'; ++digits) {
    if (text[digits] < '0' || text[digits] > '9' || digits == 5) return false;
    value = value * 10 + static_cast<uint32_t>(text[digits] - '0');
  }
  if (digits == 0 || value > 65535) return false;
  *out = static_cast<uint16_t>(value);
  return true;
}

bool parse_ipv6(const char* host, Address* out) {
  in6_addr v6;
  if (inet_pton(AF_INET6, host, &v6) != 1) return false;
  out->family = IN6_IS_ADDR_V4MAPPED(&v6) ? uint8_t{4} : uint8_t{6};
  std::memcpy(out->ip.data(), &v6, out->ip.size());
  return true;
}

bool parse_ipv4(const char* host, Address* out) {
  uint8_t octets[4];
  if (inet_pton(AF_INET, host, octets) != 1) return false;
  *out = make_ipv4(octets[0], octets[1], octets[2], octets[3], out->port);
  return true;
}

/// True for text of digits and dots only. The resolver would read "1.2.3" or "1" as an old short form of an
/// address; a mistyped address must not become a different one.
bool looks_numeric(const char* host) {
  return host[std::strspn(host, "0123456789.")] == '\0';
}

bool resolve(const char* host, Address* out) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* results = nullptr;
  if (getaddrinfo(host, nullptr, &hints, &results) != 0) return false;
  bool found = false;
  for (const addrinfo* result = results; result != nullptr && !found; result = result->ai_next) {
    Address address = address_from_sockaddr(result->ai_addr);
    address.port = out->port;
    found = address.family != 0;
    if (found) *out = address;
  }
  freeaddrinfo(results);
  return found;
}

AddressError parse(const char* text, Address* out) {
  if (text == nullptr) return AddressError::kForm;
  const bool bracketed = text[0] == '[';
  const char* host_begin = bracketed ? text + 1 : text;
  const char* host_end = bracketed ? std::strchr(host_begin, ']') : std::strrchr(host_begin, ':');
  if (host_end == nullptr) return AddressError::kForm;
  const char* port = bracketed ? host_end + 1 : host_end;
  if (*port != ':') return AddressError::kForm;

  const size_t host_bytes = static_cast<size_t>(host_end - host_begin);
  if (host_bytes == 0 || host_bytes > kMaxHostBytes) return AddressError::kForm;
  char host[kMaxHostBytes + 1];
  std::memcpy(host, host_begin, host_bytes);
  host[host_bytes] = '\0';

  if (!bracketed && std::strchr(host, ':') != nullptr) return AddressError::kForm;  // IPv6 without brackets
  if (!parse_port(port + 1, &out->port)) return AddressError::kPort;
  const bool ok = bracketed ? parse_ipv6(host, out)
                            : parse_ipv4(host, out) || (!looks_numeric(host) && resolve(host, out));
  return ok ? AddressError::kNone : AddressError::kHost;
}

}  // namespace

bool parse_address(const char* text, Address* out, AddressError* error) {
  Address parsed;
  const AddressError found = parse(text, &parsed);
  if (error != nullptr) *error = found;
  if (found == AddressError::kNone) *out = parsed;
  return found == AddressError::kNone;
}

const char* format_address(const Address& address, char (&out)[kAddressTextBytes]) {
  const unsigned port = address.port;
  if (address.family == 4) {
    const uint8_t* octets = address.ip.data() + 12;
    std::snprintf(out, sizeof out, "%u.%u.%u.%u:%u", octets[0], octets[1], octets[2], octets[3], port);
  } else if (address.family == 6) {
    char host[INET6_ADDRSTRLEN] = "";
    inet_ntop(AF_INET6, address.ip.data(), host, sizeof host);
    std::snprintf(out, sizeof out, "[%s]:%u", host, port);
  } else {
    std::snprintf(out, sizeof out, "none");
  }
  return out;
}

uint64_t hash_address(const Address& address) {
  // The finaliser of splitmix64 over each half spreads neighbouring addresses and ports.
  const auto mix = [](uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  };
  uint64_t hash = mix(load_u64_le(address.ip.data()) + 0x9E3779B97F4A7C15u);
  hash = mix(hash ^ load_u64_le(address.ip.data() + 8));
  return mix(hash ^ (static_cast<uint64_t>(address.family) << 16 | address.port));
}

}  // namespace lattice::platform
