// Keys of published vectors.
#pragma once

#include <string_view>

#include "transport/crypto/aead.h"
#include "unit/transport/hex.h"

namespace lattice::test {

inline crypto::Key key_from_hex(std::string_view text) {
  const auto bytes = array_from_hex<32>(text);
  return crypto::Key(bytes);
}

}  // namespace lattice::test
