// States that are longer than a part or than the budget: SnapshotBuilder encodes each once and cuts it into
// pieces, which fill what other entries leave of the budget. Spec: D-54 to D-59.
#include <algorithm>
#include <cstring>
#include <functional>

#include "base/assert.h"
#include "replication/entry_writer.h"
#include "replication/snapshot_builder.h"
#include "serialization/layout.h"

namespace lattice::replication {
namespace {

/// What stands in front of the bytes of a run, at most: kind, count, slot, age, length, first, pieces.
constexpr uint32_t kMostRunHeadBytes = 1 + 1 + 5 + 3 + 3 + 2 + 1;
constexpr uint32_t kLeastRunBytes = kMostRunHeadBytes + kPieceBytes;
/// Pieces that found no room in so many snapshots have it in the next, however small the budget.
constexpr uint32_t kPieceTurns = 3;
constexpr uint32_t kLeastPartBytes = static_cast<uint32_t>(kSnapshotHeaderBytes) + kLeastRunBytes;

}  // namespace

// Whether a snapshot that holds nothing else has room for a piece.
bool SnapshotBuilder::may_send_pieces(uint32_t budget_bytes) const {
  return config_.part_capacity_bytes >= kLeastPartBytes &&
         (budget_bytes == 0 || budget_bytes >= kLeastPartBytes);
}

// None where something waits for a snapshot without pieces, but for the pieces' turn.
SnapshotBuilder::PieceShare SnapshotBuilder::piece_share(const ReplicaList& recipient,
                                                         uint32_t budget_bytes) {
  if (budget_bytes == 0 || !recipient.longs().has_unsent()) return {};
  const uint32_t unsent_bytes = recipient.longs().unsent_bytes();
  // Each part with pieces has a header, and a run a head.
  const uint32_t all_bytes = unsent_bytes + (unsent_bytes / 1024 + 1) * kLeastPartBytes;
  // Half of a small budget has no room for a piece: now and then the others leave it, so that pieces get
  // about half of all, and in one of four snapshots at least.
  const uint32_t waited = recipient.without_pieces();
  const bool has_turn =
      waited >= kPieceTurns || (waited + 1) * uint64_t{budget_bytes} >= uint64_t{2} * kLeastPartBytes;
  const uint32_t turn_bytes = has_turn && budget_bytes > kLeastPartBytes ? kLeastPartBytes : 0;
  const uint32_t most_bytes = std::max(budget_bytes / 2, turn_bytes);
  if (most_bytes < kLeastRunBytes) return {};
  const uint32_t usual_bytes = std::min({std::max(budget_bytes / 4, kLeastPartBytes), all_bytes, most_bytes});
  const bool is_whole = recipient.left_out().any_whole && (waited == 0 || !has_turn);
  return {is_whole ? 0 : usual_bytes, usual_bytes};
}

// Begins those that wait, by priority, as long as what is under way does not fill this snapshot. The later a
// state begins, the newer it is.
void SnapshotBuilder::begin_longs(ReplicaList& recipient, uint32_t budget_bytes) {
  const uint32_t most_bytes = budget_bytes == 0 ? kMaxPieceParts * config_.part_capacity_bytes : budget_bytes;
  const LongSends& longs = recipient.longs();
  if (long_waiting_.empty() || longs.size() >= kMaxLongStates || longs.unsent_bytes() >= most_bytes) return;
  std::sort(long_waiting_.begin(), long_waiting_.end(), [](const Waiting& a, const Waiting& b) {
    return a.priority != b.priority ? a.priority > b.priority : a.index < b.index;
  });
  for (const Waiting& waiting : long_waiting_) {
    if (recipient.longs().unsent_bytes() >= most_bytes) return;
    if (!recipient.may_begin_long(waiting.index)) continue;
    const Replica& replica = recipient.replica(waiting.index);
    // One of the client's own, or one that was to go along with its group: as a whole, it would have been
    // sent again.
    if (is_on_its_way(replica, store_.summary(waiting.slot))) continue;
    Candidate candidate;
    describe(recipient, replica, waiting.slot, waiting.index, &candidate);
    const std::span<const uint8_t> bytes = encode_long(recipient, replica, waiting.index, candidate);
    LongSend& send = recipient.begin_long(waiting.index, store_, candidate.kind);
    send.bytes.assign(bytes.begin(), bytes.end());
    ++(candidate.kind == EntryKind::kDelta ? stats_.delta_entries : stats_.full_entries);
    stats_.groups_cut += waiting.group == kNoSlot ? 0 : 1;  // the rest of the group does not wait for it
  }
}

// A block of one entry, as a part of this tick could hold it if it were longer (D-55). Valid until the next
// call.
std::span<const uint8_t> SnapshotBuilder::encode_long(const ReplicaList& recipient, const Replica& replica,
                                                      uint32_t index, const Candidate& candidate) {
  const Baseline baseline =
      baseline_of(recipient, replica, candidate.slot, index, store_.summary(candidate.slot));
  const serialization::Layout& layout = *candidate.type->layout;
  const Word* from = store_.words(candidate.slot, baseline.version);
  const Word* to = store_.current(candidate.slot);
  LATTICE_CHECK(from != nullptr && to != nullptr);
  const bool is_owner = table_.info(candidate.slot).owned_by(recipient.peer_id());
  to = layout.seen({is_owner, store_.was_told(candidate.slot, baseline.version)}, from, to, &long_seen_);
  long_scratch_.resize(kMaxLongBytes);
  BitWriter out(long_scratch_);
  write_block_head(out, BlockHead{candidate.kind, false, 0, 1, candidate.age, candidate.slot});
  if (candidate.kind == EntryKind::kFull) write_full_head(out, candidate, nullptr);
  write_changes(out, layout, from, to);
  end_block(out);
  LATTICE_CHECK(out.ok());  // the schema refuses types with longer states
  return out.finish();
}

void SnapshotBuilder::write_pieces(ReplicaList& recipient, const SnapshotHeader& header,
                                   uint32_t budget_bytes) {
  const uint32_t capacity = config_.part_capacity_bytes;
  if (capacity < kLeastPartBytes) return;
  const uint64_t pieces = stats_.pieces;
  write_piece_parts(recipient, header, budget_bytes);
  recipient.count_pieces(stats_.pieces != pieces);
}

void SnapshotBuilder::write_piece_parts(ReplicaList& recipient, const SnapshotHeader& header,
                                        uint32_t budget_bytes) {
  const uint32_t capacity = config_.part_capacity_bytes;
  const size_t budget = budget_bytes == 0 ? SIZE_MAX : std::max<size_t>(budget_bytes, used_bytes_);
  const size_t most_parts = std::min<size_t>(parts_.size() + kMaxPieceParts, kMaxParts);
  while (true) {
    fill_with_pieces(recipient, std::min(capacity - parts_.back().bytes.size(), budget - used_bytes_));
    const bool has_room = budget - used_bytes_ >= kLeastPartBytes && parts_.size() < most_parts;
    if (!has_room || !recipient.longs().has_unsent()) return;
    BitWriter out = begin_part(recipient, header, 0);
    end_part(out);
  }
}

// Puts pieces behind what is in the last part, of each state one run at most.
void SnapshotBuilder::fill_with_pieces(ReplicaList& recipient, size_t room_bytes) {
  const size_t end = used_bytes_ + room_bytes;
  for (LongSend& send : recipient.longs().sends()) {
    if (end - used_bytes_ < kLeastRunBytes) return;
    const auto most = static_cast<uint32_t>((end - used_bytes_ - kMostRunHeadBytes) / kPieceBytes);
    const PieceRun run = send.next(most);
    if (run.count != 0) write_run(recipient, send, run);
  }
}

void SnapshotBuilder::write_run(ReplicaList& recipient, LongSend& send, PieceRun run) {
  const auto length = static_cast<uint32_t>(send.bytes.size());
  const uint32_t bytes = run_bytes(length, run.first, run.count);
  BitWriter out(unused());
  write_block_head(out, BlockHead{EntryKind::kPiece, false, 0, 1, 0, send.slot});
  out.WriteVarint(tick_ - send.tick);
  out.WriteVarint(length);
  out.WriteVarint(run.first);
  out.WriteVarint(run.count);
  out.WriteRaw(send.bytes.data() + size_t{run.first} * kPieceBytes, bytes);
  LATTICE_CHECK(out.ok());
  SnapshotPart& part = parts_.back();
  const size_t added = out.finish().size();
  part.bytes = std::span<const uint8_t>(part.bytes.data(), part.bytes.size() + added);
  used_bytes_ += added;
  stats_.bytes += added;
  stats_.pieces += run.count;
  for (uint32_t piece = run.first; piece < run.first + run.count; ++piece) send.sent.set(piece);
  send.sent_tick = tick_;
  recipient.ledger().add(SentEntry::of(EntryKind::kPiece, send.index, recipient.replica(send.index).stay,
                                       send.version, run.packed()));
}

}  // namespace lattice::replication
