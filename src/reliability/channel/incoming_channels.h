// What one connection remembers of the messages it received: for each reliable channel its window, for each
// unreliable-sequenced channel the newest sequence.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/assert.h"
#include "base/sequence.h"
#include "reliability/channel/receive_channel.h"
#include "reliability/limits.h"
#include "transport/wire/channel_table.h"

namespace lattice::reliability {

/// The newest message of one unreliable-sequenced channel.
class SequencedOrder {
 public:
  /// Whether the message `id` of packet `packet_seq` is newer than all before. Later packets carry later
  /// sequences. Two sequences are compared only if they cannot have wrapped.
  bool is_news(base::Sequence16 id, uint64_t packet_seq) const {
    return !has_seen_ || packet_seq > seen_in_ + kMaxNumberedPackets ||
           base::sequence_greater(id, last_seen_);
  }
  /// It is the newest from now on.
  void note(base::Sequence16 id, uint64_t packet_seq) {
    last_seen_ = id;
    has_seen_ = true;
    seen_in_ = packet_seq;
  }
  std::optional<base::Sequence16> newest() const {
    return has_seen_ ? std::optional(last_seen_) : std::nullopt;
  }

 private:
  base::Sequence16 last_seen_;
  bool has_seen_ = false;
  uint64_t seen_in_ = 0;  ///< Number of the packet that carried last_seen_.
};

class IncomingChannels {
 public:
  /// `pool` and `memory` are borrowed.
  IncomingChannels(base::BufferPool& pool, ReceiveMemory& memory, const wire::ChannelTable& modes) {
    for (uint8_t i = 0; i < wire::kChannelCount; ++i) {
      if (!wire::is_reliable(modes.mode(i))) continue;
      reliable_[i] = std::make_unique<ReceiveChannel>(pool, memory,
                                                      modes.mode(i) == wire::ChannelMode::kReliableOrdered);
    }
  }

  /// `channel` is reliable.
  ReceiveChannel& reliable(uint8_t channel) {
    LATTICE_ASSERT(reliable_[channel] != nullptr);
    return *reliable_[channel];
  }
  SequencedOrder& sequenced(uint8_t channel) { return sequenced_[channel]; }
  const SequencedOrder& sequenced(uint8_t channel) const { return sequenced_[channel]; }

 private:
  std::array<std::unique_ptr<ReceiveChannel>, wire::kChannelCount> reliable_;
  std::array<SequencedOrder, wire::kChannelCount> sequenced_{};
};

}  // namespace lattice::reliability
