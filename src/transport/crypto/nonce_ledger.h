// Checks I3 in running code. In validation builds it records every seal of this process, and aborts unless
// the nonce is above every earlier nonce under the same key. This rule is stricter than "no (key, nonce) pair
// twice", but packet numbers only grow and handshake keys seal once. It needs one entry per key, not one per
// packet. Without LATTICE_VALIDATION nothing is recorded and the count stays 0.
//
// One repetition is allowed: a handshake key (packet_seq 0) may seal the very same bytes again, which tells
// an observer nothing new. A client does so when forged challenges have pushed its answer out of its memory.
//
// Bound: two generations of 32768 keys. When the younger generation is full, the older one is dropped and the
// two swap. A key that is still in use is carried over, so only keys idle for 32768 newer ones are forgotten.
#pragma once

#include <cstdint>
#include <span>

#include "transport/crypto/aead.h"

namespace lattice::crypto {

#if defined(LATTICE_VALIDATION)
/// Records that `sealed` (ciphertext and tag) was made under (`key`, `nonce`). Aborts (LATTICE_CHECK) unless
/// the nonce is above the others under that key. Any thread.
void nonce_ledger_record(const Key& key, const Nonce& nonce, std::span<const uint8_t> sealed);
#else
inline void nonce_ledger_record(const Key&, const Nonce&, std::span<const uint8_t>) {}
#endif

/// Seals recorded since the start or the last clear.
uint64_t nonce_ledger_count();

/// Forgets every key: for tests and fuzz targets that use fixed keys more than once per process.
void nonce_ledger_clear();

}  // namespace lattice::crypto
