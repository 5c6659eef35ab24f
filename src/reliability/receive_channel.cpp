#include "reliability/receive_channel.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/assert.h"

namespace lattice::reliability {

ReceiveChannel::~ReceiveChannel() {
  if (stored_count_ != 0) {
    received_.for_each_set([this](size_t id) { memory_->give(stored(id).block); });
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
    if (!make_room(static_cast<size_t>(ahead))) return Outcome::kNoMemory;
    LATTICE_CHECK(body.size() <= ReceiveMemory::kBlockBytes);
    Ready entry;
    entry.block = memory_->take();
    entry.size_bytes = static_cast<uint16_t>(body.size());
    if (!body.empty()) std::memcpy(entry.block, body.data(), body.size());
    entry.id = id;
    entry.fragment = fragment;
    entry.flags = flags;
    stored(id.value) = entry;
    ++stored_count_;
  }
  received_.set(bit);
  return ordered_ ? Outcome::kStored : Outcome::kDeliver;
}

bool ReceiveChannel::pop_ready(Ready* out) {
  if (stored_count_ == 0) return false;
  const size_t bit = next_.value % kWindow;
  if (!received_.test(bit)) return false;
  *out = stored(next_.value);
  received_.clear(bit);
  next_ = next_.next();
  if (--stored_count_ == 0) {
    pool_->release(array_);
    capacity_ = 0;
  }
  return true;
}

// Most gaps are short. The ids that are stored differ by less than the capacity, so each has a place of its
// own.
bool ReceiveChannel::make_room(size_t ahead) {
  if (ahead < capacity_) return true;
  const size_t capacity = std::max(kFirstCapacity, std::bit_ceil(ahead + 1));
  base::Buffer longer = pool_->allocate(capacity * sizeof(Ready));
  if (!longer) return false;
  auto* entries = reinterpret_cast<Ready*>(longer.data);
  if (stored_count_ != 0) {
    received_.for_each_set([&](size_t id) {
      const Ready& entry = stored(id);
      entries[entry.id.value & (capacity - 1)] = entry;
    });
  }
  pool_->release(array_);
  array_ = longer;
  capacity_ = capacity;
  return true;
}

}  // namespace lattice::reliability
