#include "abi/event_log.h"

#include <algorithm>

namespace lattice::abi {

void EventLog::record(const lattice_event& event, std::span<const uint8_t> data) {
  forget_taken();
  lattice_event& kept = events_.emplace_back(event);
  kept.bytes = data.size();
  bytes_.insert(bytes_.end(), data.begin(), data.end());
  bytes_.push_back(0);
}

size_t EventLog::take(std::span<lattice_event> out) {
  const size_t count = std::min(out.size(), events_.size() - taken_);
  for (lattice_event& event : out.first(count)) {
    event = events_[taken_++];
    event.data = bytes_.data() + taken_bytes_;
    taken_bytes_ += event.bytes + 1;
  }
  return count;
}

// Not when the last one is taken: the program still reads it. What waits is moved to the front only when that
// is less than what goes.
void EventLog::forget_taken() {
  const size_t waiting = events_.size() - taken_;
  if (taken_ == 0 || waiting > taken_) return;
  events_.erase(events_.begin(), events_.begin() + static_cast<std::ptrdiff_t>(taken_));
  bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(taken_bytes_));
  taken_ = taken_bytes_ = 0;
}

}  // namespace lattice::abi
