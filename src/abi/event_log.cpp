#include "abi/event_log.h"

#include <algorithm>

namespace lattice::abi {
namespace {

constexpr uint32_t kRoundsOfMemory = 256;  // about a second of pumps or more
constexpr size_t kKeptEvents = 1024, kKeptBytes = 64u << 10;

}  // namespace

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
  most_events_ = std::max(most_events_, events_.size());
  most_bytes_ = std::max(most_bytes_, bytes_.size());
  events_.erase(events_.begin(), events_.begin() + static_cast<std::ptrdiff_t>(taken_));
  bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(taken_bytes_));
  taken_ = taken_bytes_ = 0;
  if (waiting == 0 && ++rounds_ == kRoundsOfMemory) give_back();
}

// A burst of once shall not hold its memory for ever.
void EventLog::give_back() {
  if (events_.capacity() > kKeptEvents && events_.capacity() / 4 > most_events_) {
    events_ = std::vector<lattice_event>();
    events_.reserve(2 * most_events_);
  }
  if (bytes_.capacity() > kKeptBytes && bytes_.capacity() / 4 > most_bytes_) {
    bytes_ = std::vector<uint8_t>();
    bytes_.reserve(2 * most_bytes_);
  }
  most_events_ = most_bytes_ = 0;
  rounds_ = 0;
}

}  // namespace lattice::abi
