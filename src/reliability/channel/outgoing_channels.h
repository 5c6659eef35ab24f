// What one connection has to send: its reliable channels, and two queues of unreliable messages. Fills
// packets from them in the order of R-14; channels that wait together take turns.
//
//   queue() ─▶ reliable channels ─────────────┐
//           ─▶ engine: snapshots and inputs ──┼─▶ fill() ─▶ a packet ─▶ on_acked() or on_lost()
//           ─▶ application: other unreliable ─┘
//
// Must stay true: a reliable channel with a message to send or to be acked has its bit in sending_; the
// engine messages queued between two end_sequence() share one sequence.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/assert.h"
#include "reliability/channel/channel_turns.h"
#include "reliability/channel/engine_share.h"
#include "reliability/channel/outgoing_message.h"
#include "reliability/channel/packet_builder.h"
#include "reliability/channel/send_channel.h"
#include "reliability/channel/unreliable_queue.h"
#include "reliability/recovery/carried_items.h"
#include "transport/wire/channel_table.h"

namespace lattice::reliability {

/// How the messages of a channel share a full link with others. The unreliable messages of the application
/// wait in one queue and have one setting together.
struct ChannelSettings {
  uint32_t weight = 1;     // bytes in turns of channels, beside those of others; to ChannelTurns::kMaxWeight
  bool is_urgent = false;  // before all turns; snapshots and inputs keep their quarter
  uint32_t max_wait_ms = 0;  // unreliable messages that waited for so long are given up; 0: never
};

class OutgoingChannels {
 public:
  /// `pool` and `modes` are borrowed.
  OutgoingChannels(base::BufferPool& pool, const wire::ChannelTable& modes, uint64_t max_resend_interval_ns);

  /// Channel 1 with is_snapshot: snapshots and inputs.
  static bool is_engine(const OutgoingMessage& message) {
    return message.channel == static_cast<uint8_t>(wire::Channel::kUnreliableSequenced) &&
           (message.flags & wire::kFlagSnapshot) != 0;
  }

  /// `channel` carries messages of the application.
  void set(uint8_t channel, const ChannelSettings& settings);

  /// Copies `message` into the queue of its channel, which carries messages, and gives it its number. False,
  /// and nothing changed, when the queue is full.
  bool queue(OutgoingMessage message, uint64_t now_ns);
  /// A control message of the transport.
  bool queue_control(std::span<const uint8_t> body);
  /// Queues `body` as message.fragment.count fragments of `unit_bytes`; the last may be shorter. Queues all,
  /// or none and returns false (F-01). No engine messages.
  bool queue_fragments(OutgoingMessage message, size_t unit_bytes, std::span<const uint8_t> body,
                       uint64_t now_ns);

  /// The peer's credit for a reliable channel.
  void set_window(uint8_t channel, int32_t messages) {
    LATTICE_ASSERT(reliable_[channel] != nullptr);
    reliable_[channel]->set_window(messages);
  }

  /// Something is ready to be packed now.
  bool has_work() const {
    return !engine_.empty() || !application_.empty() || has_reliable_work();
  }
  bool has_reliable_work() const {
    for (uint32_t left = sending_; left != 0; left &= left - 1) {
      if (reliable_[static_cast<size_t>(std::countr_zero(left))]->has_work()) return true;
    }
    return false;
  }
  bool has_control() const { return reliable_[kControl]->has_work(); }
  /// The most that the next datagram can take of what waits; at most kDatagramBytes.
  uint64_t next_datagram_bytes() const;

  struct Room {
    SendChannel::Carrier carrier = {};  ///< The packet that is filled.
    size_t budget_bytes = 0;            ///< Of the plaintext.
    /// A packet with one part of a snapshot, but the last, becomes as long as one with a part of so many
    /// bytes (W-30), if little is missing.
    size_t padded_bytes = 0;
    bool control_only = false;
  };
  struct Filled {
    uint32_t items = CarriedItems::kNone;
    uint32_t first_count = 0;
    uint32_t resent_count = 0;
  };
  /// Moves what fits into `builder`, and records in `items` what is to be acked. `items` has room.
  /// Adds to `filled`, which is not returned as a value: what was just written member by member could only be
  /// copied once all writes before it are done.
  void fill(const Room& room, PacketBuilder& builder, CarriedItems& items, Filled& filled);
  /// All that may leave in this update has left: the next engine message begins a new sequence.
  void end_sequence() {
    if (!engine_used_) return;
    engine_sequence_ = engine_sequence_.next();
    engine_used_ = false;
  }

  /// A packet with `count` messages of `channel` from index `first` on was acked. Calls told(receipt) for
  /// each receipt to report; told() may queue more messages.
  template <class Told>
  void on_acked(uint8_t channel, uint32_t first, size_t count, Told told) {
    LATTICE_ASSERT(reliable_[channel] != nullptr);
    reliable_[channel]->on_acked(first, count, told);
  }
  /// Packet `packet_seq`, which carried these messages, was lost.
  void on_lost(uint8_t channel, uint32_t first, size_t count, uint64_t packet_seq) {
    LATTICE_ASSERT(reliable_[channel] != nullptr);
    reliable_[channel]->on_lost(first, count, packet_seq);
  }

  /// Marks messages whose retransmission interval is over, and forgets idle channels. Once per update, before
  /// packing.
  void expire(uint64_t now_ns);
  /// Gives up unreliable messages that waited too long, calling lost(receipt) for each receipt. Returns how
  /// many.
  template <class Lost>
  uint32_t give_up(uint64_t now_ns, Lost lost) {
    return max_wait_ms_ == 0 ? 0 : application_.give_up(in_ms(now_ns), max_wait_ms_, lost);
  }
  /// When expire() has something to mark; UINT64_MAX: never.
  uint64_t next_expiry_ns() const;

  /// Empties everything, calling lost(receipt) for each receipt that was not reported yet.
  template <class Lost>
  void lose_everything(Lost lost) {
    for (const auto& channel : reliable_) {
      if (channel) channel->lose_everything(lost);
    }
    engine_.lose_everything(lost);
    application_.lose_everything(lost);
  }
  template <class Lost>
  void drop_engine(Lost lost) {
    engine_.lose_everything(lost);
  }

  struct Queued {
    size_t messages = 0;
    size_t bytes = 0;
  };
  /// Messages of the application that are kept: not control, not the engine's.
  Queued of_application() const;
  /// Kept on all reliable channels.
  Queued reliable() const;
  /// Bytes of bodies that were never sent.
  uint64_t reliable_waiting_bytes() const;
  uint64_t engine_bytes() const { return engine_.bytes(); }
  uint64_t application_bytes() const { return application_.bytes(); }
  /// Engine messages that wait: for snapshots, their parts.
  size_t engine_count() const { return engine_.size(); }
  size_t longest_engine_bytes() const { return engine_.longest_body_bytes(); }

  /// For tests and validation builds.
  bool validate() const;
  /// What every packet and update reads lies between `this` and here.
  const void* hot_end() const { return &turns_; }

 private:
  class Filler;
  static constexpr auto kControl = static_cast<uint8_t>(wire::Channel::kControl);
  /// In turns_ this number stands for all that waits in application_. It is never a reliable channel.
  static constexpr auto kUnreliable = static_cast<uint8_t>(wire::Channel::kUnreliable);
  static constexpr uint32_t bit(uint8_t channel) { return uint32_t{1} << channel; }
  static constexpr uint32_t in_ms(uint64_t now_ns) { return static_cast<uint32_t>(now_ns / 1'000'000); }
  /// Calls visit(channel number) for each channel of `bits`, lowest first.
  template <class Visit>
  static void for_each(uint32_t bits, Visit visit) {
    for (; bits != 0; bits &= bits - 1) visit(static_cast<uint8_t>(std::countr_zero(bits)));
  }

  // What every packet reads comes first. Most channels are idle most of the time, and updates skip them:
  // expire() clears the bits of idle channels.
  uint32_t sending_ = 0;
  uint32_t urgent_ = 0;       ///< Of reliable channels, and kUnreliable for application_.
  uint32_t max_wait_ms_ = 0;  ///< Of application_.
  bool engine_used_ = false;  ///< Since end_sequence().
  base::Sequence16 engine_sequence_;
  const wire::ChannelTable* modes_;
  UnreliableQueue engine_;
  UnreliableQueue application_;
  EngineShare share_;
  ChannelTurns turns_;
  std::array<std::unique_ptr<SendChannel>, wire::kChannelCount> reliable_;
  std::array<base::Sequence16, wire::kChannelCount> sequence_{};  ///< Next, of unreliable-sequenced channels.
};

}  // namespace lattice::reliability
