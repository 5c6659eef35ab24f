#include "replication/long_sends.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace lattice::replication {

PieceRun LongSend::next(uint32_t most) const {
  const size_t first = sent.find_first_clear();
  const uint32_t end = pieces();
  if (first >= end) return {};
  const size_t next_sent = std::min<size_t>(sent.find_next_set(first), end);
  const auto begin = static_cast<uint32_t>(first);
  return {begin, std::min({static_cast<uint32_t>(next_sent) - begin, most, PieceRun::kMaxCount})};
}

const LongSend* LongSends::find(uint32_t index) const {
  for (const LongSend& send : sends_) {
    if (send.index == index) return &send;
  }
  return nullptr;
}

// A ledger holds the low bits of a version. Of one replica, one state is under way at a time.
LongSend* LongSends::find(uint32_t index, uint16_t version) {
  for (LongSend& send : sends_) {
    if (send.index == index && static_cast<uint16_t>(send.version) == version) return &send;
  }
  return nullptr;
}

bool LongSends::any_unsent() const {
  return std::any_of(sends_.begin(), sends_.end(),
                     [](const LongSend& send) { return send.next(1).count != 0; });
}

uint32_t LongSends::unsent_bytes() const {
  uint32_t pieces = 0;
  for (const LongSend& send : sends_) pieces += send.pieces() - static_cast<uint32_t>(send.sent.count());
  return pieces * kPieceBytes;
}

LongSend& LongSends::begin() {
  LATTICE_ASSERT(sends_.size() < kMaxLongStates);
  LongSend& send = sends_.emplace_back();
  send.bytes = std::exchange(spare_, {});
  return send;
}

void LongSends::end(uint32_t index) {
  for (LongSend& send : sends_) {
    if (send.index == index) spare_ = std::move(send.bytes);
  }
  std::erase_if(sends_, [index](const LongSend& send) { return send.index == index; });
}

bool LongSends::on_acked(uint32_t index, uint16_t version, PieceRun run) {
  LongSend* send = find(index, version);
  if (send == nullptr) return false;
  for (uint32_t piece = run.first; piece < run.first + run.count; ++piece) {
    if (send->acked.test(piece)) continue;
    send->acked.set(piece);
    send->sent.set(piece);  // it may have been taken for lost
    ++send->acked_pieces;
  }
  return send->acked_pieces == send->pieces();
}

void LongSends::on_lost(uint32_t index, uint16_t version, PieceRun run) {
  LongSend* send = find(index, version);
  if (send == nullptr) return;
  for (uint32_t piece = run.first; piece < run.first + run.count; ++piece) {
    if (!send->acked.test(piece)) send->sent.clear(piece);
  }
}

void LongSends::complete(uint32_t index) {
  release([index](uint32_t other, uint32_t) { return other != index; });
  // A client that acks nothing but pieces would have everything pinned. It needs full states in their place.
  if (baselines_.size() == kMostBaselines) baselines_.erase(baselines_.begin());
  baselines_.push_back({index, find(index)->pinned});
  end(index);
}

void LongSends::renew(Tick now, uint32_t resend_ticks) {
  for (LongSend& send : sends_) {
    if (now - send.sent_tick >= resend_ticks && send.next(1).count == 0) send.sent = send.acked;
  }
}

}  // namespace lattice::replication
