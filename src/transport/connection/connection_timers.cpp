#include "transport/connection/connection_timers.h"

#include <algorithm>

#include "base/assert.h"

namespace lattice::connection {

ConnectionTimers::ConnectionTimers(const TimerConfig& config, uint64_t now_ns, bool half_open)
    : last_sent_ns_(now_ns),
      last_authenticated_ns_(now_ns),
      half_open_(half_open),
      config_(config),
      started_ns_(now_ns) {}

void ConnectionTimers::on_authenticated(uint64_t now_ns) {
  LATTICE_ASSERT(now_ns >= last_authenticated_ns_);
  last_authenticated_ns_ = now_ns;
  half_open_ = false;
}

bool ConnectionTimers::keepalive_due(uint64_t now_ns) const {
  return now_ns >= keepalive_at_ns();
}

bool ConnectionTimers::timed_out(uint64_t now_ns) const {
  return now_ns >= timeout_at_ns();
}

uint64_t ConnectionTimers::keepalive_at_ns() const {
  // A half-open entry stays quiet: nothing but message 4 goes to an address that has not confirmed (H-11).
  return disconnecting_ || half_open_ ? kNever : last_sent_ns_ + config_.keepalive_idle_ns;
}

uint64_t ConnectionTimers::timeout_at_ns() const {
  if (disconnecting_) return kNever;  // Its grace is shorter than any timeout.
  return half_open_ ? started_ns_ + config_.half_open_ns : last_authenticated_ns_ + config_.timeout_ns;
}

void ConnectionTimers::begin_disconnect(uint64_t now_ns) {
  LATTICE_ASSERT(!disconnecting_);
  disconnecting_ = true;
  disconnect_due_ns_ = now_ns;
  grace_end_ns_ = now_ns + config_.disconnect_grace_ns;
}

bool ConnectionTimers::take_disconnect_send(uint64_t now_ns) {
  if (!disconnecting_ || disconnect_finished(now_ns) || now_ns < disconnect_due_ns_) return false;
  disconnect_due_ns_ = now_ns + config_.disconnect_interval_ns;
  return true;
}

bool ConnectionTimers::disconnect_finished(uint64_t now_ns) const {
  return disconnecting_ && now_ns >= grace_end_ns_;
}

uint64_t ConnectionTimers::next_deadline_ns() const {
  if (disconnecting_) return std::min(disconnect_due_ns_, grace_end_ns_);
  return std::min(timeout_at_ns(), keepalive_at_ns());
}

}  // namespace lattice::connection
