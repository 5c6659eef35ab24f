// The checking half of SnapshotApplier. It turns a part into a list of decoded entries, or refuses it with a
// named reason, and changes nothing else. Spec: D-11 to D-18, D-41 to D-43, P-10.
#include <algorithm>
#include <array>
#include <bit>

#include "lattice/authoring/bit_reader.h"
#include "replication/snapshot_applier.h"
#include "serialization/layout.h"

namespace lattice::replication {
namespace {

constexpr uint8_t kKnownFlags = kFlagHasInput | kFlagConfirmsOwn | kFlagKeep | kFlagUnchanged | kFlagProgress;

// Age 0 is the state in which both sides placed the object (D-51). Such an object need not rest: the client
// shows it at rest from the start.
bool may_have_age(EntryKind kind, uint32_t age) {
  return age <= static_cast<uint32_t>(kMaxBaselineTicks) && (age != 0 || kind == EntryKind::kDelta);
}

// The number of slots between an entry and the one before (D-14): as many ones as 2^k goes into it, a zero,
// and the rest in k bits. Twelve ones stand before a varint instead: false. The window has looked. `k` is
// below 16, so all of it is ready, and the bit behind it.
inline bool read_short_gap(BitWindow& in, uint32_t k, uint64_t* gap) {
  const uint64_t ahead = in.ahead();
  const auto ones = static_cast<unsigned>(std::countl_one(ahead));
  if (ones >= kGapEscape) [[unlikely]]
    return false;
  *gap = uint64_t{ones} << k | ahead << (ones + 1) >> 1 >> (63 - k);
  in.skip(ones + 1 + k);
  return true;
}

// In either form. False for a varint where the short form would do.
inline bool read_gap(BitWindow& in, uint32_t k, uint64_t* gap) {
  if (read_short_gap(in, k, gap)) return true;
  in.skip(kGapEscape);
  *gap = in.with_reader([](BitReader& reader) { return reader.ReadVarint32(); });
  in.look();
  return *gap >> k >= kGapEscape;
}

// Moves past a bit that is ready, if it is zero.
inline bool skip_zero(BitWindow& in) {
  if (in.ahead() >> 63 != 0) return false;
  in.skip(1);
  return true;
}

}  // namespace

// Not clear(): that costs as much as the largest part so far.
void SnapshotApplier::forget_pending() {
  each_full(0, [this](const Pending& entry, Tick) { full_ids_.erase(entry.network_id); });
  for (const Pending& entry : pending_) new_slots_.erase(entry.remote_slot);
  for (const Long& state : longs_) new_slots_.erase(state.remote_slot);
  delta_count_ = 0;
  pending_.clear();
  runs_.clear();
  longs_.clear();
  fulls_.clear();
  used_words_ = 0;
}

SnapshotRefusal SnapshotApplier::decode(std::span<const uint8_t> body, SnapshotHeader* header) {
  forget_pending();
  ++decoding_;
  body_ = body;
  if (body.size() > kMaxPartBytes) return SnapshotRefusal::kTooLarge;
  BitReader in(body);
  SnapshotRefusal refusal = decode_header(in, header);
  while (refusal == SnapshotRefusal::kNone && in.bits_left() != 0) refusal = decode_block(in, *header);
  if (refusal != SnapshotRefusal::kNone) return refusal;
  for (const ReceivedRun& run : runs_) {
    for (const Pending& entry : pending_) {
      if (entry.remote_slot == run.slot) return SnapshotRefusal::kSlotTwice;
    }
    for (const Delta& delta : deltas()) {
      if (known_[delta.known].remote_slot == run.slot) return SnapshotRefusal::kSlotTwice;
    }
  }

  uint32_t new_objects = 0;
  uint32_t revived = 0;
  each_full(header->server_tick, [&](const Pending& entry, Tick tick) {
    const uint32_t index = find_known(entry.network_id);
    const Known* known = index == kNotKnown ? nullptr : &known_[index];
    const bool is_gone = known != nullptr && is_before_removal(*known, tick);  // it changes nothing (D-29)
    new_objects += (known == nullptr || known->slot == kNoSlot) && !is_gone ? 1 : 0;
    revived += revived_by(entry, known, tick);
  });
  // Leaving objects make way for new ones; see spawn().
  const size_t staying = mirror_.size() - leaving_count_ + revived;
  return staying + new_objects > mirror_.max_objects() ? SnapshotRefusal::kTooManyObjects
                                                       : SnapshotRefusal::kNone;
}

SnapshotRefusal SnapshotApplier::decode_header(BitReader& in, SnapshotHeader* header) const {
  header->server_tick = in.ReadU32();
  const uint8_t flags = in.ReadByte();
  header->has_input = (flags & kFlagHasInput) != 0;
  header->confirms_own = (flags & kFlagConfirmsOwn) != 0;
  header->keep = (flags & kFlagKeep) != 0;
  header->unchanged = (flags & kFlagUnchanged) != 0;
  header->progress = flags == kFlagProgress;
  header->last_input_tick = 0;
  header->input_margin = 0;
  if (header->has_input) {
    const uint32_t age = in.ReadVarint32();
    header->last_input_tick = age == 0 ? 0 : header->server_tick - (age - 1);
    header->input_margin = static_cast<int8_t>(in.ReadByte());
  }
  header->interval_ticks = header->unchanged ? in.ReadVarint32() : 0;
  header->join_objects = header->progress ? in.ReadVarint32() : 0;
  header->join_missing = header->progress ? in.ReadVarint32() : 0;
  if (!in.ok()) return SnapshotRefusal::kMalformed;
  if ((flags & ~kKnownFlags) != 0) return SnapshotRefusal::kFlags;
  if ((flags & kFlagProgress) != 0 &&
      (!header->progress || header->join_missing > header->join_objects || in.bits_left() != 0)) {
    return SnapshotRefusal::kProgress;
  }
  if (header->unchanged && (header->interval_ticks == 0 || in.bits_left() != 0)) {
    return SnapshotRefusal::kUnchanged;
  }
  return check_tick(header->server_tick);
}

SnapshotRefusal SnapshotApplier::check_tick(Tick tick) const {
  if (tick == 0) return SnapshotRefusal::kTick;
  if (newest_tick_ == 0) {
    const int32_t since = session_tick_ ? base::tick_distance(tick, *session_tick_) : 0;
    return since < 0 || since > kMaxTickJump ? SnapshotRefusal::kTick : SnapshotRefusal::kNone;
  }
  const int32_t behind = base::tick_distance(newest_tick_, tick);
  const bool is_forgotten = forgotten_tick_ != 0 && !base::tick_after(tick, forgotten_tick_);
  if (behind > kStalePartTicks || is_forgotten) return SnapshotRefusal::kStale;
  return behind < -kMaxTickJump ? SnapshotRefusal::kTick : SnapshotRefusal::kNone;
}

SnapshotRefusal SnapshotApplier::read_block_head(BitReader& in, BlockHead* head) const {
  const auto first = static_cast<uint32_t>(in.ReadByte());
  const uint32_t kind = first >> 5;
  head->mixed = (first & 0x10u) != 0;
  head->k = first & 0x0Fu;
  head->count = in.ReadVarint32();
  if (kind >= kEntryKinds || head->count == 0) return SnapshotRefusal::kBlock;
  head->kind = static_cast<EntryKind>(kind);
  if (has_age(head->kind)) {
    head->age = in.ReadVarint32();
    if (!may_have_age(head->kind, head->age)) return SnapshotRefusal::kBaselineAge;
  } else if (head->mixed) {
    return SnapshotRefusal::kBlock;
  }
  head->slot = in.ReadVarint32();
  return in.ok() ? SnapshotRefusal::kNone : SnapshotRefusal::kMalformed;
}

SnapshotRefusal SnapshotApplier::decode_block(BitReader& in, const SnapshotHeader& header) {
  BlockHead head;
  const SnapshotRefusal bad_head = read_block_head(in, &head);
  if (!in.ok()) return SnapshotRefusal::kMalformed;
  if (bad_head != SnapshotRefusal::kNone) return bad_head;
  if (head.kind == EntryKind::kPiece) return decode_pieces(in, header, head);
  BitWindow entries(body_, in.position_bits());
  const SnapshotRefusal refusal = head.kind == EntryKind::kDelta
                                      ? decode_deltas(&entries, header.server_tick, head)
                                      : decode_others(&entries, header.server_tick, head);
  if (!entries.ok()) return SnapshotRefusal::kMalformed;
  if (refusal != SnapshotRefusal::kNone) return refusal;
  in.Skip(entries.position_bits() - in.position_bits());
  const auto rest = static_cast<int>((8 - in.position_bits() % 8) % 8);
  if (in.ReadBits(rest) != 0) return SnapshotRefusal::kPadding;
  return in.ok() ? SnapshotRefusal::kNone : SnapshotRefusal::kMalformed;
}

// The run with one more entry, which begins at `first_bit`. One of another type begins a run.
inline SnapshotApplier::TrafficRun SnapshotApplier::with_entry(TrafficRun run, const ObjectType* type,
                                                               size_t first_bit) {
  if (type != run.type) {
    count_traffic(run, first_bit);
    run = {type, 0, first_bit};
  }
  ++run.entries;
  return run;
}

// What an entry begins with: how far its slot is from the last, and its age where those of the block differ.
// The window is ready for what follows. When the bits end here, what is read is refused by what follows, or
// by decode_block().
inline SnapshotRefusal SnapshotApplier::read_entry_head(BitWindow& in, const BlockHead& head, bool is_first,
                                                        EntryHead* entry) const {
  static_assert(kGapEscape + 16 + 1 + PlainDecoder::kLookBits <= BitWindow::kLookBits);
  in.look();
  uint64_t gap = 0;
  if (!is_first) {
    if (!read_gap(in, head.k, &gap)) return SnapshotRefusal::kMalformed;
    entry->slot += gap + 1;
  }
  entry->age = head.age;
  if (!head.mixed || skip_zero(in)) return SnapshotRefusal::kNone;
  in.skip(1);
  entry->age = in.with_reader([](BitReader& reader) { return reader.ReadVarint32(); });
  if (!in.ok()) return SnapshotRefusal::kMalformed;
  if (!may_have_age(head.kind, entry->age)) return SnapshotRefusal::kBaselineAge;
  in.look();
  return SnapshotRefusal::kNone;
}

// A snapshot of a crowd has hundreds of deltas, and nearly all are like the one before. A short loop reads
// what these are about and where their members are, another one decodes the members, and this one is for the
// others. So each has what it works with in registers, and memory that the second one needs comes meanwhile.
// A refusal means nothing when the bits had ended before: see decode_block().
SnapshotRefusal SnapshotApplier::decode_deltas(BitWindow* in, Tick tick, const BlockHead& head) {
  const auto most = static_cast<uint32_t>(std::min<size_t>(head.count, known_.size()));  // each comes once
  DeltaCursor at{*in, {.slot = head.slot}, {}, room_for_deltas(most)};
  TrafficRun run{.first_bit = in->position_bits()};
  std::array<DeltaMembers, kDeltasAtOnce> members;
  SnapshotRefusal refusal = SnapshotRefusal::kNone;
  for (uint32_t i = 0; i < head.count && refusal == SnapshotRefusal::kNone;) {
    if (at.changes.mask_bits != 0 && head.age != 0) {
      const uint32_t alike = std::min(head.count - i, kDeltasAtOnce);
      const uint32_t count = read_alike(head, tick - head.age, alike, &at, members.data());
      refusal = take_deltas({at.next, count}, members.data(), tick);
      at.next += count, i += count, run.entries += count;
      if (refusal != SnapshotRefusal::kNone || count == alike) continue;
    }
    const size_t first_bit = at.in.position_bits();
    refusal = decode_delta(head, tick, i == 0, &at);
    if (refusal != SnapshotRefusal::kNone) break;
    run = with_entry(run, known_[at.next->known].type, first_bit);
    ++at.next, ++i;
  }
  delta_count_ = static_cast<uint32_t>(at.next - deltas_.data());
  if (refusal == SnapshotRefusal::kNone) count_traffic(run, at.in.position_bits());
  *in = at.in;
  return refusal;
}

// Reads up to `most` entries that are like the one before: about an object of that type that is here, and of
// the age that the block has, with a mask whose plan is there. Returns their number. They begin at `next` of
// the cursor, the rest of which stands at the last of them. Flat, as commit_deltas() is.
[[gnu::flatten]] uint32_t SnapshotApplier::read_alike(const BlockHead& head, Tick of_tick, uint32_t most,
                                                      DeltaCursor* at, DeltaMembers* members) {
  constexpr uint32_t kAhead = 8;  // the next entries are mostly about the next objects
  BitWindow in = at->in;
  PlainDecoder::Context changes = at->changes;
  const ObjectType* const type = changes.type;
  const std::span<Known> all = known_;
  const std::span<const uint32_t> of_slot = known_of_slot_;
  const uint32_t decoding = decoding_, depth = baseline_depth_;
  Delta* const deltas = at->next;
  uint64_t slot = at->entry.slot;
  uint32_t count = 0, bits = 0;
  for (; count < most; ++count) {
    uint64_t gap = 0;
    in.look();
    if (!read_short_gap(in, head.k, &gap)) break;
    if (head.mixed && !skip_zero(in)) break;
    const uint64_t next_slot = slot + gap + 1;
    if (next_slot >= of_slot.size()) break;
    const uint32_t index = of_slot[static_cast<size_t>(next_slot)];
    if (index == kNotKnown) break;
    Known& known = all[index];
    if (known.type != type || known.decoded == decoding || !known.staying()) break;
    if (index + kAhead < all.size()) base::prefetch(&all[index + kAhead]);
    if (!PlainDecoder::read_short_mask(in, &changes)) break;
    const serialization::MemberPlan* plan = plain_.find_plan(*type->layout, changes.mask);
    if (plan == nullptr || !plan->whole) break;
    const size_t first_bit = in.position_bits();
    bits = base::mostly(plan->bit_count, bits);  // where an entry ends, the next begins
    in.skip_all(bits);
    if (!in.ok()) break;
    Word* words = known.states.draft(drawn_from_);
    if (!known.states.may_be_at(depth, of_tick)) break;
    const Word* baseline = known.states.at_depth(depth);
    known.states.prefetch(baseline, words);
    members[count] = {plan, first_bit, baseline, words};
    deltas[count] = {index, of_tick};
    known.decoded = decoding;
    slot = next_slot;
    at->changes.mask = changes.mask;
    at->in.move_to(in.position_bits());
  }
  at->entry.slot = slot;
  return count;
}

// Decodes what changed of `deltas`, which `members` says more of.
[[gnu::flatten]] SnapshotRefusal SnapshotApplier::take_deltas(std::span<const Delta> deltas,
                                                              const DeltaMembers* members, Tick tick) {
  BitWindow in(body_, 0);
  for (const Delta& delta : deltas) {
    const Word* baseline = members->baseline;
    Word* words = members->words;
    if (!ReceivedStates::is_of(baseline, delta.baseline)) [[unlikely]] {
      const DeltaPlaces places = places_of(known_[delta.known], tick, delta.baseline);
      if (places.refusal != SnapshotRefusal::kNone) return places.refusal;
      baseline = places.baseline, words = places.words;
    }
    in.move_to(members->first_bit);
    if (!members->plan->decode(in, baseline, words)) return SnapshotRefusal::kMalformed;
    ++members;
  }
  return SnapshotRefusal::kNone;
}

// One delta of any kind.
SnapshotRefusal SnapshotApplier::decode_delta(const BlockHead& head, Tick tick, bool is_first,
                                              DeltaCursor* at) {
  const SnapshotRefusal bad_head = read_entry_head(at->in, head, is_first, &at->entry);
  if (bad_head != SnapshotRefusal::kNone) return bad_head;
  if (at->entry.slot >= slot_bound_) return SnapshotRefusal::kSlot;
  const uint32_t index = known_at(static_cast<uint32_t>(at->entry.slot));
  if (index == kNotKnown) return SnapshotRefusal::kUnknownObject;
  Known& known = known_[index];
  if (known.decoded == decoding_) return SnapshotRefusal::kSlotTwice;
  known.decoded = decoding_;
  const Tick of_tick = tick - at->entry.age;
  const DeltaPlaces places = places_of(known, tick, of_tick);
  if (places.refusal != SnapshotRefusal::kNone) return places.refusal;
  *at->next = {index, of_tick};
  const bool ok = plain_.decode(at->in, *known.type, places.baseline, places.words, &at->changes);
  return ok ? SnapshotRefusal::kNone : SnapshotRefusal::kMalformed;
}

// What a delta of `tick` against the state of `of_tick` reads and fills.
SnapshotApplier::DeltaPlaces SnapshotApplier::places_of(Known& known, Tick tick, Tick of_tick) {
  if (known.staying() && of_tick != tick) {
    Word* words = known.states.draft(drawn_from_);  // before the baseline is looked for: states may move
    const Word* baseline = known.states.find(of_tick, &baseline_depth_);
    if (baseline != nullptr) return {SnapshotRefusal::kNone, baseline, words};
  }
  return find_unusual(known, tick, of_tick);
}

// The same for all that is no delta: that is seldom.
SnapshotRefusal SnapshotApplier::decode_others(BitWindow* in, Tick tick, const BlockHead& head) {
  EntryHead entry{.slot = head.slot};
  TrafficRun run{.first_bit = in->position_bits()};
  Previous previous;
  for (uint32_t i = 0; i < head.count && in->ok(); ++i) {
    const size_t first_bit = in->position_bits();
    SnapshotRefusal refusal = read_entry_head(*in, head, i == 0, &entry);
    if (refusal != SnapshotRefusal::kNone) return refusal;
    if (entry.slot >= slot_bound_) return SnapshotRefusal::kSlot;
    const auto slot = static_cast<uint32_t>(entry.slot);
    const uint32_t index = known_at(slot);
    const ObjectType* type = nullptr;
    if (index != kNotKnown) {
      Known& known = known_[index];
      if (known.decoded == decoding_) return SnapshotRefusal::kSlotTwice;
      known.decoded = decoding_;
      type = known.type;
    } else if (!new_slots_.insert(slot, slot)) {
      return SnapshotRefusal::kSlotTwice;
    }
    Pending& pending = pending_.emplace_back();
    pending.kind = head.kind;
    pending.remote_slot = slot;
    pending.baseline = tick - entry.age;
    refusal = decode_other(in, tick, index, &pending, &previous);
    if (refusal != SnapshotRefusal::kNone) return refusal;
    if (pending.type != nullptr) type = pending.type;
    run = with_entry(run, type, first_bit);
  }
  count_traffic(run, in->position_bits());
  return SnapshotRefusal::kNone;
}

void SnapshotApplier::count_traffic(const TrafficRun& run, size_t end_bit) {
  if (run.type == nullptr) return;
  TypeTraffic& traffic = traffic_[run.type->index];
  traffic.entries += run.entries;
  traffic.bits += end_bit - run.first_bit;
}

SnapshotRefusal SnapshotApplier::decode_other(BitWindow* in, Tick tick, uint32_t index, Pending* entry,
                                              Previous* previous) {
  switch (entry->kind) {
    case EntryKind::kFull:
      return decode_full(*in, tick, entry, previous);
    case EntryKind::kRemoved:
      return in->with_reader([&](BitReader& reader) { return decode_removed(reader, index, tick, entry); });
    case EntryKind::kDelta:
    case EntryKind::kRested:
    case EntryKind::kPiece:
      break;
  }
  return SnapshotRefusal::kNone;
}

// True when an entry of `tick` can belong to a stay of the object of which a state was received. Either no
// removal came, or the entry is not newer than the removal.
bool SnapshotApplier::lives_at(const Known& known, Tick tick) {
  if (known.type == nullptr) return false;
  return known.staying() || !base::tick_after(tick, known.removed_tick);
}

// A delta of `tick` against the state of `of_tick`, whose object is not here, or which has no such state:
// what it is about, or why it is refused.
SnapshotApplier::DeltaPlaces SnapshotApplier::find_unusual(Known& known, Tick tick, Tick of_tick) {
  if (!lives_at(known, tick)) return {SnapshotRefusal::kUnknownObject};
  const bool is_tombstone = known.slot == kNoSlot;
  Word* words = is_tombstone ? discarded_words(*known.type) : known.states.draft(drawn_from_);
  const bool as_placed = of_tick == tick;
  const Word* baseline = as_placed ? known.placed : known.states.find(of_tick);
  if (baseline != nullptr) return {SnapshotRefusal::kNone, baseline, words};
  if (as_placed) return {SnapshotRefusal::kBaselineAge};
  const bool late = newest_tick_ != 0 && base::tick_after(newest_tick_, tick);
  return {late || is_tombstone ? SnapshotRefusal::kLateBaseline : SnapshotRefusal::kMissingBaseline};
}

// Room for a state of an object that was removed: it is decoded, and then nothing is done with it.
[[gnu::noinline]] Word* SnapshotApplier::discarded_words(const ObjectType& type) {
  if (discarded_.size() < type.word_count) discarded_.resize(type.word_count);
  return discarded_.data();
}

// Where the next delta goes, with room for `count`. The room stays, so a part with as many deltas as one
// before allocates nothing.
SnapshotApplier::Delta* SnapshotApplier::room_for_deltas(uint32_t count) {
  const size_t needed = size_t{delta_count_} + count;
  if (deltas_.size() < needed) {
    deltas_.resize(std::max({size_t{64}, deltas_.size() * 2, needed}));
    news_.resize(deltas_.size());
  }
  return deltas_.data() + delta_count_;
}

// What a full entry says before its state.
SnapshotRefusal SnapshotApplier::decode_full_head(BitReader& in, Tick tick, Pending* entry,
                                                  Previous* previous) const {
  ObjectInfo info;
  if (previous->changes.type != nullptr && in.ReadBool()) {
    info = previous->head;
  } else {
    const uint32_t type_id = in.ReadVarint32();
    info.owner = in.ReadVarint();
    const uint64_t mode = in.ReadBits(2);
    const Tick since_tick = tick - in.ReadVarint32();
    if (!in.ok()) return SnapshotRefusal::kMalformed;
    if (mode > LATTICE_AUTHORITY_SHARED) return SnapshotRefusal::kMode;
    info.mode = static_cast<lattice_authority_mode>(mode);
    info.authority = begin_tenure(info.mode, info.owner, since_tick);
    info.type = types_.find(type_id);
    if (info.type == nullptr) return SnapshotRefusal::kUnknownType;
  }
  entry->type = info.type;
  entry->network_id = info.network_id = in.ReadVarint();
  previous->head = info;
  return in.ok() ? SnapshotRefusal::kNone : SnapshotRefusal::kMalformed;
}

SnapshotRefusal SnapshotApplier::decode_full(BitWindow& in, Tick tick, Pending* entry, Previous* previous) {
  SnapshotRefusal refusal =
      in.with_reader([&](BitReader& reader) { return decode_full_head(reader, tick, entry, previous); });
  if (refusal == SnapshotRefusal::kNone) refusal = check_full(*entry, tick);
  if (refusal != SnapshotRefusal::kNone) return refusal;
  // Before each takes the memory of a state: an authority has no more objects than this side has room for.
  if (fulls_.size() == mirror_.max_objects()) return SnapshotRefusal::kTooManyObjects;
  full_ids_.insert(entry->network_id, entry->remote_slot);
  entry->full = static_cast<uint32_t>(fulls_.size());
  const ObjectType& type = *entry->type;
  const uint32_t first_word = take_words(type.word_count);
  fulls_.push_back({previous->head, first_word});
  in.look();
  const bool read =
      plain_.decode(in, type, type.zero_words.data(), scratch_.data() + first_word, &previous->changes);
  return read ? SnapshotRefusal::kNone : SnapshotRefusal::kMalformed;
}

SnapshotRefusal SnapshotApplier::check_full(const Pending& entry, Tick tick) const {
  const uint64_t id = entry.network_id;
  if (id == 0) return SnapshotRefusal::kNetworkId;
  if (full_ids_.contains(id)) return SnapshotRefusal::kNetworkId;
  const uint32_t same = find_known(id);
  // A placed object that was destroyed does not come back, and nothing takes its slot (D-52).
  const bool is_placed = id <= placed_ids_ || entry.remote_slot < placed_slots_;
  if (is_placed) {
    if (same == kNotKnown || known_[same].placed == nullptr) return SnapshotRefusal::kNetworkId;
    const bool was_destroyed = known_[same].was_removed && base::tick_after(tick, known_[same].removed_tick);
    if (was_destroyed) return SnapshotRefusal::kNetworkId;
  }
  if (same != kNotKnown) {
    if (known_[same].remote_slot != entry.remote_slot) return SnapshotRefusal::kNetworkId;
    const bool changed = known_[same].type != nullptr && known_[same].type != entry.type;
    return changed ? SnapshotRefusal::kTypeChanged : SnapshotRefusal::kNone;
  }
  return keeps_slot(known_at(entry.remote_slot), tick) ? SnapshotRefusal::kSlotTaken : SnapshotRefusal::kNone;
}

// True when an entry of `tick` cannot be about another object than that of `former`. One that came back since
// its removal has its slot.
bool SnapshotApplier::keeps_slot(uint32_t former, Tick tick) const {
  if (former == kNotKnown) return false;
  const Known& known = known_[former];
  return known.staying() || !known.was_removed || !base::tick_after(tick, known.removed_tick);
}

SnapshotRefusal SnapshotApplier::decode_removed(BitReader& in, uint32_t index, Tick tick, Pending* entry) {
  entry->left = in.ReadBool();
  const bool named = in.ReadBool();
  if (named) entry->network_id = in.ReadVarint();
  if (in.ReadBool() && (entry->rpc_count = in.ReadVarint32()) == 0) return SnapshotRefusal::kMalformed;
  if (!in.ok()) return SnapshotRefusal::kMalformed;
  if (!named) {
    if (index != kNotKnown) entry->network_id = known_[index].network_id;
    return SnapshotRefusal::kNone;
  }
  if (entry->network_id == 0) return SnapshotRefusal::kNetworkId;
  const uint32_t same = find_known(entry->network_id);
  if (same != kNotKnown) return same == index ? SnapshotRefusal::kNone : SnapshotRefusal::kNetworkId;
  return keeps_slot(index, tick) ? SnapshotRefusal::kSlotTaken : SnapshotRefusal::kNone;
}

// Takes room for one decoded state. The memory grows to what the largest part so far needed; the length of a
// part bounds it.
uint32_t SnapshotApplier::take_words(uint32_t count) {
  const uint32_t first = used_words_;
  used_words_ += count;
  if (scratch_.size() < used_words_) scratch_.resize(std::max<size_t>(scratch_.size() * 2, used_words_));
  return first;
}

}  // namespace lattice::replication
