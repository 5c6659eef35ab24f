// Which entries a client needs: the builder makes candidates of what is new to it, and of what it must drop.
#include <algorithm>
#include <functional>

#include "base/assert.h"
#include "base/compiler.h"
#include "replication/priority.h"
#include "replication/snapshot_builder.h"

namespace lattice::replication {
namespace {

/// How far ahead of the object that is looked at, what leads to the words of another is fetched, and then the
/// words.
constexpr size_t kPrefetchAhead = 12, kPrefetchWordsAhead = 6;
/// What a removal takes at least, with the gap in front of it.
constexpr uint32_t kLeastRemovalBits = 4;
/// Removals go first with this share of the budget: what is gone or hidden must not stay because much of high
/// priority moves.
constexpr double kRemovalsShare = 0.25;
constexpr float kFirstRemovalPriority = 1e30f;  // above that of every object
// A removal beyond that gains this much in each snapshot. An object gains more each time it is passed over,
// so at a base priority of 1 it goes before them from its second on.
constexpr float kRemovalPriority = 1.0f;

}  // namespace

// Returns how many removals were left out.
size_t SnapshotBuilder::collect(ReplicaList& recipient, uint32_t bound_bytes, bool is_unbounded) {
  candidates_.clear();
  waiting_.clear();
  long_waiting_.clear();
  along_.clear();
  own_count_ = 0;
  any_groups_ = any_new_ = false;
  const std::span<uint64_t> awake = recipient.awake();
  // Each entry fits a part, so where there are no more of them than parts, all of them go.
  const size_t most_entries = kMaxParts - std::min(kMaxParts, steps_.parts() + kMaxPieceParts);
  needs_priorities_ = !is_unbounded || awake.size() > most_entries;
  if (rules_ != nullptr && !needs_priorities_) has_common_terms_ = rules_->common_terms(&common_terms_);
  const size_t unseen = collect_removals(recipient, bound_bytes);
  const size_t entries = candidates_.size() + awake.size();
  takes_all_ = is_unbounded && entries <= most_entries && has_common_terms_ && may_step(common_terms_) &&
               !any_groups_ && !recipient.takes_turns() && recipient.longs().empty() &&
               awake.size() <= recipient.room_for_new();
  if (takes_all_) {
    candidates_.reserve(entries);
  } else {
    waiting_.reserve(awake.size());
  }
  const size_t likely =
      is_unbounded ? awake.size() : std::min(awake.size(), entries_for(recipient, bound_bytes));
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
    if (i + kPrefetchWordsAhead < likely) {
      const uint64_t ahead = awake[i + kPrefetchWordsAhead];
      cache_.prefetch_words(static_cast<uint32_t>(ahead >> 32),
                            recipient.replica(static_cast<uint32_t>(ahead)).acked_version);
    }
    const uint64_t entry = awake[i];
    const auto slot = static_cast<uint32_t>(entry >> 32);
    const auto index = static_cast<uint32_t>(entry);
    if ((takes_all_ && collect_usual(recipient, slot, index)) || collect_object(recipient, slot, index)) {
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

// Of the objects that the client does not hold, takes those with the highest priority: no more than it has
// room for, as it would end the connection over one more, and about kMostNewObjects, so that a join or a
// storm takes neither side long at once. What is new of a group is taken as one. For the second reason the
// client's own never waits. Returns how many wait.
size_t SnapshotBuilder::hold_back_new(const ReplicaList& recipient) {
  const auto is_unheld = [&](const Waiting& waiting) { return !recipient.replica(waiting.index).held; };
  const auto rank_of = [](const Waiting& waiting) { return rank(waiting.priority, waiting.place); };
  const uint32_t room = recipient.room_for_new();
  if (waiting_.size() <= std::min(room, kMostNewObjects)) return 0;
  ranks_.clear();
  for (const Waiting& waiting : waiting_) {
    if (is_unheld(waiting)) ranks_.push_back(rank_of(waiting));
  }
  const size_t new_count = ranks_.size();
  // The objects of a group have the same rank.
  const bool in_order = std::is_sorted(ranks_.begin(), ranks_.end(), std::greater<>());  // of a join, mostly
  const auto rank_at = [&](size_t at) {
    const auto found = ranks_.begin() + static_cast<std::ptrdiff_t>(at);
    if (!in_order) std::nth_element(ranks_.begin(), found, ranks_.end(), std::greater<>());
    return *found;
  };
  uint64_t least = 0;
  if (new_count > kMostNewObjects) least = rank_at(kMostNewObjects - 1);
  if (new_count > room) least = std::max(least, rank_at(room) + 1);
  const bool has_room = new_count <= room;
  return std::erase_if(waiting_, [&](const Waiting& waiting) {
    return rank_of(waiting) < least && is_unheld(waiting) && !(has_room && waiting.goes_with_own);
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

// What most objects are that are awake: another's, changed since it was sent, and the client acked a state
// that serves as the baseline. Returns false where any of that is not so: collect_object() then sees why.
inline bool SnapshotBuilder::collect_usual(ReplicaList& recipient, uint32_t slot, uint32_t index) {
  const Replica& replica = recipient.replica(index);
  const StateSummary& newest = store_.summary(slot);
  const ObjectInfo& info = table_.info(slot);
  const uint32_t age = tick_ - replica.acked_tick;
  if (replica.acked_tick == 0 || age - 1 >= sure_age_ || replica.sent_version == newest.version ||
      !replica.has_full(newest.full_version) || replica.waits || info.owned_by(recipient.peer_id())) {
    return false;
  }
  const uint32_t body = cache_.find(slot, replica.acked_version);
  if (body == EntryCache::kTooLarge) return false;
  Candidate& candidate = candidates_.emplace_back();  // in place: a copy stalls behind its own stores
  const EntryBody& changes = cache_.body(body);
  candidate.mask = changes.mask;
  candidate.bits = changes.bits;
  candidate.type = info.type;
  candidate.slot = slot;
  candidate.index = index;
  candidate.age = age;
  candidate.body = body;
  candidate.may_step = !info.type->layout->has_priorities();
  validate_usual(recipient, candidate);
  return true;
}

void SnapshotBuilder::validate_usual([[maybe_unused]] const ReplicaList& recipient,
                                     [[maybe_unused]] const Candidate& usual) {
#if defined(LATTICE_VALIDATION)
  Candidate whole;
  LATTICE_ASSERT(describe(recipient, recipient.replica(usual.index), usual.slot, usual.index, &whole));
  LATTICE_ASSERT(whole.kind == usual.kind && whole.age == usual.age && whole.body == usual.body);
#endif
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
  const bool has_newest = replica.acked_version == newest.version && replica.has_full(newest.full_version);
  if (has_newest && replica.rest_sent) {
    replica.accumulator = 0;  // nothing to send (C-04)
    return false;
  }
  // Of a placed object that never changed no state was sent that a rested entry could name, and it names none
  // of long ago.
  const Tick named = replica.acked_tick != 0 ? replica.acked_tick : replica.sent_tick;
  const bool has_named = named != 0 && tick_ - named <= static_cast<uint32_t>(kMaxBaselineTicks);
  if (has_newest && has_named) return collect_rest(recipient, slot, index, newest);
  const bool sent = is_on_its_way(replica, newest);
  // The client's own objects are few, and each part that has them all confirms them (D-40).
  SendTerms terms;
  if (!sent || is_own || !has_common_terms_) read_terms(slot, &terms);
  if (sent && !is_own) {
    may_go_along(replica, slot, index, terms);
    static_cast<void>(collect_rest(recipient, slot, index, newest));
  } else if (!is_own && is_early(slot, replica, terms)) {
    may_go_along(replica, slot, index, terms);
  } else {
    collect_state(recipient, slot, index, is_own, terms);
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
inline bool SnapshotBuilder::is_early(uint32_t slot, const Replica& replica, const SendTerms& terms) const {
  if (terms.interval_ticks <= config_.send_interval_ticks || replica.sent_tick == 0) return false;
  if (!replica.in_flight && replica.sent_version != replica.acked_version) return false;  // lost
  if (tick_ - replica.sent_tick >= terms.interval_ticks) return false;
  const uint32_t turn = terms.group == kNoSlot ? slot : terms.group;
  const Tick phase = turn * config_.send_interval_ticks;
  return (tick_ + phase) / terms.interval_ticks == (replica.sent_tick + phase) / terms.interval_ticks;
}

// What the priority of an object gains with each snapshot while the client waits for news since `since`
// (C-04).
inline float SnapshotBuilder::gain(const ObjectInfo& info, Tick since, float weight) const {
  return info.type->base_priority * staleness(tick_, since, config_.send_interval_ticks) * weight;
}

// How much the members hurry the object that changed since what the client was sent, or acked. Where
// everything fits, nobody needs to know.
inline float SnapshotBuilder::change_priority(const Replica& replica, uint32_t slot, bool is_own,
                                              bool since_ack) const {
  const serialization::Layout& layout = *table_.info(slot).type->layout;
  if (!needs_priorities_ || !layout.has_priorities()) return 1.0f;
  const uint32_t known = since_ack ? replica.acked_version : replica.sent_version;
  const Word* base = known != 0 ? store_.words(slot, known) : nullptr;
  return layout.change_priority({.is_owner = is_own, .has_baseline = known != 0}, base, store_.current(slot));
}

inline void SnapshotBuilder::collect_state(ReplicaList& recipient, uint32_t slot, uint32_t index, bool is_own,
                                           const SendTerms& terms) {
  const ObjectInfo& info = table_.info(slot);
  Replica& replica = recipient.replica(index);
  own_count_ += is_own ? 1 : 0;
  any_groups_ = any_groups_ || terms.group != kNoSlot;
  const bool is_new = replica.sent_version == 0 && !is_joining_;
  any_new_ = any_new_ || is_new;
  const auto fill = [&](Waiting& waiting) {  // in place: a copy stalls behind its own stores
    waiting.priority = replica.accumulator;
    waiting.index = index;
    waiting.slot = slot;
    waiting.group = terms.group;
    waiting.is_own = waiting.goes_with_own = is_own;
    waiting.is_new = is_new;
    waiting.may_step = may_step(terms) && !info.type->layout->has_priorities();
  };
  if (takes_all_) {
    Waiting waiting;
    fill(waiting);
    if (add_candidate(recipient, waiting, {})) return;
  }
  // A loss gives back what was spent: the client is as far behind as if nothing had been sent (C-04).
  const bool since_ack = replica.lost && replica.acked_tick != 0;
  const Tick since = since_ack                ? replica.acked_tick
                     : replica.sent_tick != 0 ? replica.sent_tick
                                              : info.spawn_tick;
  // Beyond that, all gain equally, and what waited for its turn would wait as long again: it is next.
  if (replica.regains && staleness(tick_, since, config_.send_interval_ticks) == kMostStaleness) {
    replica.accumulator = std::max(replica.accumulator, recipient.left_out().priority);
  }
  replica.regains = false;
  const float urgency = change_priority(replica, slot, is_own, since_ack);
  replica.accumulator += gain(info, since, (is_own ? config_.owner_boost : 1.0f) * terms.nearness * urgency);
  std::vector<Waiting>& those = takes_all_ ? long_waiting_ : waiting_;
  const auto place = static_cast<uint32_t>(those.size());
  Waiting& waiting = those.emplace_back();
  fill(waiting);
  waiting.place = place;
}

// So many entries fill the budget, and some more.
size_t SnapshotBuilder::entries_for(const ReplicaList& recipient, uint32_t budget_bytes) {
  return static_cast<size_t>(1.25 * 8 * budget_bytes / recipient.mean_entry_bits()) + 64;
}

// Makes candidates of the states. Where they are far more than the budget has room for, of those with the
// highest priority, and the client's own. Returns how many were passed over. What fits no part goes in
// pieces, and so does what is longer than `bounds` allow.
size_t SnapshotBuilder::admit(const ReplicaList& recipient, uint32_t budget_bytes,
                              const PieceBounds& bounds) {
  // The rank that `count` have, or more: of all, or of those that are no newcomers.
  const auto least_rank = [this](size_t count, bool with_new) {
    if (count >= waiting_.size()) return uint64_t{0};
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
  if (takes_all_) return 0;
  const size_t others = candidates_.size();
  const double budget_bits = 8.0 * budget_bytes;
  const size_t wanted = budget_bytes == 0 ? waiting_.size() : entries_for(recipient, budget_bytes);
  for (size_t count = wanted;; count *= 2) {
    candidates_.resize(others);
    candidates_.reserve(others + std::min(count, waiting_.size()));
    const uint64_t least = least_rank(count, true);
    // What newcomers leave to the others (select()).
    const uint64_t least_old =
        least == 0 || !any_new_ ? least : std::min(least, least_rank(count / 4, false));
    size_t usable = 0;
    size_t passed_over = 0;
    long_waiting_.clear();
    for (const Waiting& waiting : waiting_) {
      const uint64_t needed = waiting.is_new ? least : least_old;
      if (rank(waiting.priority, waiting.place) < needed && !waiting.goes_with_own) {
        ++passed_over;
      } else if (!add_candidate(recipient, waiting, bounds)) {
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
inline bool SnapshotBuilder::add_candidate(const ReplicaList& recipient, const Waiting& waiting,
                                           const PieceBounds& bounds) {
  const Replica& replica = recipient.replica(waiting.index);
  const uint32_t piece_bytes = waiting.group == kNoSlot ? bounds.alone_bytes : bounds.in_group_bytes;
  Candidate& candidate = candidates_.emplace_back();  // in place: a copy stalls behind its own stores
  if (!describe(recipient, replica, waiting.slot, waiting.index, &candidate) ||
      (piece_bytes != UINT32_MAX && alone_bits(candidate) > uint64_t{8} * piece_bytes)) {
    candidates_.pop_back();
    return false;
  }
  candidate.index = waiting.index;
  candidate.is_own = waiting.is_own;
  candidate.is_predicted = waiting.is_own && candidate.type->predicted;
  candidate.is_new = waiting.is_new;
  candidate.may_step = waiting.may_step;
  candidate.group = waiting.group;
  candidate.priority = waiting.priority;
  return true;
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
    candidate->head_bits = static_cast<uint16_t>(varint_bits(info.type->type_id) + varint_bits(info.owner) +
                                                 2 + varint_bits(tick_ - info.authority.since_tick));
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
inline SnapshotBuilder::Baseline SnapshotBuilder::baseline_of(const ReplicaList& recipient,
                                                              const Replica& replica, uint32_t slot,
                                                              uint32_t index,
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
  if (kept.version != 0 && kept.version >= newest.full_version &&
      kept_age <= store_.keep_ticks().sure_ticks() && usable(kept.version, kept_age)) {
    return {kept.version, kept_age};
  }
  if (store_.is_placed(slot)) return {1, 0};  // D-51: every client has it
  return {};
}

}  // namespace lattice::replication
