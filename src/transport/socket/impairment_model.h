// The decisions of one impaired direction: when each offered datagram arrives, how many copies arrive, or why
// none does. Seeded and in virtual time: the same seed, configuration and offers give the same decisions.
// Each offer draws the same number of random values whatever the configuration, so changing the delay
// does not change which datagrams are lost.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/random.h"
#include "transport/socket/bottleneck_link.h"
#include "transport/socket/impairment.h"

namespace lattice::socket {

/// Counters of the datagrams offered to one direction. offered = sum of the losses and drops + datagrams that
/// got at least one arrival time.
struct ImpairmentStats {
  uint64_t offered = 0;
  uint64_t offered_bytes = 0;
  uint64_t delivered = 0;  ///< Handed to the receiver, copies included.
  uint64_t delivered_bytes = 0;
  uint64_t lost_random = 0;
  uint64_t lost_burst = 0;
  uint64_t lost_blackout = 0;
  uint64_t lost_mtu = 0;          ///< Larger than the path carries.
  uint64_t dropped_rate = 0;      ///< The queue in front of the rate limit was full.
  uint64_t dropped_overflow = 0;  ///< The simulator's own bound on datagrams in flight was reached.
  uint64_t duplicated = 0;        ///< Second copies made.
  uint64_t reordered = 0;         ///< Chosen to be held back by reorder_delay_ms.
  uint64_t overtaking = 0;        ///< Got an arrival time before that of an earlier datagram.
  uint64_t injected = 0;          ///< Put in from outside (attacks); not part of offered.

  uint64_t lost() const { return lost_random + lost_burst + lost_blackout + lost_mtu; }
  uint64_t dropped() const { return dropped_rate + dropped_overflow; }
};

/// Arrival times of one offered datagram: none, one, or two.
struct Fate {
  size_t copies = 0;
  std::array<uint64_t, 2> deliver_at_ns{};
};

class ImpairmentModel {
 public:
  explicit ImpairmentModel(uint64_t seed) : random_(seed) {}

  /// Takes effect for the next offer; datagrams in flight keep their arrival times. The burst state is kept
  /// only while bursts stay enabled. `impairment` must pass impairment_error().
  void configure(const Impairment& impairment);
  const Impairment& impairment() const { return impairment_; }
  /// Sends every datagram through `link` (borrowed) in place of the impairment's own rate; null to stop.
  void set_bottleneck(BottleneckLink* link) { bottleneck_ = link; }

  /// Decides about one datagram of `payload_bytes` offered at `now_ns` (which must not go back). Counts
  /// losses and faults in `stats`; the caller counts deliveries.
  Fate offer(size_t payload_bytes, uint64_t now_ns, ImpairmentStats& stats);

 private:
  struct Draws {
    double burst, loss, duplicate, reorder, jitter, copy_jitter;
  };

  bool lose(const Draws& draws, ImpairmentStats& stats);
  bool pass_rate_limit(size_t payload_bytes, uint64_t now_ns, uint64_t* departs_ns);
  uint64_t arrival(uint64_t departs_ns, double jitter_draw) const;
  uint64_t keep_order(uint64_t deliver_at_ns, ImpairmentStats& stats);

  Impairment impairment_;
  BottleneckLink* bottleneck_ = nullptr;
  base::Random random_;
  bool in_burst_ = false;
  uint64_t link_free_ns_ = 0;     ///< When the rate-limited link has sent every datagram accepted so far.
  uint64_t last_arrival_ns_ = 0;  ///< Latest arrival time given to a datagram that keeps the order.
};

}  // namespace lattice::socket
