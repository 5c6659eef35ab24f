// The numbers of the snapshot body, shared by the builder and the applier. Spec: docs/spec/data.md,
// Snapshots.
//
//   server_tick u32 · flags u8 · [input_age varint · input_margin i8] · [interval varint] ·
//   [objects varint · missing varint] · blocks
//   block: kind 3 bits · mixed 1 bit · k 4 bits · count varint · [age varint] · slot varint · entries · zero
//   bits entry: gap (not for the first) · [other bit · age varint] · content
//
// A part is complete in itself. Nothing follows from a part that is missing.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/byte_cursor.h"
#include "base/sequence.h"

namespace lattice::replication {

using base::Tick;

enum class EntryKind : uint8_t { kDelta = 0, kFull = 1, kRemoved = 2, kRested = 3, kPiece = 4 };
inline constexpr uint32_t kEntryKinds = 5;
/// Whether entries of this kind name a baseline.
inline bool has_age(EntryKind kind) {
  return kind == EntryKind::kDelta || kind == EntryKind::kRested;
}
inline uint32_t varint_bits(uint64_t value) {
  return 8 * static_cast<uint32_t>(base::varint_bytes(value));
}

inline constexpr size_t kSnapshotHeaderBytes = 11;  // at most, in a part with blocks
inline constexpr size_t kMaxPartBytes = 1500;       // no datagram is larger
/// What a part holds beside the changes of one full entry, at most: header; head of the block, with two bytes
/// for its count; head of the entry; network_id; padding.
inline constexpr size_t kEntryOverheadBytes =
    kSnapshotHeaderBytes + (1 + 2 + 3 + 3) + (5 + 9 + 1 + 5) + 9 + 2;
inline constexpr size_t kMinPartCapacity = 64;
static_assert(kEntryOverheadBytes < kMinPartCapacity);
inline constexpr uint32_t kMaxPartEntries = 2048;      // a builder's own bound
inline constexpr int32_t kMaxBaselineTicks = 1 << 20;  // D-15
inline constexpr uint32_t kBaselineSends = 64;         // D-15, D-26: states that a client keeps in any case
inline constexpr int32_t kStalePartTicks = 64;         // D-27: older parts are not acked
inline constexpr int32_t kLateBaselineTicks = 16;      // D-26
inline constexpr int32_t kMaxTickJump = 1 << 24;       // D-18: largest step forward between two parts
inline constexpr int32_t kAgingTicks = 1 << 20;        // how often old ticks are moved forward
inline constexpr uint32_t kGapEscape = 12;             // D-14

// A state whose entry is longer than a part travels in pieces (D-54 to D-59).
inline constexpr uint32_t kPieceBytes = 64;
inline constexpr uint32_t kMaxLongBytes = 65536;  // of the pieces of one state together
inline constexpr uint32_t kMaxPieces = kMaxLongBytes / kPieceBytes;
inline constexpr uint32_t kMaxLongStates = 8;  // incomplete at one client
inline uint32_t piece_count(uint32_t length_bytes) {
  return (length_bytes + kPieceBytes - 1) / kPieceBytes;
}
/// Bytes of `count` pieces from `first` on, of a state of `length_bytes`.
inline uint32_t run_bytes(uint32_t length_bytes, uint32_t first, uint32_t count) {
  const uint32_t begin = first * kPieceBytes;
  return count * kPieceBytes < length_bytes - begin ? count * kPieceBytes : length_bytes - begin;
}

inline constexpr size_t kFlagsOffset = 4;  // of a part's flags, behind its tick
inline constexpr uint8_t kFlagHasInput = 0x80;
inline constexpr uint8_t kFlagConfirmsOwn = 0x40;
inline constexpr uint8_t kFlagKeep = 0x20;
inline constexpr uint8_t kFlagUnchanged = 0x10;
inline constexpr uint8_t kFlagProgress = 0x08;

/// While nothing changes for a client, it gets a snapshot only this often (D-44).
inline constexpr uint32_t kQuietSnapshotsPerS = 2;

/// The fixed fields of one part. `input_margin` is in quarter ticks; positive means early (T-02).
struct SnapshotHeader {
  Tick server_tick = 0;
  Tick last_input_tick = 0;
  int8_t input_margin = 0;
  bool has_input = false;     // last_input_tick and input_margin are stated
  bool confirms_own = false;  // what the receiver owns and has no entry in this part did not change (D-40)
  bool keep = false;          // the receiver keeps the states of this part long (D-26)
  bool unchanged =
      false;  // nothing is new to the receiver: there are no blocks, and silence may follow (D-44)
  uint32_t interval_ticks = 0;  // with unchanged: from one snapshot to the next where something is new
  bool progress = false;        // a part about the receiver's joining and nothing else (D-48)
  uint32_t join_objects = 0;    // with progress: in the receiver's set when it joined
  uint32_t join_missing = 0;    // with progress: of those, neither acked nor gone
};

}  // namespace lattice::replication
