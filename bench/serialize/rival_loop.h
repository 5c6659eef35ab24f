// The loop that measures a rival: what differs between them is how one player is packed and read.
#pragma once

#include <algorithm>
#include <vector>

#include "child.h"
#include "serialize/rivals.h"

namespace bench::serialize {

/// `pack(player, out)` writes at most 256 bytes to `out` and returns how many. `unpack(bytes, size, player)`
/// returns false for bytes that it refuses.
template <class Pack, class Unpack>
RivalCost measure_rival(std::span<const Player> players, uint32_t rounds, const Pack& pack,
                        const Unpack& unpack) {
  constexpr size_t kRoomBytes = 256;
  const size_t count = players.size();
  std::vector<uint8_t> packed(count * kRoomBytes);
  std::vector<size_t> sizes(count);
  std::vector<Player> back(count);
  uint64_t pack_ns = 0, unpack_ns = 0;
  bool read_all = true;
  for (uint32_t round = 0; round < rounds; ++round) {
    const uint64_t began_ns = monotonic_ns();
    for (size_t i = 0; i < count; ++i) sizes[i] = pack(players[i], &packed[i * kRoomBytes]);
    const uint64_t packed_ns = monotonic_ns();
    for (size_t i = 0; i < count; ++i) read_all &= unpack(&packed[i * kRoomBytes], sizes[i], &back[i]);
    unpack_ns += monotonic_ns() - packed_ns;
    pack_ns += packed_ns - began_ns;
  }
  const double things = static_cast<double>(count) * rounds;
  RivalCost cost;
  cost.pack_ns = static_cast<double>(pack_ns) / things;
  cost.unpack_ns = static_cast<double>(unpack_ns) / things;
  for (const size_t size : sizes) cost.bytes += static_cast<double>(size) / static_cast<double>(count);
  cost.same = read_all && std::equal(back.begin(), back.end(), players.begin());
  return cost;
}

}  // namespace bench::serialize
