// Layout: straight code in place of the interpreter (lattice_codec_desc), and the proof that both give the
// same. Masks of one behaviour have its first member highest. Source: docs/decisions/0041-straight-codecs.md.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/assert.h"
#include "base/random.h"
#include "serialization/layout.h"
#include "serialization/leaf_host.h"

namespace lattice::serialization {
namespace {

/// How far straight code may read past its last bit: it loads 8 bytes and a ninth.
constexpr size_t kReadPastBits = 80;

bool is_single(uint64_t mask) {
  return (mask & (mask - 1)) == 0;
}

// Copies `bytes` bytes and puts zeros behind them, up to `whole` or a few more. Both are small.
void copy_with_zeros(const uint8_t* from, size_t bytes, size_t whole, uint8_t* to) {
  size_t at = 0;
  for (; at + 8 <= bytes; at += 8) std::memcpy(to + at, from + at, 8);
  for (size_t i = at; i < whole; i += 8) std::memset(to + i, 0, 8);
  if (at == bytes) return;
  if (at == 0) {
    for (; at < bytes; ++at) to[at] = from[at];
  } else {  // the last 8 bytes, without those that are there
    uint64_t last;
    std::memcpy(&last, from + bytes - 8, 8);
    last = detail::big_endian(detail::big_endian(last) << (8 * (at + 8 - bytes)));
    std::memcpy(to + at, &last, 8);
  }
}

uint64_t all_members(unsigned count) {
  return ~uint64_t{0} >> (64 - count);
}

}  // namespace

bool Layout::take_codec(size_t index, const lattice_codec_desc& codec, std::string* error) {
  if (!codec_fits(index, codec, error)) return false;
  if (!has_flat_mask()) return true;
  if (!codec_agrees(index, codec)) {
    *error = "behaviour '" + behaviours_[index].name +
             "': its codec and its members give different states or bits; compile both from the same headers";
    return false;
  }
  behaviours_[index].codec = codec;
  is_straight_ = true;
  not_straight_.clear();
  for (const LayoutBehaviour& behaviour : behaviours_) {
    is_straight_ = is_straight_ && behaviour.codec.struct_size != 0;
    for (unsigned i = 0; i < behaviour.node_count; ++i) {
      const bool taken = (behaviour.codec.state_members >> (behaviour.node_count - 1u - i) & 1u) != 0;
      if (!taken) not_straight_.push_back(static_cast<uint16_t>(behaviour.first_node + i));
    }
  }
  return true;
}

bool Layout::codec_fits(size_t index, const lattice_codec_desc& codec, std::string* error) const {
  const LayoutBehaviour& behaviour = behaviours_[index];
  const auto refuse = [&](const std::string& what) {
    *error = "behaviour '" + behaviour.name + "': " + what;
    return false;
  };
  if (!codec.quantize || !codec.dequantize || !codec.changed || !codec.encode || !codec.decode) {
    return refuse("its codec lacks a function");
  }
  if (codec.member_count != behaviour.node_count || codec.member_count > 64) {
    return refuse("its codec is for " + std::to_string(codec.member_count) + " members, and there are " +
                  std::to_string(behaviour.node_count) + "; a codec takes at most 64");
  }
  if (codec.word_count != behaviour.word_count) {
    return refuse("its codec is for states of " + std::to_string(codec.word_count) +
                  " words, and there are " + std::to_string(behaviour.word_count));
  }
  if (codec.max_bits > LATTICE_MAX_CODEC_BITS) {
    return refuse("max_bits of its codec is " + std::to_string(codec.max_bits) + "; must be at most " +
                  std::to_string(LATTICE_MAX_CODEC_BITS));
  }
  for (unsigned i = 0; i < 64; ++i) {
    const uint64_t bit = uint64_t{1} << i;
    if (((codec.state_members | codec.wire_members) & bit) == 0) continue;
    if (i >= behaviour.node_count) return refuse("its codec takes members that it does not have");
    const LayoutNode& node = nodes_[behaviour.first_node + behaviour.node_count - 1u - i];
    const bool whole = node.kind <= LayoutNode::Kind::kStructWhole;
    bool numbers = !node.has_container;
    for (const Leaf& leaf : leaves_of(node)) numbers = numbers && leaf.kind < LeafKind::kString;
    if (!numbers || (!whole && (codec.wire_members & bit) != 0)) {
      return refuse("its codec takes member '" + node.name + "', which only the library packs");
    }
  }
  return true;
}

bool Layout::quantize_straight(const void* const* host, Word* words) const {
  bool fits = true;
  for (size_t i = 0; i < behaviours_.size(); ++i) {
    fits &= behaviours_[i].codec.quantize(host[i], words + behaviours_[i].first_word) != 0;
  }
  for (const uint16_t index : not_straight_) {
    const LayoutNode& node = nodes_[index];
    fits &= quantize_node(node, static_cast<const uint8_t*>(host[node.behaviour]), words);
  }
  return fits;
}

void Layout::dequantize_straight(const Word* words, void* const* host) const {
  for (size_t i = 0; i < behaviours_.size(); ++i) {
    behaviours_[i].codec.dequantize(words + behaviours_[i].first_word, host[i]);
  }
  for (const uint16_t index : not_straight_) {
    const LayoutNode& node = nodes_[index];
    dequantize_node(node, words, static_cast<uint8_t*>(host[node.behaviour]));
  }
}

uint64_t Layout::changed_mask_straight(const Word* base, const Word* current) const {
  uint64_t mask = 0;
  for (const LayoutBehaviour& behaviour : behaviours_) {
    const uint64_t changed =
        behaviour.codec.changed(base + behaviour.first_word, current + behaviour.first_word);
    mask = mask << 1 << (behaviour.node_count - 1) | changed;
  }
  return mask;
}

// Calls `each` with the marked members of each behaviour, until it returns false.
template <class Each>
bool Layout::walk_marked(uint64_t marked, const Each& each) const {
  for (const LayoutBehaviour& behaviour : behaviours_) {
    const uint64_t mask = marked >> (64 - behaviour.node_count);
    if (mask != 0 && !each(behaviour, mask)) return false;
    marked = marked << 1 << (behaviour.node_count - 1);
  }
  return true;
}

// Calls `run` with each longest mask of marked members that straight code packs, and `other` with the place
// of each marked member that only the library packs, counted from the last one, in the order of the wire,
// until one returns false. Most types have no members of the second kind.
template <class Run, class Other>
bool Layout::walk_runs(const LayoutBehaviour& behaviour, uint64_t mask, const Run& run, const Other& other) {
  while ((mask & ~behaviour.codec.wire_members) != 0) {
    const uint64_t first_other = std::bit_floor(mask & ~behaviour.codec.wire_members);
    const uint64_t before = mask & ~(first_other | (first_other - 1));
    if (before != 0 && !run(before)) return false;
    if (!other(static_cast<unsigned>(std::countr_zero(first_other)))) return false;
    mask &= first_other - 1;
  }
  return mask == 0 || run(mask);
}

void Layout::encode_behaviour(BitWriter& writer, const LayoutBehaviour& behaviour, uint64_t mask,
                              const Word* base, const Word* current) const {
  walk_runs(
      behaviour, mask,
      [&](uint64_t run) {
        encode_run(writer, behaviour, run, base, current);
        return true;
      },
      [&](unsigned behind) {
        encode_changed(writer, nodes_[behaviour.first_node + behaviour.node_count - 1u - behind], base,
                       current);
        return true;
      });
}

bool Layout::decode_behaviour(BitReader& reader, const LayoutBehaviour& behaviour, uint64_t mask,
                              const Word* base, Word* out) const {
  return walk_runs(
      behaviour, mask, [&](uint64_t run) { return decode_run(reader, behaviour, run, base, out); },
      [&](unsigned behind) {
        const LayoutNode& node = nodes_[behaviour.first_node + behaviour.node_count - 1u - behind];
        return decode_marked_node(reader, node, base, out);
      });
}

// encode_flat() and decode_flat() of the ordinary type, which has one behaviour: its presence bit and its
// mask are written as one field.
void Layout::encode_only_behaviour(BitWriter& writer, const Word* base, const Word* current) const {
  const LayoutBehaviour& behaviour = behaviours_[0];
  const unsigned count = behaviour.node_count;
  const uint64_t mask = behaviour.codec.changed(base, current);
  if (has_presence_bits_ && mask == 0) return writer.WriteBits(0, 1);
  if (count == 64) {
    if (has_presence_bits_) writer.WriteBits(1, 1);
    writer.WriteBits(mask, 64);
    return encode_behaviour(writer, behaviour, mask, base, current);
  }
  const uint64_t head = (has_presence_bits_ ? uint64_t{1} << count : 0) | mask;
  const unsigned head_bits = count + (has_presence_bits_ ? 1 : 0);
  if (is_single(mask) && mask != 0) {  // as most snapshots: often one field with the member
    const FlatMember& member = members_[count - 1 - static_cast<unsigned>(std::countr_zero(mask))];
    if (member.form == FlatMember::Form::kBool) return writer.WriteBits(head, static_cast<int>(head_bits));
    if (member.form == FlatMember::Form::kPacked && head_bits + member.bits <= 64) {
      const uint64_t value = packed_value(member, current);
      return writer.WriteBits(head << member.bits | value, static_cast<int>(head_bits + member.bits));
    }
  }
  writer.WriteBits(head, static_cast<int>(head_bits));
  encode_behaviour(writer, behaviour, mask, base, current);
}

bool Layout::decode_only_behaviour(BitReader& reader, const Word* base, Word* out) const {
  const LayoutBehaviour& behaviour = behaviours_[0];
  if (has_presence_bits_ && !reader.ReadBool()) return reader.ok();
  const uint64_t mask = reader.ReadBits(behaviour.node_count);
  if (mask == 0) return reader.ok() && !has_presence_bits_;  // no encoder marks an unchanged behaviour
  return decode_behaviour(reader, behaviour, mask, base, out);
}

void Layout::encode_straight(BitWriter& writer, uint64_t marked, const Word* base,
                             const Word* current) const {
  walk_marked(marked, [&](const LayoutBehaviour& behaviour, uint64_t mask) {
    encode_behaviour(writer, behaviour, mask, base, current);
    return true;
  });
}

bool Layout::decode_straight(BitReader& reader, uint64_t marked, const Word* base, Word* out) const {
  const bool ok = walk_marked(marked, [&](const LayoutBehaviour& behaviour, uint64_t mask) {
    return decode_behaviour(reader, behaviour, mask, base, out);
  });
  return ok && reader.ok();
}

// A mask of one behaviour as one of the whole type, left-aligned.
uint64_t Layout::to_marked(const LayoutBehaviour& behaviour, uint64_t mask) const {
  size_t first = 0;
  for (const LayoutBehaviour* before = behaviours_.data(); before != &behaviour; ++before) {
    first += before->node_count;
  }
  return mask << (64 - behaviour.node_count) >> first;
}

void Layout::encode_run(BitWriter& writer, const LayoutBehaviour& behaviour, uint64_t mask, const Word* base,
                        const Word* current) const {
  // One member is found faster by its bit than by asking for all of them. Near the end of a buffer, straight
  // code has no room.
  if (is_single(mask) || writer.bits_left() < size_t{behaviour.codec.max_bits} + 64) {
    return encode_interpreted(writer, to_marked(behaviour, mask), base, current);
  }
  auto output = writer.output<lattice_bit_output>();
  behaviour.codec.encode(&output, mask, base + behaviour.first_word, current + behaviour.first_word);
  writer.resume(output);
}

bool Layout::decode_run(BitReader& reader, const LayoutBehaviour& behaviour, uint64_t mask, const Word* base,
                        Word* out) const {
  // Near the end the bits must be copied. For a few members the interpreter costs less than that.
  const auto is_few = [mask] {  // up to four
    uint64_t rest = mask;
    for (int i = 0; i < 4; ++i) rest &= rest - 1;
    return rest == 0;
  };
  const size_t needed = behaviour.codec.max_bits + kReadPastBits;
  const bool is_near_end = reader.bits_left() < needed;
  if (is_single(mask) || (is_near_end && is_few())) {
    return decode_interpreted(reader, to_marked(behaviour, mask), base, out);
  }
  constexpr size_t kMaxBytes = (LATTICE_MAX_CODEC_BITS + kReadPastBits) / 8 + 2;
  std::array<uint8_t, 2 * kMaxBytes> near_end;
  const size_t skip = reader.position_bits() % 8;
  lattice_bit_input input = {reader.next_byte(), skip};
  if (is_near_end) {  // with zeros behind, which Skip() refuses
    const size_t bytes = (skip + reader.bits_left() + 7) / 8;
    copy_with_zeros(input.data, bytes, needed / 8 + 2, near_end.data());
    input.data = near_end.data();
  }
  const bool ok =
      behaviour.codec.decode(&input, mask, base + behaviour.first_word, out + behaviour.first_word) != 0;
  reader.Skip(input.position_bits - skip);
  return ok && reader.ok();
}

// ---- The proof -------------------------------------------------------------------------------------

namespace {

// Words that a state may hold, of all leaves but text and what is within containers.
void draw_words(base::Random& random, const Leaf& leaf, const LeafExtra& extra, Word* words) {
  uint64_t value = random.next_u64() >> random.next_below(64);
  if (leaf.kind == LeafKind::kSmallestThree || leaf.kind == LeafKind::kQuaternionFull) {
    const auto component = [&random] { return static_cast<float>(random.next_unit() * 2 - 1); };
    const Quaternion rotation = {component(), component(), component(), component()};
    Leaf here = leaf;
    here.host_offset = 0;
    quantize_leaf(here, extra, reinterpret_cast<const uint8_t*>(&rotation), words);
    return;
  }
  if (leaf.kind < LeafKind::kSmallestThree && leaf.max_code != UINT64_MAX) value %= leaf.max_code + 1;
  if (leaf.kind > LeafKind::kLastCode && leaf.bits < 64) value &= (uint64_t{1} << leaf.bits) - 1;
  set_leaf_value(leaf, words, value);
}

}  // namespace

// Draws states and host memory, and looks whether the interpreter and the codec make the same of them. What
// the codec leaves to the library is zero in all of them.
bool Layout::codec_agrees(size_t index, const lattice_codec_desc& codec) const {
  constexpr int kRounds = 200;
  const LayoutBehaviour& behaviour = behaviours_[index];
  const unsigned count = behaviour.node_count;
  base::Random random(0x5EED + index);
  std::vector<Word> before = zero_words_, words = zero_words_, other = zero_words_;
  const size_t buffer_bytes = 2 * ((size_t{codec.max_bits} + 2 * kReadPastBits) / 8 + 64);
  std::vector<uint8_t> bytes(buffer_bytes), other_bytes(buffer_bytes);
  std::vector<uint8_t> host(behaviour.host_bytes), other_host(behaviour.host_bytes);
  const auto member = [&](unsigned i) -> const LayoutNode& { return nodes_[behaviour.first_node + i]; };
  const auto takes = [&](uint64_t members, unsigned i) { return (members >> (count - 1 - i) & 1u) != 0; };
  Word* const other_first = other.data() + behaviour.first_word;

  for (int round = 0; round < kRounds; ++round) {
    // A state of which some members differ from the one before, or all, for which codecs may have a way of
    // their own; then its host memory. Or any memory.
    before = words;
    const bool all_differ = round % 4 == 1;
    for (unsigned i = 0; i < count; ++i) {
      if (!takes(codec.state_members, i) || (!all_differ && random.chance(0.3))) continue;
      int draws = all_differ ? 16 : 1;
      do {
        for (uint32_t k = member(i).first_leaf; k < uint32_t{member(i).first_leaf} + member(i).leaf_count;
             ++k) {
          draw_words(random, leaves_[k], extras_[k], words.data() + leaves_[k].word);
        }
      } while (--draws > 0 && same_words(before.data(), words.data(), member(i)));
    }
    for (uint8_t& byte : host) byte = static_cast<uint8_t>(round % 4 == 0 ? random.next_u64() : 0xA5);
    other_host = host;
    if (round % 4 != 0) {
      for (unsigned i = 0; i < count; ++i) {
        if (takes(codec.state_members, i)) dequantize_node(member(i), words.data(), host.data());
      }
      codec.dequantize(words.data() + behaviour.first_word, other_host.data());
      if (host != other_host) return false;
    }
    bool fits = true;
    other = words;
    for (unsigned i = 0; i < count; ++i) {
      if (takes(codec.state_members, i)) fits &= quantize_node(member(i), host.data(), words.data());
    }
    if ((codec.quantize(host.data(), other_first) != 0) != fits || other != words) return false;

    uint64_t changed = 0;
    for (unsigned i = 0; i < count; ++i) {
      changed = changed << 1 | (same_words(before.data(), words.data(), member(i)) ? 0u : 1u);
    }
    const Word* const first_before = before.data() + behaviour.first_word;
    if (codec.changed(first_before, words.data() + behaviour.first_word) != changed) return false;

    // Packed at any bit, and read back; then any bits for any members.
    uint64_t mask = changed & codec.wire_members;
    const auto lead = static_cast<int>(random.next_below(64));
    BitWriter writer(bytes), other_writer(other_bytes);
    writer.WriteBits(0, lead), other_writer.WriteBits(0, lead);
    for (unsigned i = 0; i < count; ++i) {
      if (takes(mask, i)) encode_changed(writer, member(i), before.data(), words.data());
    }
    auto output = other_writer.output<lattice_bit_output>();
    codec.encode(&output, mask, first_before, words.data() + behaviour.first_word);
    other_writer.resume(output);
    const size_t bits = writer.bit_count();
    if (!writer.ok() || other_writer.bit_count() != bits || bits > size_t{codec.max_bits} + 64) return false;
    writer.finish(), other_writer.finish();
    if (std::memcmp(bytes.data(), other_bytes.data(), (bits + 7) / 8) != 0) return false;

    for (const bool any : {false, true}) {
      if (any) {  // all ones are the longest that a field of any length can be
        const bool ones = random.chance(0.2);
        for (uint8_t& byte : bytes) byte = ones ? 0xFF : static_cast<uint8_t>(random.next_u64());
        mask = all_differ ? codec.wire_members : random.next_u64() & codec.wire_members & all_members(count);
      }
      BitReader reader(bytes);
      reader.Skip(static_cast<size_t>(lead));
      // The members that are not read hold something else.
      std::vector<Word> read = before;
      for (unsigned i = 0; i < count; ++i) {
        if (takes(mask, i)) continue;
        std::copy_n(words.data() + member(i).first_word, member(i).word_count,
                    read.data() + member(i).first_word);
      }
      other = read;
      bool ok = true;
      for (unsigned i = 0; i < count && ok; ++i) {
        if (!takes(mask, i)) continue;
        ok = decode_marked_node(reader, member(i), before.data(), read.data());
      }
      lattice_bit_input input = {bytes.data(), static_cast<size_t>(lead)};
      const bool other_ok = codec.decode(&input, mask, first_before, other_first) != 0;
      if (other_ok != ok || (!any && !ok)) return false;
      // What a peer sends must not lead the codec further than the caller looked.
      if (input.position_bits - static_cast<size_t>(lead) > codec.max_bits) return false;
      if (ok && (other != read || input.position_bits != reader.position_bits())) return false;
    }
  }
  return true;
}

}  // namespace lattice::serialization
