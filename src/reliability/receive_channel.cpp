#include "reliability/receive_channel.h"

#include <cstring>

#include "base/assert.h"

namespace lattice::reliability {

ReceiveChannel::~ReceiveChannel() {
  if (stored_count_ != 0) {
    received_.for_each_set(
        [this](size_t i) { memory_->give(reinterpret_cast<Ready*>(array_.data)[i].block); });
  }
  pool_->release(array_);
}

bool ReceiveChannel::may_keep(base::Sequence16 id) const {
  const bool is_inside = oldest_incomplete_ && oldest_incomplete_->distance_from(next_) < 0;
  const base::Sequence16 base = is_inside ? *oldest_incomplete_ : next_;
  const bool is_in_share = id.distance_from(base) < static_cast<int32_t>(ReceiveMemory::kShareBlocks);
  return (is_in_share || memory_->may_grow()) && memory_->has_room();
}

ReceiveChannel::Outcome ReceiveChannel::offer(base::Sequence16 id, uint8_t flags,
                                              std::span<const uint8_t> body,
                                              const wire::FragmentHeader& fragment) {
  const int32_t ahead = id.distance_from(next_);
  if (ahead < 0) return Outcome::kDuplicate;
  if (ahead >= kReliableWindow) return Outcome::kBeyondWindow;
  const size_t bit = id.value % kWindow;
  if (received_.test(bit)) return Outcome::kDuplicate;
  const bool is_kept = (flags & wire::kFlagFragment) != 0 || (ordered_ && ahead != 0);
  if (is_kept && !may_keep(id)) return Outcome::kNoMemory;
  if (ahead == 0) {
    next_ = next_.next();
    if (!ordered_) {
      while (received_.test(next_.value % kWindow)) {
        received_.clear(next_.value % kWindow);
        next_ = next_.next();
      }
    }
    return Outcome::kDeliver;
  }
  if (ordered_) {
    if (!array_) array_ = pool_->allocate(kWindow * sizeof(Ready));
    if (!array_) return Outcome::kNoMemory;
    LATTICE_CHECK(body.size() <= ReceiveMemory::kBlockBytes);
    Ready entry;
    entry.block = memory_->take();
    entry.size_bytes = static_cast<uint16_t>(body.size());
    if (!body.empty()) std::memcpy(entry.block, body.data(), body.size());
    entry.id = id;
    entry.fragment = fragment;
    entry.flags = flags;
    stored(id) = entry;
    ++stored_count_;
  }
  received_.set(bit);
  return ordered_ ? Outcome::kStored : Outcome::kDeliver;
}

bool ReceiveChannel::pop_ready(Ready* out) {
  if (stored_count_ == 0) return false;
  const size_t bit = next_.value % kWindow;
  if (!received_.test(bit)) return false;
  *out = stored(next_);
  received_.clear(bit);
  next_ = next_.next();
  if (--stored_count_ == 0) pool_->release(array_);
  return true;
}

}  // namespace lattice::reliability
