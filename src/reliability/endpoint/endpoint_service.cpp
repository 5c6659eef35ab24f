// Decides which connections an update services: those with an event since they were last serviced, and those
// with a deadline that has come. Servicing any other connection would do nothing, so the datagrams are the
// same as if all were serviced (EndpointConfig::service_all; tests/unit/reliability/endpoint_service_test.cpp
// compares).
//
//   packet opened, message or chunk offered, disconnect(), new connection
//     ─▶ wake() ─▶ service() ─▶ next_service_ns() ─▶ table
//
// Must stay true: every reason for update_link() to act either calls wake() or is counted by
// next_service_ns(). If a Payload can make the second kind due earlier, reschedule_after_payload() checks it
// too.
#include <algorithm>

#include "reliability/endpoint/endpoint_core.h"
#include "reliability/endpoint/peer_prefetch.h"

namespace lattice::reliability {

using base::DeadlineTable;

namespace {

constexpr uint64_t kSecondNs = 1'000'000'000;

}  // namespace

void Endpoint::Core::service_due() {
  for (size_t slot = next_due(0); slot != DeadlineTable::kNone; slot = next_due(slot + 1)) {
    prefetch_service(slot);
    service_now(*peers[slot]);
  }
}

void Endpoint::Core::service_now(Peer& peer) {
  // The peer is ending. If finish_phase() does not free it, the next update services it.
  if (peer.is_listed) return;
  service(peer);
  service_times.set(peer.handle.slot, next_service_ns(peer));
}

void Endpoint::Core::service(Peer& peer) {
  ++stats.connections_serviced;
#if defined(LATTICE_VALIDATION)
  const bool was_due = service_times.at(peer.handle.slot) <= now_ns;
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
  if (!config.service_all) return service_times.next_due(first, now_ns);
  while (first < peers.size() && !peers[first]) ++first;
  return first < peers.size() ? first : DeadlineTable::kNone;
}

/// Fetches the peer after the next one, and the keys of the next one. Only a hint: servicing this peer may
/// make others due.
void Endpoint::Core::prefetch_service(size_t slot) {
  const size_t near = next_due(slot + 1);
  if (near == DeadlineTable::kNone) return;
  if (peers[near]->link) peers[near]->link->prefetch_for_seal();
  const size_t far = next_due(near + 1);
  if (far != DeadlineTable::kNone) prefetch_for_update(*peers[far]);
}

// An ack may leave with the last update before its deadline. Which update that is depends on the
// interval between updates. So connections are serviced for acks earlier, by an upper bound of that interval.
// The bound is a multiple of 4 ms, so that it seldom grows; when it grows, every connection is serviced once.
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

// True if nothing waits that could leave with any update: then every deadline is in the table.
bool Endpoint::Core::waits_for_nothing(const Peer& peer) const {
  return !peer.probes.is_wanted() && !peer.probes.echo_waits() && !peer.path.answer_waits() &&
         !peer.path.on_trial() && !peer.outgoing_channels.has_work() && !has_chunks(peer);
}

// Checks all work that a Payload can make due earlier. A Payload postpones timeout, keepalive and probes.
// Work that can be done at once is done by the next update.
void Endpoint::Core::reschedule_after_payload(Peer& peer) {
  const bool has_news =
      !peer.connected() || peer.history.lost_large_in_row() || !waits_for_nothing(peer) ||
      (peer.path.mtu().probe_in_flight() == 0 && peer.path.mtu().next_deadline_ns() <= now_ns);
  if (has_news) {
    wake(peer);
    return;
  }
  service_times.lower(peer.handle.slot,
                      std::min({peer.acks.due_at_ns(ack_lead_ns), peer.history.next_loss_ns(peer.rtt),
                                peer.probes.last_sent_ns() + idle_ns(peer)}));
}

uint64_t Endpoint::Core::next_service_ns(const Peer& peer) const {
  if (peer.handshake) return peer.handshake_started ? peer.handshake->next_deadline_ns() : 0;
  if (!peer.link || peer.lifecycle.state() == connection::State::kDisconnecting) return 0;
  const uint64_t timeout_ns = peer.timers->timeout_at_ns();
  if (!peer.connected()) return timeout_ns;  // Half-open.
  if (!waits_for_nothing(peer) || peer.link->closed() != connection::LinkClosed::kOpen) return 0;
  uint64_t next_ns =
      std::min(timeout_paused ? base::DeadlineTable::kNever : timeout_ns,
               std::max(peer.timers->keepalive_at_ns(), peer.probes.last_sent_ns() + idle_ns(peer)));
  next_ns = std::min({next_ns, peer.acks.due_at_ns(ack_lead_ns), peer.history.next_loss_ns(peer.rtt),
                      peer.outgoing_channels.next_expiry_ns()});
  next_ns = std::min(next_ns, repeat_first_ns(peer));
  next_ns = std::min(next_ns, peer.probes.busy_at_ns(peer.rtt, peer.history.is_unheard(), now_ns));
  next_ns = std::min(next_ns, peer.rotation->next_deadline_ns(*peer.link));
  // Without a round-trip sample no probe is sent, and the first sample comes with a packet.
  if (peer.rtt.has_sample() || peer.path.mtu().probe_in_flight() != 0) {
    next_ns = std::min(next_ns, peer.path.mtu().next_deadline_ns());
  }
  return next_ns;
}

}  // namespace lattice::reliability
