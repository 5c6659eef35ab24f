// The interface of every congestion controller (§6; C-01, R-07). A controller sees one connection's packets
// as numbers; it sends nothing, reads no clock and allocates nothing. Pacer feeds it and asks it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "reliability/congestion/congestion_config.h"

namespace lattice::reliability {

/// The current state of the path.
struct PathState {
  uint64_t now_ns = 0;
  uint64_t srtt_ns = 0;     ///< 0 before the first sample, and on a path without delay.
  uint64_t min_rtt_ns = 0;  ///< Over the last 10 s.
  uint64_t rto_ns = 0;
};

/// The news from one ack block or from the passing of time. At least one count or `has_rtt` is set.
struct AckFeedback {
  PathState path;
  uint32_t acked_packets = 0;
  uint64_t acked_bytes = 0;
  uint32_t lost_packets = 0;
  uint32_t spurious_packets = 0;  ///< Called lost before, and acknowledged now.
  uint64_t bytes_in_flight = 0;   ///< Afterwards.
  bool has_rtt = false;
  uint64_t rtt_ns = 0;     ///< Least time that the path may have taken.
  uint64_t answer_ns = 0;  ///< Time until the answer was read, at least rtt_ns.
};

/// The events of one round: from the sending of a packet to the acknowledgement of a later one, and never
/// shorter than kMinRoundNs. `lost_packets` is the one loss signal per round trip of R-07.
struct RoundSummary {
  PathState path;
  uint64_t duration_ns = 0;
  uint32_t acked_packets = 0;
  uint64_t acked_bytes = 0;
  uint32_t lost_packets = 0;  ///< Without spurious losses.
  uint64_t peak_bytes_in_flight = 0;
  uint32_t rtt_samples = 0;  ///< 0: the next two members mean nothing.
  uint64_t smallest_rtt_ns = 0;
  uint64_t smallest_answer_ns = 0;
};

/// Shorter rounds would hold too few samples to tell a queue from a late thread.
inline constexpr uint64_t kMinRoundNs = 5'000'000;

/// For statistics and people.
enum class CongestionPhase : uint8_t {
  kUnlimited,  ///< Mode kNone.
  kGood,       ///< Mode kGoodBad.
  kBad,
  kStartup,   ///< Mode kDelay: doubling until the queue shows.
  kSteady,    ///< Holding the queue at its target.
  kDrain,     ///< Letting the queue run empty, to measure the path without it.
  kBlackout,  ///< No acknowledgement comes back.
};

class CongestionController {
 public:
  static constexpr uint64_t kNoWindow = UINT64_MAX;

  virtual ~CongestionController() = default;

  /// Another path (L-04): nothing learned so far applies.
  virtual void restart(uint64_t now_ns) = 0;
  /// Nothing had been in flight for `idle_ns` when a packet left.
  virtual void on_idle(uint64_t idle_ns) = 0;
  virtual void on_feedback(const AckFeedback& feedback) = 0;
  virtual void on_round(const RoundSummary& round) = 0;
  /// Everything in flight was lost and nothing at all came back.
  virtual void on_silence(uint64_t now_ns) = 0;
  /// Time passed. Called before every send.
  virtual void update(const PathState& path) = 0;

  /// Bytes per second to send at, at least 1, at most kMaxRateBytesPerS.
  virtual uint64_t rate_bytes_per_s(const PathState& path) const = 0;
  /// Bytes that may be in flight, or kNoWindow.
  virtual uint64_t window_bytes() const = 0;
  virtual CongestionPhase phase() const = 0;
};

/// Room for any controller inside its owner. On the heap it would cost another cache miss per packet.
inline constexpr size_t kControllerBytes = 240;
struct alignas(8) ControllerRoom {
  std::array<std::byte, kControllerBytes> bytes;
};
struct DestroyController {
  void operator()(CongestionController* controller) const { std::destroy_at(controller); }
};
using PlacedController = std::unique_ptr<CongestionController, DestroyController>;

/// The controller of `config.mode`, made in `room`, which must stay where it is and outlive it; null for
/// kNone.
PlacedController place_congestion_controller(const CongestionConfig& config, uint64_t now_ns,
                                             ControllerRoom& room);

}  // namespace lattice::reliability
