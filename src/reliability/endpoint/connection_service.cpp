// What an update does for a connection, and when the next one has something to do for it. Servicing a
// connection at any other time would do nothing, so the datagrams are the same as if all were always serviced
// (EndpointConfig::service_all; tests/unit/reliability/endpoint_service_test.cpp compares).
//
// Must stay true: every reason for update_link() to act either calls wake() or is counted by
// next_service_ns(). If a Payload can make the second kind due earlier, reschedule_after_payload() checks it
// too.
#include <algorithm>

#include "base/assert.h"
#include "reliability/endpoint/connection.h"

namespace lattice::reliability {

void Connection::service() {
  if (handshake_) {
    update_handshake();
  } else if (link_) {
    update_link();
  }
}

void Connection::restart_silence(uint64_t since_ns) {
  timers_->restart_silence(std::max(since_ns, now_ns()));
}

void Connection::update_handshake() {
  if (!handshake_started_) {
    handshake_started_ = true;
    const connection::DisconnectReason reason = handshake_->start(now_ns(), context_.batch);
    if (reason != connection::DisconnectReason::kNone) {
      handshake_.reset();
      note_end(reason, 0, {});
    }
    return;
  }
  connection::ClientResult result = handshake_->update(now_ns(), context_.clock.unix_s(), context_.batch);
  LATTICE_ASSERT(!result.accepted);  // Only a datagram can bring that.
  on_handshake_end(result);
}

void Connection::update_link() {
  connection::ConnectionTimers& timers = *timers_;
  if (lifecycle_.state() == connection::State::kDisconnecting) {
    pacer_.update(path_state());
    if (pacer_.urgent_allowance_bytes() >= kMaxUrgentBytes && timers.take_disconnect_send(now_ns())) {
      send_disconnect(false);
    }
    if (timers.disconnect_finished(now_ns()) || link_->closed() != connection::LinkClosed::kOpen) {
      lifecycle_.apply(connection::Event::kDisconnectFinish);
      list_ending();
    }
    return;
  }
  if (timers.timed_out(now_ns()) && !(context_.is_timeout_paused && connected())) {
    lifecycle_.apply(connection::Event::kSilence);
    note_end(connection::DisconnectReason::kTimeout, 0, why_silent());
    return;
  }
  if (link_->closed() != connection::LinkClosed::kOpen) {
    disconnect(connection::DisconnectReason::kResourceLimit, "link_closed");
    return;
  }
  if (!connected()) return;  // Half-open: no packet until the client has confirmed (H-11).
  update_loss_window();
  detect_losses(nullptr, kNoSample);
  if (!connected()) return;
  outgoing_channels_.expire(now_ns());
  give_up_stale();
  update_rotation();
  update_path();
  send_payloads();
  send_chunks();
  if (!connected()) return;
  send_keepalive_if_needed();
  update_mtu();
#if defined(LATTICE_VALIDATION)
  LATTICE_CHECK(history_.validate());
  LATTICE_CHECK(outgoing_channels_.validate());
#endif
}

// A loss window ends with the first update of a new second. If that update did not service a connection, the
// connection's window ends here, before further packets are counted or the rates are read.
void Connection::update_loss_window() {
  if (!losses_.is_over(context_.clock.last_update_second())) return;
  losses_.close(context_.clock.last_update_second(), history_.counters(), link_->highest_received(),
                traffic_.packets_received);
}

// How long a side may send nothing before it probes. The accepting side waits a round trip longer. Otherwise
// both sides of a quiet connection would always probe at the same moment, and each would also answer the
// other's probe. The probe of the connecting side and its answer keep both sides alive.
uint64_t Connection::idle_ns() const {
  const uint64_t idle_ns = context_.config.timers.keepalive_idle_ns;
  if (!is_incoming_) return idle_ns;
  return idle_ns + idle_ns / 4 + std::min(rtt_.srtt_ns(), idle_ns);
}

// The server keeps a place for a client that has not confirmed, but not for long (S-42). So the first packet
// is repeated until the server is heard.
uint64_t Connection::repeat_first_ns() const {
  constexpr uint64_t kRepeatNs = 500'000'000;
  const bool is_unheard = !is_incoming_ && traffic_.packets_received == 0;
  return is_unheard ? probes_.last_sent_ns() + kRepeatNs : ServiceSchedule::kNever;
}

// True if nothing waits that could leave with any update: then every deadline is in the table.
bool Connection::waits_for_nothing() const {
  return !probes_.is_wanted() && !probes_.echo_waits() && !path_.answer_waits() && !path_.on_trial() &&
         !outgoing_channels_.has_work() && !has_chunks();
}

// Checks all work that a Payload can make due earlier. A Payload postpones timeout, keepalive and probes.
// Work that can be done at once is done by the next update.
void Connection::reschedule_after_payload() const {
  const bool has_news = !connected() || history_.lost_large_in_row() || !waits_for_nothing() ||
                        (path_.mtu().probe_in_flight() == 0 && path_.mtu().next_deadline_ns() <= now_ns());
  if (has_news) {
    wake();
    return;
  }
  context_.schedule.lower(
      handle_.slot, std::min({acks_.due_at_ns(context_.clock.ack_lead_ns()), history_.next_loss_ns(rtt_),
                              probes_.last_sent_ns() + idle_ns()}));
}

uint64_t Connection::next_service_ns() const {
  if (handshake_) return handshake_started_ ? handshake_->next_deadline_ns() : 0;
  if (!link_ || lifecycle_.state() == connection::State::kDisconnecting) return 0;
  const uint64_t timeout_ns = timers_->timeout_at_ns();
  if (!connected()) return timeout_ns;  // Half-open.
  if (!waits_for_nothing() || link_->closed() != connection::LinkClosed::kOpen) return 0;
  uint64_t next_ns = std::min(context_.is_timeout_paused ? ServiceSchedule::kNever : timeout_ns,
                              std::max(timers_->keepalive_at_ns(), probes_.last_sent_ns() + idle_ns()));
  next_ns = std::min({next_ns, acks_.due_at_ns(context_.clock.ack_lead_ns()), history_.next_loss_ns(rtt_),
                      outgoing_channels_.next_expiry_ns()});
  next_ns = std::min(next_ns, repeat_first_ns());
  next_ns = std::min(next_ns, probes_.busy_at_ns(rtt_, history_.is_unheard(), now_ns()));
  next_ns = std::min(next_ns, rotation_->next_deadline_ns(*link_));
  // Without a round-trip sample no probe is sent, and the first sample comes with a packet.
  if (rtt_.has_sample() || path_.mtu().probe_in_flight() != 0) {
    next_ns = std::min(next_ns, path_.mtu().next_deadline_ns());
  }
  return next_ns;
}

}  // namespace lattice::reliability
