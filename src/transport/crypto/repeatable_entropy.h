// An EntropySource for simulated networks. All its bytes follow from a seed, so that a run repeats, keys
// included. Real networks use SystemEntropy, because there a peer could guess the seed.
#pragma once

#include <cstdint>

#include "transport/crypto/entropy.h"
#include "transport/crypto/secret.h"

namespace lattice::crypto {

class RepeatableEntropy final : public EntropySource {
 public:
  explicit RepeatableEntropy(uint64_t seed);
  /// The next bytes of the ChaCha20 key streams of SHA-256(seed), one stream per call.
  void fill(std::span<uint8_t> out) override;

 private:
  Digest key_;
  uint64_t draws_ = 0;
};

}  // namespace lattice::crypto
