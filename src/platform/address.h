// A UDP address: IPv4 or IPv6 plus port. Value type; no I/O except parse_and_resolve.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace lattice::platform {

/// An IPv4 or IPv6 endpoint. IPv4 is held v4-mapped (::ffff:a.b.c.d) in `ip`, so that equality,
/// hashing and the handshake cookie (handshake.md, message 2) see one form.
struct Address {
  uint8_t family = 0;  ///< 4 or 6; 0 means "no address".
  uint16_t port = 0;   ///< Host order.
  std::array<uint8_t, 16> ip{};

  friend bool operator==(const Address&, const Address&) = default;
};

/// Builds an IPv4 address from its four octets.
inline Address make_ipv4(uint8_t a, uint8_t b, uint8_t c, uint8_t d, uint16_t port) {
  Address out;
  out.family = 4;
  out.port = port;
  out.ip = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, a, b, c, d};
  return out;
}

/// True for 127.0.0.0/8 and ::1: addresses that no other machine can reach.
inline bool is_loopback(const Address& address) {
  if (address.family == 4) return address.ip[12] == 127;
  constexpr std::array<uint8_t, 16> kLoopback6 = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  return address.family == 6 && address.ip == kLoopback6;
}

/// Why a text is not an address.
enum class AddressError : uint8_t {
  kNone,
  kForm,  ///< not "host:port" or "[v6]:port"
  kPort,  ///< the part after the host is not a number in 0..65535
  kHost,  ///< the host is not an address, and as a name it does not resolve
};

/// Parses "1.2.3.4:27015", "[::1]:27015" or "host:27015"; a host name is resolved (blocking; only
/// this function blocks, and only for names). False when the text is malformed or does not resolve; `error`
/// says which, if it is not null.
bool parse_address(const char* text, Address* out, AddressError* error = nullptr);

/// Longest text format_address writes, with its terminating zero: "[" 45 "]:" 5 digits.
inline constexpr std::size_t kAddressTextBytes = 56;

/// Writes "a.b.c.d:port" or "[v6]:port" into `out`, always terminated; returns `out`.
const char* format_address(const Address& address, char (&out)[kAddressTextBytes]);

/// A well-mixed 64-bit hash for tables keyed by address. It has no secret: an attacker who chooses addresses
/// can make them collide.
uint64_t hash_address(const Address& address);

}  // namespace lattice::platform
