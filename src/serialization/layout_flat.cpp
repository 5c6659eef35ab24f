// Layout: deltas of types whose changed mask fits one number. A mask inside this file is left-aligned: bit 63
// is member 0 of behaviour 0.
#include <bit>
#include <cstring>

#include "base/assert.h"
#include "serialization/layout.h"
#include "serialization/leaf_codec.h"

namespace lattice::serialization {
namespace {

constexpr unsigned kFlatMaskBits = 64;

// `count` is 0..64, and a structure without members has the mask 0.
uint64_t to_left(uint64_t mask, size_t count) {
  return count == 0 ? 0 : mask << (kFlatMaskBits - count);
}
uint64_t to_right(uint64_t mask, size_t count) {
  return count == 0 ? 0 : mask >> (kFlatMaskBits - count);
}

// The index of the first marked member. Its mark is removed.
size_t take_first(uint64_t* marked) {
  const int index = std::countl_zero(*marked);
  *marked &= ~(uint64_t{1} << (kFlatMaskBits - 1) >> index);
  return static_cast<size_t>(index);
}

bool differs(const FlatMember& member, const Word* a, const Word* b) {
  if (member.word_count == 1) return a[member.first_word] != b[member.first_word];
  Word difference = 0;
  for (uint32_t i = member.first_word, end = i + member.word_count; i < end; ++i) difference |= a[i] ^ b[i];
  return difference != 0;
}

bool is_valid(const PackedField& field, Word code) {
  return code <= field.max_code && (!field.is_rotation || smallest_three_valid(code, (field.bits - 2u) / 3u));
}

// The code of `field` in `value`, where `*bits` bits are left for it and those behind it. A field without
// bits may stand before 64 others.
Word take_code(const PackedField& field, uint64_t value, unsigned* bits) {
  *bits -= field.bits;
  return static_cast<Word>(value >> *bits % 64) & field.bit_mask;
}

// Takes the codes of a packed member, the last one lowest, out of `value`. False when one is too large, or
// when none differs from its baseline.
bool decode_fields(std::span<const PackedField> fields, uint64_t value, unsigned bits, const Word* base,
                   Word* out) {
  Word difference = 0;
  unsigned wrong = 0;
  for (const PackedField& field : fields) {
    const Word code = take_code(field, value, &bits);
    wrong |= static_cast<unsigned>(!is_valid(field, code));
    difference |= code ^ base[field.word];
    out[field.word] = code;
  }
  return wrong == 0 && difference != 0;
}

// Joins members to fields of up to 64 bits, so that the writer is called once for several.
class Joiner {
 public:
  explicit Joiner(BitWriter& writer) : writer_(writer) {}
  void add(uint64_t value, unsigned bits) {
    if (count_ + bits > 64) flush();
    value_ = bits == 64 ? value : value_ << bits | value;
    count_ += bits;
  }
  void flush() {
    writer_.WriteBits(value_, static_cast<int>(count_));
    value_ = 0, count_ = 0;
  }

 private:
  BitWriter& writer_;
  uint64_t value_ = 0;
  unsigned count_ = 0;
};

}  // namespace

uint64_t Layout::changed_mask(const Word* base, const Word* current) const {
  LATTICE_ASSERT(has_flat_mask());
  if (is_straight_) return changed_mask_straight(base, current);
  uint64_t mask = 0;
  if (!word_masks_.empty()) {  // one pass without branches, four words at a time
    for (size_t i = 0; i < word_masks_.size(); ++i) {
      mask |= word_masks_[i] & (uint64_t{0} - static_cast<uint64_t>(base[i] != current[i]));
    }
    return mask;
  }
  for (const FlatMember& member : members_) mask = mask << 1 | (differs(member, base, current) ? 1u : 0u);
  return mask;
}

void Layout::encode_members(BitWriter& writer, uint64_t mask, const Word* base, const Word* current) const {
  LATTICE_ASSERT(has_flat_mask());
  encode_marked(writer, to_left(mask, members_.size()), base, current);
}

bool Layout::decode_members(BitReader& reader, uint64_t mask, const Word* base, Word* out) const {
  LATTICE_ASSERT(has_flat_mask());
  std::memcpy(out, base, word_count_ * sizeof(Word));
  if (decode_marked(reader, to_left(mask, members_.size()), base, out)) return true;
  reader.fail();
  std::memcpy(out, base, word_count_ * sizeof(Word));
  return false;
}

void Layout::plan(uint64_t mask, MemberPlan* out) const {
  LATTICE_ASSERT(has_flat_mask());
  out->layout = this;
  out->mask = mask;
  out->bool_mask = 0;
  out->word_count = static_cast<uint32_t>(word_count_);
  out->is_limited = false;
  out->bit_count = 0;
  out->bool_count = out->read_count = out->field_count = 0;
  out->flips.fill(0);
  out->reads[0] = {};
  out->whole = true;
  uint64_t marked = to_left(mask, members_.size());
  while (marked != 0 && out->whole) {
    const uint64_t before = marked;
    const FlatMember& member = members_[take_first(&marked)];
    out->whole = add_to_plan(member, to_right(before ^ marked, members_.size()), out);
  }
  out->end_read();
}

// False when there is no room, or when the member is no plain number.
bool Layout::add_to_plan(const FlatMember& member, uint64_t bit, MemberPlan* out) const {
  if (member.form == FlatMember::Form::kBool) {
    if (out->bool_count == MemberPlan::kMaxBools) return false;
    out->bool_mask |= bit;
    out->bools[out->bool_count++] = member.first_word;
    if (member.first_word < MemberPlan::kMaxFlips) out->flips[member.first_word] = 1;
    return true;
  }
  if (member.form != FlatMember::Form::kPacked) return false;
  const size_t fields = out->field_count + out->field_count % 2u;  // as end_read() may make it
  if (fields + member.field_count > MemberPlan::kMaxFields) return false;
  const bool joins = out->read_count != 0 && out->reads[out->read_count - 1u].bits + member.bits <= 64;
  if (!joins) {
    if (out->read_count == MemberPlan::kMaxReads) return false;
    out->end_read();
    out->reads[out->read_count++] = {};
  }
  MemberPlan::Read& read = out->reads[out->read_count - 1u];
  const size_t first = out->read_count < 2 ? 0 : out->reads[out->read_count - 2u].fields_end;
  // What the read has so far lies above this member. A field without bits may stand above 64 others.
  for (size_t i = first; i < out->field_count; ++i) {
    MemberPlan::Field& above = out->fields[i];
    above.shift = static_cast<uint8_t>(above.bit_mask == 0 ? 0 : above.shift + member.bits);
  }
  unsigned left = member.bits;
  for (const PackedField& field : std::span(fields_).subspan(member.first_field, member.field_count)) {
    left -= field.bits;
    MemberPlan::Field& added = out->fields[out->field_count++];
    added = {
        bit, field.word, field.max_code, field.bit_mask, static_cast<uint8_t>(field.bits == 0 ? 0 : left), 0};
    out->is_limited = out->is_limited || field.is_rotation || field.max_code != field.bit_mask;
    if (!field.is_rotation) continue;
    added.rotation_component_bits = static_cast<uint8_t>((field.bits - 2u) / 3u);
  }
  read.bits = static_cast<uint8_t>(read.bits + member.bits);
  out->bit_count += member.bits;
  read.fields_end = out->field_count;
  return true;
}

void MemberPlan::end_read() {
  if (field_count % 2 == 0) return;
  fields[field_count] = fields[field_count - 1u];
  reads[read_count - 1u].fields_end = ++field_count;
}

bool MemberPlan::limits_hold(const Word* words) const {
  for (size_t i = 0; i < field_count; ++i) {
    const Word code = words[fields[i].word];
    const unsigned n = fields[i].rotation_component_bits;
    if (code > fields[i].max_code || (n != 0 && !smallest_three_valid(code, n))) return false;
  }
  return true;
}

bool Layout::decode_whole_fields(BitReader& reader, Word* out) const {
  unsigned bits = whole_bits_;
  const uint64_t value = reader.ReadBits(static_cast<int>(bits));
  bool ok = true;
  for (const PackedField& field : whole_fields_) {
    const Word code = take_code(field, value, &bits);
    ok = ok && is_valid(field, code);
    out[field.word] = code;
  }
  return ok;
}

void Layout::encode_flat(BitWriter& writer, const Word* base, const Word* current) const {
  uint64_t marked = to_left(changed_mask(base, current), members_.size());
  if (!has_presence_bits_) {
    writer.WriteBits(to_right(marked, members_.size()), static_cast<int>(members_.size()));
    return encode_marked(writer, marked, base, current);
  }
  uint64_t present = 0, rest = marked;
  for (const LayoutBehaviour& behaviour : behaviours_) {
    present = present << 1 | (to_right(rest, behaviour.node_count) != 0 ? 1u : 0u);
    rest = rest << 1 << (behaviour.node_count - 1u);
  }
  writer.WriteBits(present, static_cast<int>(behaviours_.size()));
  unsigned first = 0;
  for (const LayoutBehaviour& behaviour : behaviours_) {
    const uint64_t mask = to_right(marked << first, behaviour.node_count);
    if (mask != 0) {
      writer.WriteBits(mask, behaviour.node_count);
      encode_marked(writer, to_left(mask, behaviour.node_count) >> first, base, current);
    }
    first += behaviour.node_count;
  }
}

bool Layout::decode_flat(BitReader& reader, const Word* base, Word* out) const {
  if (!has_presence_bits_) {
    const uint64_t mask = reader.ReadBits(static_cast<int>(members_.size()));
    return decode_marked(reader, to_left(mask, members_.size()), base, out);
  }
  const uint64_t present = to_left(reader.ReadBits(static_cast<int>(behaviours_.size())), behaviours_.size());
  unsigned first = 0;
  for (size_t i = 0; i < behaviours_.size(); ++i) {
    const unsigned count = behaviours_[i].node_count;
    if ((present << i >> 63) != 0) {
      const uint64_t mask = reader.ReadBits(static_cast<int>(count));
      // No encoder marks an unchanged behaviour as present.
      if (mask == 0 || !decode_marked(reader, to_left(mask, count) >> first, base, out)) return false;
    }
    first += count;
  }
  return reader.ok();
}

void Layout::encode_marked(BitWriter& writer, uint64_t marked, const Word* base, const Word* current) const {
  if (is_straight_) return encode_straight(writer, marked, base, current);
  encode_interpreted(writer, marked, base, current);
}

bool Layout::decode_marked(BitReader& reader, uint64_t marked, const Word* base, Word* out) const {
  if (is_straight_) return decode_straight(reader, marked, base, out);
  return decode_interpreted(reader, marked, base, out);
}

void Layout::encode_interpreted(BitWriter& writer, uint64_t marked, const Word* base,
                                const Word* current) const {
  Joiner joiner(writer);
  while (marked != 0) {
    const FlatMember& member = members_[take_first(&marked)];
    if (member.form == FlatMember::Form::kPacked) {
      joiner.add(packed_value(member, current), member.bits);
    } else if (member.form == FlatMember::Form::kOther) {
      joiner.flush();
      encode_changed(writer, nodes_[member.node], base, current);
    }
  }
  joiner.flush();
}

bool Layout::decode_interpreted(BitReader& reader, uint64_t marked, const Word* base, Word* out) const {
  while (marked != 0) {
    const FlatMember& member = members_[take_first(&marked)];
    if (member.form == FlatMember::Form::kPacked) {
      const std::span fields(fields_.data() + member.first_field, member.field_count);
      if (!decode_fields(fields, reader.ReadBits(member.bits), member.bits, base, out)) return false;
    } else if (member.form == FlatMember::Form::kBool) {
      out[member.first_word] = base[member.first_word] ^ 1u;
    } else if (!decode_changed(reader, nodes_[member.node], base, out) || !differs(member, base, out)) {
      return false;  // no encoder marks an unchanged member as changed
    }
  }
  return reader.ok();
}

}  // namespace lattice::serialization
