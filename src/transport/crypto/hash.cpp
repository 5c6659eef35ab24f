#include "transport/crypto/hash.h"

#include <sodium.h>

#include <algorithm>
#include <cstring>

#include "base/assert.h"

namespace lattice::crypto {
namespace {

constexpr size_t kHashBytes = crypto_hash_sha256_BYTES;
static_assert(kHashBytes == std::tuple_size_v<Digest> && crypto_auth_hmacsha256_BYTES == kHashBytes);

/// An HMAC in progress; its state is key-dependent, so it is wiped.
class Hmac {
 public:
  explicit Hmac(Part key) {
    static constexpr uint8_t kNoKey = 0;  // libsodium wants a pointer even for an empty key.
    crypto_auth_hmacsha256_init(&state_, key.empty() ? &kNoKey : key.data(), key.size());
  }
  ~Hmac() { wipe(&state_, sizeof state_); }
  Hmac(const Hmac&) = delete;
  Hmac& operator=(const Hmac&) = delete;

  void add(Part part) {
    if (!part.empty()) crypto_auth_hmacsha256_update(&state_, part.data(), part.size());
  }
  void finish(uint8_t* out) { crypto_auth_hmacsha256_final(&state_, out); }

 private:
  crypto_auth_hmacsha256_state state_;
};

}  // namespace

Digest sha256(std::initializer_list<Part> parts) {
  crypto_hash_sha256_state state;
  crypto_hash_sha256_init(&state);
  for (const Part part : parts) {
    if (!part.empty()) crypto_hash_sha256_update(&state, part.data(), part.size());
  }
  Digest out;
  crypto_hash_sha256_final(&state, out.data());
  wipe(&state, sizeof state);
  return out;
}

Digest hmac_sha256(Part key, std::initializer_list<Part> parts) {
  Hmac hmac(key);
  for (const Part part : parts) hmac.add(part);
  Digest out;
  hmac.finish(out.data());
  return out;
}

HmacKey::HmacKey(Part key) {
  crypto_auth_hmacsha256_state state;
  LATTICE_CHECK(!key.empty());
  crypto_auth_hmacsha256_init(&state, key.data(), key.size());
  std::memcpy(state_.mutable_bytes().data(), &state, kStateBytes);
  wipe(&state, sizeof state);
}

Digest HmacKey::hmac(std::initializer_list<Part> parts) const {
  crypto_auth_hmacsha256_state state;
  static_assert(sizeof state == kStateBytes);
  std::memcpy(&state, state_.data(), kStateBytes);
  for (const Part part : parts) {
    if (!part.empty()) crypto_auth_hmacsha256_update(&state, part.data(), part.size());
  }
  Digest out;
  crypto_auth_hmacsha256_final(&state, out.data());
  wipe(&state, sizeof state);
  return out;
}

Key hkdf_extract(Part salt, std::initializer_list<Part> input_key_material) {
  Hmac hmac(salt);
  for (const Part part : input_key_material) hmac.add(part);
  Key prk;
  hmac.finish(prk.mutable_bytes().data());
  return prk;
}

void hkdf_expand(Part prk, std::initializer_list<Part> info, std::span<uint8_t> out) {
  LATTICE_CHECK(!out.empty() && out.size() <= 255 * kHashBytes);
  Secret<kHashBytes> block;
  size_t written = 0;
  for (uint8_t counter = 1; written < out.size(); ++counter) {
    Hmac hmac(prk);
    if (counter > 1) hmac.add(block.bytes());
    for (const Part part : info) hmac.add(part);
    hmac.add(Part(&counter, 1));
    hmac.finish(block.mutable_bytes().data());
    const size_t take = std::min(kHashBytes, out.size() - written);
    std::memcpy(out.data() + written, block.data(), take);
    written += take;
  }
}

Key hkdf_expand_key(Part prk, std::initializer_list<Part> info) {
  Key key;
  hkdf_expand(prk, info, key.mutable_bytes());
  return key;
}

}  // namespace lattice::crypto
