#include "transport/crypto/repeatable_entropy.h"

#include <sodium.h>

#include <array>

#include "base/assert.h"
#include "platform/byte_order.h"
#include "transport/crypto/hash.h"

namespace lattice::crypto {
namespace {

std::array<uint8_t, 8> little_endian(uint64_t value) {
  std::array<uint8_t, 8> bytes{};
  platform::store_u64_le(bytes.data(), value);
  return bytes;
}

}  // namespace

RepeatableEntropy::RepeatableEntropy(uint64_t seed) {
  LATTICE_CHECK(sodium_init() >= 0);
  key_ = sha256({text("lattice/repeatable-entropy"), little_endian(seed)});
}

void RepeatableEntropy::fill(std::span<uint8_t> out) {
  static_assert(crypto_stream_chacha20_NONCEBYTES == 8 && crypto_stream_chacha20_KEYBYTES == 32);
  crypto_stream_chacha20(out.data(), out.size(), little_endian(draws_++).data(), key_.data());
}

}  // namespace lattice::crypto
