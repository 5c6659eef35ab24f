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
/// the game; at a round trip of 100 ms this carries 12 MB/s in datagrams of 1472 bytes.
inline constexpr uint32_t kMaxBlocksInFlight = 896;
static_assert(kMaxBlocksInFlight + reliability::kMaxSentPackets / 8 <= reliability::kMaxSentPackets);
/// Blocks of one transfer that are sent and not acknowledged, in flight or lost: each fresh one may become
/// two halves (B-13).
inline constexpr uint32_t kMaxOpenBlocks = 2 * kMaxBlocksInFlight;
/// Ranges a receiver still misses of one transfer (B-14): those blocks, and what was never sent.
inline constexpr size_t kMaxMissingRanges = 2048;
static_assert(kMaxOpenBlocks + 1 <= kMaxMissingRanges);

}  // namespace lattice::transfer
