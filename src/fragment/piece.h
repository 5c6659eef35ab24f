// One received fragment, and the limits of fragmented messages (F-01, F-05, F-06).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/sequence.h"
#include "reliability/limits.h"
#include "transport/wire/channel_table.h"
#include "transport/wire/message_framing.h"

namespace lattice::fragment {

/// The longest message: 256 fragments of 1136 bytes.
inline constexpr size_t kMaxMessageBytes = reliability::kMaxFragments * reliability::kFragmentUnitBytes;
static_assert(kMaxMessageBytes == 290'816);

/// A fragment as its channel delivered it. `body` lives for the call that gets the piece.
struct Piece {
  uint8_t channel = 0;
  wire::ChannelMode mode = wire::ChannelMode::kUnreliable;
  bool is_rpc = false;
  wire::FragmentHeader header;
  base::Sequence16 id;       ///< message_id or sequence; 0 on unreliable channels.
  base::Sequence16 next_id;  ///< Reliable channels: the lowest message_id not received yet.
  std::span<const uint8_t> body;

  bool is_reliable() const { return wire::is_reliable(mode); }
  bool is_last() const { return header.index + 1 == header.count; }
  /// The number that all fragments of a message share: the sequence, or the message_id of the first (F-04).
  base::Sequence16 group_id() const { return is_reliable() ? id.plus(-int32_t{header.index}) : id; }
};

}  // namespace lattice::fragment
