#include "serialization/leaf_columns.h"

#include <algorithm>
#include <cstring>
#include <tuple>

#include "base/assert.h"

namespace lattice::serialization {
namespace {

constexpr uint64_t kMaxLaneCode = INT32_MAX;  // the processor converts signed 32-bit codes four at a time

template <typename T>
T load(const void* base, size_t offset) {
  T v;
  std::memcpy(&v, static_cast<const uint8_t*>(base) + offset, sizeof v);
  return v;
}

template <typename T>
void store(void* base, size_t offset, T v) {
  std::memcpy(static_cast<uint8_t*>(base) + offset, &v, sizeof v);
}

template <typename T, typename Numbers>
bool quantize_ranged(Numbers numbers, const void* const* host, Word* words) {
  bool fits = true;
  for (const auto& number : numbers) {
    const int64_t v = load<T>(host[number.place.behaviour], number.place.host_offset);
    const int64_t inside = std::clamp(v, number.min, number.max);
    fits &= v == inside;
    words[number.place.word] = static_cast<Word>(range_span(number.min, inside));
  }
  return fits;
}

template <typename T, typename Numbers>
void dequantize_ranged(Numbers numbers, const Word* words, void* const* host) {
  for (const auto& number : numbers) {
    const int64_t v = ranged_value(words[number.place.word], number.min);
    store(host[number.place.behaviour], number.place.host_offset, static_cast<T>(v));
  }
}

template <typename T, typename Numbers>
void load_raw(Numbers numbers, const void* const* host, Word* words) {
  for (const auto& number : numbers) {
    const T v = load<T>(host[number.place.behaviour], number.place.host_offset);
    words[number.place.word] = static_cast<Word>(v);
    if constexpr (sizeof(T) > sizeof(Word)) words[number.place.word + 1] = static_cast<Word>(v >> kWordBits);
  }
}

template <typename T, typename Numbers>
void store_raw(Numbers numbers, const Word* words, void* const* host) {
  for (const auto& number : numbers) {
    T v = static_cast<T>(words[number.place.word]);
    if constexpr (sizeof(T) > sizeof(Word)) v |= static_cast<T>(words[number.place.word + 1]) << kWordBits;
    store(host[number.place.behaviour], number.place.host_offset, v);
  }
}

// Calls work(T{}) with the host type of a run.
template <typename Work>
auto with_host_type(HostKind host, const Work& work) {
  switch (host) {
    case HostKind::kI8:
      return work(int8_t{});
    case HostKind::kU8:
      return work(uint8_t{});
    case HostKind::kI16:
      return work(int16_t{});
    case HostKind::kU16:
      return work(uint16_t{});
    case HostKind::kI32:
      return work(int32_t{});
    default:
      LATTICE_ASSERT(host == HostKind::kU32);
      return work(uint32_t{});
  }
}
template <typename Work>
void with_raw_type(HostKind host, const Work& work) {
  switch (host) {
    case HostKind::kU8:
      return work(uint8_t{});
    case HostKind::kU16:
      return work(uint16_t{});
    case HostKind::kU32:
      return work(uint32_t{});
    default:
      LATTICE_ASSERT(host == HostKind::kU64);
      return work(uint64_t{});
  }
}

HostKind raw_host(unsigned bits) {
  return bits == 8    ? HostKind::kU8
         : bits == 16 ? HostKind::kU16
         : bits == 32 ? HostKind::kU32
                      : HostKind::kU64;
}

bool is_wide(HostKind host) {
  return host == HostKind::kI64 || host == HostKind::kU64;
}

// Infinity and NaN times 0 are NaN.
bool is_finite(Quaternion v) {
  return v.x * 0.0f + v.y * 0.0f + v.z * 0.0f + v.w * 0.0f == 0.0f;
}

}  // namespace

void LeafColumns::compile(std::span<const Leaf> leaves, std::span<const LeafExtra> extras) {
  for (size_t i = 0; i < leaves.size(); ++i) {
    const Leaf& leaf = leaves[i];
    Number number;
    if (leaf.in_container) continue;
    if (leaf.kind == LeafKind::kCompressed && leaf.host == HostKind::kF32 && leaf.max_code <= kMaxLaneCode) {
      add_compressed(leaf, extras[i].quant);
    } else if (leaf.kind == LeafKind::kAngle && leaf.host == HostKind::kF32 && leaf.word_count == 1) {
      angles_.push_back({extras[i].angle, place_of(leaf)});
    } else if (leaf.kind == LeafKind::kSmallestThree && leaf.word_count == 1) {
      rotations_.push_back({(leaf.bits - 2u) / 3u, place_of(leaf)});
    } else if (number_of(leaf, extras[i], &number)) {
      number.place = place_of(leaf);
      numbers_.push_back(number);
    } else {
      others_.push_back(static_cast<uint16_t>(i));
    }
  }
  sort_numbers();
}

void LeafColumns::add_compressed(const Leaf& leaf, const CompressedFloat& quant) {
  const size_t first = compressed_count_++ % kLanes;
  if (first == 0) compressed_.emplace_back();
  Compressed& block = compressed_.back();
  for (size_t i = first; i < kLanes; ++i) {
    block.min[i] = quant.min, block.max[i] = quant.max;
    block.scale[i] = quant.scale, block.step[i] = quant.step;
    block.last[i] = static_cast<double>(quant.steps);
    block.place[i] = place_of(leaf);
  }
}

bool LeafColumns::number_of(const Leaf& leaf, const LeafExtra& extra, Number* out) {
  switch (leaf.kind) {
    case LeafKind::kBool:
      out->form = Form::kBool;
      return true;
    case LeafKind::kRanged:
    case LeafKind::kBits:
      if (leaf.word_count != 1 || is_wide(leaf.host)) return false;
      out->form = Form::kRanged;
      out->host = leaf.host;
      out->min = leaf.kind == LeafKind::kRanged ? extra.min_value : 0;
      out->max = ranged_value(leaf.max_code, out->min);
      return true;
    case LeafKind::kFixed:
    case LeafKind::kFloatFull:
    case LeafKind::kVarintUnsigned:
    case LeafKind::kFixed64Difference:
    case LeafKind::kTickDifference:
      out->form = Form::kRaw;
      out->host = raw_host(leaf.bits);
      return true;
    case LeafKind::kVarintSigned:
      out->form = Form::kZigZag;
      return leaf.bits == 32;
    default:
      return false;
  }
}

void LeafColumns::sort_numbers() {
  const auto kind = [](const auto& n) { return std::tuple(n.form, n.host); };
  std::sort(numbers_.begin(), numbers_.end(), [&](const Number& a, const Number& b) {
    return std::tuple(kind(a), a.place.word) < std::tuple(kind(b), b.place.word);
  });
  for (size_t i = 0; i < numbers_.size(); ++i) {
    if (i == 0 || kind(numbers_[i]) != kind(numbers_[i - 1])) {
      runs_.push_back({numbers_[i].form, numbers_[i].host, static_cast<uint16_t>(i), 0});
    }
    ++runs_.back().count;
  }
}

// The way that clamps. A block comes here when one of its values is out of range or NaN.
bool LeafColumns::quantize_clamped(const Compressed& block, const void* const* host, Word* words) {
  for (size_t i = 0; i < kLanes; ++i) {
    CompressedFloat quant;
    quant.min = block.min[i], quant.max = block.max[i], quant.scale = block.scale[i];
    quant.steps = static_cast<uint64_t>(block.last[i]);
    const Place& place = block.place[i];
    words[place.word] =
        static_cast<Word>(quant.code(double{load<float>(host[place.behaviour], place.host_offset)}));
  }
  return false;
}

// CompressedFloat::inside_code(), of four at once.
bool LeafColumns::quantize_block(const Compressed& block, const void* const* host, Word* words) {
  double v[kLanes];
  for (size_t i = 0; i < kLanes; ++i) {
    v[i] = double{load<float>(host[block.place[i].behaviour], block.place[i].host_offset)};
  }
  unsigned inside = 1;
  for (size_t i = 0; i < kLanes; ++i) {
    inside &= static_cast<unsigned>(v[i] >= block.min[i]) & static_cast<unsigned>(v[i] <= block.max[i]);
  }
  if (inside == 0) return quantize_clamped(block, host, words);
  int32_t code[kLanes];
  for (size_t i = 0; i < kLanes; ++i) {
    code[i] = static_cast<int32_t>((v[i] - block.min[i]) * block.scale[i] + 0.5);
  }
  for (size_t i = 0; i < kLanes; ++i) words[block.place[i].word] = static_cast<Word>(code[i]);
  return true;
}

void LeafColumns::dequantize_block(const Compressed& block, const Word* words, void* const* host) {
  int32_t code[kLanes];
  for (size_t i = 0; i < kLanes; ++i) code[i] = static_cast<int32_t>(words[block.place[i].word]);
  float v[kLanes];
  for (size_t i = 0; i < kLanes; ++i) {
    const double count = static_cast<double>(code[i]);
    const double between = block.min[i] + count * block.step[i];
    v[i] = static_cast<float>(count == block.last[i] ? block.max[i] : between);
  }
  for (size_t i = 0; i < kLanes; ++i) {
    store(host[block.place[i].behaviour], block.place[i].host_offset, v[i]);
  }
}

bool LeafColumns::quantize(const void* const* host, Word* words) const {
  bool fits = true;
  for (const Compressed& block : compressed_) fits &= quantize_block(block, host, words);
  for (const Rotation& rotation : rotations_) {
    const Place& place = rotation.place;
    const auto v = load<Quaternion>(host[place.behaviour], place.host_offset);
    fits &= is_finite(v);
    words[place.word] = static_cast<Word>(smallest_three_pack(v, rotation.component_bits));
  }
  for (const Angle& angle : angles_) {
    const double v = double{load<float>(host[angle.place.behaviour], angle.place.host_offset)};
    fits &= v - v == 0.0;
    words[angle.place.word] = static_cast<Word>(angle.quant.code(v));
  }
  for (const Run& run : runs_) fits &= quantize_run(run, host, words);
  return fits;
}

bool LeafColumns::quantize_run(const Run& run, const void* const* host, Word* words) const {
  const std::span<const Number> numbers = numbers_of(run);
  switch (run.form) {
    case Form::kBool:
      for (const Number& number : numbers) {
        words[number.place.word] = load<uint8_t>(host[number.place.behaviour], number.place.host_offset) != 0;
      }
      return true;
    case Form::kRanged:
      return with_host_type(run.host,
                            [&]<typename T>(T) { return quantize_ranged<T>(numbers, host, words); });
    case Form::kRaw:
      with_raw_type(run.host, [&]<typename T>(T) { load_raw<T>(numbers, host, words); });
      return true;
    case Form::kZigZag:
      for (const Number& number : numbers) {
        words[number.place.word] =
            zig_zag(load<int32_t>(host[number.place.behaviour], number.place.host_offset));
      }
      return true;
  }
  return true;
}

void LeafColumns::dequantize(const Word* words, void* const* host) const {
  dequantize_inexact(words, host);
  for (const Run& run : runs_) {
    if (is_exact(run)) dequantize_run(run, words, host);
  }
}

void LeafColumns::dequantize_inexact(const Word* words, void* const* host) const {
  for (const Compressed& block : compressed_) dequantize_block(block, words, host);
  for (const Rotation& rotation : rotations_) {
    const Place& place = rotation.place;
    store(host[place.behaviour], place.host_offset,
          smallest_three_unpack(words[place.word], rotation.component_bits));
  }
  for (const Angle& angle : angles_) {
    const double v = angle.quant.value(words[angle.place.word]);
    store(host[angle.place.behaviour], angle.place.host_offset, static_cast<float>(v));
  }
  for (const Run& run : runs_) {
    if (!is_exact(run)) dequantize_run(run, words, host);
  }
}

void LeafColumns::dequantize_run(const Run& run, const Word* words, void* const* host) const {
  const std::span<const Number> numbers = numbers_of(run);
  switch (run.form) {
    case Form::kBool:
      for (const Number& number : numbers) {
        store(host[number.place.behaviour], number.place.host_offset,
              static_cast<uint8_t>(words[number.place.word]));
      }
      return;
    case Form::kRanged:
      return with_host_type(run.host, [&]<typename T>(T) { dequantize_ranged<T>(numbers, words, host); });
    case Form::kRaw:
      return with_raw_type(run.host, [&]<typename T>(T) { store_raw<T>(numbers, words, host); });
    case Form::kZigZag:
      for (const Number& number : numbers) {
        store(host[number.place.behaviour], number.place.host_offset, un_zig_zag(words[number.place.word]));
      }
      return;
  }
}

}  // namespace lattice::serialization
