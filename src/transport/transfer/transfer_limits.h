// Bounds of large transfers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "reliability/limits.h"
#include "transport/wire/transfer_bodies.h"

namespace lattice::transfer {

/// At a time, in each direction of a connection: offered, running or not yet ended (B-4).
inline constexpr size_t kMaxTransfers = 8;
/// Of all transfers of a connection together. An eighth of the packets a connection remembers is left to
/// the game; at a round trip of 100 ms this carries 9 MB/s.
inline constexpr uint32_t kMaxBlocksInFlight = 896;
static_assert(kMaxBlocksInFlight + reliability::kMaxSentPackets / 8 <= reliability::kMaxSentPackets);
static_assert(wire::kBlockHeaderBytes + wire::kMaxBlockBytes == reliability::kMaxUnreliableBody);

}  // namespace lattice::transfer
