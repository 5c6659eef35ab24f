// How large a datagram a path carries (§4.4; L-06): one padded Keepalive at a time, that must not be
// fragmented, of the next larger size until one is not acknowledged.
//
//   1200 ─▶ 1280 ─▶ 1350 ─▶ 1400 ─▶ 1452 ─▶ 1472        three losses of one size: stop, try again in 10 min
//     ▲───────────── black hole: back, try again in 10 min
//
// Sizes are UDP payload. 1452 is what Ethernet leaves with IPv6, 1472 with IPv4. 1200 always works: the
// handshake has proved it. An application that knows its path may begin with a larger size (assume()). A
// probe's fate says nothing about congestion, so the history does not track it.
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

  /// Nothing above `limit_bytes` is tried; below the second size nothing is.
  void set_limit(uint32_t limit_bytes) { limit_bytes_ = limit_bytes; }
  uint32_t limit_bytes() const { return limit_bytes_; }

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

  /// Number of the probe whose fate is open; 0: none.
  uint64_t probe_in_flight() const { return probe_seq_; }
  /// Number of the last probe that was given up, if its size is still not proved; 0: none. It may only be
  /// late.
  uint64_t probe_given_up() const { return given_up_seq_; }
  /// Either was acknowledged. The one given up proves its size as well: the search goes on, at once.
  void on_probe_acked();
  /// Gives the probe in flight up when its time is over.
  void update(uint64_t now_ns);

  /// When update() gives the probe up, or the next one is due; kNever when there is nothing left to try.
  uint64_t next_deadline_ns() const;
  static constexpr uint64_t kNever = UINT64_MAX;

  /// Large packets stopped arriving.
  void on_black_hole(uint64_t now_ns);
  /// Another path: nothing is known about it.
  void restart();

 private:
  bool has_next_size() const;

  uint32_t limit_bytes_ = wire::kFloorDatagramBytes;
  size_t proved_ = 0;  ///< Index of the largest size acknowledged or assumed.
  uint32_t losses_ = 0;
  uint64_t probe_seq_ = 0;
  uint64_t given_up_seq_ = 0;
  uint64_t give_up_ns_ = 0;
  uint64_t resume_ns_ = 0;  ///< No probe before.
};

}  // namespace lattice::reliability
