// Bounds and times of the channels (§5, §22, F-05).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "transport/socket/datagram_socket.h"
#include "transport/wire/constants.h"
#include "transport/wire/message_framing.h"

namespace lattice::reliability {

/// Message n is sent, and accepted, only while n - (oldest not yet acked, next expected) is below this.
inline constexpr int32_t kReliableWindow = 256;
/// What may wait per reliable channel beyond the window, and in each unreliable queue.
inline constexpr size_t kMaxQueuedMessages = 1024;
inline constexpr size_t kMaxQueuedBytes = 1u << 20;

/// Message numbers of 16 bits are compared only between packets at most so far apart: the replay window lets
/// in what is older, and with it numbers that have come round (decision 13).
inline constexpr uint64_t kMaxNumberedPackets = 64;
/// The smallest message with a number: first byte, number, length.
inline constexpr size_t kMinNumberedMessageBytes = 5;
static_assert((kMaxNumberedPackets + 1) * (socket::kMaxDatagramBytes / kMinNumberedMessageBytes) +
                  kReliableWindow <
              0x8000);

/// Records of sent packets kept at most; older ones not acked are lost.
inline constexpr size_t kMaxSentPackets = 1024;
inline constexpr size_t kMinSentPackets = 32;

/// No message leaves so many numbers or more beyond the largest acknowledged.
inline constexpr uint64_t kMaxUnacked = 0x8000;

/// R-03 allows 16. A full window of 64-byte messages is 15 packets: acknowledged whole, it would stop the
/// sender for a round trip each time.
inline constexpr uint32_t kAckEveryPackets = 8;
inline constexpr uint64_t kMaxAckDelayNs = 25'000'000;  ///< R-03, L-07.
inline constexpr uint64_t kMinReliableAckDelayNs = 5'000'000;
/// How long an ack of a reliable message may wait; and so how much longer than rto its sender waits before it
/// sends again, or it would repeat on a clean path what is about to be acknowledged.
constexpr uint64_t reliable_ack_delay_ns(uint64_t srtt_ns) {
  return std::clamp(srtt_ns / 8, kMinReliableAckDelayNs, kMaxAckDelayNs);
}
/// An ack block carries its age only from here on; below, the two bytes buy nothing.
inline constexpr uint64_t kMinReportedAckDelayNs = 1'000'000;
inline constexpr uint32_t kFastRetransmitPackets = 3;  ///< R-07.
inline constexpr uint32_t kBlackHoleLosses = 4;        ///< L-06.
/// Default of the longest interval between two sendings of a reliable message: the upper bound of rto.
inline constexpr uint64_t kMaxResendIntervalNs = 1'000'000'000;
inline constexpr uint64_t kProbeAfterNs = 1'000'000'000;  ///< R-06: no sample for so long, then a probe.

// The largest bodies that fit every datagram, an ack block with them and no fragment header (F-05).
inline constexpr size_t kMaxUnreliableBody = wire::kFloorPlaintextBytes - wire::kAckMessageBytes - (1 + 2);
inline constexpr size_t kMaxSequencedBody = wire::kFloorPlaintextBytes - wire::kAckMessageBytes - (1 + 2 + 2);
inline constexpr size_t kMaxReliableBody = wire::kFloorPlaintextBytes - (1 + 2 + wire::kAckBlockBytes + 2);
/// A channel-1 message with is_snapshot: snapshot parts and input packets are cut to this.
inline constexpr size_t kMaxSnapshotBody = kMaxSequencedBody;
static_assert(kMaxUnreliableBody == 1149 && kMaxSequencedBody == 1147 && kMaxReliableBody == 1150);
/// The largest body of a bulk message: alone in the largest datagram, whose number is the shortest (L-06).
inline constexpr size_t kLargestDatagramBytes = 1472;
inline constexpr size_t kMaxBulkBody =
    kLargestDatagramBytes - wire::kMinHeaderBytes - wire::kTagBytes - wire::kAckMessageBytes - (1 + 2);

// Fragments (F-05): a unit fits every datagram on every channel, fragment header and an ack block with it.
inline constexpr size_t kFragmentUnitBytes = 1136;
inline constexpr size_t kMaxFragments = 256;
/// What keeping a fragment takes from the pool beside its body.
inline constexpr size_t kFragmentRecordBytes = 16;
static_assert(kFragmentUnitBytes + wire::kFragmentHeaderBytes <= kMaxSequencedBody);
static_assert(kFragmentUnitBytes + wire::kFragmentHeaderBytes <= kMaxReliableBody);
static_assert(kMaxFragments == static_cast<size_t>(kReliableWindow));  // F-08: one message fills the window.

/// The largest body send() takes on a channel of this mode; 0 for modes that take none.
constexpr size_t max_body_bytes(wire::ChannelMode mode) {
  switch (mode) {
    case wire::ChannelMode::kUnreliable:
      return kMaxUnreliableBody;
    case wire::ChannelMode::kUnreliableSequenced:
      return kMaxSequencedBody;
    case wire::ChannelMode::kReliableUnordered:
    case wire::ChannelMode::kReliableOrdered:
      return kMaxReliableBody;
    case wire::ChannelMode::kBulk:
    case wire::ChannelMode::kUndeclared:
    case wire::ChannelMode::kAckMessage:
      break;
  }
  return 0;
}

}  // namespace lattice::reliability
