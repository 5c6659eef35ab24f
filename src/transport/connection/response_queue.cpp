#include "transport/connection/response_queue.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "base/assert.h"

namespace lattice::connection {
namespace {

uint64_t subject_of(const ResponseQueue::Response& response) {
  return response.subject.id;
}

uint64_t network_of(const ResponseQueue::Response& response) {
  return response.subject.network;
}

}  // namespace

ResponseQueue::ResponseQueue() {
  waiting_.reserve(kMaxResponses);
}

bool ResponseQueue::make_room(GroupOf group_of, uint64_t group, base::PathId* displaced) {
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

ResponseQueue::Push ResponseQueue::push(const base::PathId& from, const RateSubject& subject,
                                        std::span<const uint8_t> datagram, base::PathId* displaced) {
  LATTICE_CHECK(datagram.size() <= kMaxResponseBytes);
  const auto same = [&from](const Response& r) { return r.from == from; };
  if (std::any_of(waiting_.begin(), waiting_.end(), same)) return Push::kAlreadyWaits;
  Response newcomer;
  newcomer.from = from;
  newcomer.subject = subject;
  const bool is_full = waiting_.size() == kMaxResponses;
  if (is_full && !make_room(subject_of, subject.id, displaced) &&
      !make_room(network_of, subject.network, displaced)) {
    return Push::kLost;
  }
  newcomer.datagram.assign(datagram.begin(), datagram.end());
  waiting_.push_back(std::move(newcomer));
  return is_full ? Push::kWaitsAnotherLost : Push::kWaits;
}

ResponseQueue::Response ResponseQueue::pop() {
  LATTICE_CHECK(!waiting_.empty());
  // The distance makes the order of subjects a circle that begins behind the last one served.
  const auto distance = [this](const Response& r) { return r.subject.id - last_subject_ - 1; };
  const auto next =
      std::min_element(waiting_.begin(), waiting_.end(),
                       [&](const Response& a, const Response& b) { return distance(a) < distance(b); });
  Response response = std::move(*next);
  waiting_.erase(next);
  last_subject_ = response.subject.id;
  return response;
}

}  // namespace lattice::connection
