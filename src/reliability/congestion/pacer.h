// Gives every send its byte budget (C-03, R-07): one controller, one token bucket, and the rounds that feed
// both. One per connection.
//
//   acks, losses ──▶ rounds ──▶ controller ──▶ rate, window ──▶ bucket ──▶ may this datagram leave?
//
// Must stay true: ordinary datagrams leave only with their bytes in the bucket and in the window; urgent ones
// (acks, control, Disconnect) overdraw the bucket by at most one datagram of 1200 bytes and
// ignore the window; handshake datagrams and other probes need no budget and are not charged.
#pragma once

#include <cstdint>
#include <memory>

#include "reliability/congestion/congestion_controller.h"
#include "reliability/congestion/token_bucket.h"

namespace lattice::reliability {

/// How a datagram is paid for.
enum class Charge : uint8_t {
  kOrdinary,
  kUrgent,  ///< Acks, control, Disconnect; MTU probes under a configured rate: may overdraw.
  kFree,    ///< Other probes, and their answers.
};

class Pacer {
 public:
  static constexpr uint64_t kUnlimited = UINT64_MAX;

  struct Setup {
    CongestionConfig config;  ///< Must pass congestion_config_error().
    uint64_t now_ns = 0;
  };
  explicit Pacer(const Setup& setup);
  Pacer(const Pacer&) = delete;
  Pacer& operator=(const Pacer&) = delete;

  /// Another path (L-04): nothing learned so far applies.
  void restart(uint64_t now_ns);

  /// Adds the budget of the next tick, once for each time: then send. A tick lasts from the last call, or
  /// from `last_tick_ns` if that was later, to now. The budget of a tick with nothing to send is not kept for
  /// the next.
  void begin_send(const PathState& path, uint64_t last_tick_ns = 0);
  /// Time passed: timers, rate, refill. May be called at any time.
  void update(const PathState& path);

  /// Bytes that ordinary datagrams may use now, as of the last update(); kUnlimited without limits. 0 if less
  /// than `least_bytes` is in the bucket, or less than a whole datagram in the window: neither is spent on
  /// small parts of what waits.
  uint64_t allowance_bytes(uint64_t bytes_in_flight, uint64_t least_bytes = kDatagramBytes) const;
  /// Bytes that ordinary datagrams may use in the sends of the next `during_ns`. Where the bucket can hold
  /// all that it gains in this time, they are what may leave now: they need not wait for each other. Else
  /// they are what the bucket holds and gains, within the room that the window has and gains by
  /// acknowledgements; at the end a datagram may leave at once, and two fit the window. At least
  /// allowance_bytes(); 0 if nothing may leave now.
  uint64_t allowance_bytes_during(uint64_t during_ns, const PathState& path, uint64_t bytes_in_flight) const;
  /// Bytes an urgent datagram may use now.
  uint64_t urgent_allowance_bytes() const;

  struct Sent {
    uint64_t now_ns = 0;
    uint64_t packet_seq = 0;
    uint64_t bytes = 0;            ///< Header and tag included.
    uint64_t bytes_in_flight = 0;  ///< With this one.
    Charge charge = Charge::kOrdinary;
  };
  void on_sent(const Sent& sent);
  /// `largest_acked` is the highest packet number the peer has acknowledged so far.
  void on_feedback(const AckFeedback& feedback, uint64_t largest_acked);

  bool limited() const { return limited_; }
  /// True when next to nothing was sent for so long that more could not be saved up; with a limit only.
  bool is_idle() const { return 16 * bucket_.balance_bytes() >= 15 * static_cast<int64_t>(cap_bytes()); }
  /// As of the last update(); kUnlimited without limits.
  uint64_t rate_bytes_per_s() const { return limited_ ? rate_bytes_per_s_ : kUnlimited; }
  uint64_t window_bytes() const;
  CongestionPhase phase() const;
  /// Nothing was acknowledged for longer than a peer lets packets wait that reads at all.
  bool is_cut_off(uint64_t now_ns) const {
    return lost_since_ack_ >= kSilentPackets && now_ns - last_ack_ns_ >= kCutOffNs;
  }
  const CongestionController* controller() const { return controller_.get(); }

  /// What every packet and update reads lies between here and the end of `this`. `config` is that of Setup.
  const void* hot_begin(const CongestionConfig& config) const {
    if (config.mode == CongestionMode::kNone) return &controller_;
    return &room_;
  }

 private:
  /// This many unanswered packets are a silence; fewer may be chance.
  static constexpr uint32_t kSilentPackets = 3;
  /// A game in the background is pumped once a second, say.
  static constexpr uint64_t kCutOffNs = 2'000'000'000;

  void begin_round(uint64_t now_ns, uint64_t bytes_in_flight);
  void end_round(const AckFeedback& feedback);
  uint64_t cap_bytes() const;
  uint64_t limited_rate(const PathState& path) const;

  ControllerRoom room_;          ///< First: without a controller nothing reads it.
  PlacedController controller_;  ///< In room_. Null: mode kNone.
  uint64_t max_rate_bytes_per_s_;
  bool limited_;  ///< By a controller or a ceiling.
  uint64_t rate_bytes_per_s_ = 1;
  uint64_t send_began_ns_;
  uint64_t tick_ns_ = 0;        ///< What the last begin_send() counted as one tick.
  uint64_t last_since_ns_ = 0;  ///< The time between the last two.
  TokenBucket bucket_;

  // The current round.
  uint64_t round_began_ns_ = 0;
  uint64_t round_end_seq_ = 1;  ///< The round ends when this number is acknowledged.
  uint64_t next_seq_ = 1;
  uint64_t peak_bytes_in_flight_ = 0;
  uint64_t smallest_rtt_ns_ = UINT64_MAX;
  uint64_t smallest_answer_ns_ = UINT64_MAX;
  uint32_t rtt_samples_ = 0;
  uint32_t acked_packets_ = 0;
  uint64_t acked_bytes_ = 0;
  int64_t lost_packets_ = 0;  ///< Negative while spurious losses of earlier rounds are subtracted.

  uint64_t last_sent_ns_ = 0;
  uint64_t last_ack_ns_ = 0;
  uint32_t lost_since_ack_ = 0;
};

}  // namespace lattice::reliability
