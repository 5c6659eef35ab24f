#include "prediction/reconciler.h"

#include <algorithm>

#include "base/assert.h"
#include "serialization/layout.h"

namespace lattice::prediction {

struct Reconciler::Object {
  Object(uint64_t id, const serialization::Layout& object_layout, size_t window_ticks)
      : network_id(id),
        layout(&object_layout),
        history(object_layout.word_count(), window_ticks),
        truth(object_layout.word_count()),
        before(object_layout.word_count()) {}

  uint64_t network_id;
  const serialization::Layout* layout;
  PredictionHistory history;
  std::vector<serialization::Word> truth;   // authoritative words for state_tick_, while has_truth
  std::vector<serialization::Word> before;  // the present state before a rewind, while has_before
  Tick reconciled_tick = 0;                 // newest tick whose authoritative state was used
  bool has_truth = false;
  bool has_before = false;
  bool waiting = false;  // not yet predicted at the tick that is being resimulated
};

Reconciler::Reconciler(size_t max_objects, size_t window_ticks)
    : max_objects_(max_objects), window_ticks_(window_ticks) {
  objects_.reserve(max_objects);
}

Reconciler::~Reconciler() = default;

Reconciler::Object* Reconciler::find(uint64_t network_id) const {
  const auto at = std::lower_bound(objects_.begin(), objects_.end(), network_id,
                                   [](const auto& object, uint64_t id) { return object->network_id < id; });
  return at != objects_.end() && (*at)->network_id == network_id ? at->get() : nullptr;
}

bool Reconciler::add(uint64_t network_id, const serialization::Layout& layout) {
  if (objects_.size() == max_objects_) return false;
  const auto at = std::lower_bound(objects_.begin(), objects_.end(), network_id,
                                   [](const auto& object, uint64_t id) { return object->network_id < id; });
  if (at != objects_.end() && (*at)->network_id == network_id) return false;
  objects_.insert(at, std::make_unique<Object>(network_id, layout, window_ticks_));
  return true;
}

void Reconciler::remove(uint64_t network_id) {
  const auto at = std::lower_bound(objects_.begin(), objects_.end(), network_id,
                                   [](const auto& object, uint64_t id) { return object->network_id < id; });
  if (at != objects_.end() && (*at)->network_id == network_id) objects_.erase(at);
}

bool Reconciler::contains(uint64_t network_id) const {
  return find(network_id) != nullptr;
}

void Reconciler::record(Tick tick, ResimulationHost& host) {
  for (const auto& object : objects_) host.store_state(object->network_id, object->history.write(tick));
}

bool Reconciler::begin(Tick state_tick) {
  for (const auto& object : objects_) object->has_truth = false;
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

void Reconciler::authoritative(uint64_t network_id, const serialization::Word* words) {
  if (!open_) return;
  Object* object = find(network_id);
  if (object == nullptr || object->reconciled_tick == state_tick_) return;
  std::copy(words, words + object->truth.size(), object->truth.begin());
  object->has_truth = true;
}

ReconcileOutcome Reconciler::reconcile(Tick current, ResimulationHost& host) {
  if (!open_) return ReconcileOutcome::kNothing;
  open_ = false;
  const int32_t depth = base::tick_distance(current, state_tick_);
  const bool in_window = depth >= 0 && depth < static_cast<int32_t>(window_ticks_);

  bool any = false;
  bool mismatch = false;
  bool missing = false;
  for (const auto& object : objects_) {
    if (!object->has_truth) continue;
    any = true;
    object->reconciled_tick = state_tick_;
    if (!in_window || object->history.find(state_tick_) == nullptr) {
      missing = true;
    } else if (!compare(*object)) {
      mismatch = true;
    }
  }
  if (!any) return ReconcileOutcome::kNothing;
  last_reconciled_ = state_tick_;
  if (!mismatch && !missing) return ReconcileOutcome::kConfirmed;

  if (missing) ++stats_.hard_resets;
  for (const auto& object : objects_) {
    const serialization::Word* present = object->history.find(current);
    object->has_before = present != nullptr;
    if (present != nullptr) std::copy(present, present + object->before.size(), object->before.begin());
  }
  if (in_window) {
    ++stats_.rollbacks;
    stats_.resimulated_ticks += static_cast<uint32_t>(depth);
    stats_.max_depth_ticks = std::max(stats_.max_depth_ticks, static_cast<uint32_t>(depth));
    rewind(host);
    resimulate(current, host);
  } else {
    take_as_present(current, host);
  }
  report_corrections(current, host);
  return missing ? ReconcileOutcome::kHardReset : ReconcileOutcome::kRolledBack;
}

bool Reconciler::compare(Object& object) {
  ++stats_.compared;
  if (object.layout->prediction_equal(object.history.find(state_tick_), object.truth.data())) return true;
  ++stats_.mispredicted;
  return false;
}

// The authoritative state cannot be brought forward: it is older than the window, or of a tick that this
// client has not reached. It becomes the present state. Objects without an authoritative state stay as they
// are.
void Reconciler::take_as_present(Tick current, ResimulationHost& host) {
  for (const auto& object : objects_) {
    object->history.clear();
    if (object->has_truth) host.load_state(object->network_id, object->truth.data());
    if (current != 0) host.store_state(object->network_id, object->history.write(current));
  }
}

void Reconciler::rewind(ResimulationHost& host) {
  for (const auto& object : objects_) {
    object->waiting = false;
    if (object->has_truth) {
      // Overwrites the wrong prediction too. Otherwise the next part of this tick would rewind to it (S-01).
      std::copy(object->truth.begin(), object->truth.end(), object->history.write(state_tick_));
      host.load_state(object->network_id, object->truth.data());
    } else if (const serialization::Word* words = object->history.find(state_tick_)) {
      host.load_state(object->network_id, words);
    } else {
      object->waiting = true;
      host.store_state(object->network_id, object->before.data());
    }
  }
}

void Reconciler::resimulate(Tick current, ResimulationHost& host) {
  for (Tick tick = state_tick_; tick != current;) {
    ++tick;
    host.resimulate_tick(tick);
    for (const auto& object : objects_) {
      if (object->waiting) {
        // Up to here the object was simulated from a wrong state. Its record begins at this tick: load that
        // state.
        const serialization::Word* own = object->history.find(tick);
        if (own == nullptr) continue;
        host.load_state(object->network_id, own);
        object->waiting = false;
      } else {
        host.store_state(object->network_id, object->history.write(tick));
      }
    }
  }
  for (const auto& object : objects_) {  // an object without a record in these ticks keeps its present state
    if (object->waiting) host.load_state(object->network_id, object->before.data());
  }
}

void Reconciler::report_corrections(Tick current, ResimulationHost& host) {
  for (const auto& object : objects_) {
    const serialization::Word* after = object->history.find(current);
    if (!object->has_before || after == nullptr) continue;
    if (object->layout->equal(object->before.data(), after)) continue;
    host.corrected(object->network_id, object->before.data(), after);
  }
}

void Reconciler::clear_histories() {
  for (const auto& object : objects_) object->history.clear();
}

const serialization::Word* Reconciler::predicted(uint64_t network_id, Tick tick) const {
  const Object* object = find(network_id);
  return object == nullptr ? nullptr : static_cast<const PredictionHistory&>(object->history).find(tick);
}

}  // namespace lattice::prediction
