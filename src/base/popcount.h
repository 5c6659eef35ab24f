// Counts the bits that are set, without a call. Not every x86-64 processor has an instruction for it, so
// std::popcount is a function that reads a table, unless the build is for newer processors alone.
#pragma once

#include <cstdint>

namespace lattice::base {

// Hacker's Delight, 2nd ed., 5-1.
constexpr uint32_t popcount(uint32_t bits) {
  bits -= bits >> 1 & 0x55555555u;
  bits = (bits & 0x33333333u) + (bits >> 2 & 0x33333333u);
  bits = (bits + (bits >> 4)) & 0x0F0F0F0Fu;
  return bits * 0x01010101u >> 24;
}

}  // namespace lattice::base
