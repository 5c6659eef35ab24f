#include "replication/snapshot_builder.h"

#include <algorithm>
#include <limits>

#include "base/assert.h"
#include "base/byte_cursor.h"

namespace lattice::replication {
namespace {

constexpr uint32_t kHeaderBits = kSnapshotHeaderBytes * 8;
constexpr uint32_t kEndBits = 2;  // the end of the entries, and whether own objects are confirmed
constexpr uint32_t kKindBits = 2;
constexpr uint32_t kAgeBits = 8;  // an age is at most 60, so its varint is one byte
static_assert(kMaxBaselineTicks < 128);
constexpr uint32_t kScanAhead = 8;  // C-05
constexpr float kMaxStaleness = 60.0f;
// A removal gains this much in each snapshot. An object gains more each time it is passed over, so after a
// moment it goes before any number of removals.
constexpr float kRemovalPriority = 4.0f;
// The "more" bit, the longest id, kind and age of an entry, and the header and end bit of its part.
constexpr uint32_t kEntryOverheadBytes =
    kSnapshotHeaderBytes + (1 + 72 + kKindBits + kAgeBits + kEndBits + 7) / 8;
static_assert(kEntryOverheadBytes < kMinPartCapacity);

uint32_t id_bits(uint64_t id) {
  return 1 + 8 * static_cast<uint32_t>(base::varint_bytes(id));
}

uint32_t removal_bits(const PendingRemoval& removal) {
  const uint32_t count_bits =
      removal.rpc_count == 0 ? 0 : 8 * static_cast<uint32_t>(base::varint_bytes(removal.rpc_count));
  return kKindBits + 1 + count_bits;
}

}  // namespace

SnapshotBuilder::SnapshotBuilder(const Config& config, const ObjectTable& table,
                                 const VersionHistory& history)
    : config_(config),
      table_(table),
      history_(history),
      cache_(table, history, config.part_capacity_bytes - kEntryOverheadBytes),
      marker_ticks_(config.unchanged_marker_ms * config.tick_rate_hz / 1000),
      resend_ticks_(2 * config.tick_rate_hz),
      buffer_(size_t{config.part_capacity_bytes} * kMaxParts) {
  LATTICE_CHECK(config.part_capacity_bytes >= kMinPartCapacity &&
                config.part_capacity_bytes <= kMaxPartBytes);
  LATTICE_CHECK(config.send_interval_ticks > 0);
  parts_.reserve(kMaxParts);
  cuts_.reserve(kMaxParts);
}

void SnapshotBuilder::begin_send(Tick tick) {
  LATTICE_ASSERT(tick != 0);
  tick_ = tick;
  cache_.begin_send();
}

std::span<const SnapshotPart> SnapshotBuilder::build(RecipientState& recipient, const SnapshotHeader& header,
                                                     uint32_t budget_bytes) {
  cache_.begin_client();
  collect(recipient);
  if (!cut_in_order(budget_bytes)) choose(budget_bytes);
  write_parts(recipient, header);
  ++stats_.snapshots;
  stats_.parts += parts_.size();
  stats_.postponed += candidates_.size() - chosen_.size();
  return parts_;
}

// ---- Which entries this client needs --------------------------------------------------------------

void SnapshotBuilder::collect(RecipientState& recipient) {
  candidates_.clear();
  own_count_ = 0;
  own_bits_ = 0;
  if (table_.slot_count() > recipient.objects_.size()) recipient.objects_.resize(table_.slot_count());
  collect_removals(recipient);
  uint32_t room_for_new = recipient.room_for_new();
  auto removal = removals_.begin();
  for (const uint32_t slot : table_.ascending()) {
    ObjectKnowledge& known = recipient.objects_[slot];
    const VersionSummary& newest = history_.summary(slot);
    if (!known.in_set || newest.version == 0) continue;
    while (removal != removals_.end() && removal->network_id < table_.network_id(slot)) {
      candidates_.push_back(*removal++);
    }
    if (known.acked_version == newest.version && known.acked_full >= newest.full_version) {
      known.accumulator = 0;  // nothing to send (C-04)
      if (newest.moving) collect_marker(known, slot);
      continue;
    }
    if (!known.sent) {
      if (room_for_new == 0) continue;
      --room_for_new;
    }
    collect_state(recipient, known, slot, newest);
  }
  candidates_.insert(candidates_.end(), removal, removals_.end());
}

// What is in flight is not sent again. The transport says when a part is lost.
void SnapshotBuilder::collect_removals(RecipientState& recipient) {
  removals_.clear();
  for (const uint32_t index : recipient.pending_) {
    PendingRemoval& removal = recipient.removals_[index];
    if (removal.sent_tick != 0 && tick_ - removal.sent_tick < resend_ticks_) continue;
    removal.accumulator += kRemovalPriority;
    removals_.push_back(Candidate{removal.network_id, index, EntryCache::kTooLarge, removal_bits(removal),
                                  removal.accumulator, EntryKind::kRemoved, 0, false});
  }
  std::sort(removals_.begin(), removals_.end(),
            [](const Candidate& a, const Candidate& b) { return a.network_id < b.network_id; });
}

void SnapshotBuilder::collect_marker(const ObjectKnowledge& known, uint32_t slot) {
  // The first marker goes out at once after the last change, so that no client extrapolates an object at
  // rest. Later ones go out before the silence exceeds the limit (S-06).
  const uint32_t silence_at_next_send = tick_ + config_.send_interval_ticks - known.last_sent_tick;
  if (known.marked && silence_at_next_send <= marker_ticks_) return;
  candidates_.push_back(Candidate{table_.network_id(slot), slot, EntryCache::kTooLarge, kKindBits, 1.0f,
                                  EntryKind::kUnchanged, 0, false});
}

void SnapshotBuilder::collect_state(const RecipientState& recipient, ObjectKnowledge& known, uint32_t slot,
                                    const VersionSummary& newest) {
  const ObjectInfo& info = table_.info(slot);
  const Tick since = known.last_sent_tick != 0 ? known.last_sent_tick : info.spawn_tick;
  const float staleness = static_cast<float>(std::max(base::tick_distance(tick_, since), 1)) /
                          static_cast<float>(config_.send_interval_ticks);
  const bool is_own = info.owner != 0 && info.owner == recipient.peer_id();
  const float boost = is_own ? config_.owner_boost : 1.0f;
  known.accumulator += info.type->base_priority * std::min(staleness, kMaxStaleness) * boost;

  const int32_t age = base::tick_distance(tick_, known.acked_tick);
  const bool delta = known.acked_version != 0 && known.acked_full >= newest.full_version && age >= 1 &&
                     age <= history_.max_baseline_ticks();
  const uint32_t body = cache_.find(slot, delta ? known.acked_version : 0);
  if (body == EntryCache::kTooLarge) {
    ++stats_.oversized;
    own_count_ += is_own ? 1 : 0;  // it will be missing from every part
    return;
  }
  const uint32_t bits = kKindBits + (delta ? kAgeBits : 0) + cache_.bits(body);
  if (is_own) {
    ++own_count_;
    own_bits_ += id_bits(info.network_id) + bits;
  }
  candidates_.push_back(Candidate{info.network_id, slot, body, bits, known.accumulator,
                                  delta ? EntryKind::kDelta : EntryKind::kFull,
                                  static_cast<uint8_t>(delta ? age : 0), is_own});
}

// ---- Which entries go out now, and in which part --------------------------------------------------

// The usual case: all entries fit, in ascending order. False when they do not.
bool SnapshotBuilder::cut_in_order(uint32_t budget_bytes) {
  const uint32_t part_bits = config_.part_capacity_bytes * 8 - kEndBits;
  const uint32_t count = static_cast<uint32_t>(candidates_.size());
  chosen_.clear();
  cuts_.clear();
  uint32_t bytes = 0;
  uint32_t used = kHeaderBits;
  uint64_t previous = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const Candidate& candidate = candidates_[i];
    uint32_t bits = id_bits(candidate.network_id - previous) + candidate.bits;
    if (used + bits > part_bits) {
      if (cuts_.size() + 1 == kMaxParts) return false;
      bytes += (used + kEndBits + 7) / 8;
      cuts_.push_back(i);
      used = kHeaderBits;
      bits = id_bits(candidate.network_id) + candidate.bits;
    }
    used += bits;
    previous = candidate.network_id;
    chosen_.push_back(i);
  }
  cuts_.push_back(count);
  bytes += (used + kEndBits + 7) / 8;
  return budget_bytes == 0 || bytes <= budget_bytes || count == 0;
}

// Chooses by accumulated priority, highest first, part by part. A size here counts the whole id. The part is
// sorted afterwards, and a difference of ids costs no more than the whole id.
void SnapshotBuilder::choose(uint32_t budget_bytes) {
  // An entry that fits no part of this budget would keep the highest priority and hold the others up.
  const uint32_t largest_part =
      budget_bytes == 0 ? config_.part_capacity_bytes : std::min(budget_bytes, config_.part_capacity_bytes);
  order_.clear();
  for (uint32_t i = 0; i < candidates_.size(); ++i) {
    const Candidate& candidate = candidates_[i];
    if (kHeaderBits + id_bits(candidate.network_id) + candidate.bits + kEndBits <= largest_part * 8) {
      order_.push_back(i);
    } else {
      ++stats_.over_budget;
    }
  }
  const uint32_t count = static_cast<uint32_t>(order_.size());
  const bool own_first = own_go_first(budget_bytes);
  std::sort(order_.begin(), order_.end(), [&](uint32_t a, uint32_t b) {
    if (own_first && candidates_[a].is_own != candidates_[b].is_own) return candidates_[a].is_own;
    const float x = candidates_[a].priority;
    const float y = candidates_[b].priority;
    return x != y ? x > y : a < b;
  });
  chosen_.clear();
  cuts_.clear();
  uint32_t budget_left = budget_bytes == 0 ? config_.part_capacity_bytes * kMaxParts : budget_bytes;
  uint32_t start = 0;  // all candidates before this place of order_ are taken
  // One part number stays free. write_parts uses it to announce that entries were left out.
  while (cuts_.size() < kMaxParts - 1) {
    const uint32_t bytes = std::min(budget_left, config_.part_capacity_bytes);
    if (bytes <= kSnapshotHeaderBytes) break;
    const uint32_t used_bytes = fill_part(bytes, &start);
    const size_t first = cuts_.empty() ? 0 : cuts_.back();
    if (chosen_.size() == first) break;  // the next candidate does not fit the rest of the budget
    std::sort(chosen_.begin() + static_cast<std::ptrdiff_t>(first), chosen_.end());
    cuts_.push_back(static_cast<uint32_t>(chosen_.size()));
    // A part whose limit was the rest of the budget is the last one.
    if (start == count || bytes < config_.part_capacity_bytes) break;
    budget_left -= used_bytes;
  }
  if (cuts_.empty()) cuts_.push_back(0);
}

// The client's own objects go first, together in the first part, so that this part can confirm them. Only
// where they take at most half of what may be sent: otherwise a client that owns much would hear of nothing
// else.
bool SnapshotBuilder::own_go_first(uint32_t budget_bytes) const {
  const uint32_t part_bits = config_.part_capacity_bytes * 8 - kHeaderBits - kEndBits;
  const uint32_t half_bits = budget_bytes == 0 ? part_bits : budget_bytes * 4;
  return own_bits_ <= std::min(part_bits, half_bits);
}

// Whether each of the client's own objects that differs from its acked state has an entry in this part.
bool SnapshotBuilder::has_all_own(uint32_t part) const {
  uint32_t missing = own_count_;
  for (uint32_t i = part == 0 ? 0 : cuts_[part - 1]; missing != 0 && i < cuts_[part]; ++i) {
    missing -= candidates_[chosen_[i]].is_own ? 1u : 0u;
  }
  return missing == 0;
}

// Takes candidates in order_ until one does not fit. Then takes any of the next few candidates that still fit
// (C-05). The candidate that did not fit keeps its priority and opens the next part. Returns an upper bound
// of the part's bytes.
uint32_t SnapshotBuilder::fill_part(uint32_t bytes, uint32_t* start) {
  const uint32_t limit = bytes * 8 - kEndBits;
  uint32_t used = kHeaderBits;
  uint32_t scanned = 0;
  bool full = false;
  for (uint32_t i = *start; i < order_.size() && scanned < kScanAhead; ++i) {
    if (order_[i] == kTaken) continue;
    if (full) ++scanned;
    const Candidate& candidate = candidates_[order_[i]];
    const uint32_t bits = id_bits(candidate.network_id) + candidate.bits;
    if (used + bits > limit) {
      full = true;
      continue;
    }
    used += bits;
    chosen_.push_back(order_[i]);
    order_[i] = kTaken;
  }
  while (*start < order_.size() && order_[*start] == kTaken) ++*start;
  return (used + kEndBits + 7) / 8;
}

// ---- Writing --------------------------------------------------------------------------------------

void SnapshotBuilder::write_parts(RecipientState& recipient, const SnapshotHeader& header) {
  parts_.clear();
  const uint32_t count = static_cast<uint32_t>(cuts_.size());
  // In a whole snapshot, an object without an entry is unchanged. So a snapshot that leaves entries out must
  // not look whole: it announces one part that never comes.
  const uint32_t announced = count + (chosen_.size() < candidates_.size() ? 1 : 0);
  LATTICE_ASSERT(count >= 1 && announced <= kMaxParts);
  uint32_t next = 0;
  for (uint32_t part = 0; part < count; ++part) {
    const std::span<uint8_t> room =
        std::span(buffer_).subspan(size_t{part} * config_.part_capacity_bytes, config_.part_capacity_bytes);
    BitWriter out(room);
    out.WriteU32(tick_);
    out.WriteU32(header.last_input_tick);
    out.WriteByte(static_cast<uint8_t>(header.input_margin));
    out.WriteBits(part, 4);
    out.WriteBits(announced, 4);
    const uint32_t receipt = recipient.ledger_.open(tick_);
    uint64_t previous = 0;
    for (; next < cuts_[part]; ++next) {
      const Candidate& candidate = candidates_[chosen_[next]];
      write_entry(out, recipient, candidate, previous);
      account(recipient, candidate);
      previous = candidate.network_id;
    }
    out.WriteBool(false);
    out.WriteBool(has_all_own(part));
    LATTICE_CHECK(out.ok());  // the sizes were computed before the first bit was written
    const std::span<const uint8_t> bytes = out.finish();
    stats_.bytes += bytes.size();
    parts_.push_back(SnapshotPart{bytes, receipt});
  }
}

void SnapshotBuilder::write_entry(BitWriter& out, const RecipientState& recipient, const Candidate& candidate,
                                  uint64_t previous) {
  const uint64_t difference = candidate.network_id - previous;
  if (difference < 0x80) {
    out.WriteBits(0x100u | difference, 9);  // the "more" bit and the one byte of the id together
  } else {
    out.WriteBool(true);
    out.WriteVarint(difference);
  }
  if (candidate.kind == EntryKind::kDelta) {
    out.WriteBits(candidate.age, kKindBits + kAgeBits);  // kind 0 is two zero bits in front of the age
  } else {
    out.WriteBits(static_cast<uint64_t>(candidate.kind), kKindBits);
  }
  if (candidate.kind == EntryKind::kRemoved) {
    const uint32_t rpc_count = recipient.removals_[candidate.index].rpc_count;
    out.WriteBool(rpc_count != 0);
    if (rpc_count != 0) out.WriteVarint(rpc_count);
    return;
  }
  if (candidate.body == EntryCache::kTooLarge) return;
  const EntryBody body = cache_.body(candidate.body);
  const uint32_t whole = body.bits / 64;
  for (uint32_t i = 0; i < whole; ++i) out.WriteBits(body.words[i], 64);
  const uint32_t tail = body.bits % 64;
  if (tail != 0) out.WriteBits(body.words[whole] >> (64 - tail), static_cast<int>(tail));
}

void SnapshotBuilder::account(RecipientState& recipient, const Candidate& candidate) {
  if (candidate.kind == EntryKind::kRemoved) {
    PendingRemoval& removal = recipient.removals_[candidate.index];
    recipient.ledger_.add(
        SentEntry{candidate.index, 0, removal.accumulator, removal.incarnation, EntryKind::kRemoved});
    removal.accumulator = 0;
    removal.sent_tick = tick_;
    ++stats_.removed_entries;
    return;
  }
  ObjectKnowledge& known = recipient.objects_[candidate.index];
  recipient.ledger_.add(SentEntry{candidate.index, history_.version(candidate.index), known.accumulator,
                                  known.incarnation, candidate.kind});
  known.accumulator = 0;
  known.last_sent_tick = tick_;
  if (!known.sent) ++recipient.sent_objects_;
  known.sent = true;
  known.marked = candidate.kind == EntryKind::kUnchanged;
  switch (candidate.kind) {
    case EntryKind::kDelta:
      ++stats_.delta_entries;
      break;
    case EntryKind::kFull:
      ++stats_.full_entries;
      break;
    default:
      ++stats_.unchanged_entries;
      break;
  }
}

}  // namespace lattice::replication
