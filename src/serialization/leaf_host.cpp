#include "serialization/leaf_host.h"

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "lattice/authoring/utf8.h"
#include "serialization/word_bytes.h"

namespace lattice::serialization {
namespace {

template <typename T>
T load(const uint8_t* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

template <typename T>
void store(uint8_t* p, T v) {
  std::memcpy(p, &v, sizeof v);
}

// The integer as 64 bits in two's complement. Unsigned host numbers are zero-extended.
uint64_t load_integer(HostKind host, const uint8_t* p) {
  switch (host) {
    case HostKind::kI8:
      return static_cast<uint64_t>(static_cast<int64_t>(load<int8_t>(p)));
    case HostKind::kU8:
      return load<uint8_t>(p);
    case HostKind::kI16:
      return static_cast<uint64_t>(static_cast<int64_t>(load<int16_t>(p)));
    case HostKind::kU16:
      return load<uint16_t>(p);
    case HostKind::kI32:
      return static_cast<uint64_t>(static_cast<int64_t>(load<int32_t>(p)));
    case HostKind::kU32:
      return load<uint32_t>(p);
    case HostKind::kI64:
    case HostKind::kU64:
      return load<uint64_t>(p);
    default:
      LATTICE_ASSERT(false);
      return 0;
  }
}

void store_integer(HostKind host, uint64_t v, uint8_t* p) {
  switch (host) {
    case HostKind::kI8:
    case HostKind::kU8:
      return store(p, static_cast<uint8_t>(v));
    case HostKind::kI16:
    case HostKind::kU16:
      return store(p, static_cast<uint16_t>(v));
    case HostKind::kI32:
    case HostKind::kU32:
      return store(p, static_cast<uint32_t>(v));
    case HostKind::kI64:
    case HostKind::kU64:
      return store(p, v);
    default:
      LATTICE_ASSERT(false);
  }
}

uint64_t low_bits(unsigned bits) {
  return bits >= 64 ? UINT64_MAX : (uint64_t{1} << bits) - 1;
}

// Sets the number of a leaf. `fits` is handed on.
bool set_value(const Leaf& leaf, Word* words, uint64_t value, bool fits) {
  set_leaf_value(leaf, words, value);
  return fits;
}

bool quantize_enum(const Leaf& leaf, const LeafExtra& extra, int64_t value, Word* words) {
  if (extra.enum_values.empty()) {
    const bool known = value >= 0 && static_cast<uint64_t>(value) <= leaf.max_code;
    return set_value(leaf, words, known ? static_cast<uint64_t>(value) : 0, known);
  }
  for (size_t i = 0; i < extra.enum_values.size(); ++i) {
    if (extra.enum_values[i] == value) return set_value(leaf, words, i, true);
  }
  return set_value(leaf, words, 0, false);
}

bool quantize_ranged(const Leaf& leaf, const LeafExtra& extra, uint64_t raw, Word* words) {
  if (leaf.host == HostKind::kU64 && raw > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return set_value(leaf, words, leaf.max_code, false);
  }
  const auto value = static_cast<int64_t>(raw);
  const int64_t max = ranged_value(leaf.max_code, extra.min_value);
  return set_value(leaf, words, ranged_code(value, extra.min_value, max),
                   value >= extra.min_value && value <= max);
}

double load_float(const Leaf& leaf, const uint8_t* p) {
  return leaf.host == HostKind::kF64 ? load<double>(p) : double{load<float>(p)};
}

bool quantize_rotation(const Leaf& leaf, const uint8_t* p, Word* words) {
  const auto v = load<Quaternion>(p);
  const double length = double{v.x} * v.x + double{v.y} * v.y + double{v.z} * v.z + double{v.w} * v.w;
  return set_value(leaf, words, smallest_three_pack(v, (leaf.bits - 2u) / 3u), std::isfinite(length));
}

size_t text_length(const uint8_t* text, size_t capacity) {
  const void* end = capacity != 0 ? std::memchr(text, 0, capacity) : nullptr;
  return end ? static_cast<size_t>(static_cast<const uint8_t*>(end) - text) : capacity;
}

bool quantize_custom(const Leaf& leaf, const LeafExtra& extra, const uint8_t* p, Word* words) {
  uint8_t scratch[LATTICE_MAX_CUSTOM_BYTES] = {};
  const size_t bits = extra.custom.serialize(p, scratch, leaf.capacity);
  if (bits >
      size_t{leaf.capacity} * 8) {  // a caller's error: the value does not fit, so the zero value is sent
    std::memcpy(words, extra.custom_zero.data(), leaf.word_count * sizeof(Word));
    return false;
  }
  const size_t bytes = (bits + 7) / 8;
  if (bits % 8 != 0) scratch[bytes - 1] &= static_cast<uint8_t>(0xFF00u >> (bits % 8));
  pack_word_bytes(words, leaf.word_count, bits, scratch, bytes);
  return true;
}

void dequantize_custom(const Leaf& leaf, const LeafExtra& extra, const Word* words, uint8_t* p) {
  uint8_t scratch[LATTICE_MAX_CUSTOM_BYTES + 8] = {};
  const size_t bits = words[0];
  LATTICE_ASSERT(bits <= size_t{leaf.capacity} * 8);
  unpack_word_bytes(words, (bits + 7) / 8, scratch);
  extra.custom.deserialize(scratch, bits, p);
}

// A host value of a custom leaf, aligned for every type that may be declared.
class CustomValue {
 public:
  CustomValue(const Leaf& leaf, const LeafExtra& extra, const Word* words) {
    const size_t bytes = extra.custom.host_bytes;
    if (bytes > sizeof small_) large_.resize(bytes + kAlign);
    if (bytes > sizeof small_) {
      at_ = large_.data() + (kAlign - reinterpret_cast<uintptr_t>(large_.data()) % kAlign) % kAlign;
    }
    dequantize_custom(leaf, extra, words, at_);
  }
  CustomValue(const CustomValue&) = delete;
  CustomValue& operator=(const CustomValue&) = delete;
  const void* get() const { return at_; }

 private:
  static constexpr size_t kAlign = 64;
  alignas(kAlign) uint8_t small_[256] = {};
  std::vector<uint8_t> large_;
  uint8_t* at_ = small_;
};

bool quantize_full_rotation(const uint8_t* p, Word* words) {
  uint32_t c[4];
  double length = 0.0;
  for (unsigned i = 0; i < 4; ++i) {
    c[i] = load<uint32_t>(p + 4 * i);
    const double v = static_cast<double>(std::bit_cast<float>(c[i]));
    length += v * v;
  }
  if (!(length > 0.0) || !std::isfinite(length)) c[0] = c[1] = c[2] = 0, c[3] = std::bit_cast<uint32_t>(1.0f);
  std::memcpy(words, c, sizeof c);
  return std::isfinite(length);
}

// One step in each of the three kept codes moves a rotation by at most sqrt(3 + 9) steps. The dropped
// component is the largest, so it changes by at most the sum of the changes of the other three.
bool rotations_close(const Leaf& leaf, uint64_t a, uint64_t b) {
  const unsigned n = (leaf.bits - 2u) / 3u;
  const Quaternion p = smallest_three_unpack(a, n);
  const Quaternion q = smallest_three_unpack(b, n);
  const double pc[4] = {p.x, p.y, p.z, p.w};
  const double qc[4] = {q.x, q.y, q.z, q.w};
  double dot = 0.0;
  for (int i = 0; i < 4; ++i) dot += pc[i] * qc[i];
  const double sign = dot < 0.0 ? -1.0 : 1.0;
  double chord2 = 0.0;
  for (int i = 0; i < 4; ++i) {
    const double d = pc[i] - sign * qc[i];
    chord2 += d * d;
  }
  const double step = kSqrt2 / static_cast<double>((uint64_t{1} << n) - 2);
  return chord2 <= 12.0 * step * step;
}

}  // namespace

bool quantize_leaf(const Leaf& leaf, const LeafExtra& extra, const uint8_t* host, Word* words) {
  const uint8_t* p = host + leaf.host_offset;
  switch (leaf.kind) {
    case LeafKind::kBool:
      return set_value(leaf, words, *p != 0, true);
    case LeafKind::kEnum:
      return quantize_enum(leaf, extra, static_cast<int64_t>(load_integer(leaf.host, p)), words);
    case LeafKind::kRanged:
      return quantize_ranged(leaf, extra, load_integer(leaf.host, p), words);
    case LeafKind::kBits: {
      const uint64_t v = load_integer(leaf.host, p);
      return set_value(leaf, words, v < leaf.max_code ? v : leaf.max_code, v <= leaf.max_code);
    }
    case LeafKind::kCompressed: {
      const double v = load_float(leaf, p);
      return set_value(leaf, words, extra.quant.code(v), v >= extra.quant.min && v <= extra.quant.max);
    }
    case LeafKind::kHalf: {
      const uint32_t v = load<uint32_t>(p);
      return set_value(leaf, words, half_of_float(v), fits_half(v));
    }
    case LeafKind::kAngle: {
      const double v = load_float(leaf, p);
      return set_value(leaf, words, extra.angle.code(v), std::isfinite(v));
    }
    case LeafKind::kCount: {
      const uint16_t v = load<uint16_t>(p);
      return set_value(leaf, words, v < leaf.max_code ? v : leaf.max_code, v <= leaf.max_code);
    }
    case LeafKind::kTag:
      return set_value(leaf, words, *p <= leaf.max_code ? *p : 0, *p <= leaf.max_code);
    case LeafKind::kSmallestThree:
      return quantize_rotation(leaf, p, words);
    case LeafKind::kFixed:
      return set_value(leaf, words, load_integer(leaf.host, p) & low_bits(leaf.bits), true);
    case LeafKind::kFloatFull:
      return set_value(leaf, words, leaf.bits == 32 ? load<uint32_t>(p) : load<uint64_t>(p), true);
    case LeafKind::kVarintUnsigned:
    case LeafKind::kFixed64Difference:
    case LeafKind::kTickDifference:
      return set_value(leaf, words, load_integer(leaf.host, p), true);
    case LeafKind::kVarintSigned:
      return set_value(leaf, words, zig_zag(static_cast<int64_t>(load_integer(leaf.host, p))), true);
    case LeafKind::kQuaternionFull:
      return quantize_full_rotation(p, words);
    case LeafKind::kString: {
      const std::string_view text(reinterpret_cast<const char*>(p), text_length(p, leaf.capacity));
      const size_t valid = utf8_valid_prefix(text);
      pack_word_bytes(words, leaf.word_count, valid, p, valid);
      return p[valid] == 0;  // else the rest is not UTF-8, or the text has no end
    }
    case LeafKind::kFixedString: {
      const size_t n = text_length(p, leaf.capacity);
      pack_word_bytes(words, leaf.word_count, n, p, n);
      return true;
    }
    case LeafKind::kBytes: {
      const size_t size = load<uint16_t>(p);
      const size_t n = size < leaf.capacity ? size : leaf.capacity;
      pack_word_bytes(words, leaf.word_count, n, p + 2, n);
      return n == size;
    }
    case LeafKind::kCustom:
      return quantize_custom(leaf, extra, p, words);
  }
  return true;
}

std::string leaf_misfit(const Leaf& leaf, const LeafExtra& extra, const uint8_t* host) {
  const uint8_t* p = host + leaf.host_offset;
  const auto number = [&leaf, p] {
    const uint64_t value = load_integer(leaf.host, p);
    return leaf.host == HostKind::kU64 ? std::to_string(value) : std::to_string(static_cast<int64_t>(value));
  };
  const auto real = [](double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.9g", value);
    return std::string(text);
  };
  switch (leaf.kind) {
    case LeafKind::kEnum:
      return " is " + number() + " and takes " +
             (extra.enum_values.empty() ? "0 to " + std::to_string(leaf.max_code) : "the values of its enum");
    case LeafKind::kRanged:
      return " is " + number() + " and takes " + std::to_string(extra.min_value) + " to " +
             std::to_string(ranged_value(leaf.max_code, extra.min_value));
    case LeafKind::kBits:
      return " is " + number() + " and takes 0 to " + std::to_string(leaf.max_code);
    case LeafKind::kCompressed:
      return " is " + real(load_float(leaf, p)) + " and takes " + real(extra.quant.min) + " to " +
             real(extra.quant.max);
    case LeafKind::kAngle:
      return " is " + real(load_float(leaf, p)) + " and takes finite numbers";
    case LeafKind::kHalf:
      return " is " + real(load_float(leaf, p)) + " and takes -65504 to 65504";
    case LeafKind::kCount:
      return " has " + number() + " elements and takes " + std::to_string(leaf.max_code);
    case LeafKind::kTag:
      return " has the tag " + number() + " and takes 0 to " + std::to_string(leaf.max_code);
    case LeafKind::kSmallestThree:
    case LeafKind::kQuaternionFull:
      return " has no finite length and takes rotations";
    case LeafKind::kString:
      return " is not UTF-8 of at most " + std::to_string(leaf.capacity) + " bytes with a zero behind it";
    case LeafKind::kBytes:
      return " has " + std::to_string(load<uint16_t>(p)) + " bytes and takes " +
             std::to_string(leaf.capacity);
    case LeafKind::kCustom:
      return " is refused by its serializer, or takes more than " + std::to_string(leaf.capacity) + " bytes";
    default:
      return {};  // every value fits
  }
}

void dequantize_leaf(const Leaf& leaf, const LeafExtra& extra, const Word* words, uint8_t* host) {
  uint8_t* p = host + leaf.host_offset;
  switch (leaf.kind) {
    case LeafKind::kBool:
      *p = static_cast<uint8_t>(words[0]);
      return;
    case LeafKind::kEnum:
      return store_integer(
          leaf.host,
          extra.enum_values.empty() ? words[0] : static_cast<uint64_t>(extra.enum_values[words[0]]), p);
    case LeafKind::kRanged:
      return store_integer(leaf.host, static_cast<uint64_t>(extra.min_value) + leaf_value(leaf, words), p);
    case LeafKind::kBits:
    case LeafKind::kFixed:
    case LeafKind::kVarintUnsigned:
    case LeafKind::kFixed64Difference:
    case LeafKind::kTickDifference:
    case LeafKind::kCount:
    case LeafKind::kTag:
      return store_integer(leaf.host, leaf_value(leaf, words), p);
    case LeafKind::kVarintSigned:
      return store_integer(leaf.host, static_cast<uint64_t>(un_zig_zag(leaf_value(leaf, words))), p);
    case LeafKind::kCompressed:
    case LeafKind::kAngle: {
      const double v = leaf_number(leaf, extra, words);
      return leaf.host == HostKind::kF64 ? store(p, v) : store(p, static_cast<float>(v));
    }
    case LeafKind::kHalf:
      return store(p, float_of_half(static_cast<uint16_t>(words[0])));
    case LeafKind::kFloatFull:
      return leaf.bits == 32 ? store(p, words[0]) : store(p, leaf_value(leaf, words));
    case LeafKind::kSmallestThree:
    case LeafKind::kQuaternionFull:
      return store(p, leaf_rotation(leaf, words));
    case LeafKind::kString:
    case LeafKind::kFixedString: {
      const size_t n = words[0];
      const size_t host_bytes = leaf.capacity + (leaf.kind == LeafKind::kString ? size_t{1} : size_t{0});
      unpack_word_bytes(words, n, p);
      std::memset(p + n, 0, host_bytes - n);
      return;
    }
    case LeafKind::kBytes: {
      const size_t n = words[0];
      store(p, static_cast<uint16_t>(n));
      unpack_word_bytes(words, n, p + 2);
      std::memset(p + 2 + n, 0, leaf.capacity - n);
      return;
    }
    case LeafKind::kCustom:
      return dequantize_custom(leaf, extra, words, p);
  }
}

double leaf_number(const Leaf& leaf, const LeafExtra& extra, const Word* words) {
  const uint64_t value = leaf_value(leaf, words);
  switch (leaf.kind) {
    case LeafKind::kRanged:
      return static_cast<double>(ranged_value(value, extra.min_value));
    case LeafKind::kCompressed:
      return extra.quant.value(value);
    case LeafKind::kAngle:
      return extra.angle.value(value);
    case LeafKind::kHalf:
      return double{std::bit_cast<float>(float_of_half(static_cast<uint16_t>(value)))};
    case LeafKind::kFloatFull:
      return leaf.bits == 32 ? double{std::bit_cast<float>(static_cast<uint32_t>(value))}
                             : std::bit_cast<double>(value);
    case LeafKind::kVarintSigned:
      return static_cast<double>(un_zig_zag(value));
    case LeafKind::kFixed64Difference:
      return static_cast<double>(static_cast<int64_t>(value));
    case LeafKind::kFixed: {
      const bool is_signed = leaf.host == HostKind::kI8 || leaf.host == HostKind::kI16 ||
                             leaf.host == HostKind::kI32 || leaf.host == HostKind::kI64;
      if (!is_signed) return static_cast<double>(value);
      const unsigned shift = 64u - leaf.bits;
      return static_cast<double>(static_cast<int64_t>(value << shift) >> shift);
    }
    default:
      return static_cast<double>(value);
  }
}

void store_host_number(const Leaf& leaf, double value, uint8_t* host) {
  uint8_t* p = host + leaf.host_offset;
  const auto integer = [&]<typename T>(T) {
    // The bounds as doubles. The upper bound of a 64-bit type rounds up, so it is excluded.
    const double low = static_cast<double>(std::numeric_limits<T>::min());
    const double high = static_cast<double>(std::numeric_limits<T>::max());
    const double rounded = std::floor(value + 0.5);
    if (!(rounded > low)) return store(p, std::numeric_limits<T>::min());
    if (rounded >= high) return store(p, std::numeric_limits<T>::max());
    store(p, static_cast<T>(rounded));
  };
  switch (leaf.host) {
    case HostKind::kI8:
      return integer(int8_t{});
    case HostKind::kU8:
      return integer(uint8_t{});
    case HostKind::kI16:
      return integer(int16_t{});
    case HostKind::kU16:
      return integer(uint16_t{});
    case HostKind::kI32:
      return integer(int32_t{});
    case HostKind::kU32:
      return integer(uint32_t{});
    case HostKind::kI64:
      return integer(int64_t{});
    case HostKind::kU64:
      return integer(uint64_t{});
    case HostKind::kF32:
      return store(p, static_cast<float>(value));
    case HostKind::kF64:
      return store(p, value);
    case HostKind::kOther:
      LATTICE_ASSERT(false);
  }
}

Quaternion leaf_rotation(const Leaf& leaf, const Word* words) {
  if (leaf.kind == LeafKind::kSmallestThree)
    return smallest_three_unpack(leaf_value(leaf, words), (leaf.bits - 2u) / 3u);
  LATTICE_ASSERT(leaf.kind == LeafKind::kQuaternionFull);
  return {std::bit_cast<float>(words[0]), std::bit_cast<float>(words[1]), std::bit_cast<float>(words[2]),
          std::bit_cast<float>(words[3])};
}

double custom_distance(const Leaf& leaf, const LeafExtra& extra, const Word* a, const Word* b) {
  if (std::memcmp(a, b, leaf.word_count * sizeof(Word)) == 0) return 0;
  if (extra.custom.distance == nullptr) return 1;
  return extra.custom.distance(CustomValue(leaf, extra, a).get(), CustomValue(leaf, extra, b).get());
}

void interpolate_custom(const Leaf& leaf, const LeafExtra& extra, const Word* a, const Word* b, double t,
                        uint8_t* host) {
  const CustomValue from(leaf, extra, a), to(leaf, extra, b);
  dequantize_custom(leaf, extra, a, host + leaf.host_offset);
  extra.custom.interpolate(from.get(), to.get(), t, host + leaf.host_offset);
}

bool leaf_close(const Leaf& leaf, const LeafExtra& extra, const Word* a, const Word* b) {
  if (std::memcmp(a, b, leaf.word_count * sizeof(Word)) == 0) return true;
  if (leaf.kind == LeafKind::kCustom) return custom_distance(leaf, extra, a, b) == 0;
  if (leaf.kind > LeafKind::kLastCode) return false;
  const uint64_t p = leaf_value(leaf, a), q = leaf_value(leaf, b);
  if (leaf.kind == LeafKind::kCompressed) return (p > q ? p - q : q - p) <= 1;
  if (leaf.kind == LeafKind::kHalf) {  // neighbours of one sign, both finite
    return (p ^ q) < 0x8000u && (p > q ? p - q : q - p) <= 1 && (p & 0x7C00u) != 0x7C00u &&
           (q & 0x7C00u) != 0x7C00u;
  }
  if (leaf.kind == LeafKind::kAngle) return extra.angle.distance(p, q) <= 1;
  if (leaf.kind == LeafKind::kSmallestThree) return rotations_close(leaf, p, q);
  return false;
}

}  // namespace lattice::serialization
