// The client's ticks: steering, predicting, and resimulating when the authority's state differs (§11, T-02,
// T-03, S-01…S-04). See client_world.h.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "world/client_world.h"

namespace lattice::world {

// --- Ticks

uint32_t ClientWorld::ticks_due(Now now) {
  if (!connected_ || !clock_.started()) return 0;
  if (!ticking_) {
    // Starts at the tick whose input would arrive just in time.
    current_tick_ = clock_.target_time(now.ns).tick;
    if (current_tick_ == 0) current_tick_ = 1;
    fixed_tick_.restart(now.ns);
    ticking_ = true;
  }
  const simulation::TickTime position = fixed_tick_.position_at(current_tick_, now.ns);
  const simulation::Steering steering = clock_.steer(position, inputs_ ? inputs_->newest_sent() : 0, now.ns);
  if (steering.event == simulation::ClockEvent::kJump) resync(steering, now);
  fixed_tick_.set_rate_factor(steering.rate_factor);
  const simulation::TickAdvance advance = fixed_tick_.advance(now.ns);
  // After a frame too long for its ticks, steering would take ten times as long to catch up, and every input
  // until then would be late.
  const bool behind = advance.dropped_ns != 0 &&
                      base::tick_after(clock_.target_time(now.ns).tick, current_tick_ + advance.ticks);
  if (!behind) return advance.ticks;
  resync(clock_.jump(now.ns), now);
  return 0;
}

void ClientWorld::resync(const simulation::Steering& steering, Now now) {
  const Tick from = current_tick_;
  current_tick_ = steering.newest_tick;
  // Inputs that had no budget yet may be of ticks that run once more.
  if (inputs_) inputs_->drop_after(current_tick_);
  fixed_tick_.restart(now.ns);
  reconciler_->clear_histories();
  observer_.on_resync(from, current_tick_);
}

void ClientWorld::do_tick(Tick tick, Now now) {
  now_ns_ = now.ns;
  current_tick_ = tick;
  if (inputs_) {
    observer_.on_sample_input(tick, input_host_->behaviours()[0], schema_.input()->host_bytes(0));
    schema_.input()->quantize(std::as_const(*input_host_).behaviours(), input_words_.data());
    inputs_->push(tick, input_words_, simulation::sight_of(seen_time(), snapshot_tick_));
  }
  observer_.on_tick(tick, false);
  reconciler_->record(tick, *this);
}

int ClientWorld::get_input(uint64_t peer, void* out, size_t bytes) {
  const serialization::Layout* layout = schema_.input();
  if (layout == nullptr || bytes != layout->host_bytes(0)) return 0;
  const serialization::Word* words = peer == local_peer() && inputs_ ? inputs_->find(current_tick_) : nullptr;
  if (words == nullptr) {
    std::memset(out, 0, bytes);
    return 0;
  }
  // Reads the quantized words, not the player's own structure: the authority sees the same values (I2).
  layout->dequantize(words, input_out_->behaviours());
  std::memcpy(out, input_out_->behaviours()[0], bytes);
  return 1;
}

bool ClientWorld::input_sight(uint64_t peer, InputSight* out) const {
  if (peer != local_peer() || !inputs_ || inputs_->find(current_tick_) == nullptr) return false;
  *out = {current_tick_, inputs_->sight(current_tick_), lead_quarter_ticks(), false};
  return true;
}

uint8_t ClientWorld::lead_quarter_ticks() const {
  return static_cast<uint8_t>(std::clamp(std::lround(clock_.wanted_ticks() * 4), 0L, 255L));
}

// --- Which objects are predicted

void ClientWorld::update_prediction(uint32_t slot) {
  const bool stays_own = table_.owns(slot) && !mirrors_[slot].despawn_gate.waiting();
  const bool runs_ahead =
      stays_own && !table_.writes(slot) && schema_.info(*table_.info(slot).type).predicted();
  set_predicted(slot, predict_ && runs_ahead);
}

void ClientWorld::set_predicted(uint32_t slot, bool predicted) {
  Mirror& mirror = mirrors_[slot];
  if (mirror.predicted == predicted) return;
  const replication::ObjectInfo& info = table_.info(slot);
  if (predicted) {
    if (!reconciler_->add(slot, *info.type->layout)) return;
    host_for_game(slot);
  } else {
    reconciler_->remove(slot);
    info.type->layout->dequantize(newest_words(slot), table_.host(slot));
  }
  mirror.predicted = predicted;
  if (mirror.presentation) mirror.presentation->snap();
}

void ClientWorld::set_option(Option option, bool enabled) {
  switch (option) {
    case Option::kPrediction:
      predict_ = enabled;
      for (const uint32_t slot : table_.ascending()) update_prediction(slot);
      break;
    case Option::kSmoothing:
      smooth_ = enabled;
      for (const uint32_t slot : table_.ascending()) {
        if (mirrors_[slot].presentation) mirrors_[slot].presentation->snap();
      }
      break;
    case Option::kInterpolation:
      interpolate_ = enabled;
      break;
  }
}

// --- Reconciling

void ClientWorld::reconcile() {
  if (!ticking_) return;
  if (reconcile_tick_ != 0 && reconciler_->begin(reconcile_tick_)) offer_authoritative(reconcile_tick_);
  reconcile_tick_ = 0;
  resimulating_ = true;
  const Tick present = current_tick_;
  reconciler_->reconcile(present, *this);
  current_tick_ = present;
  resimulating_ = false;
}

void ClientWorld::offer_authoritative(Tick tick) {
  for (size_t i = 0; i < reconciler_->object_count(); ++i) {
    const uint32_t slot = reconciler_->slot(i);
    const Mirror& mirror = mirrors_[slot];
    // The state at that tick is known if an entry of the tick was sent. Without an entry it is known too, if
    // a part of the tick confirms what this client owns.
    const bool sent = mirror.newest_tick == tick;
    const bool confirmed = own_tick_ == tick && table_.owns(slot);
    const bool covered = confirmed && !base::tick_after(mirror.newest_tick, tick);
    if (sent || covered) reconciler_->authoritative(slot, newest_words(slot));
  }
}

void ClientWorld::load_state(uint32_t slot, const serialization::Word* words) {
  const serialization::Layout& layout = *table_.info(slot).type->layout;
  layout.dequantize(words, table_.host(slot));
  if (!layout.predicts_all()) layout.dequantize_not_predicted(newest_words(slot), table_.host(slot));
}

void ClientWorld::store_state(uint32_t slot, serialization::Word* words) {
  const replication::ObjectType& type = *table_.info(slot).type;
  // After each tick, this overwrites the values that the game wrote into members that are not predicted.
  if (!type.layout->predicts_all()) {
    type.layout->dequantize_not_predicted(newest_words(slot), table_.host(slot));
  }
  if (type.round_host) {
    type.layout->round(table_.host(slot), words);
  } else {
    type.layout->quantize(std::as_const(table_).host(slot), words);
  }
}

void ClientWorld::resimulate_tick(Tick tick) {
  current_tick_ = tick;
  observer_.on_tick(tick, true);
}

void ClientWorld::corrected(uint32_t slot, const serialization::Word* before,
                            const serialization::Word* after) {
  const replication::ObjectInfo& info = table_.info(slot);
  if (frame_log_.collects())
    frame_log_.corrected(slot, info, frame_members(*info.type->layout, before, after));
  Presentation* presentation = mirrors_[slot].presentation.get();
  if (!smooth_ || presentation == nullptr) return;  // what was never drawn has no step to ease
  const bool teleported = info.type->layout->teleported(before, after);
  presentation->corrected(before, after, teleported, now_ns_);
}

}  // namespace lattice::world
