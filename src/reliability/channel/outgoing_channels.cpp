#include "reliability/channel/outgoing_channels.h"

#include <algorithm>

#include "reliability/congestion/congestion_config.h"
#include "reliability/limits.h"

namespace lattice::reliability {
namespace {

/// The parts of one snapshot are filled as far as whole entries go, so they differ by less.
constexpr size_t kMostPadding = 64;

// Queues every fragment of `body`. If one finds no room, takes back the fragments queued before it.
template <class Queue, class... Time>
bool queue_all(Queue& queue, OutgoingMessage message, size_t unit_bytes, std::span<const uint8_t> body,
               Time... now) {
  for (size_t i = 0; i < message.fragment.count; ++i) {
    message.fragment.index = static_cast<uint8_t>(i);
    const size_t offset = i * unit_bytes;
    message.body = body.subspan(offset, std::min(unit_bytes, body.size() - offset));
    if (queue.queue(message, now...)) continue;
    queue.take_back(i);
    return false;
  }
  return true;
}

}  // namespace

// Fills one packet in the order of R-14 and records the items it carries.
class OutgoingChannels::Filler {
 public:
  Filler(OutgoingChannels& from, const Room& room, PacketBuilder& builder, CarriedItems& items,
         Filled& filled)
      : from_(from), room_(room), builder_(builder), items_(items), filled_(filled) {
    // A quarter of the packet stays free for snapshots and inputs while they wait.
    reliable_limit_ = from.engine_.empty() ? room.budget_bytes : room.budget_bytes - room.budget_bytes / 4;
  }

  void fill() {
    if ((from_.sending_ & bit(kControl)) != 0) add_all(kControl);
    if (room_.control_only) return;
    if (from_.urgent_ != 0) add_urgent();
    const bool engine_waits = !from_.engine_.empty();
    const size_t engine_bytes_before = from_.engine_.bytes();
    if (engine_waits && from_.share_.first(from_.engine_.front().body.size())) add_unreliable(from_.engine_);
    const uint32_t channels = from_.sending_ & ~bit(kControl);
    if (channels != 0) {
      if (std::has_single_bit(channels) && from_.application_.empty()) {
        add_all(static_cast<uint8_t>(std::countr_zero(channels)));
      } else {
        add_in_turns(channels);
      }
    }
    add_unreliable(from_.engine_);
    add_unreliable(from_.application_);
    if (engine_waits) from_.share_.on_packet(builder_.size(), engine_bytes_before - from_.engine_.bytes());
  }

 private:
  bool has_room() const {
    return item_count_ < CarriedItems::kMaxPerPacket &&
           (builder_.empty() || builder_.size() < reliable_limit_);
  }

  void add_urgent() {
    for_each(from_.sending_ & from_.urgent_ & ~bit(kControl), [this](uint8_t i) { add_all(i); });
    if ((from_.urgent_ & bit(kUnreliable)) == 0) return;
    while (!from_.application_.empty() && has_room() && add_next_of(kUnreliable)) {
    }
  }

  // What was lost comes before what is new.
  void add_all(uint8_t channel) {
    while (has_room() && add_lost(channel)) {
    }
    add_new(channel, CarriedItems::kMaxPerPacket);
  }

  // Reliable channels with something to send, and the application's unreliable messages beside them, by
  // turns. Who does not fit any more leaves the rest of the packet to the others.
  void add_in_turns(uint32_t channels) {
    uint32_t waiting = 0;
    for_each(channels, [&](uint8_t i) { waiting |= from_.reliable_[i]->has_work() ? bit(i) : 0; });
    if (waiting == 0) return;  // The engine comes before unreliable messages.
    if (!from_.application_.empty()) waiting |= bit(kUnreliable);
    uint32_t fitting = waiting;
    while (fitting != 0 && has_room()) {
      const uint8_t source = from_.turns_.next(waiting, fitting);
      const size_t bytes_before = builder_.size();
      if (!add_next_of(source)) {
        fitting &= ~bit(source);
        continue;
      }
      from_.turns_.charge(source, builder_.size() - bytes_before);
      if (has_work(source)) continue;
      waiting &= ~bit(source);
      fitting &= ~bit(source);
    }
  }

  bool has_work(uint8_t source) const {
    return source == kUnreliable ? !from_.application_.empty() : from_.reliable_[source]->has_work();
  }
  bool add_next_of(uint8_t source) {
    if (source != kUnreliable) return add_lost(source) || add_new(source, 1);
    const uint32_t count_before = filled_.first_count;
    add_unreliable(from_.application_, 1);
    return filled_.first_count != count_before;
  }

  // Writes one message of a reliable channel, while the packet has room.
  auto writer_of(uint8_t channel) {
    return [this, channel, mode = from_.modes_->mode(channel)](OutgoingMessage message) {
      message.channel = channel;
      return (builder_.empty() || builder_.size() < reliable_limit_) && builder_.add(mode, message);
    };
  }

  bool add_lost(uint8_t channel) {
    const auto write = writer_of(channel);
    const uint32_t added = note(channel, from_.reliable_[channel]->resend_one(room_.carrier, write));
    filled_.resent_count += added;
    return added != 0;
  }

  bool add_new(uint8_t channel, size_t most) {
    const auto write = writer_of(channel);
    most = std::min(most, CarriedItems::kMaxPerPacket - item_count_);
    const uint32_t added = note(channel, from_.reliable_[channel]->send_new(most, room_.carrier, write));
    filled_.first_count += added;
    return added != 0;
  }

  uint32_t note(uint8_t channel, const SendChannel::Run& run) {
    if (run.count == 0) return 0;
    items_.add_messages(&filled_.items, channel, run.first, run.count);
    item_count_ += run.count;
    return static_cast<uint32_t>(run.count);
  }

  void add_unreliable(UnreliableQueue& queue, size_t most = kMaxQueuedMessages) {
    for (; most != 0 && !queue.empty() && item_count_ < CarriedItems::kMaxPerPacket; --most) {
      const OutgoingMessage message = queue.front();
      if (!builder_.add(from_.modes_->mode(message.channel), message)) return;
      if (message.receipt != 0) {
        items_.add(&filled_.items, CarriedKind::kReceipt, message.channel, message.receipt);
        ++item_count_;
      }
      queue.pop_front();
      ++filled_.first_count;
    }
  }

  OutgoingChannels& from_;
  const Room& room_;
  PacketBuilder& builder_;
  CarriedItems& items_;
  size_t reliable_limit_;
  size_t item_count_ = 0;
  Filled& filled_;
};

OutgoingChannels::OutgoingChannels(base::BufferPool& pool, const wire::ChannelTable& modes,
                                   uint64_t max_resend_interval_ns)
    : modes_(&modes), engine_(pool), application_(pool) {
  for (uint8_t i = 0; i < wire::kChannelCount; ++i) {
    if (!wire::is_reliable(modes.mode(i))) continue;
    const bool is_ordered = modes.mode(i) == wire::ChannelMode::kReliableOrdered;
    reliable_[i] = std::make_unique<SendChannel>(pool, max_resend_interval_ns, is_ordered);
  }
}

void OutgoingChannels::set(uint8_t channel, const ChannelSettings& settings) {
  const bool reliable = wire::is_reliable(modes_->mode(channel));
  const uint8_t source = reliable ? channel : kUnreliable;
  turns_.set_weight(source, settings.weight);
  urgent_ = settings.is_urgent ? urgent_ | bit(source) : urgent_ & ~bit(source);
  if (!reliable) max_wait_ms_ = settings.max_wait_ms;
}

bool OutgoingChannels::queue(OutgoingMessage message, uint64_t now_ns) {
  const wire::ChannelMode mode = modes_->mode(message.channel);
  if (wire::is_reliable(mode)) {
    sending_ |= bit(message.channel);
    return reliable_[message.channel]->queue(message);
  }
  if (is_engine(message)) {
    message.id = engine_sequence_;
    if (!engine_.queue(message, in_ms(now_ns))) return false;
    engine_used_ = true;
    return true;
  }
  const bool sequenced = mode == wire::ChannelMode::kUnreliableSequenced;
  base::Sequence16& next = sequence_[message.channel];
  if (sequenced) message.id = next;
  if (!application_.queue(message, in_ms(now_ns))) return false;
  if (sequenced) next = next.next();
  return true;
}

bool OutgoingChannels::queue_control(std::span<const uint8_t> body) {
  sending_ |= bit(kControl);
  return reliable_[kControl]->queue(0, body, 0);
}

bool OutgoingChannels::queue_fragments(OutgoingMessage message, size_t unit_bytes,
                                       std::span<const uint8_t> body, uint64_t now_ns) {
  LATTICE_ASSERT(!is_engine(message));
  const wire::ChannelMode mode = modes_->mode(message.channel);
  if (wire::is_reliable(mode)) {
    sending_ |= bit(message.channel);
    return queue_all(*reliable_[message.channel], message, unit_bytes, body);
  }
  const bool sequenced = mode == wire::ChannelMode::kUnreliableSequenced;
  base::Sequence16& next = sequence_[message.channel];
  if (sequenced) message.id = next;  // All fragments share it (F-04).
  if (!queue_all(application_, message, unit_bytes, body, in_ms(now_ns))) return false;
  if (sequenced) next = next.next();
  return true;
}

uint64_t OutgoingChannels::next_datagram_bytes() const {
  constexpr size_t kMostHeadBytes = 1 + 2 + wire::kFragmentHeaderBytes + 2;
  constexpr size_t kMostFrameBytes =
      wire::kMaxHeaderBytes + wire::kAckMessageWithDelayBytes + wire::kTagBytes;
  if (sending_ != 0) return kDatagramBytes;
  const size_t messages = engine_.size() + application_.size();
  const size_t bytes = engine_.bytes() + application_.bytes();
  return std::min<uint64_t>(kMostFrameBytes + messages * kMostHeadBytes + bytes, kDatagramBytes);
}

void OutgoingChannels::fill(const Room& room, PacketBuilder& builder, CarriedItems& items, Filled& filled) {
  const size_t parts_before = engine_.size();
  const size_t part_bytes = parts_before == 0 ? 0 : engine_.front_bytes();
  Filler(*this, room, builder, items, filled).fill();
  const bool has_one_part =
      engine_.size() + 1 == parts_before && filled.first_count + filled.resent_count == 1;
  if (has_one_part && parts_before != 1 && part_bytes < room.padded_bytes &&
      room.padded_bytes - part_bytes <= kMostPadding) {
    builder.pad_to(builder.size() + room.padded_bytes - part_bytes);
  }
}

void OutgoingChannels::expire(uint64_t now_ns) {
  for_each(sending_, [this, now_ns](uint8_t i) {
    reliable_[i]->expire(now_ns);
    if (reliable_[i]->idle()) sending_ &= ~bit(i);
  });
}

uint64_t OutgoingChannels::next_expiry_ns() const {
  uint64_t next_ns = UINT64_MAX;
  for_each(sending_, [&](uint8_t i) { next_ns = std::min(next_ns, reliable_[i]->next_expiry_ns()); });
  return next_ns;
}

OutgoingChannels::Queued OutgoingChannels::of_application() const {
  Queued out{application_.size(), application_.bytes()};
  for_each(sending_ & ~bit(kControl), [&](uint8_t i) {
    out.messages += reliable_[i]->queued_messages();
    out.bytes += reliable_[i]->queued_bytes();
  });
  return out;
}

OutgoingChannels::Queued OutgoingChannels::reliable() const {
  Queued out;
  for (const auto& channel : reliable_) {
    if (!channel) continue;
    out.messages += channel->queued_messages();
    out.bytes += channel->queued_bytes();
  }
  return out;
}

uint64_t OutgoingChannels::reliable_waiting_bytes() const {
  uint64_t bytes = 0;
  for_each(sending_, [&](uint8_t i) { bytes += reliable_[i]->waiting_bytes(); });
  return bytes;
}

bool OutgoingChannels::validate() const {
  for (uint8_t i = 0; i < wire::kChannelCount; ++i) {
    if (!reliable_[i]) continue;
    if (!reliable_[i]->validate()) return false;
    if (!reliable_[i]->idle() && (sending_ & bit(i)) == 0) return false;
  }
  return true;
}

}  // namespace lattice::reliability
