// The same players packed by other serializers. Each is a competitor, not a dependency: bench/CMakeLists.txt
// leaves out what is not installed.
#pragma once

#include <cstdint>
#include <span>

#include "serialize/player.h"

namespace bench::serialize {

struct RivalCost {
  double pack_ns = 0;    // of one player, into a buffer that is there already
  double unpack_ns = 0;  // checks the bytes, as those of a peer must be, and fills in the host structure
  double bytes = 0;      // of one player, mean
  bool same = false;     // every player came back as it was
};

RivalCost measure_protobuf(std::span<const Player> players, uint32_t rounds);
RivalCost measure_flatbuffers(std::span<const Player> players, uint32_t rounds);

}  // namespace bench::serialize
