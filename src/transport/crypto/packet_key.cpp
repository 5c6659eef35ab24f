#include "transport/crypto/packet_key.h"

#include <sodium.h>

#include <utility>

#include "base/assert.h"
#include "base/compiler.h"

namespace lattice::crypto {

static_assert(crypto_aead_aes256gcm_KEYBYTES == std::tuple_size_v<PublicKey>);
static_assert(crypto_aead_aes256gcm_NPUBBYTES == std::tuple_size_v<Nonce>);
static_assert(crypto_aead_aes256gcm_ABYTES == kTagBytes);

bool has_aes256gcm() {
  static const bool available = sodium_init() >= 0 && crypto_aead_aes256gcm_is_available() != 0;
  return available;
}

PacketKey::PacketKey(Cipher cipher, Key key) : cipher_(cipher), key_(std::move(key)) {
  static_assert(sizeof(crypto_aead_aes256gcm_state) == kScheduleBytes);
  static_assert(alignof(crypto_aead_aes256gcm_state) <= 16);
  if (cipher_ != Cipher::kAes256Gcm) return;
  LATTICE_CHECK(has_aes256gcm());
  auto* schedule = reinterpret_cast<crypto_aead_aes256gcm_state*>(schedule_.data());
  crypto_aead_aes256gcm_beforenm(schedule, key_.data());
}

PacketKey& PacketKey::operator=(PacketKey&& other) noexcept {
  if (this == &other) return *this;
  cipher_ = other.cipher_;
  key_ = std::move(other.key_);
  schedule_ = other.schedule_;
  other.erase();
  return *this;
}

void PacketKey::erase() {
  key_.erase();
  if (cipher_ == Cipher::kAes256Gcm) wipe(schedule_.data(), schedule_.size());
}

void PacketKey::prefetch() const {
  // Fifteen round keys and the hash key; the rest of the state is room for other implementations.
  // Which cipher it is would have to be fetched first.
  constexpr size_t kAesBytes = 16 * 16;
  base::prefetch(this, schedule_.data() + kAesBytes);
}

void PacketKey::seal_in_place(const Nonce& nonce, std::span<const uint8_t> aad,
                              std::span<uint8_t> buffer) const {
  if (cipher_ == Cipher::kAes256Gcm) {
    aes256gcm_seal_in_place(key_, schedule_, nonce, aad, buffer);
  } else {
    crypto::seal_in_place(key_, nonce, aad, buffer);
  }
}

bool PacketKey::open_in_place(const Nonce& nonce, std::span<const uint8_t> aad,
                              std::span<uint8_t> sealed) const {
  if (cipher_ == Cipher::kAes256Gcm) return aes256gcm_open_in_place(schedule_, nonce, aad, sealed);
  return crypto::open_in_place(key_, nonce, aad, sealed);
}

}  // namespace lattice::crypto
