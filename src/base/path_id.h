// Where a datagram came from or goes to, above the sockets: a route, which is one socket or back end of this
// side, and what that route knows the other end by. A trivial value of 20 bytes that compares as memory.
//
//   0      1     2        4                    20
//   | route | form | number | bytes              |
//   UDP     0  4, 6  port     address, v4-mapped
//   others  n  any   content of the back end
//
// Must stay true: IPv4 addresses are v4-mapped (::ffff:a.b.c.d), so that one place has one value.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace lattice::base {

/// The route of the UDP socket, or of the simulated network that stands in for it.
inline constexpr uint8_t kUdpRoute = 0;
/// Routes of one side: UDP and seven back ends.
inline constexpr size_t kMaxRoutes = 8;

/// What the content of a path is. IPv4 and IPv6 have the numbers that the handshake cookie covers.
enum class PathForm : uint8_t {
  kNone = 0,    ///< No path: the rest is zero.
  kOpaque = 1,  ///< Known to its route only.
  kIpv4 = 4,
  kIpv6 = 6,
};

struct PathId {
  uint8_t route = kUdpRoute;
  PathForm form = PathForm::kNone;
  uint16_t number = 0;  ///< UDP: the port, in host order.
  std::array<uint8_t, 16> bytes{};

  friend bool operator==(const PathId& a, const PathId& b) { return std::memcmp(&a, &b, sizeof a) == 0; }
};
static_assert(sizeof(PathId) == 20 && std::is_trivially_copyable_v<PathId>);
static_assert(std::has_unique_object_representations_v<PathId>, "operator== compares memory");

inline bool is_path(const PathId& path) {
  return path.form != PathForm::kNone;
}
inline bool is_ip(const PathId& path) {
  return path.form == PathForm::kIpv4 || path.form == PathForm::kIpv6;
}

/// The UDP path of an IPv4 address, given by its four octets.
inline PathId ipv4_path(uint8_t a, uint8_t b, uint8_t c, uint8_t d, uint16_t port) {
  return {kUdpRoute, PathForm::kIpv4, port, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, a, b, c, d}};
}

/// A well-mixed 64-bit hash for tables keyed by path. It has no secret: an attacker who chooses paths can
/// make them collide.
uint64_t hash_path(const PathId& path);

}  // namespace lattice::base
