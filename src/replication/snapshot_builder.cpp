// Collecting and writing. What is in step is in snapshot_builder_steps.cpp, the choice under a budget in
// snapshot_builder_choice.cpp, groups in snapshot_groups.cpp, long states in snapshot_builder_pieces.cpp.
#include "replication/snapshot_builder.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>

#include "base/assert.h"
#include "base/compiler.h"
#include "replication/entry_writer.h"
#include "replication/priority.h"

namespace lattice::replication {
namespace {

constexpr size_t kPrefetchAhead = 8;
/// What a removal takes at least, with the gap in front of it.
constexpr uint32_t kLeastRemovalBits = 4;
/// Removals go first with this share of the budget: what is gone or hidden must not stay because much of high
/// priority moves.
constexpr double kRemovalsShare = 0.25;
constexpr float kFirstRemovalPriority = 1e30f;  // above that of every object
// A removal beyond that gains this much in each snapshot. An object gains more each time it is passed over,
// so after a moment it goes before any number of removals.
constexpr float kRemovalPriority = 4.0f;
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
      plan_(config.part_capacity_bytes),
      steps_({config.part_capacity_bytes, kMaxParts, config.send_interval_ticks}, blocks_) {
  LATTICE_CHECK(config.part_capacity_bytes >= kMinPartCapacity &&
                config.part_capacity_bytes <= kMaxPartBytes);
  LATTICE_CHECK(config.send_interval_ticks > 0);
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
  cache_.begin_client();
  blocks_.begin_client();
  recipient.begin_build(tick_, resend_ticks_);
  recipient.follow(store_, changed_);
  end_unfit_steps(recipient);
  may_take_turns_ = rules == nullptr;
  is_joining_ = !recipient.loaded();
  const uint32_t others_bytes = budget_bytes - piece_share(recipient, budget_bytes);
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
  // What is longer than the budget fits no snapshot as it is. Beside groups in turn it waits: its turn comes
  // without them.
  const bool may_cut = left_bytes != 0 && steps_.reserved_bytes() == 0 && may_send_pieces(budget_bytes);
  const size_t passed_over = admit(recipient, left_bytes, may_cut ? left_bytes : UINT32_MAX);
  begin_longs(recipient, budget_bytes);
  unchanged_ = too_late + passed_over + held_back_ == 0 && candidates_.empty() && recipient.steps().empty() &&
               long_waiting_.empty() && !recipient.longs().has_unsent();
  if (unchanged_ && silence == Silence::kAllowed && recipient.told_unchanged()) return {};
  recipient.tell_unchanged(unchanged_);
  const bool all = passed_over == 0 && plan_.plan(candidates_, table_, max_parts);
  if (!all || (left_bytes != 0 && plan_.bytes() > left_bytes && !candidates_.empty())) {
    choose(recipient, left_bytes, max_parts);
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

// ---- Which entries this client needs --------------------------------------------------------------

// Returns how many removals were left out.
size_t SnapshotBuilder::collect(ReplicaList& recipient, uint32_t bound_bytes, bool is_unbounded) {
  candidates_.clear();
  waiting_.clear();
  own_count_ = 0;
  any_groups_ = false;
  const std::span<uint64_t> awake = recipient.awake();
  // Each entry fits a part, so where there are no more of them than parts, all of them go.
  needs_priorities_ = !is_unbounded || awake.size() + steps_.parts() + kMaxPieceParts > kMaxParts;
  const size_t unseen = collect_removals(recipient, bound_bytes);
  waiting_.reserve(awake.size());
  size_t kept = 0;
  for (size_t i = 0; i < awake.size(); ++i) {
    // What a client knows has left the cache since its last snapshot.
    if (i + kPrefetchAhead < awake.size()) {
      const uint64_t ahead = awake[i + kPrefetchAhead];
      const auto slot = static_cast<uint32_t>(ahead >> 32);
      base::prefetch(&recipient.replica(static_cast<uint32_t>(ahead)));
      base::prefetch(&store_.summary(slot));
      base::prefetch(&table_.info(slot));
      cache_.prefetch(slot);
    }
    const uint64_t entry = awake[i];
    const auto index = static_cast<uint32_t>(entry);
    if (collect_object(recipient, static_cast<uint32_t>(entry >> 32), index)) {
      awake[kept++] = entry;
    } else {
      recipient.put_to_rest(index);
    }
  }
  recipient.keep_awake(kept);
  if (any_groups_) {
    complete_groups(recipient);
    rank_groups();
  }
  held_back_ = hold_back_new(recipient);
  return unseen;
}

// Of the objects that the client does not hold, takes those with the highest priority for which it has room:
// it would end the connection over one more. What is new of a group is taken as one. Returns how many wait.
size_t SnapshotBuilder::hold_back_new(const ReplicaList& recipient) {
  const auto is_unheld = [&](const Waiting& waiting) { return !recipient.replica(waiting.index).held; };
  const uint32_t room = recipient.room_for_new();
  if (waiting_.size() <= room) return 0;
  ranks_.clear();
  for (const Waiting& waiting : waiting_) {
    if (is_unheld(waiting)) ranks_.push_back(rank(waiting.priority, waiting.place));
  }
  if (ranks_.size() <= room) return 0;
  std::sort(ranks_.begin(), ranks_.end(), std::greater<>());
  const uint64_t most = ranks_[room];  // the objects of a group have the same rank
  return std::erase_if(waiting_, [&](const Waiting& waiting) {
    return is_unheld(waiting) && rank(waiting.priority, waiting.place) <= most;
  });
}

// What is in flight is not sent again. The transport says when a part is lost. Of those that wait, more than
// `bound_bytes` can hold are not looked at: they have waited less long, so they would not be chosen. Returns
// how many.
size_t SnapshotBuilder::collect_removals(ReplicaList& recipient, uint32_t bound_bytes) {
  Removals& removals = recipient.removals();
  removals.longest_waiting(size_t{8} * bound_bytes / kLeastRemovalBits + 1, &removals_);
  double first_bits = kRemovalsShare * 8 * bound_bytes;
  for (const uint32_t index : removals_) {
    add_removal(recipient, index);
    Candidate& candidate = candidates_.back();
    first_bits -= estimate_bits(candidate);
    candidate.goes_first = first_bits >= 0;
    if (candidate.goes_first) candidate.priority = kFirstRemovalPriority;
  }
  if (any_groups_ && removals_.size() < removals.waiting()) complete_removals(recipient);
  std::sort(candidates_.begin(), candidates_.end(),
            [](const Candidate& a, const Candidate& b) { return a.slot < b.slot; });
  return removals.waiting() - candidates_.size();
}

void SnapshotBuilder::add_removal(ReplicaList& recipient, uint32_t index) {
  const Removal& removal = recipient.removals()[index];
  Candidate candidate;
  candidate.slot = removal.slot;
  candidate.index = index;
  candidate.kind = EntryKind::kRemoved;
  candidate.body = EntryCache::kTooLarge;
  candidate.bits = 3 + (removal.named ? varint_bits(removal.network_id) : 0) +
                   (removal.rpc_count != 0 ? varint_bits(removal.rpc_count) : 0);
  candidate.priority = kRemovalPriority * static_cast<float>(recipient.removals().builds_waited(removal));
  candidate.group = removal_group(removal);
  any_groups_ = any_groups_ || candidate.group != kNoSlot;
  candidates_.push_back(candidate);
}

bool SnapshotBuilder::is_on_its_way(const Replica& replica, const StateSummary& newest) const {
  return replica.sent_version == newest.version && replica.in_flight &&
         tick_ - replica.sent_tick < resend_ticks_;
}

// A client that predicts the object must not take it for unchanged (D-40). No predicted type may be longer
// than a part.
bool SnapshotBuilder::may_be_predicted(const Replica& replica, uint32_t slot) const {
  const uint32_t most_bytes = table_.info(slot).type->max_entry_bytes + uint32_t{kEntryOverheadBytes};
  return replica.acked_version != 0 && most_bytes <= config_.part_capacity_bytes;
}

// Returns false when the client holds the newest state and has been told all about it.
bool SnapshotBuilder::collect_object(ReplicaList& recipient, uint32_t slot, uint32_t index) {
  Replica& replica = recipient.replica(index);
  const StateSummary& newest = store_.summary(slot);
  if (replica.waits) return false;  // begin_build() wakes it once the slot has rested
  if (newest.version == 0) return true;
  // A client that has not heard of a new owner may still take the object for its own.
  const bool is_own = table_.info(slot).owned_by(recipient.peer_id()) ||
                      (replica.acked_version != 0 && !replica.has_full(newest.full_version));
  // Pieces are told to their end, even if the same state was sent whole before and that is acked now (D-56).
  if (recipient.longs().holds(index)) {
    own_count_ += is_own && may_be_predicted(replica, slot) ? 1u : 0u;
    return true;
  }
  if (replica.acked_version == newest.version && replica.has_full(newest.full_version)) {
    if (!replica.rest_sent) return collect_rest(recipient, slot, index, newest);
    replica.accumulator = 0;  // nothing to send (C-04)
    return false;
  }
  const bool sent = is_on_its_way(replica, newest);
  // The client's own objects are few, and each part that has them all confirms them (D-40).
  if (!sent || is_own) {
    SendTerms terms;
    read_terms(slot, &terms);
    if (!is_own && is_early(slot, replica, terms)) return true;
    collect_state(replica, slot, index, is_own, terms);
  } else {
    static_cast<void>(collect_rest(recipient, slot, index, newest));
  }
  return true;
}

// D-17. At once where a client would extrapolate; else with the second snapshot after the last change. Twice,
// in snapshots that follow each other, unless the state was acked by then: a loss is known only a round trip
// later, and until then a client that lacks the entry would take the object for one that moves on.
bool SnapshotBuilder::collect_rest(ReplicaList& recipient, uint32_t slot, uint32_t index,
                                   const StateSummary& newest) {
  Replica& replica = recipient.replica(index);
  const bool is_owner = table_.info(slot).owned_by(recipient.peer_id());
  const bool moves = is_owner ? newest.moves_for_owner : newest.moves_for_others;
  const uint32_t silence = (tick_ - newest.tick) / config_.send_interval_ticks;
  const uint32_t first = moves ? 1 : 2;
  const bool is_repeated = silence == first + 1 && replica.acked_version != newest.version;
  if (replica.rest_sent ? !is_repeated : silence < first) return true;
  // After its first state a client takes an object for one that rests, unless that has a velocity.
  if (replica.acked_version == 0 && replica.sends < 2 && !moves) return true;
  Candidate candidate;
  candidate.slot = slot;
  candidate.index = index;
  candidate.kind = EntryKind::kRested;
  candidate.body = EntryCache::kTooLarge;
  const bool acked = replica.acked_version == newest.version && replica.acked_tick != 0;
  candidate.age = tick_ - (acked ? replica.acked_tick : replica.sent_tick);
  if (candidate.age == 0 || candidate.age > static_cast<uint32_t>(kMaxBaselineTicks))
    return candidate.age == 0;
  SendTerms terms;
  read_terms(slot, &terms);
  replica.accumulator += gain(table_.info(slot), replica.sent_tick, terms.nearness);
  candidate.priority = replica.accumulator;
  candidates_.push_back(candidate);
  return true;
}

// Whether the distance lets the object wait for a later snapshot. The first state of a stay never waits, nor
// does one whose predecessor was lost. Time is cut into intervals, for each object or group at other ticks,
// so that those that are equally far away do not leave with the same snapshot.
bool SnapshotBuilder::is_early(uint32_t slot, const Replica& replica, const SendTerms& terms) const {
  if (terms.interval_ticks <= config_.send_interval_ticks || replica.sent_tick == 0) return false;
  if (!replica.in_flight && replica.sent_version != replica.acked_version) return false;  // lost
  if (tick_ - replica.sent_tick >= terms.interval_ticks) return false;
  const uint32_t turn = terms.group == kNoSlot ? slot : terms.group;
  const Tick phase = turn * config_.send_interval_ticks;
  return (tick_ + phase) / terms.interval_ticks == (replica.sent_tick + phase) / terms.interval_ticks;
}

// What the priority of an object gains with each snapshot while the client waits for news since `since`
// (C-04).
float SnapshotBuilder::gain(const ObjectInfo& info, Tick since, float weight) const {
  return info.type->base_priority * staleness(tick_, since, config_.send_interval_ticks) * weight;
}

// How much the members hurry the object that changed since what the client was sent, or acked. Where
// everything fits, nobody needs to know.
float SnapshotBuilder::change_priority(const Replica& replica, uint32_t slot, bool is_own,
                                       bool since_ack) const {
  const serialization::Layout& layout = *table_.info(slot).type->layout;
  if (!needs_priorities_ || !layout.has_priorities()) return 1.0f;
  const uint32_t known = since_ack ? replica.acked_version : replica.sent_version;
  const Word* base = known != 0 ? store_.words(slot, known) : nullptr;
  return layout.change_priority({.is_owner = is_own, .has_baseline = known != 0}, base, store_.current(slot));
}

void SnapshotBuilder::collect_state(Replica& replica, uint32_t slot, uint32_t index, bool is_own,
                                    const SendTerms& terms) {
  const ObjectInfo& info = table_.info(slot);
  // A loss gives back what was spent: the client is as far behind as if nothing had been sent (C-04).
  const bool since_ack = replica.lost && replica.acked_tick != 0;
  const Tick since = since_ack                ? replica.acked_tick
                     : replica.sent_tick != 0 ? replica.sent_tick
                                              : info.spawn_tick;
  const float urgency = change_priority(replica, slot, is_own, since_ack);
  replica.accumulator += gain(info, since, (is_own ? config_.owner_boost : 1.0f) * terms.nearness * urgency);
  own_count_ += is_own ? 1 : 0;

  cache_.prefetch_words(slot, replica.acked_version);
  any_groups_ = any_groups_ || terms.group != kNoSlot;
  const auto place = static_cast<uint32_t>(waiting_.size());
  Waiting& waiting = waiting_.emplace_back();  // in place: a copy stalls behind its own stores
  waiting.priority = replica.accumulator;
  waiting.index = index;
  waiting.slot = slot;
  waiting.group = terms.group;
  waiting.place = place;
  waiting.is_own = waiting.goes_with_own = is_own;
  waiting.is_new = replica.sent_version == 0 && !is_joining_;
  waiting.may_step = may_step(terms) && !info.type->layout->has_priorities();
}

// Makes candidates of the states. Where they are far more than the budget has room for, of those with the
// highest priority, and the client's own. Returns how many were passed over. What fits no part goes in
// pieces, and so does what is longer than `piece_bytes`.
size_t SnapshotBuilder::admit(const ReplicaList& recipient, uint32_t budget_bytes, uint32_t piece_bytes) {
  // The rank that `count` have, or more: of all, or of those that are no newcomers.
  const auto least_rank = [this](size_t count, bool with_new) {
    ranks_.clear();
    ranks_.reserve(waiting_.size());
    for (const Waiting& waiting : waiting_) {
      if (with_new || !waiting.is_new) ranks_.push_back(rank(waiting.priority, waiting.place));
    }
    if (count >= ranks_.size()) return uint64_t{0};
    const auto last = ranks_.begin() + static_cast<std::ptrdiff_t>(count);
    std::nth_element(ranks_.begin(), last, ranks_.end(), std::greater<>());
    return *last + 1;
  };
  const size_t others = candidates_.size();
  const double budget_bits = 8.0 * budget_bytes;
  const size_t wanted = budget_bytes == 0
                            ? waiting_.size()
                            : static_cast<size_t>(1.25 * budget_bits / recipient.mean_entry_bits()) + 64;
  for (size_t count = wanted;; count *= 2) {
    candidates_.resize(others);
    candidates_.reserve(others + std::min(count, waiting_.size()));
    const uint64_t least = least_rank(count, true);
    // What newcomers leave to the others (select()).
    const uint64_t least_old = least == 0 ? 0 : std::min(least, least_rank(count / 4, false));
    size_t usable = 0;
    size_t passed_over = 0;
    long_waiting_.clear();
    for (const Waiting& waiting : waiting_) {
      const uint64_t needed = waiting.is_new ? least : least_old;
      if (rank(waiting.priority, waiting.place) < needed && !waiting.goes_with_own) {
        ++passed_over;
      } else if (!add_candidate(recipient, waiting, piece_bytes)) {
        long_waiting_.push_back(waiting);
      } else {
        usable += estimate_bits(candidates_.back()) <= budget_bits ? 1u : 0u;
      }
    }
    const double usable_bits = static_cast<double>(usable) * recipient.mean_entry_bits();
    if (passed_over != 0 && usable_bits < 1.1 * budget_bits) continue;
    return passed_over;
  }
}

// False when the state goes in pieces.
bool SnapshotBuilder::add_candidate(const ReplicaList& recipient, const Waiting& waiting,
                                    uint32_t piece_bytes) {
  const Replica& replica = recipient.replica(waiting.index);
  Candidate& candidate = candidates_.emplace_back();  // in place: a copy stalls behind its own stores
  if (!describe(recipient, replica, waiting.slot, waiting.index, &candidate) ||
      alone_bits(candidate) > uint64_t{8} * piece_bytes) {
    candidates_.pop_back();
    return false;
  }
  candidate.index = waiting.index;
  candidate.is_own = waiting.is_own;
  candidate.is_new = waiting.is_new;
  candidate.streams = waiting.may_step && streams(replica, store_.summary(candidate.slot));
  candidate.group = waiting.group;
  candidate.priority = waiting.priority;
  return true;
}

// Whether the object changed as often as snapshots are sent since the state that the client acked.
bool SnapshotBuilder::streams(const Replica& replica, const StateSummary& newest) const {
  if (replica.acked_tick == 0 || tick_ - newest.tick >= config_.send_interval_ticks) return false;
  return newest.version - replica.acked_version >= (tick_ - replica.acked_tick) / config_.send_interval_ticks;
}

// Fills in what the entry of a state will hold. False when it does not fit one part.
bool SnapshotBuilder::describe(const ReplicaList& recipient, const Replica& replica, uint32_t slot,
                               uint32_t index, Candidate* candidate) {
  const ObjectInfo& info = table_.info(slot);
  const Baseline baseline = baseline_of(recipient, replica, slot, index, store_.summary(slot));
  candidate->slot = slot;
  candidate->kind = baseline.version != 0 ? EntryKind::kDelta : EntryKind::kFull;
  candidate->age = baseline.age;
  candidate->type = info.type;
  candidate->body = cache_.find(slot, baseline.version, info.owned_by(recipient.peer_id()));
  if (candidate->body == EntryCache::kTooLarge) return false;
  const EntryBody body = cache_.body(candidate->body);
  candidate->bits = body.bits;
  candidate->mask = body.mask;
  if (candidate->kind == EntryKind::kFull) {
    candidate->bits += varint_bits(info.network_id);
    candidate->head_bits = varint_bits(info.type->type_id) + varint_bits(info.owner) + 2 +
                           varint_bits(tick_ - info.authority.since_tick);
  }
  return true;
}

SnapshotBuilder::Outlook SnapshotBuilder::outlook(const ReplicaList& recipient, uint32_t slot, Tick tick,
                                                  uint32_t budget_bytes) {
  begin_send(tick);
  const Replica replica = *recipient.find(slot, store_);
  const uint32_t index = recipient.index_of(slot);
  Candidate candidate;
  Outlook outlook;
  outlook.in_pieces = !describe(recipient, replica, slot, index, &candidate) ||
                      (budget_bytes != 0 && may_send_pieces(budget_bytes) &&
                       alone_bits(candidate) > uint64_t{8} * budget_bytes);
  outlook.full = candidate.kind == EntryKind::kFull;
  outlook.age = candidate.age;
  outlook.alone_bits =
      outlook.in_pieces ? 8 * static_cast<uint32_t>(encode_long(recipient, replica, index, candidate).size())
                        : alone_bits(candidate);
  return outlook;
}

// The newest state that the client has acked and, by D-26, still keeps. The store must have it too: it has
// every state of the last ticks, so only an older one is looked for.
SnapshotBuilder::Baseline SnapshotBuilder::baseline_of(const ReplicaList& recipient, const Replica& replica,
                                                       uint32_t slot, uint32_t index,
                                                       const StateSummary& newest) const {
  if (!replica.has_full(newest.full_version)) return {};
  const auto age_of = [this](Tick tick) { return static_cast<uint32_t>(base::tick_distance(tick_, tick)); };
  const auto usable = [&](uint32_t version, uint32_t age) {
    if (age == 0 || age > static_cast<uint32_t>(kMaxBaselineTicks)) return false;
    return age < store_.history_ticks() || store_.words(slot, version) != nullptr;
  };
  const uint32_t age = age_of(replica.acked_tick);
  if (replica.acked_tick != 0 && usable(replica.acked_version, age)) return {replica.acked_version, age};
  const KeptState kept = recipient.kept(index);
  const uint32_t kept_age = age_of(kept.tick);
  if (kept.version != 0 && kept_age <= store_.keep_ticks().sure_ticks() && usable(kept.version, kept_age)) {
    return {kept.version, kept_age};
  }
  if (store_.is_placed(slot)) return {1, 0};  // D-51: every client has it
  return {};
}

// ---- Writing --------------------------------------------------------------------------------------

// Whether each of the client's own objects that differs from its acked state has an entry in this part.
bool SnapshotBuilder::has_all_own(const BlockPlan::Part& part) const {
  uint32_t missing = own_count_;
  for (uint32_t b = part.first_block; missing != 0 && b < part.first_block + part.block_count; ++b) {
    const BlockPlan::Block& block = plan_.blocks()[b];
    if (candidates_[plan_.order()[block.first]].is_own) missing -= block.count;
  }
  return missing == 0;
}

void SnapshotBuilder::write(ReplicaList& recipient, const SnapshotHeader& header, uint32_t budget_bytes) {
  parts_.clear();
  used_bytes_ = 0;
  const bool has_pieces = recipient.longs().has_unsent();
  const size_t most_parts = plan_.parts().size() + steps_.parts() + (has_pieces ? kMaxPieceParts : 0);
  const size_t room_bytes = most_parts * config_.part_capacity_bytes;
  if (buffer_.size() < room_bytes) buffer_.resize(room_bytes);
  for (const BlockPlan::Part& part : plan_.parts()) {
    BitWriter out = begin_part(recipient, header, has_all_own(part));
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

BitWriter SnapshotBuilder::begin_part(ReplicaList& recipient, const SnapshotHeader& header,
                                      bool confirms_own) {
  BitWriter out(std::span<uint8_t>(buffer_).subspan(used_bytes_, config_.part_capacity_bytes));
  out.WriteU32(tick_);
  out.WriteByte(static_cast<uint8_t>((header.has_input ? kFlagHasInput : 0) |
                                     (confirms_own ? kFlagConfirmsOwn : 0) | (keep_ ? kFlagKeep : 0) |
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

// Puts a block behind what is in the last part. Cuts it where that fills the part.
void SnapshotBuilder::write_shared(ReplicaList& recipient, const SnapshotHeader& header,
                                   const StepPlan::Shared& shared) {
  const std::span<const uint8_t> bytes = blocks_.bytes(shared.block);
  const size_t room = config_.part_capacity_bytes - parts_.back().bytes.size();
  const auto count = static_cast<uint32_t>(std::popcount(shared.mask));
  if (bytes.size() > room && count >= StepPlan::kLeastCutEntries && room >= kLeastCutBytes) {
    const uint32_t lower = lower_half(shared.mask);
    for (const uint32_t mask : {lower, shared.mask & ~lower}) {
      const uint32_t block = blocks_.find(shared.group, mask, shared.baseline);
      write_shared(recipient, header, StepPlan::Shared{shared.group, mask, shared.baseline, block});
    }
    return;
  }
  if (bytes.size() > room) {
    BitWriter out = begin_part(recipient, header, own_count_ == 0);
    end_part(out);
  }
  SnapshotPart& part = parts_.back();
  std::memcpy(buffer_.data() + used_bytes_, bytes.data(), bytes.size());
  part.bytes = std::span<const uint8_t>(part.bytes.data(), part.bytes.size() + bytes.size());
  used_bytes_ += bytes.size();
  stats_.bytes += bytes.size();
  recipient.ledger().add(SentEntry::block(shared.group, shared.mask));
  stats_.delta_entries += count;
  stats_.in_step += count;
}

void SnapshotBuilder::write_block(BitWriter& out, ReplicaList& recipient, const BlockPlan::Block& block) {
  const std::span<const uint32_t> order = plan_.order().subspan(block.first, block.count);
  write_block_head(
      out, BlockHead{block.kind, block.mixed, block.k, block.count, block.age, candidates_[order[0]].slot});
  const Candidate* previous = nullptr;
  for (const uint32_t at : order) {
    const Candidate& candidate = candidates_[at];
    if (previous != nullptr) write_gap(out, candidate.slot - previous->slot - 1, block.k);
    if (block.mixed) {
      out.WriteBool(candidate.age != block.age);
      if (candidate.age != block.age) out.WriteVarint(candidate.age);
    }
    if (candidate.kind == EntryKind::kRemoved) write_removal(out, recipient.removals()[candidate.index]);
    if (candidate.kind == EntryKind::kFull) write_full_head(out, candidate, previous);
    if (candidate.body != EntryCache::kTooLarge) {
      const bool same_type = previous != nullptr && previous->type == candidate.type;
      write_changes(out, cache_.body(candidate.body), same_type ? &previous->mask : nullptr);
    }
    account(recipient, candidate);
    previous = &candidate;
  }
  end_block(out);
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

void SnapshotBuilder::account(ReplicaList& recipient, const Candidate& candidate) {
  LATTICE_ASSERT(candidate.index <= SentEntry::kIndexMask);
  if (candidate.kind == EntryKind::kRemoved) {
    const uint32_t stay = recipient.removals()[candidate.index].stay;
    recipient.ledger().add(SentEntry::of(candidate.kind, candidate.index, stay));
    recipient.removals().on_sent(candidate.index, tick_);
    ++stats_.removed_entries;
    return;
  }
  Replica& replica = recipient.replica(candidate.index);
  if (candidate.kind == EntryKind::kRested) {
    recipient.ledger().add(
        SentEntry::of(candidate.kind, candidate.index, replica.stay, replica.sent_version));
    replica.rest_sent = true;
    replica.accumulator = 0;
    ++stats_.rested_entries;
    return;
  }
  replica.sent_version = store_.version(candidate.slot);
  ++replica.sends;
  recipient.ledger().add(
      SentEntry::of(candidate.kind, candidate.index, replica.stay, replica.sent_version, replica.sends));
  replica.accumulator = 0;
  replica.entry_bytes =
      static_cast<uint8_t>(std::min((estimate_bits(candidate) + candidate.head_bits + 7) / 8, 255u));
  replica.sent_tick = tick_;
  recipient.note_held(candidate.index);
  replica.in_flight = true;
  replica.rest_sent = false;
  replica.sent_in_step = false;
  // From here on the client may have forgotten the acked state (D-26).
  if (static_cast<uint16_t>(replica.sends - replica.acked_send) >= kBaselineSends) replica.acked_tick = 0;
  ++(candidate.kind == EntryKind::kDelta ? stats_.delta_entries : stats_.full_entries);
}

}  // namespace lattice::replication
