// Bounds of large transfers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "reliability/limits.h"
#include "transport/wire/transfer_bodies.h"

namespace lattice::transfer {

/// Most transfers at a time in each direction of a connection: offered, running or not yet ended (B-4).
inline constexpr size_t kMaxTransfers = 8;
/// Most chunks in flight, over all transfers of a connection. An eighth of the packet records of a connection
/// stays free for the game. At a round trip of 100 ms this carries 12 MB/s in datagrams of 1472 bytes.
inline constexpr uint32_t kMaxChunksInFlight = 896;
static_assert(kMaxChunksInFlight + reliability::kMaxSentPackets / 8 <= reliability::kMaxSentPackets);
/// Most chunks of one transfer that are sent and not acknowledged, in flight or lost: each fresh chunk may
/// become two halves (B-13).
inline constexpr uint32_t kMaxOpenChunks = 2 * kMaxChunksInFlight;
/// Most missing ranges at a receiver of one transfer (B-14): one per open chunk, and the bytes never sent.
inline constexpr size_t kMaxMissingRanges = 2048;
static_assert(kMaxOpenChunks + 1 <= kMaxMissingRanges);

}  // namespace lattice::transfer
