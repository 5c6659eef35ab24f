// The receiving side of one reliable channel (§5.3; ): exactly once, and in order on ordered
// channels.
//
//   next_ = lowest message_id not yet received
//   id < next_: duplicate      next_ … next_ + 255: window      beyond: ProtocolError
//
// Both modes use this window. A sender never sends a message 256 or more beyond the oldest unacked one, so
// every id older than the window was already delivered. Ordered channels keep early bodies in an array, which
// exists only while there are early bodies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/bit_set.h"
#include "base/buffer_pool.h"
#include "base/sequence.h"
#include "reliability/limits.h"
#include "reliability/pooled_ring.h"
#include "transport/wire/message_framing.h"

namespace lattice::reliability {

class ReceiveChannel {
 public:
  enum class Outcome : uint8_t {
    kDeliver,       ///< Hand this body up now; then pop_ready() until it is false.
    kStored,        ///< Early on an ordered channel; will come out of pop_ready().
    kDuplicate,     ///< Accepted before: ack it, do nothing.
    kBeyondWindow,  ///< R-09: a ProtocolError.
    kNoMemory,      ///< Not accepted: its packet must not be acked (R-04).
  };

  struct Ready {
    StoredBody body;
    base::Sequence16 id;
    wire::FragmentHeader fragment;  ///< Meaningful with wire::kFlagFragment.
    uint8_t flags = 0;
  };

  ReceiveChannel(base::BufferPool& pool, bool ordered) : pool_(&pool), ordered_(ordered) {}
  ~ReceiveChannel();
  ReceiveChannel(const ReceiveChannel&) = delete;
  ReceiveChannel& operator=(const ReceiveChannel&) = delete;

  Outcome offer(base::Sequence16 id, uint8_t flags, std::span<const uint8_t> body,
                const wire::FragmentHeader& fragment = {});

  /// The next stored message that is in order now. The caller hands it up, then calls release().
  bool pop_ready(Ready* out);
  void release(Ready& ready) { release_body(*pool_, ready.body); }

  base::Sequence16 next_expected() const { return next_; }
  size_t stored_messages() const { return stored_count_; }

 private:
  static constexpr size_t kWindow = static_cast<size_t>(kReliableWindow);

  Ready& stored(base::Sequence16 id) { return reinterpret_cast<Ready*>(array_.data)[id.value % kWindow]; }

  base::BufferPool* pool_;
  base::Buffer array_;                   ///< kWindow entries of Ready while any is stored.
  base::FixedBitSet<kWindow> received_;  ///< By id mod 256; only ids in the window.
  base::Sequence16 next_;
  size_t stored_count_ = 0;
  bool ordered_;
};

}  // namespace lattice::reliability
