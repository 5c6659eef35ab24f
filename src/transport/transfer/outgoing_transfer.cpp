#include "transport/transfer/outgoing_transfer.h"

#include <algorithm>

#include "base/assert.h"

namespace lattice::transfer {

OutgoingTransfer::OutgoingTransfer(uint16_t id, uint64_t size_bytes, uint16_t block_bytes)
    : id_(id),
      block_bytes_(block_bytes),
      size_bytes_(size_bytes),
      block_count_(static_cast<uint32_t>(wire::block_count(size_bytes, block_bytes))) {
  LATTICE_ASSERT(size_bytes != 0 && wire::block_count(size_bytes, block_bytes) <= wire::kMaxBlocks);
}

bool OutgoingTransfer::accept() {
  if (state_ != State::kOffered) return false;
  state_ = State::kRunning;
  lost_.resize(std::min(block_count_, kMaxBlocksInFlight));
  return true;
}

std::optional<uint32_t> OutgoingTransfer::next() const {
  if (state_ != State::kRunning || held_here_ || held_by_peer_) return std::nullopt;
  if (lost_count_ != 0) return lost_[first_lost_];
  if (next_fresh_ == block_count_ || in_flight_ >= kMaxBlocksInFlight) return std::nullopt;
  return next_fresh_;
}

size_t OutgoingTransfer::bytes(uint32_t index) const {
  LATTICE_ASSERT(index < block_count_);
  return static_cast<size_t>(std::min<uint64_t>(block_bytes_, size_bytes_ - offset(index)));
}

void OutgoingTransfer::on_sent() {
  LATTICE_ASSERT(next().has_value());
  if (lost_count_ != 0) {
    first_lost_ = (first_lost_ + 1) % static_cast<uint32_t>(lost_.size());
    --lost_count_;
  } else {
    ++next_fresh_;
  }
  ++in_flight_;
  LATTICE_ASSERT(lost_count_ + in_flight_ <= lost_.size());
}

void OutgoingTransfer::on_fate(uint32_t index, bool acked) {
  LATTICE_CHECK(in_flight_ != 0 && index < block_count_);
  --in_flight_;
  if (acked) {
    acked_bytes_ += bytes(index);
    return;
  }
  lost_[(first_lost_ + lost_count_) % static_cast<uint32_t>(lost_.size())] = index;
  ++lost_count_;
}

}  // namespace lattice::transfer
