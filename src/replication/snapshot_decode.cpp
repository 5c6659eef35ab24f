// The checking half of SnapshotApplier. It turns a part into a list of decoded entries, or refuses it with a
// named reason, and changes nothing else. Spec: D-11 to D-18, D-41 to D-43, P-10.
#include <algorithm>

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
// and the rest in k bits. Twelve ones stand before a varint instead. False for a varint where a shorter form
// exists.
bool read_gap(BitWindow& in, uint32_t k, uint64_t* gap) {
  const unsigned ones = in.read_ones(kGapEscape);
  if (ones != kGapEscape) {
    *gap = uint64_t{ones} << k | in.read(k);
    return true;
  }
  *gap = in.with_reader([](BitReader& reader) { return reader.ReadVarint32(); });
  return *gap >> k >= kGapEscape;
}

}  // namespace

// Not clear(): that costs as much as the largest part so far.
void SnapshotApplier::forget_pending() {
  each_full(0, [this](const Pending& entry, Tick) {
    full_ids_.erase(entry.network_id);
    full_slots_.erase(entry.remote_slot);
  });
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
    new_objects += known == nullptr || known->slot == kNoSlot ? 1 : 0;
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
  if (header->server_tick == 0) return SnapshotRefusal::kTick;
  if (newest_tick_ == 0) return SnapshotRefusal::kNone;
  const int32_t behind = base::tick_distance(newest_tick_, header->server_tick);
  const bool is_forgotten = forgotten_tick_ != 0 && !base::tick_after(header->server_tick, forgotten_tick_);
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
  const SnapshotRefusal refusal = decode_entries(&entries, header, head);
  if (!entries.ok()) return SnapshotRefusal::kMalformed;
  if (refusal != SnapshotRefusal::kNone) return refusal;
  in.Skip(entries.position_bits() - in.position_bits());
  const auto rest = static_cast<int>((8 - in.position_bits() % 8) % 8);
  if (in.ReadBits(rest) != 0) return SnapshotRefusal::kPadding;
  return in.ok() ? SnapshotRefusal::kNone : SnapshotRefusal::kMalformed;
}

// Flat, as commit_deltas() is: a snapshot of a crowd has hundreds of entries. The window is copied, so that
// its position is in a register. A refusal means nothing when the bits had ended before: see decode_block().
[[gnu::flatten]] SnapshotRefusal SnapshotApplier::decode_entries(BitWindow* window,
                                                                 const SnapshotHeader& header,
                                                                 const BlockHead& head) {
  BitWindow in = *window;
  Entries entries(head);
  entries.run.first_bit = in.position_bits();
  SnapshotRefusal refusal = SnapshotRefusal::kNone;
  for (uint32_t i = 0; i < head.count && refusal == SnapshotRefusal::kNone && in.ok(); ++i) {
    refusal = decode_entry(in, header.server_tick, head, i == 0, &entries);
  }
  if (refusal == SnapshotRefusal::kNone) count_traffic(entries.run, in.position_bits());
  *window = in;
  return refusal;
}

inline SnapshotRefusal SnapshotApplier::decode_entry(BitWindow& in, Tick tick, const BlockHead& head,
                                                     bool is_first, Entries* entries) {
  const size_t first_bit = in.position_bits();
  in.look();
  uint64_t gap = 0;
  if (!is_first && !read_gap(in, head.k, &gap)) return SnapshotRefusal::kMalformed;
  if (!is_first) entries->slot += gap + 1;
  if (!in.ok()) return SnapshotRefusal::kMalformed;
  if (entries->slot >= slot_bound_) return SnapshotRefusal::kSlot;
  uint32_t age = head.age;
  if (head.mixed && in.read_bool()) {
    age = in.with_reader([](BitReader& reader) { return reader.ReadVarint32(); });
    if (!in.ok()) return SnapshotRefusal::kMalformed;
    if (!may_have_age(head.kind, age)) return SnapshotRefusal::kBaselineAge;
  }
  const auto slot = static_cast<uint32_t>(entries->slot);
  const uint32_t index = known_at(slot);
  const ObjectType* type = nullptr;
  if (index != kNotKnown) {
    prefetch_after(index);
    Known& known = known_[index];
    if (known.decoded == decoding_) return SnapshotRefusal::kSlotTwice;
    known.decoded = decoding_;
    type = known.type;
  }
  SnapshotRefusal refusal = SnapshotRefusal::kNone;
  if (head.kind == EntryKind::kDelta) {
    refusal = decode_delta(in, tick, index, tick - age, &entries->previous);
  } else {
    Pending& entry = pending_.emplace_back();
    entry.kind = head.kind;
    entry.remote_slot = slot;
    entry.baseline = tick - age;
    BitWindow content = in;  // only a copy has an address, so that `in` is in registers
    refusal = decode_other(&content, tick, index, &entry, &entries->previous);
    in = content;
    if (entry.type != nullptr) type = entry.type;
  }
  TrafficRun& run = entries->run;
  if (type != run.type) {
    count_traffic(run, first_bit);
    run = {type, 0, first_bit};
  }
  ++run.entries;
  return refusal;
}

// The next entries are mostly about the next objects, and each waits for memory that the game has pushed out
// of the caches since the last snapshot.
inline void SnapshotApplier::prefetch_after(uint32_t index) const {
  constexpr uint32_t kFar = 8, kNear = 4;
  if (known_.size() - index > kFar) base::prefetch(&known_[index + kFar]);
  if (known_.size() - index > kNear) known_[index + kNear].states.prefetch_for_delta(baseline_depth_);
}

void SnapshotApplier::count_traffic(const TrafficRun& run, size_t end_bit) {
  if (run.type == nullptr) return;
  TypeTraffic& traffic = traffic_[run.type->index];
  traffic.entries += run.entries;
  traffic.bits += end_bit - run.first_bit;
}

// What is no delta is seldom, and would only make the loop larger.
[[gnu::noinline]] SnapshotRefusal SnapshotApplier::decode_other(BitWindow* in, Tick tick, uint32_t index,
                                                                Pending* entry, Previous* previous) {
  switch (entry->kind) {
    case EntryKind::kFull:
      return decode_full(*in, tick, entry, previous);
    case EntryKind::kRemoved:
      return in->with_reader([&](BitReader& reader) { return decode_removed(reader, index, entry); });
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
  const bool staying = known.slot != kNoSlot && !known.leaving;
  return staying || !base::tick_after(tick, known.removed_tick);
}

inline SnapshotRefusal SnapshotApplier::decode_delta(BitWindow& in, Tick tick, uint32_t index, Tick of_tick,
                                                     Previous* previous) {
  if (index == kNotKnown || !lives_at(known_[index], tick)) return SnapshotRefusal::kUnknownObject;
  Known& known = known_[index];
  const bool is_tombstone = known.slot == kNoSlot;
  Word* words = is_tombstone ? discarded_words(*known.type) : known.states.draft();
  const bool as_placed = of_tick == tick;
  const Word* baseline = as_placed ? known.placed : known.states.find(of_tick, &baseline_depth_);
  if (baseline == nullptr) {
    if (as_placed) return SnapshotRefusal::kBaselineAge;
    const bool late = newest_tick_ != 0 && base::tick_after(newest_tick_, tick);
    return late || is_tombstone ? SnapshotRefusal::kLateBaseline : SnapshotRefusal::kMissingBaseline;
  }
  if (!plain_.decode(in, *known.type, baseline, words, &previous->changes)) {
    return SnapshotRefusal::kMalformed;
  }
  if (delta_count_ == deltas_.size()) make_room_for_deltas();
  deltas_[delta_count_++] = {index, of_tick};
  return SnapshotRefusal::kNone;
}

// Room for a state of an object that was removed: it is decoded, and then nothing is done with it.
[[gnu::noinline]] Word* SnapshotApplier::discarded_words(const ObjectType& type) {
  if (discarded_.size() < type.word_count) discarded_.resize(type.word_count);
  return discarded_.data();
}

// The room stays, so a part with as many deltas as one before allocates nothing.
[[gnu::noinline]] void SnapshotApplier::make_room_for_deltas() {
  deltas_.resize(std::max<size_t>(64, deltas_.size() * 2));
  news_.resize(deltas_.size());
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
  full_slots_.insert(entry->remote_slot, entry->remote_slot);
  entry->full = static_cast<uint32_t>(fulls_.size());
  const ObjectType& type = *entry->type;
  const uint32_t first_word = take_words(type.word_count);
  fulls_.push_back({previous->head, first_word});
  const bool read =
      plain_.decode(in, type, type.zero_words.data(), scratch_.data() + first_word, &previous->changes);
  return read ? SnapshotRefusal::kNone : SnapshotRefusal::kMalformed;
}

SnapshotRefusal SnapshotApplier::check_full(const Pending& entry, Tick tick) const {
  const uint64_t id = entry.network_id;
  if (id == 0) return SnapshotRefusal::kNetworkId;
  if (full_ids_.contains(id) || full_slots_.contains(entry.remote_slot)) return SnapshotRefusal::kNetworkId;
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
  const uint32_t former = known_at(entry.remote_slot);
  const bool taken = former != kNotKnown &&
                     (!known_[former].was_removed || !base::tick_after(tick, known_[former].removed_tick));
  return taken ? SnapshotRefusal::kSlotTaken : SnapshotRefusal::kNone;
}

SnapshotRefusal SnapshotApplier::decode_removed(BitReader& in, uint32_t index, Pending* entry) {
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
  return index == kNotKnown || known_[index].was_removed ? SnapshotRefusal::kNone
                                                         : SnapshotRefusal::kSlotTaken;
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
