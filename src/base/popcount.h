// Bits that are set, without a call: compilers know no instruction for it on every x86-64 processor, and the
// function that they call instead reads a table.
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
