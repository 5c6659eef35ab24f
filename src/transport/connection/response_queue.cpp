#include "transport/connection/response_queue.h"

#include <algorithm>

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

size_t ResponseQueue::first_to_give_way() const {
  size_t chosen = 0;
  size_t most = 0;
  for (size_t i = 0; i < waiting_.size(); ++i) {
    const size_t count = count_of(waiting_[i].prefix);
    if (count < most) continue;
    if (count > most || waiting_[i].prefix == waiting_[chosen].prefix) chosen = i;
    most = count;
  }
  return chosen;
}

ResponseQueue::Push ResponseQueue::push(const platform::Address& from, std::span<const uint8_t> datagram) {
  LATTICE_CHECK(datagram.size() <= wire::kMaxChallengeResponseBytes);
  const auto same = [&from](const Response& r) { return r.from == from; };
  if (std::any_of(waiting_.begin(), waiting_.end(), same)) return Push::kAlreadyWaits;
  const uint64_t prefix = prefix_of(from);
  const bool is_full = waiting_.size() == kMaxResponses;
  if (is_full) {
    const size_t victim = first_to_give_way();
    if (count_of(prefix) + 1 >= count_of(waiting_[victim].prefix)) return Push::kLost;
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(victim));
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
