#include "transfer/outgoing_transfer.h"

#include <algorithm>
#include <numeric>

#include "base/assert.h"

namespace lattice::transfer {
namespace {

// Half of a chunk that fits the largest datagram fits the smallest datagram, and is not too short to be sent.
static_assert((reliability::kMaxBulkBody + 1) / 2 + wire::kMaxChunkHeaderBytes <=
              OutgoingTransfer::kMinRoomBytes);
static_assert((OutgoingTransfer::kMinRoomBytes - wire::kMaxChunkHeaderBytes) / 2 >= wire::kMinChunkBytes);

}  // namespace

OutgoingTransfer::OutgoingTransfer(uint16_t id, uint64_t size_bytes) : id_(id), size_bytes_(size_bytes) {
  LATTICE_ASSERT(size_bytes != 0 && size_bytes <= wire::kMaxTransferBytes);
}

bool OutgoingTransfer::accept() {
  if (state_ != State::kOffered) return false;
  state_ = State::kRunning;
  // Only the last chunk may be shorter than kMinChunkBytes.
  const uint64_t chunks = size_bytes_ / wire::kMinChunkBytes + 1;
  flying_.resize(static_cast<size_t>(std::min<uint64_t>(chunks, kMaxChunksInFlight)));
  lost_.resize(static_cast<size_t>(std::min<uint64_t>(chunks, kMaxOpenChunks)));
  free_names_.resize(flying_.size());
  std::iota(free_names_.rbegin(), free_names_.rend(), 0u);
  return true;
}

bool OutgoingTransfer::has_next() const {
  if (state_ != State::kRunning || held_here_ || held_by_peer_) return false;
  if (in_flight_ >= kMaxChunksInFlight) return false;
  return lost_count_ != 0 || next_fresh_ != size_bytes_;
}

ByteRange OutgoingTransfer::next(const Room& room) const {
  LATTICE_ASSERT(has_next() && room.fresh_bytes >= kMinRoomBytes && room.repeat_bytes >= kMinRoomBytes);
  const bool fresh = lost_count_ == 0;
  const uint64_t begin = fresh ? next_fresh_ : lost_[first_lost_].begin;
  const size_t header_bytes = wire::transfer_chunk_header_bytes(begin);
  if (fresh) return {begin, std::min(size_bytes_, begin + room.fresh_bytes - header_bytes)};
  const uint64_t bytes = lost_[first_lost_].bytes();
  return {begin, begin + (bytes <= room.repeat_bytes - header_bytes ? bytes : (bytes + 1) / 2)};
}

uint32_t OutgoingTransfer::on_sent(const ByteRange& chunk) {
  LATTICE_ASSERT(has_next());
  if (lost_count_ != 0) {
    ByteRange& lost = lost_[first_lost_];
    LATTICE_ASSERT(chunk.begin == lost.begin && chunk.end <= lost.end);
    lost.begin = chunk.end;
    if (lost.empty()) {
      first_lost_ = (first_lost_ + 1) % static_cast<uint32_t>(lost_.size());
      --lost_count_;
    }
  } else {
    LATTICE_ASSERT(chunk.begin == next_fresh_);
    next_fresh_ = chunk.end;
  }
  LATTICE_CHECK(!free_names_.empty());
  const uint32_t name = free_names_.back();
  free_names_.pop_back();
  flying_[name] = chunk;
  ++in_flight_;
  return name;
}

void OutgoingTransfer::on_receipt(uint32_t name, bool acked) {
  LATTICE_CHECK(name < flying_.size() && in_flight_ != 0);
  --in_flight_;
  free_names_.push_back(name);
  const ByteRange& chunk = flying_[name];
  if (acked) {
    acked_bytes_ += chunk.bytes();
    return;
  }
  LATTICE_CHECK(lost_count_ < lost_.size());
  lost_[(first_lost_ + lost_count_) % static_cast<uint32_t>(lost_.size())] = chunk;
  ++lost_count_;
}

}  // namespace lattice::transfer
