// The states that travel to one client in pieces: which pieces it has, which are on their way, which go next.
// Spec: D-54 to D-59.
//
// A state is encoded once, when it begins. From then on its bytes stay as they are until the client has acked
// each piece, whatever the object does meanwhile: so an object that changes all the time arrives as well.
// At most kMaxLongStates are under way. They go in the order in which they began.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/bit_set.h"
#include "replication/snapshot_format.h"
#include "replication/state_store.h"

namespace lattice::replication {

/// Consecutive pieces of one state, as one part holds them.
struct PieceRun {
  static constexpr uint32_t kMaxCount = 63;
  uint32_t first = 0;
  uint32_t count = 0;

  /// In 16 bits, for the ledger.
  uint16_t packed() const { return static_cast<uint16_t>(first << 6 | count); }
  static PieceRun unpack(uint16_t packed) { return {uint32_t{packed} >> 6, packed & kMaxCount}; }
};
static_assert(kMaxPieces <= 1u << 10);

/// One state under way.
struct LongSend {
  uint32_t index = 0;  // of the replica
  uint32_t slot = 0;
  uint32_t version = 0;
  Tick tick = 0;  // whose state it is
  Tick sent_tick = 0;
  EntryKind kind = EntryKind::kFull;  // kFull or kDelta
  uint16_t send = 0;                  // its number among the states of the object that were sent
  uint32_t acked_pieces = 0;
  std::vector<uint8_t> bytes;
  std::shared_ptr<const PinnedVersion> pinned;
  base::FixedBitSet<kMaxPieces> acked;
  base::FixedBitSet<kMaxPieces> sent;  // on their way, or acked

  uint32_t pieces() const { return piece_count(static_cast<uint32_t>(bytes.size())); }
  /// The next pieces to send, `most` at most. A count of 0: all are on their way.
  PieceRun next(uint32_t most) const;
};

class LongSends {
 public:
  /// True while a state of the replica is under way.
  bool holds(uint32_t index) const { return !sends_.empty() && find(index) != nullptr; }
  const LongSend* find(uint32_t index) const;
  uint32_t size() const { return static_cast<uint32_t>(sends_.size()); }
  /// In the order in which they began.
  std::vector<LongSend>& sends() { return sends_; }
  const std::vector<LongSend>& sends() const { return sends_; }
  /// True when no state is under way and no baseline is kept.
  bool empty() const { return sends_.empty() && baselines_.empty(); }
  /// True when some piece is not on its way.
  bool has_unsent() const { return !sends_.empty() && any_unsent(); }
  /// Bytes of the pieces that are not on their way; of the last ones, up to a piece more.
  uint32_t unsent_bytes() const;

  /// Begins a state, with room for its bytes. The reference is valid until the next begin() or end().
  LongSend& begin();
  void end(uint32_t index);

  /// The pieces of `run` were acked. True when that completes the state; then complete() follows.
  bool on_acked(uint32_t index, uint16_t version, PieceRun run);
  /// They were lost: they are to be sent again.
  void on_lost(uint32_t index, uint16_t version, PieceRun run);
  /// Ends a state that the client has. The version stays pinned as a baseline until release() lets it go, or
  /// until kMostBaselines later ones are.
  void complete(uint32_t index);
  static constexpr uint32_t kMostBaselines = 64;
  /// Sends again what was neither acked nor lost in `resend_ticks`.
  void renew(Tick now, uint32_t resend_ticks);
  /// Lets go of the pinned baselines for which `is_needed(index, version)` is false.
  template <class IsNeeded>
  void release(IsNeeded is_needed) {
    std::erase_if(baselines_,
                  [&](const Baseline& each) { return !is_needed(each.index, each.pinned->version); });
  }

 private:
  /// A state that the client has acked, and of which the object's own history may be too short.
  struct Baseline {
    uint32_t index = 0;
    std::shared_ptr<const PinnedVersion> pinned;
  };
  LongSend* find(uint32_t index, uint16_t version);
  bool any_unsent() const;

  std::vector<LongSend> sends_;
  std::vector<Baseline> baselines_;  // in the order in which they came
  std::vector<uint8_t> spare_;       // the memory of the state that ended last
};

}  // namespace lattice::replication
