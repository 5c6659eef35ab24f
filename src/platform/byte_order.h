// Loads and stores by shifts alone, so the wire is the same on any host (B-02, §20.3). The wire is
// little-endian, and bits are packed from the highest of a byte on: those are read big-endian.
#pragma once

#include <cstdint>

namespace lattice::platform {

inline uint16_t load_u16_le(const uint8_t* p) {
  return static_cast<uint16_t>(p[0] | (p[1] << 8));
}
inline uint32_t load_u32_le(const uint8_t* p) {
  return static_cast<uint32_t>(p[0]) | (static_cast<uint32_t>(p[1]) << 8) |
         (static_cast<uint32_t>(p[2]) << 16) | (static_cast<uint32_t>(p[3]) << 24);
}
inline uint64_t load_u64_le(const uint8_t* p) {
  return static_cast<uint64_t>(load_u32_le(p)) | (static_cast<uint64_t>(load_u32_le(p + 4)) << 32);
}

inline uint64_t load_u64_be(const uint8_t* p) {
  return uint64_t{p[0]} << 56 | uint64_t{p[1]} << 48 | uint64_t{p[2]} << 40 | uint64_t{p[3]} << 32 |
         uint64_t{p[4]} << 24 | uint64_t{p[5]} << 16 | uint64_t{p[6]} << 8 | uint64_t{p[7]};
}

inline void store_u16_le(uint8_t* p, uint16_t v) {
  p[0] = static_cast<uint8_t>(v);
  p[1] = static_cast<uint8_t>(v >> 8);
}
inline void store_u32_le(uint8_t* p, uint32_t v) {
  p[0] = static_cast<uint8_t>(v);
  p[1] = static_cast<uint8_t>(v >> 8);
  p[2] = static_cast<uint8_t>(v >> 16);
  p[3] = static_cast<uint8_t>(v >> 24);
}
inline void store_u64_le(uint8_t* p, uint64_t v) {
  store_u32_le(p, static_cast<uint32_t>(v));
  store_u32_le(p + 4, static_cast<uint32_t>(v >> 32));
}

inline void store_u64_be(uint8_t* p, uint64_t v) {
  p[0] = static_cast<uint8_t>(v >> 56), p[1] = static_cast<uint8_t>(v >> 48);
  p[2] = static_cast<uint8_t>(v >> 40), p[3] = static_cast<uint8_t>(v >> 32);
  p[4] = static_cast<uint8_t>(v >> 24), p[5] = static_cast<uint8_t>(v >> 16);
  p[6] = static_cast<uint8_t>(v >> 8), p[7] = static_cast<uint8_t>(v);
}

}  // namespace lattice::platform
