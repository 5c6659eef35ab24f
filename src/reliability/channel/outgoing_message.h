// An outgoing message, and how queues store one: the body is copied into a buffer of the pool, behind the
// header of a fragment. Few messages are fragments, so the fragment header takes no room in the ring entries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/buffer_pool.h"
#include "base/sequence.h"
#include "reliability/channel/pooled_ring.h"
#include "transport/wire/message_framing.h"

namespace lattice::reliability {

/// A message offered for packing. `body` lives until the channel changes.
struct OutgoingMessage {
  base::Sequence16 id;  ///< message_id, or sequence on unreliable-sequenced channels.
  uint8_t channel = 0;
  uint8_t flags = 0;  ///< wire::MessageFlag, without ack_elided.
  uint32_t receipt = 0;
  std::span<const uint8_t> body;
  wire::FragmentHeader fragment;  ///< Meaningful with wire::kFlagFragment.

  bool is_fragment() const { return (flags & wire::kFlagFragment) != 0; }
};

/// Bytes of `message` that count towards the bounds of its queue.
inline size_t stored_bytes(const OutgoingMessage& message) {
  return message.body.size() + (message.is_fragment() ? sizeof(wire::FragmentHeader) : 0);
}

/// Copies body, fragment header and receipt into `out`; false when the pool gives no buffer.
inline bool store_message(base::BufferPool& pool, const OutgoingMessage& message, StoredBody* out) {
  if (message.is_fragment()) {
    const auto* header = reinterpret_cast<const uint8_t*>(&message.fragment);
    if (!store_body(pool, {header, sizeof message.fragment}, message.body, out)) return false;
  } else if (!store_body(pool, {}, message.body, out)) {
    return false;
  }
  out->receipt = message.receipt;
  return true;
}

/// Fills body and fragment header of a message whose flags are set already.
inline void read_stored(const StoredBody& stored, OutgoingMessage* message) {
  message->body = stored.bytes();
  if (!message->is_fragment()) return;
  std::memcpy(&message->fragment, stored.data, sizeof message->fragment);
  message->body = message->body.subspan(sizeof message->fragment);
}

}  // namespace lattice::reliability
