#include "transport/crypto/aead.h"

#include <sodium.h>

#include "base/assert.h"
#include "platform/byte_order.h"
#include "transport/crypto/nonce_ledger.h"

namespace lattice::crypto {

static_assert(crypto_aead_chacha20poly1305_ietf_ABYTES == kTagBytes);
static_assert(crypto_aead_chacha20poly1305_ietf_NPUBBYTES == std::tuple_size_v<Nonce>);

Nonce make_nonce(uint64_t packet_seq, uint8_t key_epoch) {
  Nonce nonce{};
  platform::store_u64_le(nonce.data(), packet_seq);
  nonce[11] = key_epoch;
  return nonce;
}

void seal_in_place(const Key& key, const Nonce& nonce, std::span<const uint8_t> aad,
                   std::span<uint8_t> buffer) {
  LATTICE_CHECK(buffer.size() >= kTagBytes);
  const size_t plaintext_bytes = buffer.size() - kTagBytes;
  crypto_aead_chacha20poly1305_ietf_encrypt(buffer.data(), nullptr, buffer.data(), plaintext_bytes,
                                            aad.data(), aad.size(), nullptr, nonce.data(), key.data());
  nonce_ledger_record(key, nonce, buffer);
}

bool open(const Key& key, const Nonce& nonce, std::span<const uint8_t> aad, std::span<const uint8_t> sealed,
          std::span<uint8_t> out) {
  if (sealed.size() < kTagBytes) return false;
  LATTICE_CHECK(out.size() >= sealed.size() - kTagBytes);
  return crypto_aead_chacha20poly1305_ietf_decrypt(out.data(), nullptr, nullptr, sealed.data(), sealed.size(),
                                                   aad.data(), aad.size(), nonce.data(), key.data()) == 0;
}

bool open_in_place(const Key& key, const Nonce& nonce, std::span<const uint8_t> aad,
                   std::span<uint8_t> sealed) {
  return open(key, nonce, aad, sealed, sealed);
}

}  // namespace lattice::crypto
