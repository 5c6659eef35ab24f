// The steps of a build, and writing. What a client needs is collected in snapshot_builder_collect.cpp. What
// is in step is in snapshot_builder_steps.cpp, the choice under a budget in snapshot_builder_choice.cpp,
// groups in snapshot_groups.cpp, long states in snapshot_builder_pieces.cpp.
#include "replication/snapshot_builder.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

#include "base/assert.h"
#include "base/compiler.h"
#include "base/popcount.h"
#include "replication/entry_writer.h"
#include "replication/priority.h"

namespace lattice::replication {
namespace {

constexpr uint32_t kLeastCutBytes = 48;  // smaller room in a part is left empty

}  // namespace

SnapshotBuilder::SnapshotBuilder(const Config& config, const ObjectTable& table, StateStore& store)
    : config_(config),
      table_(table),
      store_(store),
      cache_(table, store, config.part_capacity_bytes - static_cast<uint32_t>(kEntryOverheadBytes)),
      blocks_(table, store, cache_, config.part_capacity_bytes / StepPlan::kSharedPerPart),
      changed_(store.changes()),
      resend_ticks_(2 * config.tick_rate_hz),
      sure_age_(std::min(store.history_ticks() - 1, static_cast<uint32_t>(kMaxBaselineTicks))),
      plan_(config.part_capacity_bytes),
      steps_({config.part_capacity_bytes, kMaxParts, config.send_interval_ticks}, blocks_) {
  LATTICE_CHECK(config.part_capacity_bytes >= kMinPartCapacity &&
                config.part_capacity_bytes <= kMaxPartBytes);
  LATTICE_CHECK(config.send_interval_ticks > 0);
  make_room(config.usual_states);
}

// Writes to all of it, and keeps it.
void SnapshotBuilder::make_room(uint32_t states) {
  const auto touch = [states](auto&... of_states) { (..., (of_states.resize(states), of_states.clear())); };
  touch(candidates_, waiting_, ranks_);
  plan_.make_room(states);
  cache_.make_room(states);
  if (states != 0) buffer_.resize(size_t{kMaxParts} * config_.part_capacity_bytes);
}

void SnapshotBuilder::begin_send(Tick tick) {
  LATTICE_ASSERT(tick != 0);
  tick_ = tick;
  keep_ = store_.keep_ticks().contains(tick);
  cache_.begin_send();
  blocks_.begin_send(tick);
}

std::span<const SnapshotPart> SnapshotBuilder::build_prepared(ReplicaList& recipient,
                                                              const SnapshotHeader& header,
                                                              uint32_t budget_bytes, const SendRules* rules,
                                                              Silence silence) {
  rules_ = rules;
  has_common_terms_ = rules == nullptr;
  common_terms_ = {};
  cache_.begin_client();
  blocks_.begin_client();
  recipient.begin_build(tick_, resend_ticks_);
  recipient.follow(store_, changed_);
  end_unfit_steps(recipient);
  may_take_turns_ = rules == nullptr;
  is_joining_ = !recipient.loaded();
  const PieceShare share = piece_share(recipient, budget_bytes);
  const uint32_t others_bytes = budget_bytes - share.bytes;
  const uint32_t most_bytes = kMaxParts * config_.part_capacity_bytes;
  const uint32_t bound_bytes = others_bytes == 0 ? most_bytes : std::min(others_bytes, most_bytes);
  plan_steps(recipient, others_bytes);
  const size_t unseen = collect(recipient, bound_bytes, others_bytes == 0);
  rules_ = nullptr;
  const size_t too_late = recipient.takes_turns() ? line_up(recipient, bound_bytes) : 0;
  const uint32_t max_parts =
      kMaxParts - steps_.parts() - (recipient.longs().has_unsent() ? kMaxPieceParts : 0);
  const uint32_t taken_bytes = steps_.bytes() + steps_.reserved_bytes();
  const bool is_free = others_bytes == 0 && !recipient.takes_turns();
  const uint32_t left_bytes = is_free ? 0 : bound_bytes - taken_bytes;
  const uint32_t whole_bytes = left_bytes == 0 ? 0 : left_bytes + share.bytes;
  // What is longer than the budget fits no snapshot as it is. Beside groups in turn it waits: its turn comes
  // without them.
  const bool may_cut = left_bytes != 0 && steps_.reserved_bytes() == 0 && may_send_pieces(budget_bytes);
  const PieceBounds bounds = may_cut ? PieceBounds{left_bytes, whole_bytes} : PieceBounds();
  const size_t passed_over = admit(recipient, left_bytes, bounds);
  begin_longs(recipient, budget_bytes);
  unchanged_ = too_late + passed_over + held_back_ == 0 && candidates_.empty() && recipient.steps().empty() &&
               long_waiting_.empty() && !recipient.longs().has_unsent();
  if (unchanged_ && silence == Silence::kAllowed && recipient.told_unchanged()) return {};
  recipient.tell_unchanged(unchanged_);
  const auto counting = is_free ? BlockPlan::Counting::kRoughly : BlockPlan::Counting::kExactly;
  const bool all = passed_over == 0 && plan_.plan(candidates_, table_, max_parts, counting);
  recipient.note_left_out({});
  if (!all || (left_bytes != 0 && plan_.bytes() > left_bytes && !candidates_.empty())) {
    const uint32_t usual_bytes = whole_bytes - std::min(whole_bytes, share.usual_bytes);
    choose(recipient, {left_bytes, whole_bytes, usual_bytes}, max_parts);
  }
  if (!plan_.order().empty()) {
    const size_t bytes = plan_.bytes() - plan_.parts().size() * kSnapshotHeaderBytes;
    const auto entries = static_cast<double>(plan_.order().size());
    recipient.set_mean_entry_bits(std::max(1.0, 8.0 * static_cast<double>(bytes) / entries));
  }
  if (recipient.takes_turns()) {
    const auto parts = static_cast<uint32_t>(plan_.parts().size());
    steps_.take_turns({plan_.bytes(), parts, plan_.room_bytes()}, bound_bytes);
  }
  write(recipient, header, budget_bytes);
  ++stats_.snapshots;
  stats_.groups_cut += plan_.groups_cut();  // beside those that choose() took apart
  stats_.parts += parts_.size();
  const size_t postponed =
      unseen + too_late + passed_over + candidates_.size() - plan_.order().size() + steps_.waiting();
  stats_.postponed += postponed;
  end_build(recipient, postponed, others_bytes);
  return parts_;
}

// How many of the client's own objects have an entry in this part.
uint32_t SnapshotBuilder::count_own(const BlockPlan::Part& part) const {
  uint32_t count = 0;
  for (uint32_t b = part.first_block; count != own_count_ && b < part.first_block + part.block_count; ++b) {
    const BlockPlan::Block& block = plan_.blocks()[b];
    if (candidates_[plan_.order()[block.first]].is_own) count += block.count;
  }
  return count;
}

void SnapshotBuilder::write(ReplicaList& recipient, const SnapshotHeader& header, uint32_t budget_bytes) {
  parts_.clear();
  run_bytes_ += std::exchange(used_bytes_, 0);
  confirmed_own_ = false;
  const bool has_pieces = recipient.longs().has_unsent();
  const size_t most_parts = plan_.parts().size() + steps_.parts() + (has_pieces ? kMaxPieceParts : 0);
  const size_t needed_bytes = run_bytes_ + most_parts * config_.part_capacity_bytes;
  if (buffer_.size() < needed_bytes) buffer_.resize(needed_bytes);
  for (const BlockPlan::Part& part : plan_.parts()) {
    BitWriter out = begin_part(recipient, header, count_own(part));
    for (uint32_t b = part.first_block; b < part.first_block + part.block_count; ++b) {
      write_block(out, recipient, plan_.blocks()[b]);
    }
    end_part(out);
  }
  for (const StepPlan::Shared& shared : steps_.shared()) write_shared(recipient, header, shared);
  if (has_pieces) write_pieces(recipient, header, budget_bytes);
  validate(recipient);
  steps_.settle();
}

// A snapshot has one entry about a slot, or pieces of one state (D-55, D-56).
void SnapshotBuilder::validate([[maybe_unused]] const ReplicaList& recipient) {
#if defined(LATTICE_VALIDATION)
  ranks_.clear();
  for (const uint32_t at : plan_.order()) ranks_.push_back(candidates_[at].slot);
  for (const LongSend& send : recipient.longs().sends()) ranks_.push_back(send.slot);
  for (const StepPlan::Shared& shared : steps_.shared()) {
    for (uint32_t bit = 0; bit < kGroupSlots; ++bit) {
      if ((shared.mask >> bit & 1) != 0) ranks_.push_back((shared.group << kGroupBits) + bit);
    }
  }
  std::sort(ranks_.begin(), ranks_.end());
  LATTICE_ASSERT(std::adjacent_find(ranks_.begin(), ranks_.end()) == ranks_.end());
#endif
}

// A part with entries of `own_count` of the client's own objects, to which more may come.
BitWriter SnapshotBuilder::begin_part(ReplicaList& recipient, const SnapshotHeader& header,
                                      uint32_t own_count) {
  own_missing_ = own_count_ + steps_.own() - own_count;
  confirmed_own_ = confirmed_own_ || own_missing_ == 0;
  BitWriter out(unused().first(config_.part_capacity_bytes));
  out.WriteU32(tick_);
  out.WriteByte(static_cast<uint8_t>((header.has_input ? kFlagHasInput : 0) |
                                     (own_missing_ == 0 ? kFlagConfirmsOwn : 0) | (keep_ ? kFlagKeep : 0) |
                                     (unchanged_ ? kFlagUnchanged : 0)));
  if (header.has_input) {
    out.WriteVarint(header.last_input_tick == 0 ? 0 : tick_ - header.last_input_tick + 1);
    out.WriteByte(static_cast<uint8_t>(header.input_margin));
  }
  if (unchanged_) out.WriteVarint(config_.send_interval_ticks);
  parts_.push_back(SnapshotPart{{}, recipient.ledger().open(tick_, keep_)});
  return out;
}

void SnapshotBuilder::end_part(BitWriter& out) {
  LATTICE_CHECK(out.ok());  // the bits were counted before the first one was written
  parts_.back().bytes = out.finish();
  used_bytes_ += parts_.back().bytes.size();
  stats_.bytes += parts_.back().bytes.size();
}

// The last part got entries of so many of the client's own objects: it may confirm them all now (D-40).
void SnapshotBuilder::note_own(uint32_t count) {
  if (count == 0) return;
  own_missing_ -= count;
  if (own_missing_ != 0) return;
  confirmed_own_ = true;
  buffer_[run_bytes_ + used_bytes_ - parts_.back().bytes.size() + kFlagsOffset] |= kFlagConfirmsOwn;
}

// Puts a block behind what is in the last part. Cuts it where that fills the part.
void SnapshotBuilder::write_shared(ReplicaList& recipient, const SnapshotHeader& header,
                                   const StepPlan::Shared& shared) {
  const std::span<const uint8_t> bytes = blocks_.bytes(shared.block);
  const size_t room = config_.part_capacity_bytes - parts_.back().bytes.size();
  const auto count = base::popcount(shared.mask);
  if (bytes.size() > room && count >= StepPlan::kLeastCutEntries && room >= kLeastCutBytes) {
    const uint32_t lower = lower_half(shared.mask);
    for (const uint32_t mask : {lower, shared.mask & ~lower}) {
      const uint32_t block = blocks_.find(shared.group, mask, shared.baseline);
      StepPlan::Shared half = shared;
      half.mask = mask, half.block = block, half.own = shared.own & mask;
      write_shared(recipient, header, half);
    }
    return;
  }
  if (bytes.size() > room) {
    BitWriter out = begin_part(recipient, header, 0);
    end_part(out);
  }
  SnapshotPart& part = parts_.back();
  std::memcpy(unused().data(), bytes.data(), bytes.size());
  part.bytes = std::span<const uint8_t>(part.bytes.data(), part.bytes.size() + bytes.size());
  used_bytes_ += bytes.size();
  stats_.bytes += bytes.size();
  recipient.ledger().add(SentEntry::block(shared.group, shared.mask, shared.place));
  stats_.delta_entries += count;
  stats_.in_step += count;
  note_own(base::popcount(shared.own));
}

void SnapshotBuilder::write_block(BitWriter& out, ReplicaList& recipient, const BlockPlan::Block& block) {
  const std::span<const uint32_t> order = plan_.order().subspan(block.first, block.count);
  write_block_head(
      out, BlockHead{block.kind, block.mixed, block.k, block.count, block.age, candidates_[order[0]].slot});
  const Candidate* previous = nullptr;
  for (const uint32_t at : order) {
    const Candidate& candidate = candidates_[at];
    FrontBits front;
    if (previous != nullptr) front = begin_entry(out, candidate.slot - previous->slot - 1, block.k);
    if (block.mixed || block.kind != EntryKind::kDelta) {
      out.WriteBits(front.bits, static_cast<int>(front.count));
      front = {};
      write_entry_head(out, recipient, block, candidate, previous);
    }
    if (candidate.body != EntryCache::kTooLarge) {
      const bool same_type = previous != nullptr && previous->type == candidate.type;
      write_changes(out, front, cache_.body(candidate.body), same_type ? &previous->mask : nullptr);
    }
    previous = &candidate;
  }
  end_block(out);
  account(recipient, block.kind, order);
}

// What stands between the gap and the changes of an entry.
void SnapshotBuilder::write_entry_head(BitWriter& out, ReplicaList& recipient, const BlockPlan::Block& block,
                                       const Candidate& candidate, const Candidate* previous) {
  if (block.mixed) {
    out.WriteBool(candidate.age != block.age);
    if (candidate.age != block.age) out.WriteVarint(candidate.age);
  }
  if (block.kind == EntryKind::kRemoved) write_removal(out, recipient.removals()[candidate.index]);
  if (block.kind == EntryKind::kFull) write_full_head(out, candidate, previous);
}

void SnapshotBuilder::write_removal(BitWriter& out, const Removal& removal) {
  out.WriteBool(removal.left);
  out.WriteBool(removal.named);
  if (removal.named) out.WriteVarint(removal.network_id);
  out.WriteBool(removal.rpc_count != 0);
  if (removal.rpc_count != 0) out.WriteVarint(removal.rpc_count);
}

void SnapshotBuilder::write_full_head(BitWriter& out, const Candidate& candidate, const Candidate* previous) {
  const ObjectInfo& info = table_.info(candidate.slot);
  const bool same = previous != nullptr && same_head(info, table_.info(previous->slot));
  if (previous != nullptr) out.WriteBool(same);
  if (!same) {
    out.WriteVarint(info.type->type_id);
    out.WriteVarint(info.owner);
    out.WriteBits(static_cast<uint64_t>(info.mode), 2);
    out.WriteVarint(tick_ - info.authority.since_tick);
  }
  out.WriteVarint(info.network_id);
}

// Notes what the entries of a block told the client. `order` has their candidates.
void SnapshotBuilder::account(ReplicaList& recipient, EntryKind kind, std::span<const uint32_t> order) {
  PartLedger& ledger = recipient.ledger();
  switch (kind) {
    case EntryKind::kRemoved:
      for (const uint32_t at : order) {
        const uint32_t index = candidates_[at].index;
        ledger.add(SentEntry::removal(index, recipient.removals()[index].stay));
        recipient.removals().on_sent(index, tick_);
      }
      stats_.removed_entries += order.size();
      return;
    case EntryKind::kRested:
      for (const uint32_t at : order) {
        const uint32_t index = candidates_[at].index;
        Replica& replica = recipient.replica(index);
        ledger.add(SentEntry::of(kind, index, replica.stay, replica.sent_version));
        replica.rest_sent = true;
        replica.accumulator = 0;
      }
      stats_.rested_entries += order.size();
      return;
    default:
      ledger.add(order.size(), [&](size_t i) { return account_state(recipient, candidates_[order[i]]); });
      (kind == EntryKind::kDelta ? stats_.delta_entries : stats_.full_entries) += order.size();
  }
}

inline SentEntry SnapshotBuilder::account_state(ReplicaList& recipient, const Candidate& candidate) {
  LATTICE_ASSERT(candidate.index <= SentEntry::kIndexMask);
  Replica& replica = recipient.replica(candidate.index);
  const uint32_t stay = replica.stay;  // before its neighbours are written: a load right behind would wait
  replica.sent_version = store_.version(candidate.slot);
  ++replica.sends;
  replica.accumulator = 0;
  replica.regains = false;
  replica.entry_bytes =
      static_cast<uint8_t>(std::min((estimate_bits(candidate) + candidate.head_bits + 7) / 8, 255u));
  replica.sent_tick = tick_;
  recipient.note_held(candidate.index);
  replica.in_flight = true;
  replica.rest_sent = false;
  replica.sent_in_step = false;
  // From here on the client may have forgotten the acked state (D-26).
  if (static_cast<uint16_t>(replica.sends - replica.acked_send) >= kBaselineSends) replica.acked_tick = 0;
  return SentEntry::of(candidate.kind, candidate.index, stay, replica.sent_version, replica.sends);
}

}  // namespace lattice::replication
