#include "transport/socket/composite_socket.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "platform/wait.h"

namespace lattice::socket {
namespace {

void add(const SocketStats& from, SocketStats* to) {
  to->datagrams_sent += from.datagrams_sent;
  to->bytes_sent += from.bytes_sent;
  to->datagrams_received += from.datagrams_received;
  to->bytes_received += from.bytes_received;
#define LATTICE_EVENT_SOCKET(id, name, text) to->id += from.id;
#include "base/events.def"
}

}  // namespace

CompositeSocket::CompositeSocket(Routes routes) : routes_(std::move(routes)) {
  for (size_t i = 0; i < routes_.size(); ++i) {
    if (routes_[i] == nullptr) continue;
    route_count_ = i + 1;
    ++live_count_;
  }
  LATTICE_CHECK(live_count_ != 0);
}

Reading CompositeSocket::receive(std::span<Datagram> out, uint64_t now_ns) {
  const size_t share = std::max<size_t>(1, out.size() / live_count_);
  Reading all;
  std::array<bool, base::kMaxRoutes> has_more{};
  const auto read = [&](size_t route, size_t most) {
    const size_t room = std::min(most, out.size() - all.count - all.refused);
    if (room == 0) return;
    const Reading one = routes_[route]->receive(out.subspan(all.count, room), now_ns);
    LATTICE_ASSERT(one.count <= room);
    all.count += one.count;
    all.refused += one.refused;
    has_more[route] = one.may_have_more;
  };
  for (size_t route = 0; route < route_count_; ++route) has_more[route] = routes_[route] != nullptr;
  for (const size_t most : {share, out.size()}) {
    for (size_t k = 0; k < route_count_; ++k) {
      const size_t route = (first_ + k) % route_count_;
      if (has_more[route]) read(route, most);
    }
  }
  first_ = (first_ + 1) % route_count_;
  all.may_have_more = std::find(has_more.begin(), has_more.end(), true) != has_more.end();
  return all;
}

size_t CompositeSocket::send(std::span<const Datagram> datagrams, uint64_t now_ns) {
  size_t taken = 0;
  size_t begin = 0;
  while (begin < datagrams.size()) {
    const uint8_t route = datagrams[begin].peer.route;
    size_t end = begin + 1;
    while (end < datagrams.size() && datagrams[end].peer.route == route) ++end;
    const std::span<const Datagram> run = datagrams.subspan(begin, end - begin);
    if (DatagramSocket* socket = route_of(run[0].peer)) {
      taken += socket->send(run, now_ns);
    } else {
      own_.send_refused += run.size();
    }
    begin = end;
  }
  return taken;
}

base::PathId CompositeSocket::local_path() const {
  const auto& udp = routes_[base::kUdpRoute];
  return udp != nullptr ? udp->local_path() : base::PathId{};
}

const SocketStats& CompositeSocket::stats() const {
  sum_ = own_;
  for (const auto& route : routes_) {
    if (route != nullptr) add(route->back_end_stats(), &sum_);
  }
  return sum_;
}

bool CompositeSocket::take_unreachable(base::PathId* peer) {
  const auto& udp = routes_[base::kUdpRoute];
  return udp != nullptr && udp->take_unreachable(peer);
}

bool CompositeSocket::favours_equal_lengths(const base::PathId& path) const {
  const DatagramSocket* socket = route_of(path);
  return socket != nullptr && socket->favours_equal_lengths(path);
}

bool CompositeSocket::wait_readable(uint64_t timeout_ns) const {
  std::array<intptr_t, base::kMaxRoutes> descriptors;
  size_t count = 0;
  for (const auto& route : routes_) {
    const intptr_t own = route != nullptr ? route->descriptor() : -1;
    if (own >= 0) descriptors[count++] = own;
  }
  const bool has_all = count == live_count_;
  const uint64_t wait_ns = has_all ? timeout_ns : std::min(timeout_ns, kLookAgainNs);
  if (!platform::wait_readable(std::span(descriptors).first(count), wait_ns)) return !has_all;
  for (const auto& route : routes_) {
    if (route != nullptr) route->on_wake();
  }
  return true;
}

intptr_t CompositeSocket::descriptor() const {
  return routes_[base::kUdpRoute] != nullptr ? routes_[base::kUdpRoute]->descriptor() : -1;
}

uint64_t CompositeSocket::next_event_ns() const {
  uint64_t earliest_ns = UINT64_MAX;
  for (const auto& route : routes_) {
    if (route != nullptr) earliest_ns = std::min(earliest_ns, route->next_event_ns());
  }
  return earliest_ns;
}

bool CompositeSocket::forbids_fragmentation(const base::PathId& path) const {
  const DatagramSocket* socket = route_of(path);
  return socket != nullptr && socket->forbids_fragmentation(path);
}

uint32_t CompositeSocket::largest_datagram(const base::PathId& path) const {
  const DatagramSocket* socket = route_of(path);
  return socket != nullptr ? socket->largest_datagram(path) : 0;
}

std::optional<uint64_t> CompositeSocket::rate_subject(const base::PathId& path) const {
  const DatagramSocket* socket = route_of(path);
  return socket != nullptr ? socket->rate_subject(path) : std::nullopt;
}

}  // namespace lattice::socket
