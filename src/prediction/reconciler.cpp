#include "prediction/reconciler.h"

#include <algorithm>

#include "base/assert.h"
#include "base/tick.h"
#include "serialization/layout.h"

namespace lattice::prediction {

Reconciler::Reconciler(const ReconcilerConfig& config)
    : config_(config),
      truth_row_(2 * Timeline::rows_for(config.window_ticks)),
      aside_row_(truth_row_ + 1),
      states_(aside_row_ + 1),
      shown_(0, Timeline::rows_for(config.window_ticks)),
      corrected_(shown_.row_count(), shown_.row_count()) {}

// --- Objects

bool Reconciler::add(uint32_t slot, const serialization::Layout& layout) {
  if (objects_.size() == config_.max_objects || contains(slot)) return false;
  if (object_of_slot_.size() <= slot) object_of_slot_.resize(size_t{slot} + 1, kNoObject);
  object_of_slot_[slot] = static_cast<uint32_t>(objects_.size());
  Object object{slot, &layout};
  object.waiting = true;
  objects_.push_back(object);
  states_.add(static_cast<uint32_t>(layout.word_count()));
  validate();
  return true;
}

void Reconciler::remove(uint32_t slot) {
  const uint32_t object = find(slot);
  if (object == kNoObject) return;
  objects_[object] = objects_.back();
  objects_.pop_back();
  states_.remove(object);
  object_of_slot_[slot] = kNoObject;
  if (object < objects_.size()) object_of_slot_[objects_[object].slot] = object;
  validate();
}

const serialization::Word* Reconciler::shown(uint32_t object, Tick tick) const {
  const uint32_t row = shown_.find(tick);
  const Tick first = objects_[object].first_tick;
  if (row == Timeline::kNoRow || first == 0 || base::tick_after(first, tick)) return nullptr;
  return states_.at(row, object);
}

const serialization::Word* Reconciler::predicted(uint32_t slot, Tick tick) const {
  const uint32_t object = find(slot);
  return object == kNoObject ? nullptr : shown(object, tick);
}

void Reconciler::record(Tick tick, ResimulationHost& host) {
  const uint32_t row = shown_.write(tick);
  const auto rows = static_cast<int32_t>(shown_.row_count());
  for (uint32_t i = 0; i < objects_.size(); ++i) {
    Object& object = objects_[i];
    host.store_state(object.slot, states_.at(row, i));
    // A first tick that left the window moves along with it. So it stays near enough to be compared.
    if (object.first_tick == 0) object.first_tick = tick;
    if (base::tick_distance(tick, object.first_tick) >= 2 * rows) object.first_tick += shown_.row_count();
    if (object.first_tick == 0) object.first_tick = 1;  // 0 is no tick
  }
}

void Reconciler::clear_histories(ResimulationHost& host) {
  if (unfinished_) take_reached(host);
  drop_histories();
}

void Reconciler::drop_histories() {
  shown_.clear();
  finish();
  for (Object& object : objects_) object.first_tick = 0;
}

void Reconciler::restart() {
  drop_histories();
  last_reconciled_ = 0;
  open_ = false;
  for (Object& object : objects_) object.reconciled_tick = 0;
}

// --- Comparing

bool Reconciler::begin(Tick state_tick) {
  for (Object& object : objects_) object.has_truth = false;
  open_ = false;
  if (state_tick == 0) return false;
  if (last_reconciled_ != 0 && base::tick_after(last_reconciled_, state_tick)) {
    ++stats_.stale;
    return false;
  }
  state_tick_ = state_tick;
  open_ = true;
  return true;
}

void Reconciler::authoritative(uint32_t slot, const serialization::Word* words) {
  if (!open_) return;
  const uint32_t object = find(slot);
  if (object == kNoObject || objects_[object].reconciled_tick == state_tick_) return;
  std::copy_n(words, states_.word_count(object), states_.at(truth_row_, object));
  objects_[object].has_truth = true;
}

ReconcileOutcome Reconciler::reconcile(Tick current, ResimulationHost& host) {
  ReconcileOutcome outcome = ReconcileOutcome::kNothing;
  if (open_ && unfinished_ && !may_replace_unfinished()) {
    ++stats_.deferred;
  } else if (open_) {
    outcome = compare(current, host);
  }
  open_ = false;
  if (unfinished_) advance(current, host);
  return outcome;
}

bool Reconciler::may_replace_unfinished() const {
  if (base::tick_after(reached_tick_, state_tick_)) return false;
  return std::all_of(objects_.begin(), objects_.end(),
                     [](const Object& object) { return !object.corrects || object.has_truth; });
}

ReconcileOutcome Reconciler::compare(Tick current, ResimulationHost& host) {
  const int32_t depth = base::tick_distance(current, state_tick_);
  const bool in_window = depth >= 0 && depth < static_cast<int32_t>(config_.window_ticks);
  const Verdict truth = verdict(in_window, host);
  if (!truth.any) return ReconcileOutcome::kNothing;
  last_reconciled_ = state_tick_;
  if (unfinished_) ++stats_.superseded;
  if (!truth.mismatch && !truth.missing) {
    finish();
    return ReconcileOutcome::kConfirmed;
  }

  if (truth.missing) ++stats_.hard_resets;
  if (in_window) {
    ++stats_.rollbacks;
    stats_.max_depth_ticks = std::max(stats_.max_depth_ticks, static_cast<uint32_t>(depth));
    rewind();
  } else {
    take_as_present(current, host);
  }
  return truth.missing ? ReconcileOutcome::kHardReset : ReconcileOutcome::kRolledBack;
}

Reconciler::Verdict Reconciler::verdict(bool in_window, ResimulationHost& host) {
  Verdict result;
  for (uint32_t i = 0; i < objects_.size(); ++i) {
    Object& object = objects_[i];
    if (!object.has_truth) continue;
    result.any = true;
    object.reconciled_tick = state_tick_;
    const serialization::Word* prediction = in_window ? shown(i, state_tick_) : nullptr;
    if (object.layout->has_conditions()) keep_unsent(i, prediction, host);
    if (prediction == nullptr) {
      result.missing = true;
      continue;
    }
    ++stats_.compared;
    const serialization::Word* truth = states_.at(truth_row_, i);
    if (object.layout->prediction_equal(prediction, truth)) continue;
    ++stats_.mispredicted;
    host.mispredicted(object.slot, state_tick_, prediction, truth);
    result.mismatch = true;
  }
  return result;
}

// What the owner of an object is not told stays what its own simulation made of it.
void Reconciler::keep_unsent(uint32_t object, const serialization::Word* own, ResimulationHost& host) {
  if (own == nullptr) {
    host.store_state(objects_[object].slot, states_.at(aside_row_, object));
    own = states_.at(aside_row_, object);
  }
  objects_[object].layout->keep_unsent(own, states_.at(truth_row_, object));
}

// The authoritative state cannot be brought forward: it is older than the window, or of a tick that this
// client has not reached. It becomes the present state, and no older state is kept. Objects without an
// authoritative state stay as they are.
void Reconciler::take_as_present(Tick current, ResimulationHost& host) {
  const uint32_t row = current == 0 ? aside_row_ : corrected_.write(current);
  for (uint32_t i = 0; i < objects_.size(); ++i) {
    Object& object = objects_[i];
    if (object.has_truth) host.load_state(object.slot, states_.at(truth_row_, i));
    host.store_state(object.slot, states_.at(row, i));
    object.waiting = false;
    object.joined_tick = current;
  }
  if (current == 0) return;  // before the first tick nothing is recorded
  from_tick_ = reached_tick_ = current;
  arrive(current, host);
  for (Object& object : objects_) object.first_tick = current;
}

// --- Resimulating

// Begins the corrected timeline at state_tick_. The wrong prediction for that tick is replaced too. Otherwise
// the next part of this tick would rewind to it (S-01).
void Reconciler::rewind() {
  const uint32_t row = corrected_.write(state_tick_);
  for (uint32_t i = 0; i < objects_.size(); ++i) {
    Object& object = objects_[i];
    const serialization::Word* words = object.has_truth ? states_.at(truth_row_, i) : shown(i, state_tick_);
    object.corrects = object.has_truth;
    object.waiting = words == nullptr;
    object.joined_tick = state_tick_;
    if (words != nullptr) std::copy_n(words, states_.word_count(i), states_.at(row, i));
  }
  from_tick_ = reached_tick_ = state_tick_;
  unfinished_ = true;  // advanced_at_ stays: a replaced resimulation must not set the replacement back
}

void Reconciler::take_reached(ResimulationHost& host) {
  const uint32_t row = corrected_.find(reached_tick_);
  for (uint32_t i = 0; i < objects_.size(); ++i) {
    const Object& object = objects_[i];
    if (object.waiting) continue;
    const serialization::Word *before = states_.at(aside_row_, i), *after = states_.at(row, i);
    host.store_state(object.slot, states_.at(aside_row_, i));
    if (object.layout->equal(before, after)) continue;
    host.load_state(object.slot, after);
    host.corrected(object.slot, before, after);
  }
}

void Reconciler::finish() {
  unfinished_ = false;
  advanced_at_ = 0;
}

void Reconciler::advance(Tick current, ResimulationHost& host) {
  LATTICE_ASSERT(!base::tick_after(reached_tick_, current));  // a clock that jumps back drops the histories
  uint32_t ticks = current - reached_tick_;
  if (config_.budget_ticks != 0) {
    const uint32_t since = advanced_at_ == 0 ? 0 : current - advanced_at_;
    ticks = std::min(ticks, since + config_.budget_ticks);
  }
  advanced_at_ = current;
  enter_corrected(current, host);
  for (; ticks != 0 && reached_tick_ != current; --ticks) resimulate(base::next_tick(reached_tick_), host);
  if (reached_tick_ == current) {
    arrive(current, host);
  } else {
    leave_corrected(current, host);
  }
}

// Objects that wait keep their present state: the game may step them, but the result is dropped.
void Reconciler::enter_corrected(Tick current, ResimulationHost& host) {
  const uint32_t row = corrected_.find(reached_tick_);
  LATTICE_ASSERT(row != Timeline::kNoRow);
  for (uint32_t i = 0; i < objects_.size(); ++i) {
    const Object& object = objects_[i];
    if (shown(i, current) == nullptr) host.store_state(object.slot, states_.at(aside_row_, i));
    if (!object.waiting) host.load_state(object.slot, states_.at(row, i));
  }
}

void Reconciler::leave_corrected(Tick current, ResimulationHost& host) {
  for (uint32_t i = 0; i < objects_.size(); ++i) {
    const serialization::Word* present = shown(i, current);
    host.load_state(objects_[i].slot, present == nullptr ? states_.at(aside_row_, i) : present);
  }
}

void Reconciler::resimulate(Tick tick, ResimulationHost& host) {
  host.resimulate_tick(tick);
  ++stats_.resimulated_ticks;
  reached_tick_ = tick;
  const uint32_t row = corrected_.write(tick);
  for (uint32_t i = 0; i < objects_.size(); ++i) {
    Object& object = objects_[i];
    serialization::Word* words = states_.at(row, i);
    if (!object.waiting) {
      host.store_state(object.slot, words);
      continue;
    }
    // Up to here the object was simulated from a wrong state. Its record begins at this tick: load that
    // state.
    const serialization::Word* own = shown(i, tick);
    if (own == nullptr) continue;
    std::copy_n(own, states_.word_count(i), words);
    host.load_state(object.slot, words);
    object.waiting = false;
    object.joined_tick = tick;
  }
}

void Reconciler::arrive(Tick current, ResimulationHost& host) {
  const uint32_t row = corrected_.find(current);
  for (uint32_t i = 0; i < objects_.size(); ++i) {
    Object& object = objects_[i];
    object.corrects = false;
    if (object.waiting) {  // it has no record in these ticks, so it keeps its present state
      LATTICE_ASSERT(shown(i, current) == nullptr);  // otherwise it would have joined there
      host.load_state(object.slot, states_.at(aside_row_, i));
      continue;
    }
    const serialization::Word* before = shown(i, current);
    const serialization::Word* after = states_.at(row, i);
    if (before != nullptr && !object.layout->equal(before, after)) host.corrected(object.slot, before, after);
    if (object.first_tick == 0 || base::tick_after(object.first_tick, object.joined_tick)) {
      object.first_tick = object.joined_tick;
    }
  }
  // Of a resimulation longer than the window, the rows of its oldest ticks were written over.
  for (Tick tick = from_tick_;; tick = base::next_tick(tick)) {
    if (corrected_.find(tick) != Timeline::kNoRow) shown_.take(tick, corrected_);
    if (tick == current) break;
  }
  finish();
}

void Reconciler::validate() const {
#if defined(LATTICE_VALIDATION)
  LATTICE_ASSERT(objects_.size() == states_.column_count());
  for (uint32_t i = 0; i < objects_.size(); ++i) LATTICE_ASSERT(find(objects_[i].slot) == i);
#endif
}

}  // namespace lattice::prediction
