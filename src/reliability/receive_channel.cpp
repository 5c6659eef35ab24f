#include "reliability/receive_channel.h"

#include "base/assert.h"

namespace lattice::reliability {

ReceiveChannel::~ReceiveChannel() {
  if (stored_count_ != 0) {
    received_.for_each_set(
        [this](size_t i) { release_body(*pool_, reinterpret_cast<Ready*>(array_.data)[i].body); });
  }
  pool_->release(array_);
}

ReceiveChannel::Outcome ReceiveChannel::offer(base::Sequence16 id, uint8_t flags,
                                              std::span<const uint8_t> body,
                                              const wire::FragmentHeader& fragment) {
  const int32_t ahead = id.distance_from(next_);
  if (ahead < 0) return Outcome::kDuplicate;
  if (ahead >= kReliableWindow) return Outcome::kBeyondWindow;
  const size_t bit = id.value % kWindow;
  if (received_.test(bit)) return Outcome::kDuplicate;
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
    Ready entry;
    entry.id = id;
    entry.fragment = fragment;
    entry.flags = flags;
    if (!store_body(*pool_, {}, body, &entry.body)) return Outcome::kNoMemory;
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
