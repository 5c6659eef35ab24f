// The checking half of SnapshotApplier. It turns a part into a list of decoded entries, or refuses it with a
// named reason, and changes nothing else. Spec, P-10.
#include <algorithm>

#include "lattice/authoring/bit_reader.h"
#include "replication/snapshot_applier.h"
#include "serialization/layout.h"

namespace lattice::replication {

SnapshotRefusal SnapshotApplier::decode(std::span<const uint8_t> body, SnapshotHeader* header) {
  pending_.clear();
  used_words_ = 0;
  if (body.size() > kMaxPartBytes) return SnapshotRefusal::kTooLarge;
  BitReader in(body);
  header->server_tick = in.ReadU32();
  header->last_input_tick = in.ReadU32();
  header->input_margin = static_cast<int8_t>(in.ReadByte());
  header->part = static_cast<uint8_t>(in.ReadBits(4));
  header->parts = static_cast<uint8_t>(in.ReadBits(4));
  if (!in.ok()) return SnapshotRefusal::kMalformed;
  if (header->server_tick == 0) return SnapshotRefusal::kTick;
  if (header->part >= header->parts) return SnapshotRefusal::kPartNumber;
  if (newest_tick_ != 0) {
    const int32_t behind = base::tick_distance(newest_tick_, header->server_tick);
    if (behind > kStalePartTicks) return SnapshotRefusal::kStale;
    if (behind < -kMaxTickJump) return SnapshotRefusal::kTick;
  }

  uint64_t id = 0;
  uint32_t new_objects = 0;
  uint32_t revived = 0;
  while (in.ReadBool()) {
    const uint64_t difference = in.ReadVarint();
    const uint64_t kind = in.ReadBits(2);
    if (!in.ok()) return SnapshotRefusal::kMalformed;
    if (difference == 0 || difference > UINT64_MAX - id) return SnapshotRefusal::kIdOrder;
    id += difference;
    Pending entry;
    entry.info.network_id = id;
    entry.kind = static_cast<EntryKind>(kind);
    const uint32_t index = find_known(id);
    const Known* known = index == kNotKnown ? nullptr : &known_[index];
    const SnapshotRefusal refusal = decode_entry(in, header->server_tick, known, &entry);
    if (refusal != SnapshotRefusal::kNone) return refusal;
    new_objects += entry.kind == EntryKind::kFull && (known == nullptr || known->slot == kNoSlot) ? 1 : 0;
    revived += revived_by(entry, known, header->server_tick);
    // Leaving objects make way for new ones; see spawn().
    const size_t staying = mirror_.size() - leaving_.size() + revived;
    if (staying + new_objects > mirror_.max_objects()) return SnapshotRefusal::kTooManyObjects;
    pending_.push_back(entry);
  }
  header->confirms_own = in.ReadBool();
  if (!in.ok()) return SnapshotRefusal::kMalformed;
  return in.at_end() ? SnapshotRefusal::kNone : SnapshotRefusal::kTrailingBits;
}

SnapshotRefusal SnapshotApplier::decode_entry(BitReader& in, Tick tick, const Known* known, Pending* entry) {
  switch (entry->kind) {
    case EntryKind::kDelta:
      return decode_delta(in, tick, known, entry);
    case EntryKind::kFull:
      return decode_full(in, known, entry);
    case EntryKind::kUnchanged:
      return known != nullptr && lives_at(*known, tick) ? SnapshotRefusal::kNone
                                                        : SnapshotRefusal::kUnknownObject;
    case EntryKind::kRemoved:
      if (in.ReadBool() && (entry->rpc_count = in.ReadVarint32()) == 0) return SnapshotRefusal::kMalformed;
      break;
  }
  return in.ok() ? SnapshotRefusal::kNone : SnapshotRefusal::kMalformed;
}

// True when an entry of `tick` can belong to a life of the object of which a state was received. Either no
// removal came, or the entry is not newer than the removal.
bool SnapshotApplier::lives_at(const Known& known, Tick tick) {
  if (known.type == nullptr) return false;
  const bool staying = known.slot != kNoSlot && !known.leaving;
  return staying || !base::tick_after(tick, known.removed_tick);
}

SnapshotRefusal SnapshotApplier::decode_delta(BitReader& in, Tick tick, const Known* known, Pending* entry) {
  const uint64_t age = in.ReadVarint();
  if (!in.ok()) return SnapshotRefusal::kMalformed;
  if (age == 0 || age > static_cast<uint64_t>(kMaxBaselineTicks)) return SnapshotRefusal::kBaselineAge;
  if (known == nullptr || !lives_at(*known, tick)) return SnapshotRefusal::kUnknownObject;
  const serialization::Word* baseline = rings_[known->ring].find(tick - static_cast<Tick>(age));
  if (baseline == nullptr) return SnapshotRefusal::kMissingBaseline;
  entry->first_word = take_words(known->type->word_count);
  const bool read = known->type->layout->decode_delta(in, baseline, scratch_.data() + entry->first_word);
  return read ? SnapshotRefusal::kNone : SnapshotRefusal::kMalformed;
}

SnapshotRefusal SnapshotApplier::decode_full(BitReader& in, const Known* known, Pending* entry) {
  const uint32_t type_id = in.ReadVarint32();
  entry->info.owner = in.ReadVarint();
  const uint64_t mode = in.ReadBits(2);
  entry->info.authority_tick = in.ReadU32();
  if (!in.ok()) return SnapshotRefusal::kMalformed;
  if (mode > LATTICE_AUTHORITY_SHARED) return SnapshotRefusal::kMode;
  entry->info.mode = static_cast<lattice_authority_mode>(mode);
  const ObjectType* type = types_.find(type_id);
  if (type == nullptr) return SnapshotRefusal::kUnknownType;
  if (known != nullptr && known->type != nullptr && known->type != type) return SnapshotRefusal::kTypeChanged;
  entry->info.type = type;
  entry->first_word = take_words(type->word_count);
  const bool read =
      type->layout->decode_delta(in, type->zero_words.data(), scratch_.data() + entry->first_word);
  return read ? SnapshotRefusal::kNone : SnapshotRefusal::kMalformed;
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
