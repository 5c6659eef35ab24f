// States in pieces at the client: SnapshotApplier checks pieces, and decodes a state when its last piece has
// come. Spec: D-54 to D-59.
#include <utility>

#include "lattice/authoring/bit_reader.h"
#include "replication/snapshot_applier.h"

namespace lattice::replication {

// Reads the run behind the slot of its block, which begins at a byte.
SnapshotRefusal SnapshotApplier::decode_pieces(BitReader& in, const SnapshotHeader& header,
                                               const BlockHead& head) {
  ReceivedRun run;
  run.slot = head.slot;
  const uint32_t age = in.ReadVarint32();
  run.length = in.ReadVarint32();
  run.first = in.ReadVarint32();
  run.count = in.ReadVarint32();
  if (!in.ok()) return SnapshotRefusal::kMalformed;
  if (head.count != 1 || head.k != 0) return SnapshotRefusal::kBlock;
  if (run.slot >= slot_bound_) return SnapshotRefusal::kSlot;
  run.tick = header.server_tick - age;
  if (age > static_cast<uint32_t>(kMaxBaselineTicks) || run.tick == 0) return SnapshotRefusal::kBaselineAge;
  if (run.length == 0 || run.length > kMaxLongBytes) return SnapshotRefusal::kLongLength;
  const uint32_t pieces = piece_count(run.length);
  if (run.count == 0 || run.first >= pieces || run.count > pieces - run.first) {
    return SnapshotRefusal::kPieceRange;
  }
  const uint32_t bytes = run_bytes(run.length, run.first, run.count);
  if (in.bits_left() < size_t{bytes} * 8) return SnapshotRefusal::kMalformed;
  run.bytes = body_.subspan(in.position_bits() / 8, bytes);
  for (uint32_t i = 0; i < bytes; ++i) in.ReadByte();
  return take_run(run, header);
}

SnapshotRefusal SnapshotApplier::take_run(ReceivedRun run, const SnapshotHeader& header) {
  uint32_t begun = 0;  // by this part
  for (const ReceivedRun& other : runs_) {
    if (other.slot == run.slot) return SnapshotRefusal::kSlotTwice;
    begun += !other.is_late && received_pieces_.find(other.slot) == nullptr ? 1u : 0u;
  }
  const ReceivedPieces::State* state = received_pieces_.find(run.slot);
  run.is_late = is_over(run.slot, run.tick) || (state != nullptr && base::tick_after(state->tick, run.tick));
  if (run.is_late) {
    runs_.push_back(run);
    return SnapshotRefusal::kNone;
  }
  if (state == nullptr && received_pieces_.size() + begun >= kMaxLongStates) {
    return SnapshotRefusal::kTooManyLong;
  }
  if (state != nullptr && state->tick == run.tick) {
    if (state->bytes.size() != run.length) return SnapshotRefusal::kLongLength;
    if (ReceivedPieces::contradicts(*state, run)) return SnapshotRefusal::kPieceDiffers;
  }
  run.completes = received_pieces_.would_complete(run);
  runs_.push_back(run);
  return run.completes ? decode_long(run, header) : SnapshotRefusal::kNone;
}

// The pieces together are a block with one full or delta entry, of the tick of the state.
SnapshotRefusal SnapshotApplier::decode_long(const ReceivedRun& run, SnapshotHeader header) {
  received_pieces_.assemble(run, &whole_);
  if (whole_[0] >> 5 > static_cast<uint8_t>(EntryKind::kFull)) return SnapshotRefusal::kLongState;
  header.server_tick = run.tick;
  const uint32_t deltas_before = delta_count_;
  const size_t pending_before = pending_.size();
  // Of one that says more, none is decoded: each full entry takes the memory of a whole state.
  BlockHead head;
  BitReader ahead(whole_);
  if (read_block_head(ahead, &head) == SnapshotRefusal::kNone && head.count != 1) {
    return SnapshotRefusal::kLongState;
  }
  const std::span<const uint8_t> part = std::exchange(body_, whole_);
  BitReader in(whole_);
  const SnapshotRefusal refusal = decode_block(in, header);
  body_ = part;
  // The baseline of a state under way is kept, so one that is missing is no matter of lateness.
  if (refusal == SnapshotRefusal::kLateBaseline) return SnapshotRefusal::kMissingBaseline;
  if (refusal != SnapshotRefusal::kNone) return refusal;
  Long state;
  state.tick = run.tick;
  state.remote_slot = run.slot;
  bool of_slot = false;
  if (delta_count_ != deltas_before) {
    state.delta = deltas_[--delta_count_];
    of_slot = known_at(run.slot) == state.delta.known;
  } else {
    state.entry = pending_.back();
    pending_.pop_back();
    of_slot = state.entry.remote_slot == run.slot;
  }
  longs_.push_back(state);
  const bool one = delta_count_ == deltas_before && pending_.size() == pending_before;
  return one && of_slot && in.bits_left() == 0 ? SnapshotRefusal::kNone : SnapshotRefusal::kLongState;
}

// True when the pieces of a state are of no use: the client has that state or a newer one, or the object was
// removed since.
bool SnapshotApplier::is_over(uint32_t remote_slot, Tick tick) const {
  const uint32_t index = known_at(remote_slot);
  if (index == kNotKnown) return false;
  const Known& known = known_[index];
  return is_before_removal(known, tick) ||
         (known.slot != kNoSlot && !base::tick_after(tick, known.applied_tick));
}

void SnapshotApplier::commit_pieces() {
  for (const Long& state : longs_) {
    if (state.entry.kind == EntryKind::kFull) {
      commit_full(state.entry, state.tick, false);
    } else if (known_at(state.remote_slot) == state.delta.known) {
      // A tombstone that was there when the part was decoded may have made way for others of the same part.
      commit_deltas({&state.delta, 1}, state.tick, false);
    }
  }
  for (const ReceivedRun& run : runs_) {
    if (run.is_late) continue;
    if (run.completes) {
      received_pieces_.drop(run.slot);
    } else {
      received_pieces_.store(run);
    }
  }
  received_pieces_.drop_if([this](uint32_t slot, Tick tick) { return is_over(slot, tick); });
}

}  // namespace lattice::replication
