// Which connections an update visits: those something happened to since their last visit, and those whose
// time has come. What the others would do is nothing, so the datagrams are the same as if all had been
// visited (EndpointConfig::visit_all; tests/unit/reliability/endpoint_visits_test.cpp compares).
//
//   packet opened, message or block offered, disconnect(), new ─▶ wake() ─▶ visit ─▶ next_visit_ns() ─▶ table
//
// Must stay true: whatever makes update_link() do something is either a wake() or in next_visit_ns(); what is
// told apart by neither (a resend, an ack that is held back) keeps its connection visited by every update.
#include <algorithm>

#include "reliability/endpoint_core.h"
#include "reliability/peer_prefetch.h"

namespace lattice::reliability {

using base::DeadlineTable;

void Endpoint::Core::wake(const Peer& peer) {
  visits.set(peer.handle.slot, 0);
}

void Endpoint::Core::visit_due() {
  for (size_t slot = next_due(0); slot != DeadlineTable::kNone; slot = next_due(slot + 1)) {
    prefetch_visits(slot);
    // Ending: looked at again by the next update, if finish_phase() leaves it here.
    if (peers[slot]->is_listed) continue;
    visit(*peers[slot]);
    visits.set(slot, next_visit_ns(*peers[slot]));
  }
}

void Endpoint::Core::visit(Peer& peer) {
  ++stats.connection_visits;
#if defined(LATTICE_VALIDATION)
  const bool was_due = visits.at(peer.handle.slot) <= now_ns;
  const uint64_t packets_before = peer.stats.traffic.packets_sent;
#endif
  if (peer.handshake) {
    update_handshake(peer);
  } else if (peer.link) {
    update_link(peer);
  }
#if defined(LATTICE_VALIDATION)
  LATTICE_CHECK(was_due || (peer.stats.traffic.packets_sent == packets_before && !peer.is_listed));
#endif
}

size_t Endpoint::Core::next_due(size_t first) {
  if (!config.visit_all) return visits.next_due(first, now_ns);
  while (first < peers.size() && !peers[first]) ++first;
  return first < peers.size() ? first : DeadlineTable::kNone;
}

/// Ahead of the walk: the peer after next, and the channels of the next. Only a hint: this visit may make
/// others due.
void Endpoint::Core::prefetch_visits(size_t slot) {
  const size_t near = next_due(slot + 1);
  if (near == DeadlineTable::kNone) return;
  prefetch_channels(*peers[near]);
  const size_t far = next_due(near + 1);
  if (far != DeadlineTable::kNone) prefetch_for_update(*peers[far]);
}

// Something waits whose time is not kept here, or that may go with any update.
bool Endpoint::Core::is_busy(const Peer& peer) const {
  if (peer.history.in_flight() != 0 || peer.acks.ack_pending() || peer.keepalive_wanted ||
      peer.echo_pending || peer.path_response_pending || peer.validator.on_trial()) {
    return true;
  }
  if (!peer.engine_queue.empty() || !peer.application_queue.empty() || has_blocks(peer)) return true;
  return std::any_of(peer.reliable.begin(), peer.reliable.end(),
                     [](const auto& channel) { return channel && !channel->send.idle(); });
}

uint64_t Endpoint::Core::next_visit_ns(const Peer& peer) const {
  if (peer.handshake || !peer.link || peer.lifecycle.state() == connection::State::kDisconnecting) return 0;
  const uint64_t timeout_ns = peer.timers->timeout_at_ns();
  if (!peer.connected()) return timeout_ns;  // Half-open.
  if (is_busy(peer)) return 0;
  uint64_t next_ns =
      std::min(timeout_ns, std::max(peer.timers->keepalive_at_ns(), peer.last_sent_ns + idle_ns(peer)));
  next_ns = std::min(next_ns, busy_probe_at_ns(peer));
  next_ns = std::min(next_ns, peer.rotation->next_deadline_ns(*peer.link));
  // Without a round trip no probe is sent; the first sample comes with a packet.
  if (peer.rtt.has_sample() || peer.mtu.probe_in_flight() != 0) {
    next_ns = std::min(next_ns, peer.mtu.next_deadline_ns());
  }
  return next_ns;
}

}  // namespace lattice::reliability
