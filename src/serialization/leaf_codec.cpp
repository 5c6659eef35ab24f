#include "serialization/leaf_codec.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <string_view>

#include "base/assert.h"
#include "lattice/authoring/utf8.h"
#include "serialization/word_bytes.h"

namespace lattice::serialization {
namespace {

void write_scalar(BitWriter& writer, unsigned bits, uint64_t v) {
  switch (bits) {
    case 8:
      return writer.WriteByte(static_cast<uint8_t>(v));
    case 16:
      return writer.WriteU16(static_cast<uint16_t>(v));
    case 32:
      return writer.WriteU32(static_cast<uint32_t>(v));
    default:
      LATTICE_ASSERT(bits == 64);
      return writer.WriteU64(v);
  }
}

uint64_t read_scalar(BitReader& reader, unsigned bits) {
  switch (bits) {
    case 8:
      return reader.ReadByte();
    case 16:
      return reader.ReadU16();
    case 32:
      return reader.ReadU32();
    default:
      LATTICE_ASSERT(bits == 64);
      return reader.ReadU64();
  }
}

void write_data(BitWriter& writer, const Word* words, size_t bits) {
  for (size_t at = 0; at < bits; at += 8) {
    const uint8_t byte = word_byte(words, at / 8);
    const size_t left = bits - at;
    if (left >= 8) {
      writer.WriteByte(byte);
    } else {
      writer.WriteBits(static_cast<uint64_t>(byte >> (8 - left)), static_cast<int>(left));
    }
  }
}

// Reads bytes one at a time into the words, so that no buffer of 64 KiB is needed. UTF-8 is checked in the
// words afterwards.
bool decode_bytes(BitReader& reader, const Leaf& leaf, Word* words) {
  const size_t n = reader.ReadLength(leaf.capacity);
  if (!reader.ok()) return false;
  words[0] = static_cast<Word>(n);
  std::memset(words + 1, 0, (leaf.word_count - size_t{1}) * sizeof(Word));
  bool has_zero = false;
  for (size_t i = 0; i < n; ++i) {
    const uint8_t byte = reader.ReadByte();
    has_zero = has_zero || byte == 0;
    set_word_byte(words, i, byte);
  }
  if (leaf.kind == LeafKind::kBytes) return reader.ok();
  return reader.ok() && !has_zero;  // a host string cannot hold a zero byte
}

// Checks a window of 64 bytes at a time. A character has at most four bytes, so a valid window leaves at most
// three bytes of a split character to the next window.
bool valid_utf8_words(const Word* words) {
  const size_t n = words[0];
  char window[64];
  size_t at = 0;
  while (at < n) {
    size_t filled = 0;
    for (; filled < sizeof window && at + filled < n; ++filled) {
      window[filled] = static_cast<char>(word_byte(words, at + filled));
    }
    const size_t valid = utf8_valid_prefix({window, filled});
    const bool last = at + filled == n;
    if (last ? valid != filled : filled - valid > 3) return false;
    at += valid;
  }
  return true;
}

bool decode_custom(BitReader& reader, const Leaf& leaf, const LeafExtra& extra, Word* words) {
  uint8_t scratch[LATTICE_MAX_CUSTOM_BYTES + 8] = {};
  const size_t available = reader.PeekBitSpan(scratch, size_t{leaf.capacity} * 8);
  const size_t bits = extra.custom.deserialize(scratch, available, nullptr);
  if (bits > available) return false;
  reader.Skip(bits);
  const size_t bytes = (bits + 7) / 8;
  if (bits % 8 != 0) scratch[bytes - 1] &= static_cast<uint8_t>(0xFF00u >> (bits % 8));
  pack_word_bytes(words, leaf.word_count, bits, scratch, bytes);
  return reader.ok();
}

bool decode_full_rotation(BitReader& reader, Word* words) {
  double length = 0.0;
  for (unsigned i = 0; i < 4; ++i) {
    words[i] = reader.ReadU32();
    const double component = static_cast<double>(std::bit_cast<float>(words[i]));
    length += component * component;
  }
  return reader.ok() && length > 0.0 && std::isfinite(length);
}

}  // namespace

void encode_leaf_slow(BitWriter& writer, const Leaf& leaf, const Word* base, const Word* words) {
  switch (leaf.kind) {
    case LeafKind::kFixed:
    case LeafKind::kFloatFull:
      return write_scalar(writer, leaf.bits, leaf_value(leaf, words));
    case LeafKind::kVarintUnsigned:
    case LeafKind::kVarintSigned:
      return writer.WriteVarint(leaf_value(leaf, words));
    case LeafKind::kFixed64Difference:
      return writer.WriteLong(static_cast<int64_t>(leaf_value(leaf, words) - leaf_value(leaf, base)));
    case LeafKind::kTickDifference:
      return writer.WriteInt(static_cast<int32_t>(words[0] - base[0]));
    case LeafKind::kQuaternionFull:
      for (unsigned i = 0; i < 4; ++i) writer.WriteU32(words[i]);
      return;
    case LeafKind::kString:
    case LeafKind::kFixedString:
    case LeafKind::kBytes:
      writer.WriteVarint(words[0]);
      return write_data(writer, words, size_t{words[0]} * 8);
    case LeafKind::kCustom:
      return write_data(writer, words, words[0]);
    default:
      return writer.WriteBits(leaf_value(leaf, words), leaf.bits);
  }
}

bool decode_leaf_slow(BitReader& reader, const Leaf& leaf, const LeafExtra& extra, const Word* base,
                      Word* words) {
  switch (leaf.kind) {
    case LeafKind::kSmallestThree:
      set_leaf_value(leaf, words, reader.ReadBits(leaf.bits));
      return reader.ok() && smallest_three_valid(leaf_value(leaf, words), (leaf.bits - 2u) / 3u);
    case LeafKind::kFixed:
    case LeafKind::kFloatFull:
      set_leaf_value(leaf, words, read_scalar(reader, leaf.bits));
      return reader.ok();
    case LeafKind::kVarintUnsigned:
    case LeafKind::kVarintSigned:
      set_leaf_value(leaf, words, leaf.bits == 32 ? reader.ReadVarint32() : reader.ReadVarint());
      return reader.ok();
    case LeafKind::kFixed64Difference:
      set_leaf_value(leaf, words, leaf_value(leaf, base) + static_cast<uint64_t>(reader.ReadLong()));
      return reader.ok();
    case LeafKind::kTickDifference:
      words[0] = base[0] + static_cast<Word>(reader.ReadInt());
      return reader.ok();
    case LeafKind::kQuaternionFull:
      return decode_full_rotation(reader, words);
    case LeafKind::kString:
      return decode_bytes(reader, leaf, words) && valid_utf8_words(words);
    case LeafKind::kFixedString:
    case LeafKind::kBytes:
      return decode_bytes(reader, leaf, words);
    case LeafKind::kCustom:
      return decode_custom(reader, leaf, extra, words);
    default:
      set_leaf_value(leaf, words, reader.ReadCode(leaf.bits, leaf.max_code));
      return reader.ok();
  }
}

}  // namespace lattice::serialization
