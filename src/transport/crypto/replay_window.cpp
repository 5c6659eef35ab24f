#include "transport/crypto/replay_window.h"

#include <algorithm>

#include "base/assert.h"

namespace lattice::crypto {

ReplayWindow::ReplayWindow(uint64_t packets) : packets_(packets) {
  LATTICE_CHECK(packets >= kMinReplayWindowPackets && packets <= kReplayWindowPackets);
}

Replay ReplayWindow::test(uint64_t packet_seq) const {
  if (packet_seq == 0 || packet_seq >= kPacketSeqLimit) return Replay::kOutOfRange;
  if (packet_seq > highest_) return Replay::kFresh;
  if (highest_ - packet_seq >= packets_) return Replay::kTooOld;
  const uint64_t word = seen_[(packet_seq / 64) % kWords];
  return (word >> (packet_seq % 64)) & 1 ? Replay::kDuplicate : Replay::kFresh;
}

void ReplayWindow::mark(uint64_t packet_seq) {
  LATTICE_CHECK(test(packet_seq) == Replay::kFresh);
  if (packet_seq > highest_) {
    const uint64_t words_ahead = std::min(packet_seq / 64 - highest_ / 64, kWords);
    for (uint64_t i = 1; i <= words_ahead; ++i) seen_[(highest_ / 64 + i) % kWords] = 0;
    highest_ = packet_seq;
  }
  seen_[(packet_seq / 64) % kWords] |= uint64_t{1} << (packet_seq % 64);
}

}  // namespace lattice::crypto
