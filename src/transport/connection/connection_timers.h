// The timers of one established connection (L-03, L-05, H-11): keepalive after 1 s without a sent packet,
// timeout after 10 s without an authenticated packet, the 10 s of a half-open entry, and the Disconnects that
// are repeated until the peer has answered or the grace is over. Plain values driven by now_ns; the timers
// read no clock and send nothing.
#pragma once

#include <algorithm>
#include <cstdint>

namespace lattice::connection {

/// All times in nanoseconds.
struct TimerConfig {
  uint64_t keepalive_idle_ns = 1'000'000'000;
  uint64_t timeout_ns = 10'000'000'000;
  uint64_t half_open_ns = 10'000'000'000;  ///< Whatever timeout_ns is.
  uint64_t disconnect_interval_ns = 50'000'000;
  uint64_t disconnect_grace_ns = 1'000'000'000;  ///< Longer than most bursts of loss.
};

class ConnectionTimers {
 public:
  /// Starts at `now_ns` as if a packet had just been sent and received. `half_open`: a server entry that is
  /// not confirmed yet.
  ConnectionTimers(const TimerConfig& config, uint64_t now_ns, bool half_open);

  /// A packet of this connection was sent.
  void on_sent(uint64_t now_ns) { last_sent_ns_ = now_ns; }
  /// A packet opened. Ends half-open.
  void on_authenticated(uint64_t now_ns);

  /// The silence before `now_ns` does not count.
  void restart_silence(uint64_t now_ns) { last_authenticated_ns_ = std::max(last_authenticated_ns_, now_ns); }

  /// A Keepalive should go out now. Never while disconnecting.
  bool keepalive_due(uint64_t now_ns) const;
  /// Nothing authenticated for timeout_ns; of a half-open entry: it grew older than half_open_ns.
  bool timed_out(uint64_t now_ns) const;
  bool half_open() const { return half_open_; }
  /// This side ends it.
  bool is_disconnecting() const { return disconnecting_; }
  /// When the last packet opened, or else when the connection began.
  uint64_t heard_at_ns() const { return last_authenticated_ns_; }

  /// This side ends the connection at `now_ns`; the first Disconnect is due at once.
  void begin_disconnect(uint64_t now_ns);
  /// True when a Disconnect should be sent now; the next is due an interval later. The last is sent before
  /// the grace is over.
  bool take_disconnect_send(uint64_t now_ns);
  /// The grace after begin_disconnect is over.
  bool disconnect_finished(uint64_t now_ns) const;

  /// When timed_out() becomes true if nothing happens; kNever while disconnecting.
  uint64_t timeout_at_ns() const;
  /// When keepalive_due() becomes true if nothing happens; kNever while disconnecting or half-open.
  uint64_t keepalive_at_ns() const;
  /// The earliest time at which any result above changes by time alone.
  uint64_t next_deadline_ns() const;

  static constexpr uint64_t kNever = UINT64_MAX;

 private:
  uint64_t last_sent_ns_;
  uint64_t last_authenticated_ns_;
  bool half_open_;
  bool disconnecting_ = false;
  TimerConfig config_;
  uint64_t started_ns_;
  uint64_t disconnect_due_ns_ = 0;  ///< When the next one may leave.
  uint64_t grace_end_ns_ = 0;
};

}  // namespace lattice::connection
