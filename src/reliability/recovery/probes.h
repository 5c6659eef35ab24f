// When a connection probes, what its probes measured, and the echoes it owes the other side (L-02, L-07,
// Keepalives carry both.
//
//   idle, busy without a sample, unheard, new path ─▶ probe ─▶ the peer echoes it ─▶ a round trip
//   the peer's probe ─▶ echo, with the time it waited
//
// An echo counts only if it names one of the last four probes, and once.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "reliability/limits.h"
#include "reliability/recovery/rtt_estimator.h"

namespace lattice::reliability {

class Probes {
 public:
  /// A side that only answers probes sends a probe of its own this often, so that it measures a round trip
  /// too.
  static constexpr uint64_t kQuietProbeNs = 10'000'000'000;
  static constexpr uint64_t kNever = UINT64_MAX;

  /// The connection was accepted.
  void begin(uint64_t now_ns) { began_ns_ = now_ns; }
  uint64_t began_ns() const { return began_ns_; }
  /// Another path: earlier probes say nothing about it, and one is wanted.
  void restart() {
    sent_ = {};
    next_ = 0;
    is_wanted_ = true;
  }
  /// A probe leaves at the next chance.
  void want() { is_wanted_ = true; }
  bool is_wanted() const { return is_wanted_; }

  /// A packet left, other than a challenge or an MTU probe.
  void on_sent(uint64_t now_ns) { last_sent_ns_ = now_ns; }
  uint64_t last_sent_ns() const { return last_sent_ns_; }
  /// A packet with messages left.
  void on_payload(uint64_t now_ns) {
    last_payload_ns_ = now_ns;
    has_sent_payload_ = true;
  }

  /// A probe leaves as packet `packet_seq`.
  void on_probe(uint64_t now_ns, uint64_t packet_seq) {
    last_probe_ns_ = now_ns;
    is_wanted_ = false;
    sent_[next_] = {now_ns, packet_seq, true};
    next_ = (next_ + 1) % kKept;
  }
  struct Answered {
    uint64_t sent_ns;
    uint64_t packet_seq;
  };
  /// The probe that the peer echoes; empty if it echoes none that this side sent, or one a second time.
  std::optional<Answered> on_echo(uint64_t echo_us) {
    for (Sent& each : sent_) {
      if (!each.is_open || each.ns / 1000 != echo_us) continue;
      each.is_open = false;
      return Answered{each.ns, each.packet_seq};
    }
    return std::nullopt;
  }

  /// The peer's probe came. Only the newest is echoed.
  void on_peers_probe(uint64_t probe_us, uint64_t now_ns) {
    echo_waits_ = true;
    echo_us_ = probe_us;
    echo_received_ns_ = now_ns;
  }
  bool echo_waits() const { return echo_waits_; }
  struct Echo {
    uint64_t probe_us;
    uint32_t delay_us;
  };
  Echo take_echo(uint64_t now_ns) {
    echo_waits_ = false;
    return {echo_us_,
            static_cast<uint32_t>(std::min<uint64_t>((now_ns - echo_received_ns_) / 1000, UINT32_MAX))};
  }

  /// A probe is due on a busy connection after a second without a sample: its acks gave none. It is
  /// due each second where no message may leave because nothing is acknowledged: the echo makes blocks
  /// readable. kNever when none is due unless something is sent.
  uint64_t busy_at_ns(const RttEstimator& rtt, bool is_unheard, uint64_t now_ns) const {
    const bool busy = has_sent_payload_ && now_ns - last_payload_ns_ < kProbeAfterNs;
    const uint64_t tried_ns = last_try_ns(rtt);
    if (is_unheard) return tried_ns + kProbeAfterNs;
    // If the last try is newer than the last message, the connection is quiet when another try would be due.
    return busy && tried_ns < last_payload_ns_ ? tried_ns + kProbeAfterNs : kNever;
  }
  /// The echo that waits may carry a probe.
  bool quiet_due(const RttEstimator& rtt, uint64_t now_ns) const {
    return echo_waits_ && now_ns - last_try_ns(rtt) >= kQuietProbeNs;
  }

  /// What every packet and update reads lies between `this` and here.
  const void* hot_end() const { return &sent_; }

 private:
  static constexpr size_t kKept = 4;
  struct Sent {
    uint64_t ns = 0;
    uint64_t packet_seq = 0;
    bool is_open = false;  ///< Not echoed yet.
  };

  /// When a round trip was last measured, or when the last probe left.
  uint64_t last_try_ns(const RttEstimator& rtt) const {
    const uint64_t probed_ns = std::max(last_probe_ns_, began_ns_);
    return rtt.has_sample() ? std::max(probed_ns, rtt.sampled_at_ns()) : probed_ns;
  }

  uint64_t last_sent_ns_ = 0;
  uint64_t last_probe_ns_ = 0;
  uint64_t last_payload_ns_ = 0;
  uint64_t began_ns_ = 0;
  bool is_wanted_ = false;
  bool echo_waits_ = false;
  bool has_sent_payload_ = false;
  std::array<Sent, kKept> sent_{};  ///< A fifth probe replaces the oldest.
  size_t next_ = 0;
  uint64_t echo_us_ = 0;
  uint64_t echo_received_ns_ = 0;
};

}  // namespace lattice::reliability
