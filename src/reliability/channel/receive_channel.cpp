#include "reliability/channel/receive_channel.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include "base/assert.h"

namespace lattice::reliability {

ReceiveChannel::~ReceiveChannel() {
  if (stored_count_ != 0) {
    received_.for_each_set([this](size_t id) { memory_->give(stored(id)); });
  }
  pool_->release(array_);
}

bool ReceiveChannel::may_keep(base::Sequence16 id, bool is_fragment) const {
  const bool is_inside = oldest_incomplete_ && oldest_incomplete_->distance_from(next_) < 0;
  const base::Sequence16 base = is_inside ? *oldest_incomplete_ : next_;
  const bool is_in_share = id.distance_from(base) < static_cast<int32_t>(ReceiveMemory::kShareBlocks);
  const bool may_grow = memory_->may_grow() && !(is_fragment && is_crowded_);
  return (is_in_share || may_grow) && memory_->has_room();
}

ReceiveChannel::Outcome ReceiveChannel::judge(base::Sequence16 id, uint8_t flags,
                                              std::span<const uint8_t> body,
                                              const wire::FragmentHeader& fragment) {
  const int32_t ahead = id.distance_from(next_);
  if (ahead < 0) return Outcome::kDuplicate;
  if (ahead >= credit_.accepted()) return Outcome::kBeyondWindow;
  const size_t bit = id.value % kWindow;
  if (received_.test(bit)) return Outcome::kDuplicate;
  const bool is_fragment = (flags & wire::kFlagFragment) != 0;
  const bool is_kept = is_fragment || (ordered_ && ahead != 0);
  if (is_kept && !may_keep(id, is_fragment)) return Outcome::kNoMemory;
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
    LATTICE_CHECK(body.size() <= socket::kMaxDatagramBytes);
    uint8_t* block = memory_->take();
    new (block) Early{id, static_cast<uint16_t>(body.size()), fragment, flags};
    if (!body.empty()) std::memcpy(block + sizeof(Early), body.data(), body.size());
    stored(id.value) = block;
    ++stored_count_;
  }
  received_.set(bit);
  return ordered_ ? Outcome::kStored : Outcome::kDeliver;
}

bool ReceiveChannel::pop_ready(Ready* out) {
  if (stored_count_ == 0) return false;
  const size_t bit = next_.value % kWindow;
  if (!received_.test(bit)) return false;
  uint8_t* block = stored(next_.value);
  const Early& early = *std::launder(reinterpret_cast<const Early*>(block));
  *out = {block, block + sizeof(Early), early.size_bytes, early.id, early.fragment, early.flags};
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
  base::Buffer longer = pool_->allocate(capacity * sizeof(uint8_t*));
  if (!longer) return false;
  auto** blocks = reinterpret_cast<uint8_t**>(longer.data);
  if (stored_count_ != 0) {
    received_.for_each_set([&](size_t id) { blocks[id & (capacity - 1)] = stored(id); });
  }
  pool_->release(array_);
  array_ = longer;
  capacity_ = capacity;
  return true;
}

}  // namespace lattice::reliability
