/// @file
/// What straight code is made of: numbers in host memory, words that differ, and bits in registers
/// (straight_number.h, straight_codec.h). Source: docs/spec/data.md.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "lattice/authoring/byte_order.h"
#include "lattice/authoring/quantize.h"
#include "lattice/schema.h"

/// @cond internal
#if defined(_MSC_VER) && !defined(__clang__)
#define LATTICE_STRAIGHT_LAMBDA
#else
#define LATTICE_STRAIGHT_LAMBDA __attribute__((always_inline))
#endif

namespace lattice::straight {

template <typename T>
LATTICE_STRAIGHT T load(const uint8_t* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <typename T>
LATTICE_STRAIGHT void store(uint8_t* p, T v) {
  std::memcpy(p, &v, sizeof v);
}
/// An integer of the host, sign-extended or zero-extended.
template <unsigned kBytes, bool kSigned>
LATTICE_STRAIGHT uint64_t load_integer(const uint8_t* p) {
  if constexpr (kBytes == 1) {
    return kSigned ? static_cast<uint64_t>(static_cast<int64_t>(load<int8_t>(p))) : load<uint8_t>(p);
  } else if constexpr (kBytes == 2) {
    return kSigned ? static_cast<uint64_t>(static_cast<int64_t>(load<int16_t>(p))) : load<uint16_t>(p);
  } else if constexpr (kBytes == 4) {
    return kSigned ? static_cast<uint64_t>(static_cast<int64_t>(load<int32_t>(p))) : load<uint32_t>(p);
  } else {
    return load<uint64_t>(p);
  }
}
template <unsigned kBytes>
LATTICE_STRAIGHT void store_integer(uint8_t* p, uint64_t v) {
  if constexpr (kBytes == 1) {
    store(p, static_cast<uint8_t>(v));
  } else if constexpr (kBytes == 2) {
    store(p, static_cast<uint16_t>(v));
  } else if constexpr (kBytes == 4) {
    store(p, static_cast<uint32_t>(v));
  } else {
    store(p, v);
  }
}
template <unsigned kBytes>
LATTICE_STRAIGHT double load_float(const uint8_t* p) {
  if constexpr (kBytes == 8) {
    return load<double>(p);
  } else {
    return static_cast<double>(load<float>(p));
  }
}
template <unsigned kBytes>
LATTICE_STRAIGHT void store_float(uint8_t* p, double v) {
  if constexpr (kBytes == 8) {
    store(p, v);
  } else {
    store(p, static_cast<float>(v));
  }
}

#if defined(__SSE2__) && defined(__GNUC__)  // clang says so too
using FourWords = int32_t __attribute__((vector_size(16)));
using FourFloats = float __attribute__((vector_size(16)));
/// Four bits, the first word highest: 1 where two words are equal.
LATTICE_STRAIGHT uint64_t same_four(const uint32_t* a, const uint32_t* b) {
  FourWords x, y;
  std::memcpy(&x, a, sizeof x), std::memcpy(&y, b, sizeof y);
  const FourWords same = x == y;
#if defined(__clang__)
  const FourWords first_last = __builtin_shufflevector(same, same, 3, 2, 1, 0);
#else
  const FourWords first_last = __builtin_shuffle(same, FourWords{3, 2, 1, 0});
#endif
  return static_cast<uint64_t>(__builtin_ia32_movmskps(std::bit_cast<FourFloats>(first_last)));
}
#endif
/// One bit for each of up to 64 words, that of the last word lowest: 1 where they differ.
template <uint32_t kWords>
LATTICE_STRAIGHT uint64_t different_words(const uint32_t* a, const uint32_t* b) {
  uint64_t mask = 0;
#if defined(__SSE2__) && defined(__GNUC__)
  if constexpr (kWords >= 4) {
    constexpr unsigned kRest = kWords % 4;
    mask = [&]<uint32_t... I>(std::integer_sequence<uint32_t, I...>) LATTICE_STRAIGHT_LAMBDA {
      return ((same_four(a + 4 * I, b + 4 * I) << (kWords - kRest - 4 - 4 * I)) | ...);
    }
    (std::make_integer_sequence<uint32_t, kWords / 4>());
    if constexpr (kRest != 0) {  // four words that end with the last one
      const uint64_t last = same_four(a + kWords - 4, b + kWords - 4);
      mask = mask << kRest | (last & ((1u << kRest) - 1));
    }
    return ~mask & ~uint64_t{0} >> (64 - kWords);
  }
#endif
  for (uint32_t i = 0; i < kWords; ++i) mask = mask << 1 | (a[i] != b[i] ? 1u : 0u);
  return mask;
}

/// The `kBytes` low bytes of a number in the opposite order, as a field that is written highest bit first.
template <unsigned kBytes>
LATTICE_STRAIGHT uint64_t reversed(uint64_t v) {
  return detail::swapped(v) >> (64 - 8 * kBytes);
}

/// The 7 bits of each of 8 bytes, the lowest byte first, without the eighth bits; and the other way round.
LATTICE_STRAIGHT uint64_t joined_groups(uint64_t v) {
  v = (v & 0x007F007F007F007Fu) | (v & 0x7F007F007F007F00u) >> 1;
  v = (v & 0x00003FFF00003FFFu) | (v & 0x3FFF00003FFF0000u) >> 2;
  return (v & 0x0FFFFFFFu) | (v & 0x0FFFFFFF00000000u) >> 4;
}
LATTICE_STRAIGHT uint64_t split_groups(uint64_t v) {
  v = (v & 0x0FFFFFFFu) | (v << 4 & 0x0FFFFFFF00000000u);
  v = (v & 0x00003FFF00003FFFu) | (v << 2 & 0x3FFF00003FFF0000u);
  return (v & 0x007F007F007F007Fu) | (v << 1 & 0x7F007F007F007F00u);
}

/// lattice_bit_output in registers. Here the pending bits are the lowest ones, so that a field of a fixed
/// width moves them by a fixed number of places. What lies above them has been stored.
class Writer {
 public:
  LATTICE_STRAIGHT explicit Writer(const lattice_bit_output& out)
      : next_(out.next), pending_(out.pending >> 1 >> (63 - out.used)), used_(out.used) {}
  /// The low `kBits` bits of `v`; the others are zero.
  template <unsigned kBits>
  LATTICE_STRAIGHT void put(uint64_t v) {
    if constexpr (kBits == 64) {  // two halves, so that no move is by 64 places
      put(v >> 32, 32);
      put(v & UINT32_MAX, 32);
    } else if constexpr (kBits != 0) {
      put(v, kBits);
    }
  }
  /// The same, of 1 to 63 bits.
  LATTICE_STRAIGHT void put(uint64_t v, unsigned bits) {
    used_ += bits;
    if (used_ < 64) {
      pending_ = pending_ << bits | v;
      return;
    }
    used_ -= 64;
    const uint64_t full = detail::big_endian(pending_ << (bits - used_) | v >> used_);
    std::memcpy(next_, &full, sizeof full);
    next_ += sizeof full;
    pending_ = v;
  }
  LATTICE_STRAIGHT void put_varint(uint64_t v) {
    if (v >> 49 != 0) [[unlikely]] {
      *this = with_long_varint(*this, v);
      return;
    }
    const auto groups = (static_cast<unsigned>(std::bit_width(v | 1)) + 6) / 7;
    const uint64_t more = 0x0080808080808080u >> (8 * (7 - groups)) >> 8;  // of all but the last
    put(detail::swapped(split_groups(v) | more) >> (64 - 8 * groups), 8 * groups);
  }
  LATTICE_STRAIGHT void end(lattice_bit_output* out) const {
    out->next = next_, out->pending = used_ != 0 ? pending_ << (64 - used_) : 0, out->used = used_;
  }

 private:
  // Of 8 or 9 groups. A copy, so that the writer of the caller stays in registers.
  LATTICE_SELDOM static Writer with_long_varint(Writer w, uint64_t v) {
    for (unsigned group = 0; group < 7; ++group, v >>= 7) w.put((v & 0x7F) | 0x80, 8);
    if (v >= 0x80) w.put((v & 0x7F) | 0x80, 8), v >>= 7;
    w.put(v, 8);
    return w;
  }

  uint8_t* next_;
  uint64_t pending_;
  unsigned used_;
};

/// lattice_bit_input in registers. It reads past the end: the caller leaves room.
class Reader {
 public:
  LATTICE_STRAIGHT explicit Reader(const lattice_bit_input& in)
      : data_(in.data), position_(in.position_bits) {}
  template <unsigned kBits>
  LATTICE_STRAIGHT uint64_t take() {
    if constexpr (kBits == 0) {
      return 0;
    } else {
      const uint8_t* from = data_ + position_ / 8;
      const auto skip = static_cast<unsigned>(position_ % 8);
      uint64_t head = detail::big_endian(load<uint64_t>(from)) << skip;
      if constexpr (kBits > 57) head |= static_cast<uint64_t>(from[8]) >> (8 - skip);
      position_ += kBits;
      return head >> (64 - kBits);
    }
  }
  /// A varint of a number of `kBytes` bytes. Clears `ok` for one that is longer than it need be, or than the
  /// number is wide. Takes at most the 5 or 9 bytes that Number::max_bits() counts, whatever they are.
  template <unsigned kBytes>
  LATTICE_STRAIGHT uint64_t take_varint(bool& ok) {
    const uint64_t head = take<64>();
    const auto groups = static_cast<unsigned>(std::countl_zero(~head & 0x8080808080808080u)) / 8 + 1;
    if (groups > (kBytes == 4 ? 5 : 8)) [[unlikely]] {
      if constexpr (kBytes == 4) {
        position_ -= 64 - 40;
        ok = false;
        return 0;
      } else {
        const uint64_t last = take<8>();
        ok &= last != 0;
        return joined_groups(detail::swapped(head)) | last << 56;
      }
    }
    position_ -= 64 - 8 * groups;
    const uint64_t bytes = head >> (64 - 8 * groups);  // the last one lowest
    const uint64_t value = joined_groups(detail::swapped(bytes << (64 - 8 * groups)));
    ok &= (groups == 1 || (bytes & 0xFF) != 0) && (kBytes == 8 || value <= UINT32_MAX);
    return value;
  }
  LATTICE_STRAIGHT size_t position() const { return position_; }

 private:
  const uint8_t* data_;
  size_t position_;
};

}  // namespace lattice::straight
/// @endcond
