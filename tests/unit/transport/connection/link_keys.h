// A connection id and keys for tests of links without a handshake.
#pragma once

#include <array>
#include <cstdint>

#include "transport/crypto/aead.h"

namespace lattice::test {

inline constexpr uint64_t kId = 0x1122334455667788;

inline crypto::Key key_of(uint8_t fill) {
  std::array<uint8_t, 32> bytes;
  bytes.fill(fill);
  return crypto::Key(bytes);
}

}  // namespace lattice::test
