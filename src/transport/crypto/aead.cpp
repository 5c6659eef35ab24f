#include "transport/crypto/aead.h"

#include <sodium.h>

#include <array>
#include <utility>

#include "base/assert.h"
#include "transport/crypto/aead_tap.h"
#include "transport/crypto/nonce_ledger.h"

namespace lattice::crypto {
namespace {

#if defined(LATTICE_CAPTURE)
thread_local AeadTap* t_tap = nullptr;

void tell_plaintext(std::span<const uint8_t> aad, std::span<const uint8_t> plaintext) {
  if (t_tap != nullptr) t_tap->on_plaintext(aad, plaintext);
}
void tell_tag(std::span<const uint8_t> tag) {
  if (t_tap != nullptr) t_tap->on_tag(tag);
}
#else
void tell_plaintext(std::span<const uint8_t>, std::span<const uint8_t>) {}
void tell_tag(std::span<const uint8_t>) {}
#endif

}  // namespace

#if defined(LATTICE_CAPTURE)
AeadTap* set_aead_tap(AeadTap* tap) {
  return std::exchange(t_tap, tap);
}
#endif

static_assert(crypto_aead_chacha20poly1305_ietf_ABYTES == kTagBytes);
static_assert(crypto_aead_chacha20poly1305_ietf_NPUBBYTES == std::tuple_size_v<Nonce>);

void seal_in_place(const Key& key, const Nonce& nonce, std::span<const uint8_t> aad,
                   std::span<uint8_t> buffer) {
  LATTICE_CHECK(buffer.size() >= kTagBytes);
  const size_t plaintext_bytes = buffer.size() - kTagBytes;
  tell_plaintext(aad, buffer.first(plaintext_bytes));
  crypto_aead_chacha20poly1305_ietf_encrypt(buffer.data(), nullptr, buffer.data(), plaintext_bytes,
                                            aad.data(), aad.size(), nullptr, nonce.data(), key.data());
  tell_tag(buffer.last(kTagBytes));
  nonce_ledger_record(key, nonce, buffer);
}

bool open(const Key& key, const Nonce& nonce, std::span<const uint8_t> aad, std::span<const uint8_t> sealed,
          std::span<uint8_t> out) {
  if (sealed.size() < kTagBytes) return false;
  LATTICE_CHECK(out.size() >= sealed.size() - kTagBytes);
  if (crypto_aead_chacha20poly1305_ietf_decrypt(out.data(), nullptr, nullptr, sealed.data(), sealed.size(),
                                                aad.data(), aad.size(), nonce.data(), key.data()) != 0) {
    return false;
  }
  // Opening in place does not change the tag behind the plaintext.
  tell_plaintext(aad, out.first(sealed.size() - kTagBytes));
  tell_tag(sealed.last(kTagBytes));
  return true;
}

bool open_in_place(const Key& key, const Nonce& nonce, std::span<const uint8_t> aad,
                   std::span<uint8_t> sealed) {
  return open(key, nonce, aad, sealed, sealed);
}

void aes256gcm_seal_in_place(const Key& key, std::span<const uint8_t> schedule, const Nonce& nonce,
                             std::span<const uint8_t> aad, std::span<uint8_t> buffer) {
  LATTICE_CHECK(buffer.size() >= kTagBytes);
  const size_t plaintext_bytes = buffer.size() - kTagBytes;
  const auto* state = reinterpret_cast<const crypto_aead_aes256gcm_state*>(schedule.data());
  tell_plaintext(aad, buffer.first(plaintext_bytes));
  crypto_aead_aes256gcm_encrypt_afternm(buffer.data(), nullptr, buffer.data(), plaintext_bytes, aad.data(),
                                        aad.size(), nullptr, nonce.data(), state);
  tell_tag(buffer.last(kTagBytes));
  nonce_ledger_record(key, nonce, buffer);
}

bool aes256gcm_open_in_place(std::span<const uint8_t> schedule, const Nonce& nonce,
                             std::span<const uint8_t> aad, std::span<uint8_t> sealed) {
  if (sealed.size() < kTagBytes) return false;
  const auto* state = reinterpret_cast<const crypto_aead_aes256gcm_state*>(schedule.data());
  if (crypto_aead_aes256gcm_decrypt_afternm(sealed.data(), nullptr, nullptr, sealed.data(), sealed.size(),
                                            aad.data(), aad.size(), nonce.data(), state) != 0) {
    return false;
  }
  tell_plaintext(aad, sealed.first(sealed.size() - kTagBytes));
  tell_tag(sealed.last(kTagBytes));
  return true;
}

}  // namespace lattice::crypto
