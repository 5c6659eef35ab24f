// Predict, compare, rewind, resimulate (§11.2, S-01, S-02, S-04).
//
// The client's tick n and the server's tick n are the same tick. The server applies an input at the tick of
// its stamp or never. So the server's state after tick T is compared with the prediction for T, even when our
// input for T came too late: a late input is one cause of a misprediction.
//
//   each client tick n     the world runs the tick, then calls record(n)
//   each snapshot of T     begin(T), then authoritative(id, words) for every predicted object whose state
//                          at T is known, sent or known unchanged, then reconcile(current, host)
//
// On a mismatch every predicted object goes back to T: an object with an authoritative state goes to that
// state, the others to their own prediction for T. Then ticks T+1 … current run again through the host. An
// object that was first predicted after T joins again at the tick of its first record.
//
// Without a prediction for T to compare with, the reconciler makes a hard reset (S-01): it takes the
// authoritative state. If T is within the window, the ticks after T run again as usual. If T is older, or
// ahead of the client, every history is dropped and the authoritative state becomes the present state.
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

/// The reconciler's access to the live objects. None of these functions may add or remove predicted objects.
class ResimulationHost {
 public:
  virtual ~ResimulationHost() = default;
  /// Makes `words` the live state of an object.
  virtual void load_state(uint64_t network_id, const serialization::Word* words) = 0;
  /// Writes the live state of an object to `words`, quantized.
  virtual void store_state(uint64_t network_id, serialization::Word* words) = 0;
  /// Runs `tick` again for all predicted objects in ascending network id, with the input of that tick and
  /// without side effects (S-04).
  virtual void resimulate_tick(Tick tick) = 0;
  /// Reconciling changed the present state of an object from `before` to `after`. For the smoother.
  virtual void corrected(uint64_t network_id, const serialization::Word* before,
                         const serialization::Word* after) = 0;
};

enum class ReconcileOutcome : uint8_t {
  kNothing,    // there was no authoritative state, or all of them were stale
  kConfirmed,  // the prediction was right
  kRolledBack,
  kHardReset,
};

struct ReconcileStats {
  uint64_t compared = 0;      // object states that were compared with a prediction
  uint64_t mispredicted = 0;  // compared states that differed
  uint64_t stale = 0;         // authoritative states older than the last reconciled tick
  uint64_t rollbacks = 0;     // reconciliations that rewound, hard resets included
  uint64_t resimulated_ticks = 0;
  uint32_t max_depth_ticks = 0;  // deepest rewind
  uint64_t hard_resets = 0;
};

class Reconciler {
 public:
  /// At most `max_objects` objects are predicted at a time. An authoritative state up to `window_ticks` ticks
  /// back is brought forward; an older one causes a hard reset.
  explicit Reconciler(size_t max_objects, size_t window_ticks = kPredictionWindowTicks);
  ~Reconciler();

  /// Starts to predict an object and allocates its history. `layout` must outlive the history. False when the
  /// object is predicted already or the bound is reached.
  bool add(uint64_t network_id, const serialization::Layout& layout);
  void remove(uint64_t network_id);
  bool contains(uint64_t network_id) const;
  size_t object_count() const { return objects_.size(); }

  /// Records the state of every predicted object after the client ran `tick`.
  void record(Tick tick, ResimulationHost& host);

  /// Opens the comparison with the server's tick `state_tick`. Returns false when the tick is older than the
  /// last reconciled one: there is nothing to do (S-01). The last reconciled tick itself may come again, for
  /// another part of its snapshot.
  bool begin(Tick state_tick);
  /// Gives the server's state of one object at that tick. Ignored for objects that are not predicted.
  void authoritative(uint64_t network_id, const serialization::Word* words);
  /// Compares, and if needed rewinds and resimulates up to `current`, the client's newest tick.
  ReconcileOutcome reconcile(Tick current, ResimulationHost& host);

  /// Drops all recorded states, after a jump of the client's clock.
  void clear_histories();

  Tick last_reconciled_tick() const { return last_reconciled_; }
  /// The predicted state of an object for a tick, or null.
  const serialization::Word* predicted(uint64_t network_id, Tick tick) const;
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
