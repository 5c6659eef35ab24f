// The server's short-lived handshake keys (H-02, H-03): one X25519 pair and one cookie secret per bucket of
// 10 s, random, in memory only. The previous bucket still answers. Older buckets are erased, so that nobody
// can decrypt their handshakes any more (forward secrecy after 20 s).
#pragma once

#include <array>
#include <cstdint>

#include "transport/crypto/entropy.h"
#include "transport/crypto/hash.h"
#include "transport/crypto/x25519.h"

namespace lattice::connection {

inline constexpr uint64_t kBucketNs = 10'000'000'000;

struct Bucket {
  bool live = false;
  uint64_t number = 0;
  crypto::KeyPair pair;
  crypto::HmacKey cookie_secret;

  /// The name of this bucket in a Challenge.
  uint8_t key_index() const { return static_cast<uint8_t>(number); }
};

class BucketKeys {
 public:
  explicit BucketKeys(crypto::EntropySource& entropy) : entropy_(entropy) {}

  /// Erases buckets that are too old at `now_ns`, makes the current bucket if it is new, and returns it.
  const Bucket& current(uint64_t now_ns);
  /// The live bucket with this `key_index`, current or previous; or null.
  const Bucket* find(uint8_t key_index, uint64_t now_ns);

 private:
  crypto::EntropySource& entropy_;
  std::array<Bucket, 2> buckets_;  // By number % 2.
};

}  // namespace lattice::connection
