#include "base/path_id.h"

#include "platform/byte_order.h"

namespace lattice::base {

uint64_t hash_path(const PathId& path) {
  // The finaliser of splitmix64 over each half spreads neighbouring addresses and ports.
  const auto mix = [](uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  };
  const uint64_t rest =
      uint64_t{path.route} << 24 | uint64_t{static_cast<uint8_t>(path.form)} << 16 | path.number;
  uint64_t hash = mix(platform::load_u64_le(path.bytes.data()) + 0x9E3779B97F4A7C15u);
  hash = mix(hash ^ platform::load_u64_le(path.bytes.data() + 8));
  return mix(hash ^ rest);
}

}  // namespace lattice::base
