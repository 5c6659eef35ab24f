/// @file
/// Bytes in the opposite order. Written so that compilers find one instruction for it.
#pragma once

#include <bit>
#include <cstdint>

/// @cond internal
namespace lattice::detail {

constexpr uint32_t swapped(uint32_t v) {
  return v << 24 | (v & 0xFF00u) << 8 | (v >> 8 & 0xFF00u) | v >> 24;
}
constexpr uint64_t swapped(uint64_t v) {
  v = (v & 0x00FF00FF00FF00FFu) << 8 | (v >> 8 & 0x00FF00FF00FF00FFu);
  v = (v & 0x0000FFFF0000FFFFu) << 16 | (v >> 16 & 0x0000FFFF0000FFFFu);
  return v << 32 | v >> 32;
}
/// The number whose memory has the highest byte of `v` first; and the number that such memory holds.
constexpr uint64_t big_endian(uint64_t v) {
  return std::endian::native == std::endian::little ? swapped(v) : v;
}

}  // namespace lattice::detail
/// @endcond
