// The proof of I3 in running code: in validation builds every seal of this process is recorded, and one whose
// nonce is not above every nonce sealed before under the same key aborts. That is stricter than "no pair
// twice" (packet numbers only grow, handshake keys seal once), and needs one entry per key instead of one per
// packet. Without LATTICE_VALIDATION recording is nothing and the count stays 0.
//
// Bound: two generations of 32768 keys. When the younger one fills, the older one is dropped and the two
// swap; a key that is still in use is carried over, so only keys idle for 32768 newer ones are forgotten.
#pragma once

#include <cstdint>

#include "transport/crypto/aead.h"

namespace lattice::crypto {

#if defined(LATTICE_VALIDATION)
/// Aborts (LATTICE_CHECK) unless `nonce` is new and above the others under `key`. Any thread.
void nonce_ledger_record(const Key& key, const Nonce& nonce);
#else
inline void nonce_ledger_record(const Key&, const Nonce&) {}
#endif

/// Seals recorded since the start or the last clear.
uint64_t nonce_ledger_count();

/// Forgets everything: for tests and fuzz targets that work with fixed keys more than once per process.
void nonce_ledger_clear();

}  // namespace lattice::crypto
