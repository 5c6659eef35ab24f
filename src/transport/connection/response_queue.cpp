#include "transport/connection/response_queue.h"

#include <algorithm>
#include <iterator>

#include "base/assert.h"
#include "transport/connection/prefix_rate.h"

namespace lattice::connection {

ResponseQueue::ResponseQueue() {
  waiting_.reserve(kMaxResponses);
}

size_t ResponseQueue::count_of(uint64_t prefix) const {
  return static_cast<size_t>(std::count_if(waiting_.begin(), waiting_.end(),
                                           [prefix](const Response& r) { return r.prefix == prefix; }));
}

ResponseQueue::Share ResponseQueue::largest_share() const {
  std::array<uint64_t, kMaxResponses> prefixes;
  const size_t count = waiting_.size();
  for (size_t i = 0; i < count; ++i) prefixes[i] = waiting_[i].prefix;
  std::sort(prefixes.begin(), prefixes.begin() + static_cast<std::ptrdiff_t>(count));
  Share largest;
  for (size_t first = 0, end = 0; first < count; first = end) {
    while (end < count && prefixes[end] == prefixes[first]) ++end;
    if (end - first > largest.count) largest = {prefixes[first], end - first};
  }
  return largest;
}

void ResponseQueue::erase_newest_of(uint64_t prefix, platform::Address* from) {
  const auto newest = std::find_if(waiting_.rbegin(), waiting_.rend(),
                                   [prefix](const Response& r) { return r.prefix == prefix; });
  *from = newest->from;
  waiting_.erase(std::next(newest).base());
}

ResponseQueue::Push ResponseQueue::push(const platform::Address& from, std::span<const uint8_t> datagram,
                                        platform::Address* displaced) {
  LATTICE_CHECK(datagram.size() <= wire::kMaxChallengeResponseBytes);
  const auto same = [&from](const Response& r) { return r.from == from; };
  if (std::any_of(waiting_.begin(), waiting_.end(), same)) return Push::kAlreadyWaits;
  const uint64_t prefix = prefix_of(from);
  const bool is_full = waiting_.size() == kMaxResponses;
  if (is_full) {
    const Share largest = largest_share();
    if (count_of(prefix) + 1 >= largest.count) return Push::kLost;
    erase_newest_of(largest.prefix, displaced);
  }
  Response& response = waiting_.emplace_back();
  response.from = from;
  response.prefix = prefix;
  response.size = static_cast<uint16_t>(datagram.size());
  std::copy(datagram.begin(), datagram.end(), response.bytes.begin());
  return is_full ? Push::kWaitsAnotherLost : Push::kWaits;
}

ResponseQueue::Response ResponseQueue::pop() {
  LATTICE_CHECK(!waiting_.empty());
  // The distance makes the order of prefixes a circle that begins behind the last one served.
  const auto distance = [this](const Response& r) { return r.prefix - last_prefix_ - 1; };
  const auto next =
      std::min_element(waiting_.begin(), waiting_.end(),
                       [&](const Response& a, const Response& b) { return distance(a) < distance(b); });
  const Response response = *next;
  waiting_.erase(next);
  last_prefix_ = response.prefix;
  return response;
}

}  // namespace lattice::connection
