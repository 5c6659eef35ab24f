// The time of an endpoint: of the phase that runs, between readings of the socket, between updates. The
// endpoint sets it and its connections read it; nobody reads a clock of the system.
//
//   enter() ─▶ begin_reading() ─▶ take(), each datagram ─▶ note_empty()     receive()
//   enter() ─▶ begin_update() ─▶ end_update()      update_and_send()
//
// Must stay true: time does not go back; ack_lead_ns() is at least until_next_update_ns().
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/assert.h"
#include "base/durations.h"
#include "reliability/limits.h"

namespace lattice::reliability {

class EndpointClock {
 public:
  /// A phase begins. `now_ns` is at least that of the phase before.
  void enter(uint64_t now_ns, uint64_t unix_s) {
    LATTICE_CHECK(now_ns >= now_ns_);
    now_ns_ = now_ns;
    unix_s_ = unix_s;
  }
  uint64_t now_ns() const { return now_ns_; }
  uint64_t unix_s() const { return unix_s_; }

  // Readings of the socket.

  void begin_reading() {
    unread_ns_ = emptied_ns_ == 0 ? 0 : std::min(now_ns_ - emptied_ns_, kMaxOwnUnreadNs);
    reading_every_ns_ = std::max(unread_ns_, reading_every_ns_ - reading_every_ns_ / 8);
    arrived_ns_ = now_ns_;
  }
  /// The present datagram had waited so long, says the socket. It came after the socket was empty.
  void take(uint64_t waited_ns) {
    const uint64_t most_ns = emptied_ns_ == 0 ? 0 : now_ns_ - emptied_ns_;
    arrived_ns_ = now_ns_ - std::min(waited_ns, most_ns);
  }
  /// When the present datagram came, as far as is known; at most now_ns().
  uint64_t arrived_ns() const { return arrived_ns_; }
  /// The socket was read until it was empty.
  void note_empty() { emptied_ns_ = now_ns_; }
  /// The longest time that a datagram read now may have waited in the socket.
  uint64_t unread_ns() const { return unread_ns_; }
  /// The time between two readings: rises at once and falls slowly.
  uint64_t reading_every_ns() const { return reading_every_ns_; }

  // Updates.

  /// True when ack_lead_ns() has grown: connections may have to be serviced earlier than was planned.
  bool begin_update();
  /// The update has serviced its connections.
  void end_update() { last_update_second_ = now_ns_ / base::kSecondNs; }
  bool has_updated() const { return has_updated_; }
  uint64_t last_update_ns() const { return last_update_ns_; }
  /// The one before the last.
  uint64_t previous_update_ns() const { return previous_update_ns_; }
  /// Of the last update that has finished.
  uint64_t last_update_second() const { return last_update_second_; }
  /// A guess: the last interval, at most 25 ms.
  uint64_t until_next_update_ns() const { return until_next_update_ns_; }
  /// An ack may leave with the last update before its deadline. Which update that is depends on the
  /// interval between updates. So connections are serviced for acks earlier, by this upper bound of that
  /// interval. It is a multiple of 4 ms, so that it seldom grows.
  uint64_t ack_lead_ns() const { return ack_lead_ns_; }

 private:
  bool note_update_interval(uint64_t interval_ns);

  uint64_t now_ns_ = 0;
  uint64_t unix_s_ = 0;
  uint64_t emptied_ns_ = 0;
  uint64_t unread_ns_ = 0;
  uint64_t reading_every_ns_ = 0;
  uint64_t arrived_ns_ = 0;
  uint64_t last_update_ns_ = 0;
  uint64_t previous_update_ns_ = 0;
  uint64_t last_update_second_ = 0;
  uint64_t until_next_update_ns_ = 0;
  uint64_t ack_lead_ns_ = 0;
  uint64_t longest_interval_ns_ = 0;  ///< Of this second.
  bool has_updated_ = false;
};

}  // namespace lattice::reliability
