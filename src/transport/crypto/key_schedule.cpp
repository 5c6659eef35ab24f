#include "transport/crypto/key_schedule.h"

#include <algorithm>

#include "platform/byte_order.h"

namespace lattice::crypto {
namespace {

std::array<uint8_t, 4> u32_bytes(uint32_t v) {
  std::array<uint8_t, 4> out;
  platform::store_u32_le(out.data(), v);
  return out;
}

}  // namespace

Digest transcript_request(uint32_t protocol_id, const PublicKey& server_static, const Digest& token_hash,
                          const PublicKey& client) {
  return sha256({text("Lattice-NKt-25519-ChaChaPoly-SHA256-v1"), u32_bytes(protocol_id), server_static,
                 token_hash, client});
}

Digest transcript_challenge(const Digest& th1, const PublicKey& bucket, const ChallengeNonce& nonce,
                            uint8_t key_index) {
  return sha256({th1, bucket, nonce, Part(&key_index, 1)});
}

Digest transcript_response(const Digest& th2, std::span<const uint8_t> sealed) {
  return sha256({th2, sealed});
}

Digest transcript_accept(const Digest& th3, const AcceptRandom& accept_random,
                         std::span<const uint8_t> sealed) {
  return sha256({th3, accept_random, sealed});
}

Key handshake_secret(const Digest& th2, const Key& es, const Key& ee) {
  return hkdf_extract(th2, {es.bytes(), ee.bytes()});
}

Key client_handshake_key(const Key& prk) {
  return hkdf_expand_key(prk.bytes(), {text("lattice/v1/hs/client")});
}

Key server_handshake_key(const Key& prk, const Digest& th3, const AcceptRandom& accept_random) {
  return hkdf_expand_key(prk.bytes(), {text("lattice/v1/hs/server"), th3, accept_random});
}

SchemaSalt schema_difference_salt(const Key& prk, std::span<const uint8_t> plaintext) {
  const Key whole = hkdf_expand_key(prk.bytes(), {text("lattice/v1/hs/schema-salt"), sha256({plaintext})});
  SchemaSalt salt;
  std::copy_n(whole.bytes().begin(), salt.size(), salt.begin());
  return salt;
}

Key schema_difference_key(const Key& prk, const SchemaSalt& salt) {
  return hkdf_expand_key(prk.bytes(), {text("lattice/v1/hs/schema"), salt});
}

Digest transcript_schema_difference(const Digest& th2, const SchemaSalt& salt,
                                    std::span<const uint8_t> sealed) {
  return sha256({th2, salt, sealed});
}

Key first_master(const Key& prk, const Digest& th4) {
  return hkdf_expand_key(prk.bytes(), {text("lattice/v1/master"), th4});
}

Key traffic_key(const Key& master, Role sender, uint32_t epoch) {
  const Part role = sender == Role::kClient ? text("client") : text("server");
  return hkdf_expand_key(master.bytes(), {text("lattice/v1/"), role, text("/"), u32_bytes(epoch)});
}

Key next_master(const Key& master, const Key& shared, std::span<const uint8_t> rekey_init_body,
                std::span<const uint8_t> rekey_response_body, uint32_t next_epoch) {
  const Key extracted = hkdf_extract(master.bytes(), {shared.bytes()});
  const Digest bodies = sha256({rekey_init_body, rekey_response_body});
  return hkdf_expand_key(extracted.bytes(), {text("lattice/v1/rekey"), bodies, u32_bytes(next_epoch)});
}

}  // namespace lattice::crypto
