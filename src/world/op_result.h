// What became of a call of the game.
#pragma once

#include <cstdint>

namespace lattice::world {

enum class OpResult : uint8_t {
  kOk,
  kNotFound,
  kNotAllowed,
  kInvalid,
  kLimit,
  kWouldBlock,
  kOutOfOrder,
  kNotConnected,
};

}  // namespace lattice::world
