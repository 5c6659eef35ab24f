// The receiving side of one reliable channel (§5.3; ): exactly once, and in order on ordered
// channels.
//
//   next_ = lowest message_id not yet received
//   id < next_: duplicate      from next_ on: window      beyond the window: ProtocolError
//
// Both modes use this window, of 256 ids and more (WindowCredit). A sender never sends a message a window or
// more beyond the oldest unacked one, so every id older than the window was already delivered. Ordered
// channels keep early bodies in blocks, and an array of them, which exists only while there are early bodies.
//
// A message that must be kept, here or as a fragment, is refused if its id is not in the channel's share of
// memory and there is no room for growth, or if the system has no memory (receive_memory.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/bit_set.h"
#include "base/buffer_pool.h"
#include "base/sequence.h"
#include "reliability/channel/receive_memory.h"
#include "reliability/channel/window_credit.h"
#include "reliability/limits.h"
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
    uint8_t* block = nullptr;  ///< The body is in it.
    const uint8_t* data = nullptr;
    uint16_t size_bytes = 0;
    base::Sequence16 id;
    wire::FragmentHeader fragment;  ///< Meaningful with wire::kFlagFragment.
    uint8_t flags = 0;

    std::span<const uint8_t> body() const { return {data, size_bytes}; }
  };

  /// `pool` lends the array, `memory` the blocks; both outlive the channel.
  ReceiveChannel(base::BufferPool& pool, ReceiveMemory& memory, bool ordered)
      : pool_(&pool), memory_(&memory), ordered_(ordered) {}
  ~ReceiveChannel();
  ReceiveChannel(const ReceiveChannel&) = delete;
  ReceiveChannel& operator=(const ReceiveChannel&) = delete;

  Outcome offer(base::Sequence16 id, uint8_t flags, std::span<const uint8_t> body,
                const wire::FragmentHeader& fragment = {}) {
    // Nearly every message of an ordered channel is the next one, and whole.
    if (!ordered_ || id != next_ || (flags & wire::kFlagFragment) != 0) {
      return judge(id, flags, body, fragment);
    }
    next_ = next_.next();
    return Outcome::kDeliver;
  }

  /// pop_ready() may have a message.
  bool has_early() const { return stored_count_ != 0; }
  /// The next stored message that is in order now. The caller hands it up, then calls release().
  bool pop_ready(Ready* out);
  void release(Ready& ready) { memory_->give(ready.block); }

  /// The first id of the oldest message of which a fragment was delivered and another was not: the channel's
  /// share of memory begins there. `is_crowded`: there are so many such messages that only fragments in the
  /// share are taken. Call it after every fragment.
  void set_incomplete(std::optional<base::Sequence16> oldest, bool is_crowded) {
    oldest_incomplete_ = oldest;
    is_crowded_ = is_crowded;
  }
  /// How far the peer may send ahead.
  WindowCredit& credit() { return credit_; }

  base::Sequence16 next_expected() const { return next_; }
  size_t stored_messages() const { return stored_count_; }

 private:
  static constexpr size_t kWindow = static_cast<size_t>(kMaxReliableWindow);
  static constexpr size_t kFirstCapacity = 32;

  /// What stands in front of the body in the block of an early message.
  struct Early {
    base::Sequence16 id;
    uint16_t size_bytes = 0;
    wire::FragmentHeader fragment;
    uint8_t flags = 0;
  };
  static_assert(sizeof(Early) + socket::kMaxDatagramBytes <= ReceiveMemory::kBlockBytes);

  Outcome judge(base::Sequence16 id, uint8_t flags, std::span<const uint8_t> body,
                const wire::FragmentHeader& fragment);
  /// Whether there is memory for the message `id`, for as long as it may take.
  bool may_keep(base::Sequence16 id, bool is_fragment) const;
  /// Makes the array long enough for the message `ahead` ids from next_. False without memory.
  bool make_room(size_t ahead);
  uint8_t*& stored(size_t id) { return reinterpret_cast<uint8_t**>(array_.data)[id & (capacity_ - 1)]; }

  base::BufferPool* pool_;
  ReceiveMemory* memory_;
  base::Buffer array_;                   ///< Blocks of early messages by id, while any is stored.
  size_t capacity_ = 0;                  ///< Of array_; a power of two up to kWindow.
  base::FixedBitSet<kWindow> received_;  ///< By id mod kWindow; only ids in the window.
  base::Sequence16 next_;
  std::optional<base::Sequence16> oldest_incomplete_;
  size_t stored_count_ = 0;
  WindowCredit credit_;
  bool ordered_;
  bool is_crowded_ = false;
};

}  // namespace lattice::reliability
