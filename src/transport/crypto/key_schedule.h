// The key schedule of the handshake and of key rotation (§4.2, §8.4; H-04, K-05).
//
//   th1 = SHA-256("Lattice-NKt-25519-ChaChaPoly-SHA256-v1" ‖ protocol_id ‖ S_pub ‖ SHA-256(token) ‖ C_pub)
//   th2 = SHA-256(th1 ‖ E_pub ‖ challenge_nonce ‖ key_index)
//   prk = HKDF-Extract(salt = th2, ikm = X25519(C,S) ‖ X25519(C,E))
//   k3  = HKDF-Expand(prk, "lattice/v1/hs/client", 32)
//   th3 = SHA-256(th2 ‖ sealed part of message 3)
//   k4  = HKDF-Expand(prk, "lattice/v1/hs/server" ‖ th3 ‖ accept_random, 32)
//   th4 = SHA-256(th3 ‖ accept_random ‖ sealed part of message 4)
//   m_0 = HKDF-Expand(prk, "lattice/v1/master" ‖ th4, 32)
//   salt = first 16 of HKDF-Expand(prk, "lattice/v1/hs/schema-salt" ‖ SHA-256(plaintext of message 7), 32)
//   k7  = HKDF-Expand(prk, "lattice/v1/hs/schema" ‖ salt, 32)
//   th7 = SHA-256(th2 ‖ salt ‖ sealed part of message 7), in the place of th3 in the answer's k4
//   key(role, n) = HKDF-Expand(m_n, "lattice/v1/" ‖ role ‖ "/" ‖ n as u32, 32)
//   m_{n+1} = HKDF-Expand(HKDF-Extract(m_n, X25519(new, new)),
//                         "lattice/v1/rekey" ‖ SHA-256(RekeyInit ‖ RekeyResponse) ‖ (n+1) as u32, 32)
//
// Must stay true: a transcript hash covers every value on which the two sides could disagree; through `es`
// only the named server can compute the keys; through `ee` nobody can compute them once the bucket key is
// erased. Integers are little-endian.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "transport/crypto/hash.h"
#include "transport/crypto/secret.h"

namespace lattice::crypto {

using ChallengeNonce = std::array<uint8_t, 16>;
using AcceptRandom = std::array<uint8_t, 16>;
using SchemaSalt = std::array<uint8_t, 16>;

/// The role of the side that seals with a traffic key.
enum class Role : uint8_t { kClient, kServer };

/// th1. `token_hash` is SHA-256 of the whole token.
Digest transcript_request(uint32_t protocol_id, const PublicKey& server_static, const Digest& token_hash,
                          const PublicKey& client);
/// th2.
Digest transcript_challenge(const Digest& th1, const PublicKey& bucket, const ChallengeNonce& nonce,
                            uint8_t key_index);
/// th3. `sealed` is the ciphertext and tag of message 3.
Digest transcript_response(const Digest& th2, std::span<const uint8_t> sealed);
/// th4. `sealed` is the ciphertext and tag of message 4.
Digest transcript_accept(const Digest& th3, const AcceptRandom& accept_random,
                         std::span<const uint8_t> sealed);

/// prk, from es = X25519(C,S) and ee = X25519(C,E).
Key handshake_secret(const Digest& th2, const Key& es, const Key& ee);
/// k3; seals the client's message 3, once.
Key client_handshake_key(const Key& prk);
/// k4; seals one message 4 or one refusal. Fresh accept_random per sealing keeps nonce 0 single use.
Key server_handshake_key(const Key& prk, const Digest& th3, const AcceptRandom& accept_random);
/// The salt of a message 7 with this plaintext. It depends on the plaintext and on the secret, so that k7
/// seals one text, and who does not have the secret cannot compare it with guesses.
SchemaSalt schema_difference_salt(const Key& prk, std::span<const uint8_t> plaintext);
/// k7; seals the message 7 with the text that `salt` was made of.
Key schema_difference_key(const Key& prk, const SchemaSalt& salt);
/// th7. `sealed` is the ciphertext and tag of message 7. With it, server_handshake_key() seals the answer.
Digest transcript_schema_difference(const Digest& th2, const SchemaSalt& salt,
                                    std::span<const uint8_t> sealed);
/// m_0.
Key first_master(const Key& prk, const Digest& th4);

/// key(role, epoch): the key with which `sender` seals in this epoch.
Key traffic_key(const Key& master, Role sender, uint32_t epoch);

/// m_{next_epoch}. `shared` is X25519 of the two new keys; the bodies start with their control type byte.
Key next_master(const Key& master, const Key& shared, std::span<const uint8_t> rekey_init_body,
                std::span<const uint8_t> rekey_response_body, uint32_t next_epoch);

}  // namespace lattice::crypto
