#include "transport/crypto/nonce_ledger.h"

#if defined(LATTICE_VALIDATION)

#include <atomic>
#include <cstring>
#include <memory>

#include "base/assert.h"
#include "platform/byte_order.h"
#include "transport/crypto/hash.h"

namespace lattice::crypto {
namespace {

constexpr size_t kKeysPerGeneration = 32768;
constexpr size_t kTableSlots = 2 * kKeysPerGeneration;
static_assert((kTableSlots & (kTableSlots - 1)) == 0);

struct Entry {
  std::array<uint8_t, 16> key_fingerprint{};
  uint64_t next_packet_seq = 0;
  uint64_t handshake_digest = 0;  // Digest of the bytes that the key sealed under packet_seq 0.
  uint64_t stamp = 0;             // The slot is in use if this equals the stamp of its generation.
};

struct Generation {
  std::array<Entry, kTableSlots> slots{};
  size_t key_count = 0;
  uint64_t stamp = 1;

  /// The slot of this fingerprint, or the free slot where it belongs; the table is at most half full.
  Entry& find(const std::array<uint8_t, 16>& fingerprint) {
    size_t index = platform::load_u64_le(fingerprint.data()) & (kTableSlots - 1);
    while (slots[index].stamp == stamp && slots[index].key_fingerprint != fingerprint) {
      index = (index + 1) & (kTableSlots - 1);
    }
    return slots[index];
  }

  /// Forgets every key. Fuzz targets call it for each input, so it must not touch the slots.
  void clear() {
    ++stamp;
    key_count = 0;
  }
};

struct Ledger {
  std::unique_ptr<Generation> current = std::make_unique<Generation>();
  std::unique_ptr<Generation> previous = std::make_unique<Generation>();
  uint64_t seal_count = 0;
};

std::atomic_flag ledger_busy;

Ledger& ledger() {
  static Ledger instance;
  return instance;
}

class LedgerLock {
 public:
  LedgerLock() {
    while (ledger_busy.test_and_set(std::memory_order_acquire)) {
    }
  }
  ~LedgerLock() { ledger_busy.clear(std::memory_order_release); }
  LedgerLock(const LedgerLock&) = delete;
  LedgerLock& operator=(const LedgerLock&) = delete;
};

}  // namespace

void nonce_ledger_record(const Key& key, const Nonce& nonce, std::span<const uint8_t> sealed) {
  const Digest digest = sha256({text("lattice nonce ledger"), key.bytes()});
  std::array<uint8_t, 16> fingerprint;
  std::memcpy(fingerprint.data(), digest.data(), fingerprint.size());
  const uint64_t packet_seq = platform::load_u64_le(nonce.data());
  const uint64_t sealed_digest = packet_seq == 0 ? platform::load_u64_le(sha256({sealed}).data()) : 0;

  const LedgerLock lock;
  Ledger& l = ledger();
  Entry* entry = &l.current->find(fingerprint);
  if (entry->stamp != l.current->stamp) {
    if (l.current->key_count == kKeysPerGeneration) {
      l.previous.swap(l.current);
      l.current->clear();
      entry = &l.current->find(fingerprint);
    }
    const Entry& older = l.previous->find(fingerprint);
    const bool known = older.stamp == l.previous->stamp;
    *entry = Entry{fingerprint, known ? older.next_packet_seq : 0, known ? older.handshake_digest : 0,
                   l.current->stamp};
    ++l.current->key_count;
  }
  if (packet_seq == 0 && entry->next_packet_seq == 1 && entry->handshake_digest == sealed_digest) return;
  const bool nonce_is_new_under_this_key = packet_seq >= entry->next_packet_seq;
  LATTICE_CHECK(nonce_is_new_under_this_key);
  entry->next_packet_seq = packet_seq + 1;
  if (packet_seq == 0) entry->handshake_digest = sealed_digest;
  ++l.seal_count;
}

uint64_t nonce_ledger_count() {
  const LedgerLock lock;
  return ledger().seal_count;
}

void nonce_ledger_clear() {
  const LedgerLock lock;
  Ledger& l = ledger();
  l.current->clear();
  l.previous->clear();
  l.seal_count = 0;
}

}  // namespace lattice::crypto

#else

namespace lattice::crypto {

uint64_t nonce_ledger_count() {
  return 0;
}
void nonce_ledger_clear() {}

}  // namespace lattice::crypto

#endif
