// A client and a server that exchange inputs and snapshots over a seeded path in virtual time. Tests the
// clock, the input window and the jitter buffer together.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/random.h"
#include "simulation/clock_sync.h"
#include "simulation/fixed_tick.h"
#include "simulation/input_buffer.h"
#include "simulation/input_history.h"
#include "support/durations.h"

namespace lattice::simulation::test {

using lattice::test::kMs;

struct PathConfig {
  double rtt_ms = 100;
  double jitter_ms = 0;  // each packet's delay is rtt/2 + jitter ± jitter, uniform
  double loss = 0;
  bool reorders = true;  // false: a packet never overtakes an earlier one
};

struct RunConfig {
  PathConfig path;
  uint64_t seed = 1;
  uint32_t tick_rate_hz = 60;
  double client_pump_hz = 60;
  double client_frame_jitter_ms = 0;  // each frame takes up to so much more
  double client_drift_ppm = 0;
  uint32_t snapshot_every_ticks = 2;
  uint32_t input_every_ticks = 1;
};

struct RunResult {
  uint64_t ticks = 0;             // server ticks in the measured part
  uint64_t missed = 0;            // of those, run without the client's input
  double mean_margin = 0;         // ticks, as the server reports
  double worst_margin_error = 0;  // |reported - wanted|, 99th percentile
  double mean_wanted = 0;
  double max_wanted = 0;
  uint64_t wrong_inputs = 0;  // inputs applied to another tick than they were made for
  uint64_t late = 0;
  double missed_ratio() const {
    return ticks == 0 ? 1.0 : static_cast<double>(missed) / static_cast<double>(ticks);
  }
};

class ClockRun {
 public:
  explicit ClockRun(const RunConfig& config)
      : config_(config),
        random_(config.seed),
        server_tick_(config.tick_rate_hz),
        client_fixed_(config.tick_rate_hz),
        clock_(ClockSyncConfig{.tick_rate_hz = config.tick_rate_hz}),
        history_(1),
        buffer_(InputBufferConfig{}, std::vector<serialization::Word>{0}, 60000) {
    server_newest_ = 60000;
    client_period_ns_ = static_cast<uint64_t>(1e9 / config.client_pump_hz);
    next_client_ns_ = kStartNs + random_.next_below(client_period_ns_);
    next_server_ns_ = kStartNs + random_.next_below(16 * kMs);
    // The handshake gives the client the server's tick, which is one downlink delay old.
    pending_start_ = true;
  }

  ClockSync& clock() { return clock_; }
  PathConfig& path() { return config_.path; }
  uint64_t now_ns() const { return now_ns_; }
  Tick client_newest() const { return client_newest_; }
  Tick newest_sent() const { return history_.newest_sent(); }
  uint32_t jumps_back() const { return jumps_back_; }
  const InputBufferStats& buffer_stats() const { return buffer_.stats(); }
  void stop_server_for(uint64_t ns) { next_server_ns_ += ns; }
  void stop_client_for(uint64_t ns) { next_client_ns_ += ns; }

  /// Runs for another `seconds`; the result covers only these.
  RunResult run(double seconds) {
    const uint64_t until_ns = std::max(now_ns_, kStartNs) + static_cast<uint64_t>(seconds * 1e9);
    result_ = RunResult{};
    margins_.clear();
    const InputBufferStats before = buffer_.stats();
    for (;;) {
      const bool client = next_client_ns_ <= next_server_ns_;
      now_ns_ = client ? next_client_ns_ : next_server_ns_;
      if (now_ns_ >= until_ns) break;
      if (client) {
        pump_client();
        const auto longer_ns = static_cast<uint64_t>(config_.client_frame_jitter_ms * 1e6);
        next_client_ns_ += client_period_ns_ + random_.next_below(kMs / 4 + longer_ns);
      } else {
        pump_server();
        next_server_ns_ += 1'000'000'000 / config_.tick_rate_hz;
      }
    }
    const InputBufferStats& after = buffer_.stats();
    result_.late = after.late - before.late;
    finish();
    return result_;
  }

 private:
  static constexpr uint64_t kStartNs = 5'000'000'000;
  struct Packet {
    uint64_t arrives_ns;
    Tick tick;
    Tick last_input;
    int8_t margin;
    uint64_t echo_sent_ns;
    uint64_t echo_held_since_ns;
    std::vector<serialization::Word> words;
  };

  static serialization::Word input_of(Tick tick) { return tick * 2654435761u + 1; }

  void send(std::vector<Packet>& queue, uint64_t& last_arrival, Packet packet) {
    if (random_.chance(config_.path.loss)) return;
    const double delay_ms = config_.path.rtt_ms / 2 + config_.path.jitter_ms * 2.0 * random_.next_unit();
    packet.arrives_ns = now_ns_ + static_cast<uint64_t>(delay_ms * 1e6);
    if (!config_.path.reorders) packet.arrives_ns = std::max(packet.arrives_ns, last_arrival);
    last_arrival = packet.arrives_ns;
    queue.push_back(std::move(packet));
  }

  template <typename Receive>
  void drain(std::vector<Packet>& queue, Receive receive) {
    std::stable_sort(queue.begin(), queue.end(),
                     [](const Packet& a, const Packet& b) { return a.arrives_ns < b.arrives_ns; });
    size_t taken = 0;
    while (taken < queue.size() && queue[taken].arrives_ns <= now_ns_) receive(queue[taken++]);
    queue.erase(queue.begin(), queue.begin() + static_cast<ptrdiff_t>(taken));
  }

  uint64_t client_clock() const {
    return now_ns_ +
           static_cast<uint64_t>(static_cast<double>(now_ns_ - kStartNs) *
                                 (1.0 + config_.client_drift_ppm * 1e-6)) -
           (now_ns_ - kStartNs);
  }

  void pump_client() {
    const uint64_t now = client_clock();
    drain(down_, [&](const Packet& p) {
      if (p.echo_sent_ns != 0) {
        const double sample =
            static_cast<double>(now_ns_ - p.echo_sent_ns) - static_cast<double>(p.echo_held_since_ns);
        srtt_ns_ = srtt_ns_ == 0 ? sample : srtt_ns_ + (sample - srtt_ns_) / 8;
      }
      if (pending_start_) {
        pending_start_ = false;
        clock_.start(p.tick, now,
                     static_cast<uint64_t>((config_.path.rtt_ms + 2 * config_.path.jitter_ms) * 1e6));
        return;
      }
      history_.acknowledge(p.tick);
      clock_.on_snapshot(
          SnapshotTiming{p.tick, p.last_input, p.margin, now, static_cast<uint64_t>(srtt_ns_)});
    });
    if (!clock_.started()) {
      client_fixed_.advance(now);
      return;
    }
    const Steering steering =
        clock_.steer(client_fixed_.position_at(client_newest_, now), history_.newest_sent(), now);
    if (steering.event == ClockEvent::kJump) {
      if (client_newest_ != 0 && !base::tick_after(steering.newest_tick, client_newest_)) ++jumps_back_;
      client_newest_ = steering.newest_tick;
      client_fixed_.restart(now);
    }
    client_fixed_.set_rate_factor(steering.rate_factor);
    const TickAdvance advance = client_fixed_.advance(now);
    for (uint32_t i = 0; i < advance.ticks; ++i) {
      ++client_newest_;
      const serialization::Word word = input_of(client_newest_);
      history_.push(client_newest_, {&word, 1});
    }
    if (advance.ticks == 0) return;
    if (base::tick_distance(client_newest_, history_.newest_sent()) <
        static_cast<int32_t>(config_.input_every_ticks)) {
      return;
    }
    Packet packet{};
    packet.tick = client_newest_;
    packet.echo_sent_ns = now_ns_;
    for (uint32_t i = 0; i < history_.window_count(); ++i)
      packet.words.push_back(*history_.find(client_newest_ - i));
    send(up_, last_up_ns_, std::move(packet));
    history_.mark_sent(client_newest_);
    clock_.on_input_sent(client_fixed_.position_at(client_newest_, now), now);
    result_.mean_wanted += wanted_of_newest();
    ++wanted_samples_;
    result_.max_wanted = std::max(result_.max_wanted, clock_.wanted_ticks());
  }

  /// The margin is wanted of the first input of a message, and reported of the newest.
  double wanted_of_newest() const { return clock_.wanted_ticks() + clock_.usual_batch() - 1; }

  void pump_server() {
    drain(up_, [&](const Packet& p) {
      DecodedInputs inputs;
      inputs.newest_tick = p.tick;
      inputs.count = inputs.read_count = static_cast<uint32_t>(p.words.size());
      buffer_.receive(inputs, p.words, server_tick_.position_at(server_newest_, now_ns_));
      echo_sent_ns_ = p.echo_sent_ns;
      echo_since_ns_ = now_ns_;
    });
    const TickAdvance advance = server_tick_.advance(now_ns_);
    for (uint32_t i = 0; i < advance.ticks; ++i) {
      ++server_newest_;
      const TakenInput input = buffer_.take(server_newest_);
      ++result_.ticks;
      if (input.source != InputSource::kFresh) {
        ++result_.missed;
      } else if (*input.words != input_of(server_newest_)) {
        ++result_.wrong_inputs;
      }
      if (server_newest_ % config_.snapshot_every_ticks != 0) continue;
      Packet packet{};
      packet.tick = server_newest_;
      packet.last_input = buffer_.last_input_tick();
      packet.margin = buffer_.margin_quarter_ticks();
      packet.echo_sent_ns = echo_sent_ns_;
      packet.echo_held_since_ns = now_ns_ - echo_since_ns_;
      margins_.push_back(std::abs(packet.margin / 4.0 - wanted_of_newest()));
      result_.mean_margin += packet.margin / 4.0;
      send(down_, last_down_ns_, std::move(packet));
    }
  }

  void finish() {
    if (wanted_samples_ != 0) result_.mean_wanted /= static_cast<double>(wanted_samples_);
    if (!margins_.empty()) {
      result_.mean_margin /= static_cast<double>(margins_.size());
      std::sort(margins_.begin(), margins_.end());
      result_.worst_margin_error = margins_[margins_.size() * 99 / 100];
    }
    wanted_samples_ = 0;
  }

  RunConfig config_;
  base::Random random_;
  uint64_t now_ns_ = 0;
  uint64_t next_client_ns_ = 0;
  uint64_t next_server_ns_ = 0;
  uint64_t client_period_ns_ = 0;
  FixedTick server_tick_;
  FixedTick client_fixed_;
  ClockSync clock_;
  InputHistory history_;
  InputBuffer buffer_;
  Tick server_newest_ = 0;
  Tick client_newest_ = 0;
  bool pending_start_ = false;
  double srtt_ns_ = 0;
  uint64_t echo_sent_ns_ = 0;
  uint64_t echo_since_ns_ = 0;
  uint64_t last_up_ns_ = 0;
  uint64_t last_down_ns_ = 0;
  uint32_t jumps_back_ = 0;
  std::vector<Packet> up_;
  std::vector<Packet> down_;
  std::vector<double> margins_;
  uint64_t wanted_samples_ = 0;
  RunResult result_;
};

}  // namespace lattice::simulation::test
