#include "transport/crypto/secret.h"

#include <sodium.h>

namespace lattice::crypto {

void wipe(void* bytes, size_t n) {
  sodium_memzero(bytes, n);
}

bool equal_constant_time(std::span<const uint8_t> a, std::span<const uint8_t> b) {
  return a.size() == b.size() && (a.empty() || sodium_memcmp(a.data(), b.data(), a.size()) == 0);
}

}  // namespace lattice::crypto
