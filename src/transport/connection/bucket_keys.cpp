#include "transport/connection/bucket_keys.h"

namespace lattice::connection {

const Bucket& BucketKeys::current(uint64_t now_ns) {
  const uint64_t number = now_ns / kBucketNs;
  for (Bucket& bucket : buckets_) {
    if (!bucket.live || bucket.number == number || bucket.number + 1 == number) continue;
    bucket.pair.erase();
    bucket.cookie_secret.erase();
    bucket.live = false;
  }
  Bucket& bucket = buckets_[number % 2];
  if (!bucket.live) {
    bucket.number = number;
    bucket.pair = crypto::KeyPair::generate(entropy_);
    crypto::Key secret;
    entropy_.fill(secret.mutable_bytes());
    bucket.cookie_secret = crypto::HmacKey(secret.bytes());
    bucket.live = true;
  }
  return bucket;
}

const Bucket* BucketKeys::find(uint8_t key_index, uint64_t now_ns) {
  current(now_ns);
  for (const Bucket& bucket : buckets_) {
    if (bucket.live && bucket.key_index() == key_index) return &bucket;
  }
  return nullptr;
}

}  // namespace lattice::connection
