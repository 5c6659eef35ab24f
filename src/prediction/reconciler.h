// Predict, compare, rewind, re-simulate (§11.2, S-01, S-02, S-04).
//
// The client's tick n and the server's tick n are the same tick. The server applies an input at the tick it
// is stamped with, or never. So the server's state after its tick T is compared with the prediction for T,
// even when our input for T came too late: a late input is one cause of a misprediction.
//
//   each client tick n     world runs the tick, then record(n)
//   each snapshot of T     begin(T), then authoritative(id, words) for every predicted object whose state
//                          at T is known, sent or known unchanged, then reconcile(current, host)
//
// On a mismatch every predicted object goes back to T: those with an authoritative state to that, the
// others to their own prediction for T; then ticks T+1 … current run again through the host. An object
// that was first predicted after T joins again at the tick it was first recorded for.
//
// When there is no prediction for T to compare with, the reconciler resets (S-01): it takes the authoritative
// state. If T is within the window, the ticks after T run again as usual. If T is older, or ahead of the
// client, every history is dropped and the authoritative state becomes the present.
//
// Must stay true: after reconcile, every recorded state from T on descends from the authoritative one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "prediction/prediction_history.h"

namespace lattice::serialization {
class Layout;
}

namespace lattice::prediction {

/// How the reconciler reaches the live objects. None of these may add or remove predicted objects.
class ResimulationHost {
 public:
  virtual ~ResimulationHost() = default;
  /// Makes `words` the live state of an object.
  virtual void load_state(uint64_t network_id, const uint64_t* words) = 0;
  /// Writes the live state of an object, quantized.
  virtual void store_state(uint64_t network_id, uint64_t* words) = 0;
  /// Runs `tick` again for all predicted objects in ascending network id, with the input of that tick and
  /// with side effects suppressed (S-04).
  virtual void resimulate_tick(Tick tick) = 0;
  /// An object's present state changed by reconciling: what it was and what it is. For the smoother.
  virtual void corrected(uint64_t network_id, const uint64_t* before, const uint64_t* after) = 0;
};

enum class ReconcileOutcome : uint8_t {
  kNothing,    // no authoritative state was given, or all were stale
  kConfirmed,  // the prediction was right
  kRolledBack,
  kHardReset,
};

struct ReconcileStats {
  uint64_t compared = 0;      // object states held against a prediction
  uint64_t mispredicted = 0;  // of those, how many differed
  uint64_t stale = 0;         // authoritative states older than the last reconciled tick
  uint64_t rollbacks = 0;     // reconciliations that rewound, hard resets included
  uint64_t resimulated_ticks = 0;
  uint32_t max_depth_ticks = 0;  // deepest rewind
  uint64_t hard_resets = 0;
};

class Reconciler {
 public:
  /// At most `max_objects` predicted objects at a time. States of `window_ticks` ticks back are brought
  /// forward; older ones are a hard reset.
  explicit Reconciler(size_t max_objects, size_t window_ticks = kPredictionWindowTicks);
  ~Reconciler();

  /// Starts predicting an object; allocates its history. `layout` must outlive it. False when it is known
  /// already or the bound is reached.
  bool add(uint64_t network_id, const serialization::Layout& layout);
  void remove(uint64_t network_id);
  bool contains(uint64_t network_id) const;
  size_t object_count() const { return objects_.size(); }

  /// Takes down the state of every predicted object after the client ran `tick`.
  void record(Tick tick, ResimulationHost& host);

  /// Opens the comparison with the server's tick `state_tick`. False, and nothing to do, when that is
  /// older than the last reconciled one (S-01). The last reconciled tick itself may come again: another
  /// part of its snapshot.
  bool begin(Tick state_tick);
  /// The server's state of one object at that tick; ignored for objects that are not predicted.
  void authoritative(uint64_t network_id, const uint64_t* words);
  /// Compares, and if needed rewinds and re-simulates up to `current`, the client's newest tick.
  ReconcileOutcome reconcile(Tick current, ResimulationHost& host);

  /// Drops every recorded state: after a jump of the client's clock.
  void clear_histories();

  Tick last_reconciled_tick() const { return last_reconciled_; }
  /// What was predicted for a tick, or null.
  const uint64_t* predicted(uint64_t network_id, Tick tick) const;
  const ReconcileStats& stats() const { return stats_; }

 private:
  struct Object;
  Object* find(uint64_t network_id) const;
  bool compare(Object& object);
  void take_as_present(Tick current, ResimulationHost& host);
  void rewind(ResimulationHost& host);
  void resimulate(Tick current, ResimulationHost& host);
  void report_corrections(Tick current, ResimulationHost& host);

  size_t max_objects_;
  size_t window_ticks_;
  std::vector<std::unique_ptr<Object>> objects_;  // ascending network id
  Tick state_tick_ = 0;
  Tick last_reconciled_ = 0;
  bool open_ = false;
  ReconcileStats stats_;
};

}  // namespace lattice::prediction
