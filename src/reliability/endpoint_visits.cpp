// Which connections an update visits: those something happened to since their last visit, and those whose
// time has come. What the others would do is nothing, so the datagrams are the same as if all had been
// visited (EndpointConfig::visit_all; tests/unit/reliability/endpoint_visits_test.cpp compares).
//
//   packet opened, message or chunk offered, disconnect(), new ─▶ wake() ─▶ visit ─▶ next_visit_ns() ─▶ table
//
// Must stay true: whatever makes update_link() do something is a wake(), or in next_visit_ns() and, if a
// Payload can bring it forward, in visit_after_payload().
#include <algorithm>

#include "reliability/endpoint_core.h"
#include "reliability/peer_prefetch.h"

namespace lattice::reliability {

using base::DeadlineTable;

namespace {

constexpr uint64_t kSecondNs = 1'000'000'000;

}  // namespace

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
  const uint64_t packets_before = peer.traffic.packets_sent;
#endif
  if (peer.handshake) {
    update_handshake(peer);
  } else if (peer.link) {
    update_link(peer);
  }
#if defined(LATTICE_VALIDATION)
  LATTICE_CHECK(was_due || (peer.traffic.packets_sent == packets_before && !peer.is_listed));
#endif
}

size_t Endpoint::Core::next_due(size_t first) {
  if (!config.visit_all) return visits.next_due(first, now_ns);
  while (first < peers.size() && !peers[first]) ++first;
  return first < peers.size() ? first : DeadlineTable::kNone;
}

/// Ahead of the walk: the peer after next, and the keys of the next. Only a hint: this visit may make others
/// due.
void Endpoint::Core::prefetch_visits(size_t slot) {
  const size_t near = next_due(slot + 1);
  if (near == DeadlineTable::kNone) return;
  if (peers[near]->link) peers[near]->link->prefetch_for_seal();
  const size_t far = next_due(near + 1);
  if (far != DeadlineTable::kNone) prefetch_for_update(*peers[far]);
}

// An ack may go with the last update before its time, and which one that is depends on when the next
// comes. Visits for acks are early by a bound on that, in steps, so that it seldom has to grow: then
// everybody is visited once.
void Endpoint::Core::note_update_interval(uint64_t interval_ns) {
  constexpr uint64_t kStepNs = 4'000'000;
  const auto in_steps = [](uint64_t ns) { return (ns / kStepNs + 1) * kStepNs; };
  until_next_update_ns = std::min(interval_ns, kMaxAckDelayNs);
  if (now_ns / kSecondNs != last_update_second) {
    ack_lead_ns = in_steps(longest_interval_ns);
    longest_interval_ns = 0;
  }
  longest_interval_ns = std::max(longest_interval_ns, until_next_update_ns);
  if (until_next_update_ns <= ack_lead_ns) return;
  ack_lead_ns = in_steps(until_next_update_ns);
  for (const auto& peer : peers) {
    if (peer) wake(*peer);
  }
}

// Nothing waits that may go with any update, and nothing whose time is not kept.
bool Endpoint::Core::waits_for_nothing(const Peer& peer) const {
  return !peer.keepalive_wanted && !peer.echo_pending && !peer.path_response_pending &&
         !peer.validator.on_trial() && !has_payload(peer) && !has_chunks(peer);
}

// What a Payload can bring forward. Timeout, keepalive and probes move away with it; what it makes possible
// at once is for the next update.
void Endpoint::Core::visit_after_payload(Peer& peer) {
  const bool has_news = !peer.connected() || peer.history.lost_large_in_row() || !waits_for_nothing(peer) ||
                        (peer.mtu.probe_in_flight() == 0 && peer.mtu.next_deadline_ns() <= now_ns);
  if (has_news) {
    wake(peer);
    return;
  }
  visits.lower(peer.handle.slot,
               std::min({peer.acks.due_at_ns(ack_lead_ns), peer.history.next_loss_ns(peer.rtt),
                         peer.last_sent_ns + idle_ns(peer)}));
}

uint64_t Endpoint::Core::next_visit_ns(const Peer& peer) const {
  if (peer.handshake || !peer.link || peer.lifecycle.state() == connection::State::kDisconnecting) return 0;
  const uint64_t timeout_ns = peer.timers->timeout_at_ns();
  if (!peer.connected()) return timeout_ns;  // Half-open.
  if (!waits_for_nothing(peer) || peer.link->closed() != connection::LinkClosed::kOpen) return 0;
  uint64_t next_ns = std::min(timeout_paused ? base::DeadlineTable::kNever : timeout_ns,
                              std::max(peer.timers->keepalive_at_ns(), peer.last_sent_ns + idle_ns(peer)));
  next_ns = std::min({next_ns, peer.acks.due_at_ns(ack_lead_ns), peer.history.next_loss_ns(peer.rtt)});
  for_each_bit(peer.sending_channels,
               [&](uint8_t i) { next_ns = std::min(next_ns, peer.reliable[i]->send.next_expiry_ns()); });
  next_ns = std::min(next_ns, busy_probe_at_ns(peer));
  next_ns = std::min(next_ns, peer.rotation->next_deadline_ns(*peer.link));
  // Without a round trip no probe is sent; the first sample comes with a packet.
  if (peer.rtt.has_sample() || peer.mtu.probe_in_flight() != 0) {
    next_ns = std::min(next_ns, peer.mtu.next_deadline_ns());
  }
  return next_ns;
}

}  // namespace lattice::reliability
