// Round-trip time per connection (R-05, R-06; RFC 6298 §2 with this protocol's bounds).
//
// Must stay true: rto_ns() lies within the bounds given at creation. Before the first sample it is 500 ms, or
// the bound nearest to that.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "reliability/limits.h"

namespace lattice::reliability {

inline constexpr uint64_t kMinRtoNs = 50'000'000;     ///< Default of the lower bound.
inline constexpr uint64_t kMaxRtoNs = 1'000'000'000;  ///< Default of the upper bound.
// The range of either bound. The timers that depend on rto were checked for this range.
inline constexpr uint64_t kMinSettableRtoNs = 5'000'000;
inline constexpr uint64_t kMaxSettableRtoNs = 5'000'000'000;
inline constexpr uint64_t kInitialRtoNs = 500'000'000;
inline constexpr uint64_t kMaxRttSampleNs = 10'000'000'000;

/// The bounds of rto_ns(); 0 < min_ns <= max_ns.
struct RtoBounds {
  uint64_t min_ns = kMinRtoNs;
  uint64_t max_ns = kMaxRtoNs;
};

class RttEstimator {
 public:
  explicit RttEstimator(const RtoBounds& bounds = {})
      : rto_ns_(std::clamp(kInitialRtoNs, bounds.min_ns, bounds.max_ns)), bounds_(bounds) {}

  /// Forgets every sample: another path. The bounds stay.
  void restart() { *this = RttEstimator(bounds_); }

  /// An answer came `elapsed_ns` after its question. The peer says that the question was there for
  /// `told_delay_ns` before the answer left. The answer was here for `unread_ns` at most before this side
  /// read it, and this side reads every `reading_every_ns`. It answers questions that no
  /// answer before it did: the first of them took `longest_ns`, or 0 if that is not known.
  struct Answer {
    uint64_t elapsed_ns;
    uint64_t told_delay_ns = 0;
    uint64_t unread_ns = 0;
    uint64_t reading_every_ns = 0;
    uint64_t longest_ns = 0;
  };

  /// Folds one round-trip sample into srtt and rttvar and recomputes rto.
  /// `sample_ns` may be 0 (one process); above 10 s it counts as 10 s. Samples from packets that carried a
  /// retransmission must not be passed. Cannot fail. Source: §5.1, R-05; RFC 6298 §2.2, §2.3.
  void add_sample(uint64_t sample_ns, uint64_t now_ns) { fold(sample_ns, sample_ns, {sample_ns}, now_ns); }
  /// The same of an answer, without the delay that a peer may intend. Returns the least time that the path
  /// may have taken, without any delay: min_rtt_ns() is about these. The peer may lie: neither is smaller
  /// than the least time in which any answer came, and no delay is longer than the peer's silence before it.
  /// Source: R-9; RFC 9002 §5.3.
  uint64_t add_delayed_sample(const Answer& answer, uint64_t now_ns);

  /// After a silence of the peer: what was sent before `now_ns` was answered late because of it, and says
  /// nothing of the path. What was sampled before stays.
  void ignore_sent_before(uint64_t now_ns) { told_since_ns_ = now_ns; }
  /// False when there was no sample since the last silence: then that is how the peer reads, and it counts.
  bool may_ignore() const { return sampled_at_ns_ > told_since_ns_; }
  /// Whether the answer to what was sent at `sent_ns` says something of the path.
  bool tells(uint64_t sent_ns) const { return sent_ns >= told_since_ns_; }

  /// How much of the `unread_ns` that a packet may have waited for being read counts for the path. Many
  /// readings in a round trip find packets at every time of their wait, and the least wait is next to none.
  /// If readings are rarer, all packets of a round trip may have waited as long.
  uint64_t unread_share_ns(uint64_t unread_ns) const;

  bool has_sample() const { return sample_count_ != 0; }
  uint64_t sample_count() const { return sample_count_; }
  /// When the newest sample was taken; meaningless without one.
  uint64_t sampled_at_ns() const { return sampled_at_ns_; }
  uint64_t srtt_ns() const { return srtt_ns_; }
  uint64_t rttvar_ns() const { return rttvar_ns_; }
  uint64_t rto_ns() const { return rto_ns_; }
  uint64_t latest_ns() const { return latest_ns_; }
  /// Mean difference of consecutive samples, smoothed 15/16 (the estimator of RFC 3550 §6.4.1, on round
  /// trips).
  uint64_t jitter_ns() const { return jitter_ns_; }
  /// Least time that the path may have taken in the last 10 s (whole seconds); srtt when there was no sample.
  uint64_t min_rtt_ns(uint64_t now_ns) const;

  /// What every packet reads lies between `this` and here.
  const void* hot_end() const { return &minima_; }

 private:
  uint64_t believed_delay_ns(const Answer& answer, uint64_t now_ns);
  uint64_t longest_of_late_ns(uint64_t answer_ns, uint64_t now_ns);
  void fold(uint64_t sample_ns, uint64_t path_ns, const Answer& answer, uint64_t now_ns);
  uint64_t smallest_as_of(uint64_t second) const;

  static constexpr size_t kMinSlots = 10;
  struct MinSlot {
    uint64_t second = 0;
    uint64_t min_ns = UINT64_MAX;  ///< UINT64_MAX: empty.
  };

  uint64_t srtt_ns_ = 0;
  uint64_t rttvar_ns_ = 0;
  uint64_t rto_ns_;
  uint64_t latest_ns_ = 0;
  uint64_t jitter_ns_ = 0;
  uint64_t sampled_at_ns_ = 0;
  uint64_t sample_count_ = 0;
  uint64_t told_since_ns_ = 0;
  uint64_t least_elapsed_ns_ = UINT64_MAX;  ///< Before any delay was taken off.
  uint64_t silence_ns_ = 0;                 ///< The peer's before its burst of answers, less the time since.
  /// The largest longest_ns of this second and of the one before.
  uint64_t longest_second_ = 0, longest_ns_ = 0, longest_before_ns_ = 0;
  uint64_t window_second_ = UINT64_MAX;  ///< Of the last sample.
  uint64_t second_min_ns_ = 0;           ///< Of that second.
  uint64_t window_min_ns_ = 0;           ///< Of the minima, as of that second.
  RtoBounds bounds_;
  std::array<MinSlot, kMinSlots> minima_{};  ///< Last: a sample seldom changes one.
};

}  // namespace lattice::reliability
