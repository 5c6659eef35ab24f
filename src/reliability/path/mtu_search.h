// Finds the largest datagram that a path carries (§4.4; L-06). It sends one padded Keepalive at a time, with
// IP fragmentation forbidden, each of the next larger size, until one is not acknowledged.
//
//   1200 ─▶ 1280 ─▶ 1350 ─▶ 1400 ─▶ 1452 ─▶ 1472        three losses of one size: stop, try again in 10 min
//     ▲───────────── black hole: back, try again in 10 min
//
// Sizes are UDP payload. 1452 is what Ethernet leaves with IPv6, 1472 with IPv4. 1200 always works: the
// handshake has proved it. An application that knows its path may begin with a larger size (assume()). The
// loss of a probe says nothing about congestion, so the history does not track probes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "reliability/limits.h"

namespace lattice::reliability {

class MtuSearch {
 public:
  static constexpr std::array<uint32_t, 6> kSizes = {wire::kFloorDatagramBytes, 1280, 1350, 1400, 1452,
                                                     kLargestDatagramBytes};
  static constexpr uint32_t kLossesPerSize = 3;
  static constexpr uint64_t kRetryNs = uint64_t{10} * 60 * 1'000'000'000;

  /// No size above `limit_bytes` is tried. A limit below the second size allows no probe at all.
  void set_limit(uint32_t limit_bytes) { limit_bytes_ = limit_bytes; }
  uint32_t limit_bytes() const { return limit_bytes_; }

  /// Of a connection that may send so much, probes take a tenth at most, and the first of a path waits for
  /// its tenth: with a small rate, a probe would keep the first states waiting. 0: no bound.
  void bound_rate(uint64_t bytes_per_s) { bytes_per_s_ = bytes_per_s; }

  /// Begins with the largest of the sizes that is neither above `bytes` nor above the limit, instead of 1200:
  /// the application knows that the path carries it. Only before the first probe. A black hole and a new path
  /// begin with 1200 again.
  void assume(uint32_t bytes);

  /// The largest datagram known or assumed to arrive.
  uint32_t datagram_bytes() const { return kSizes[proved_]; }

  /// The size of the probe to send now; 0: none.
  uint32_t probe_due(uint64_t now_ns) const;
  /// A probe of probe_due() bytes left as packet `packet_seq`; without an ack it counts as lost after
  /// `patience_ns`.
  void on_probe_sent(uint64_t packet_seq, uint64_t now_ns, uint64_t patience_ns);

  /// Number of the probe in flight; 0: none.
  uint64_t probe_in_flight() const { return probe_seq_; }
  /// Number of the last probe that was given up, if its size is still not proved; 0: none. Its ack may still
  /// come.
  uint64_t probe_given_up() const { return given_up_seq_; }
  /// The probe in flight or the one given up was acknowledged. Both prove their size, and the search
  /// continues at once.
  void on_probe_acked();
  /// Gives up the probe in flight when its time is over, and begins the wait of the first probe.
  void update(uint64_t now_ns);

  /// When update() gives up the probe in flight, or when the next probe is due; kNever when no size is left.
  uint64_t next_deadline_ns() const;
  static constexpr uint64_t kNever = UINT64_MAX;

  /// Large packets stopped arriving.
  void on_black_hole(uint64_t now_ns);
  /// Starts over for a new path.
  void restart();

 private:
  static constexpr uint64_t kShareOfRate = 10;

  bool has_next_size() const;
  /// How long the largest probe takes at the probes' share of the rate.
  uint64_t pause_ns() const;

  uint32_t limit_bytes_ = wire::kFloorDatagramBytes;
  uint32_t losses_ = 0;
  size_t proved_ = 0;  ///< Index of the largest size acknowledged or assumed.
  uint64_t probe_seq_ = 0;
  uint64_t given_up_seq_ = 0;
  uint64_t give_up_ns_ = 0;
  uint64_t resume_ns_ = 0;  ///< No probe is sent before this time.
  uint64_t bytes_per_s_ = 0;
  uint64_t paced_ns_ = 0;  ///< Likewise, for the rate's sake; 0 before the first update() of a path.
};

}  // namespace lattice::reliability
