// Bounds and times of the channels (§5, §22, F-05).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "transport/socket/datagram_socket.h"
#include "transport/wire/constants.h"
#include "transport/wire/message_framing.h"

namespace lattice::reliability {

/// The sender sends message n only while n - (oldest message not yet acked) is below the window. The receiver
/// accepts message n only while n - (next message expected) is below it. Each window begins with the first
/// number, and the receiver lets it grow up to the second.
inline constexpr int32_t kReliableWindow = 256;
inline constexpr int32_t kMaxReliableWindow = 1024;
/// No credit is larger.
inline constexpr int32_t kMaxCredit = 8192;
/// Bounds of the messages that wait behind the window of a reliable channel, and of each unreliable queue
///
inline constexpr size_t kMaxQueuedMessages = 1024;
inline constexpr size_t kMaxQueuedBytes = 1u << 20;

/// Two 16-bit message numbers are compared only if their packets are at most this far apart. The replay
/// window accepts older packets too, and their message numbers may have wrapped round (decision 13).
inline constexpr uint64_t kMaxNumberedPackets = 64;
/// The smallest message with a number: first byte, number, length.
inline constexpr size_t kMinNumberedMessageBytes = 5;
static_assert((kMaxNumberedPackets + 1) * (socket::kMaxDatagramBytes / kMinNumberedMessageBytes) +
                  kMaxCredit <
              0x8000);

/// Most records of sent packets. An older packet that is not acked counts as lost.
inline constexpr size_t kMaxSentPackets = 4096;
inline constexpr size_t kMinSentPackets = 32;

/// No message leaves in a packet whose number is this much or more above the largest acknowledged one.
inline constexpr uint64_t kMaxUnacked = 0x8000;

/// The first window of 64-byte messages is 15 packets. If one ack answered all 15, the sender would stop for
/// a round trip after each window. A larger window has as many acks as R-03 wants.
inline constexpr uint32_t kAckEveryPackets = 8;
inline constexpr uint32_t kAckEveryPacketsOfMany = 16;
inline constexpr uint64_t kMaxAckDelayNs = 25'000'000;  ///< R-03, L-07.
inline constexpr uint64_t kMinReliableAckDelayNs = 5'000'000;
/// How long a server's ack of a packet with nothing but inputs may wait. No message of the packet is
/// sent again for want of an ack, and at 20 snapshots per second or more the next one carries it: almost half
/// of what a server sent were separate acks.
inline constexpr uint64_t kMaxInputAckDelayNs = 60'000'000;
/// How long an ack of a reliable message may wait. The sender adds the same time to rto before it sends the
/// message again; otherwise it would repeat messages on a clean path just before their ack arrives.
constexpr uint64_t reliable_ack_delay_ns(uint64_t srtt_ns) {
  return std::clamp(srtt_ns / 8, kMinReliableAckDelayNs, kMaxAckDelayNs);
}
/// The smallest age that an ack block carries. A smaller age is not worth its two bytes.
inline constexpr uint64_t kMinReportedAckDelayNs = 1'000'000;
/// The smallest time between two readings of the socket that such an age includes. Separate acks include any.
inline constexpr uint64_t kMinReportedUnreadNs = 20'000'000;
/// A packet is taken to have waited no longer than this for being read.
inline constexpr uint64_t kMaxUnreadNs = 250'000'000;
/// The same of what this side reads itself, and so knows.
inline constexpr uint64_t kMaxOwnUnreadNs = 1'000'000'000;
inline constexpr uint32_t kFastRetransmitPackets = 3;  ///< R-07.
inline constexpr uint32_t kBlackHoleLosses = 4;        ///< L-06.
/// Default of the longest interval between two sendings of a reliable message: the upper bound of rto.
inline constexpr uint64_t kMaxResendIntervalNs = 1'000'000'000;
inline constexpr uint64_t kProbeAfterNs = 1'000'000'000;  ///< R-06: without a sample for so long, a probe.

// The largest bodies that fit every datagram together with an ack block, without a fragment header (F-05).
inline constexpr size_t kMaxUnreliableBody = wire::kFloorPlaintextBytes - wire::kAckMessageBytes - (1 + 2);
inline constexpr size_t kMaxSequencedBody = wire::kFloorPlaintextBytes - wire::kAckMessageBytes - (1 + 2 + 2);
inline constexpr size_t kMaxReliableBody = wire::kFloorPlaintextBytes - (1 + 2 + wire::kAckBlockBytes + 2);
/// Snapshot parts and input messages (channel 1 with is_snapshot) are at most this long.
inline constexpr size_t kMaxSnapshotBody = kMaxSequencedBody;
static_assert(kMaxUnreliableBody == 1149 && kMaxSequencedBody == 1147 && kMaxReliableBody == 1150);
/// The largest body of a bulk message: alone in the largest datagram, with the shortest header (L-06).
inline constexpr size_t kLargestDatagramBytes = 1472;
inline constexpr size_t kMaxBulkBody =
    kLargestDatagramBytes - wire::kMinHeaderBytes - wire::kTagBytes - wire::kAckMessageBytes - (1 + 2);

// Fragments (F-05): a unit fits every datagram on every channel, together with a fragment header and an ack
// block.
inline constexpr size_t kFragmentUnitBytes = 1136;
inline constexpr size_t kMaxFragments = 256;
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
