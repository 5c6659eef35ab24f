#include "transport/connection/response_queue.h"

#include <algorithm>
#include <iterator>

#include "base/assert.h"
#include "transport/connection/prefix_rate.h"

namespace lattice::connection {
namespace {

uint64_t prefix_as_group(const ResponseQueue::Response& response) {
  return response.prefix;
}

/// What is left of a prefix without its last bits: a /16 or a /32.
uint64_t network_of(const ResponseQueue::Response& response) {
  return response.prefix >> (response.from.family == 4 ? 24 - 16 : 56 - 32);
}

}  // namespace

ResponseQueue::ResponseQueue() {
  waiting_.reserve(kMaxResponses);
}

bool ResponseQueue::make_room(GroupOf group_of, uint64_t group, platform::Address* displaced) {
  std::array<uint64_t, kMaxResponses> groups;
  const auto end = std::transform(waiting_.begin(), waiting_.end(), groups.begin(), group_of);
  std::sort(groups.begin(), end);
  uint64_t largest = 0;
  std::ptrdiff_t largest_count = 0, own_count = 0;
  for (auto first = groups.begin(), next = first; first != end; first = next) {
    next = std::upper_bound(first, end, *first);
    if (*first == group) own_count = next - first;
    if (next - first <= largest_count) continue;
    largest = *first;
    largest_count = next - first;
  }
  if (own_count + 1 >= largest_count) return false;
  const auto newest = std::find_if(waiting_.rbegin(), waiting_.rend(),
                                   [&](const Response& r) { return group_of(r) == largest; });
  *displaced = newest->from;
  waiting_.erase(std::next(newest).base());
  return true;
}

ResponseQueue::Push ResponseQueue::push(const platform::Address& from, std::span<const uint8_t> datagram,
                                        platform::Address* displaced) {
  LATTICE_CHECK(datagram.size() <= wire::kMaxChallengeResponseBytes);
  const auto same = [&from](const Response& r) { return r.from == from; };
  if (std::any_of(waiting_.begin(), waiting_.end(), same)) return Push::kAlreadyWaits;
  Response newcomer;
  newcomer.from = from;
  newcomer.prefix = prefix_of(from);
  const bool is_full = waiting_.size() == kMaxResponses;
  if (is_full && !make_room(prefix_as_group, newcomer.prefix, displaced) &&
      !make_room(network_of, network_of(newcomer), displaced)) {
    return Push::kLost;
  }
  Response& response = waiting_.emplace_back(newcomer);
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
