#include "reliability/congestion/good_bad_controller.h"

#include <algorithm>

namespace lattice::reliability {

GoodBadController::GoodBadController(const GoodBadConfig& config, uint64_t now_ns) : config_(config) {
  restart(now_ns);
}

void GoodBadController::restart(uint64_t now_ns) {
  loss_.clear();
  good_ = true;
  was_promoted_ = false;
  rate_hz_ = config_.start_rate_hz;
  good_time_ns_ = config_.first_good_ns;
  since_ns_ = halved_ns_ = now_ns;
}

void GoodBadController::on_feedback(const AckFeedback& feedback) {
  loss_.add(feedback.path.now_ns, feedback.acked_packets, feedback.lost_packets, feedback.spurious_packets);
  if (looks_bad(feedback.path)) demote(feedback.path.now_ns);
}

bool GoodBadController::looks_bad(const PathState& path) const {
  if (path.srtt_ns > config_.bad_rtt_ns &&
      path.srtt_ns * 100 > path.min_rtt_ns * config_.bad_rtt_over_min_percent) {
    return true;
  }
  const LossWindow::Count count = loss_.last_second(path.now_ns);
  return count.packets >= config_.min_loss_packets &&
         uint64_t{count.lost} * 100 > uint64_t{count.packets} * config_.bad_loss_percent;
}

void GoodBadController::demote(uint64_t now_ns) {
  if (good_ && was_promoted_ && now_ns - promoted_ns_ < config_.relapse_ns) {
    good_time_ns_ = std::min(2 * good_time_ns_, config_.max_good_ns);
  }
  good_ = false;
  rate_hz_ = config_.bad_rate_hz;
  since_ns_ = now_ns;
  // Losses from here on belong to another round trip.
  loss_.clear();
}

void GoodBadController::promote(uint64_t now_ns) {
  good_ = true;
  was_promoted_ = true;
  rate_hz_ = config_.start_rate_hz;
  promoted_ns_ = since_ns_ = halved_ns_ = now_ns;
}

void GoodBadController::update(const PathState& path) {
  // srtt changes only with samples, so a path that fell silent while bad stays bad.
  if (looks_bad(path)) {
    demote(path.now_ns);
    return;
  }
  if (!good_) {
    if (path.now_ns - since_ns_ >= good_time_ns_) promote(path.now_ns);
    return;
  }
  if (path.now_ns - halved_ns_ >= config_.relapse_ns) {
    good_time_ns_ = std::max(good_time_ns_ / 2, config_.first_good_ns);
    halved_ns_ = path.now_ns;
  }
  if (rate_hz_ < config_.max_rate_hz && path.now_ns - since_ns_ >= good_time_ns_) {
    rate_hz_ = std::min(rate_hz_ + config_.step_rate_hz, config_.max_rate_hz);
    since_ns_ = path.now_ns;
  }
}

}  // namespace lattice::reliability
