// The numbers of the snapshot body, shared by the builder and the applier.
//
//   server_tick u32 · last_input_tick u32 (0 none) · input_margin i8 · part u4 · parts u4 · entries · bit 0
//   entry: bit 1 · id varint difference to the previous (first: absolute) · kind 2 bits ·
//     0 delta      baseline age varint (1..60) · changes
//     1 full       type_id varint · owner varint · mode 2 bits · authority_tick u32 · changes from zero
//     2 removed    1 bit, and if it is 1: rpc_count varint (32-bit, not 0)
//     3 unchanged  nothing (S-06)
//   changes: behaviour presence bits, then per behaviour the changed mask and members (Layout)
//
//   after bit 0: 1 bit confirms_own (D-40)
//
// Entries are in ascending network_id within a part. Zero bits pad the body to a byte.
//
// A snapshot is whole when every announced part arrived: an object without an entry is then unchanged. So a
// snapshot that leaves entries out (budget, 15 parts) announces one part more than it sends.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/sequence.h"

namespace lattice::replication {

using base::Tick;

enum class EntryKind : uint8_t { kDelta = 0, kFull = 1, kRemoved = 2, kUnchanged = 3 };

inline constexpr uint32_t kMaxParts = 15;  // B-06
inline constexpr size_t kSnapshotHeaderBytes = 10;
inline constexpr size_t kMaxPartBytes = 1500;  // no datagram is larger
inline constexpr size_t kMinPartCapacity = 64;
inline constexpr int32_t kHistoryTicks = 64;          // an authority keeps at most this many ticks
inline constexpr int32_t kMaxBaselineTicks = 60;      // age of the oldest baseline that it refers to
inline constexpr int32_t kStalePartTicks = 64;        // older parts are not acked
inline constexpr int32_t kClientBaselineTicks = 128;  // a client keeps this many ticks
inline constexpr int32_t kMaxTickJump = 1 << 24;  // largest step forward between two parts of a connection
inline constexpr int32_t kAgingTicks = 1 << 20;   // how often old ticks are moved forward (StateRing::age)
static_assert(kMaxBaselineTicks < kHistoryTicks);
static_assert(kMaxBaselineTicks + kStalePartTicks < kClientBaselineTicks);

/// The fixed fields of one part. `input_margin` is in quarter ticks; positive means early (T-02).
struct SnapshotHeader {
  Tick server_tick = 0;
  Tick last_input_tick = 0;
  int8_t input_margin = 0;
  uint8_t part = 0;
  uint8_t parts = 1;
  bool confirms_own = false;  // what the receiver owns and has no entry in this part did not change (D-40)
};

}  // namespace lattice::replication
