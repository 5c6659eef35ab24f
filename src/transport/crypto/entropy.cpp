#include "transport/crypto/entropy.h"

#include <sodium.h>

#include "base/assert.h"
#include "platform/entropy.h"

namespace lattice::crypto {

SystemEntropy::SystemEntropy() {
  // Thread-safe and idempotent; it also selects the vectorised implementations.
  LATTICE_CHECK(sodium_init() >= 0);
}

void SystemEntropy::fill(std::span<uint8_t> out) {
  platform::fill_entropy(out.data(), out.size());
}

}  // namespace lattice::crypto
