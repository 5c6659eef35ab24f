// Encode once, fan out. The bits of an entry body, from one baseline version to the current version, are made
// for the first client that needs them, and copied for every further client of the same send.
//
// The bits of a body do not depend on its place in a part (static models, no alignment), so they can be
// copied. Bodies are stored as 64-bit words, the first wire bit in bit 63, so that appending one needs shifts
// only. Bounded: once kMaxWords are stored, the next client starts with an empty cache. So the cache never
// holds more than kMaxWords plus one body per object. Clients then share fewer bodies; nothing else changes.
//
// What is too large is remembered for longer than a send: which body that is, exactly, so that all threads'
// builders answer alike. An object that waits until it may go in pieces costs an encoding for each of its
// versions and few baselines, not for each snapshot.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/compiler.h"
#include "replication/encoding/plain_encoder.h"
#include "replication/object_table.h"
#include "replication/state_store.h"

namespace lattice::replication {

class EntryCache {
 public:
  static constexpr uint32_t kMaxWords = 1u << 20;  // 8 MiB of stored bodies
  static constexpr uint32_t kTooLarge = UINT32_MAX;

  /// `max_body_bytes`: a body longer than this is kTooLarge.
  EntryCache(const ObjectTable& table, const StateStore& store, uint32_t max_body_bytes);

  /// Short bodies of so many objects need no further memory.
  void make_room(uint32_t objects);
  /// Forgets all bodies. Objects may not change between this call and the last find() of the send.
  void begin_send();
  /// Call before the first find() for each client.
  void begin_client() {
    if (used_words_ >= kMaxWords) begin_send();
  }

  /// The index of the body that leads from version `baseline` to the object's newest version, or kTooLarge.
  /// With `baseline` 0 the body leads from the zero baseline. The baseline must still be in the store. The
  /// members that the owner gets and others do not, or the other way round, are in it by `for_owner`.
  /// Indexes are valid until the next begin_*(), and what body() gives until the next find() or begin_*().
  uint32_t find(uint32_t slot, uint32_t baseline, bool for_owner = false);
  /// Fetch what find() reads into the cache, with some work in between: first what was encoded of the object,
  /// then, if nothing was, its words. Only hints.
  void prefetch(uint32_t slot) const {
    if (slot < heads_.size()) base::prefetch(&heads_[slot]);
    store_.prefetch(slot);
  }
  void prefetch_words(uint32_t slot, uint32_t baseline) const {
    if (slot < heads_.size() && heads_[slot].send != send_) store_.prefetch_words(slot, baseline);
  }
  EntryBody body(uint32_t index) const {
    const Body& body = bodies_[index];
    return EntryBody{words_.data() + body.first_word, body.bits, body.mask};
  }

  /// How many bodies were encoded, and below: how many were reused.
  uint64_t encoded() const { return encoded_; }
  uint64_t shared() const { return shared_; }

 private:
  struct Body {
    uint32_t baseline = 0;
    uint32_t bits = kTooLarge;
    uint32_t first_word : 31 = 0;
    uint32_t for_owner : 1 = 0;
    uint32_t next = UINT32_MAX;  // further bodies of the same object
    WireMask mask;
  };
  struct Head {
    uint32_t send = 0;
    uint32_t body = UINT32_MAX;
  };
  /// From what the body to a version was too large: 1 + 2 * baseline + for_owner, each at its place modulo
  /// their number.
  struct TooLarge {
    uint64_t network_id = 0;  // 0: of no object
    uint32_t version = 0;
    std::array<uint64_t, 16> baselines = {};  // 0: none
  };
  bool is_known_too_large(uint32_t slot, uint64_t key) const;
  void note_too_large(uint32_t slot, uint64_t key);
  uint32_t encode(uint32_t slot, uint32_t baseline, bool for_owner);
  void keep_bits(Body& body, uint32_t bits);

  const ObjectTable& table_;
  const StateStore& store_;
  uint32_t send_ = 1;
  std::vector<Head> heads_;          // by slot
  std::vector<TooLarge> too_large_;  // by slot; empty until a body is too large
  std::vector<Body> bodies_;
  std::vector<uint64_t> words_;
  uint32_t used_words_ = 0;
  std::vector<uint8_t> scratch_;
  std::vector<serialization::Word> seen_;  // a state as one client may see it
  uint32_t max_body_bits_;
  uint64_t encoded_ = 0;
  uint64_t shared_ = 0;
};

}  // namespace lattice::replication
