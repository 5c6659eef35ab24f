// Predict, compare, rewind, resimulate (§11.2, S-01, S-02, S-04).
//
// The client's tick n and the server's tick n are the same tick. The server applies an input at the tick of
// its stamp or never. So the server's state after tick T is compared with the prediction for T, even when our
// input for T came too late: a late input is one cause of a misprediction.
//
//   each client tick n     the world runs the tick, then calls record(n)
//   each snapshot of T     begin(T), then authoritative(slot, words) for every predicted object whose state
//                          at T is known, sent or known unchanged, then reconcile(current, host)
//
// On a mismatch every predicted object goes back to T: an object with an authoritative state goes to that
// state, the others to their own prediction for T. Then ticks T+1 … current run again through the host. An
// object that was first predicted after T joins again at the tick of its first record.
//
// A resimulation writes a timeline of its own, beside the one that is shown. When it arrives at the present,
// the two are exchanged. With a budget of ticks it may stop before: then the live objects return to the shown
// present, the client ticks on as predicted before, and the next reconcile() goes on. Each call runs the
// ticks that the client ran meanwhile and a budget's worth more, so every resimulation arrives.
//
//   shown       … T  T+1  T+2  …  current   what predicted() answers, what is drawn
//   corrected     T' T+1' reached'          not seen before it arrives at current
//
// A newer authoritative state replaces an unfinished resimulation only where nothing is lost: its tick is at
// or after the reached one, and it covers every object whose state began the resimulation. Any other newer
// state is left to the next snapshot.
//
// Without a prediction for T to compare with, the reconciler makes a hard reset (S-01): it takes the
// authoritative state. If T is within the window, the ticks after T run again as usual. If T is older, or
// ahead of the client, every history is dropped and the authoritative state becomes the present state.
//
// Must stay true: from T on, every shown state descends from the authoritative one once the resimulation has
// arrived; between two calls the live objects hold the shown present.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "prediction/state_arena.h"
#include "prediction/timeline.h"

namespace lattice::serialization {
class Layout;
}

namespace lattice::prediction {

inline constexpr size_t kPredictionWindowTicks = 64;  // §22, the default

/// The reconciler's access to the live objects, which it names by their slot in the world's table. None of
/// these functions may add or remove predicted objects.
class ResimulationHost {
 public:
  virtual ~ResimulationHost() = default;
  /// Makes `words` the live state of an object.
  virtual void load_state(uint32_t slot, const serialization::Word* words) = 0;
  /// Writes the live state of an object to `words`, quantized.
  virtual void store_state(uint32_t slot, serialization::Word* words) = 0;
  /// Runs `tick` again for all predicted objects in ascending network id, with the input of that tick and
  /// without side effects (S-04).
  virtual void resimulate_tick(Tick tick) = 0;
  /// The state of an object at `tick` was predicted as `predicted`, and is `truth`. Called before anything
  /// changes. For reports.
  virtual void mispredicted(uint32_t /*slot*/, Tick /*tick*/, const serialization::Word* /*predicted*/,
                            const serialization::Word* /*truth*/) {}
  /// Reconciling changed the present state of an object from `before` to `after`. For the smoother.
  virtual void corrected(uint32_t slot, const serialization::Word* before,
                         const serialization::Word* after) = 0;
};

enum class ReconcileOutcome : uint8_t {
  kNothing,    // there was no authoritative state, or all of them were stale, or left to the next snapshot
  kConfirmed,  // the prediction was right
  kRolledBack,
  kHardReset,
};

struct ReconcileStats {
  uint64_t compared = 0;      // object states that were compared with a prediction
  uint64_t mispredicted = 0;  // compared states that differed
  uint64_t stale = 0;         // authoritative states older than the last reconciled tick
  uint64_t deferred = 0;      // snapshots that came while a resimulation went on, and did not replace it
  uint64_t superseded = 0;    // unfinished resimulations that a newer snapshot replaced
  uint64_t rollbacks = 0;     // reconciliations that rewound, hard resets included
  uint64_t resimulated_ticks = 0;
  uint32_t max_depth_ticks = 0;  // deepest rewind
  uint64_t hard_resets = 0;
};

struct ReconcilerConfig {
  size_t max_objects = 1;  // predicted at a time
  /// An authoritative state up to so many ticks back is brought forward; an older one causes a hard reset.
  size_t window_ticks = kPredictionWindowTicks;
  /// Ticks that one reconcile() may resimulate beyond those that the client ran since the last. 0: all.
  uint32_t budget_ticks = 0;
};

class Reconciler {
 public:
  explicit Reconciler(const ReconcilerConfig& config);

  /// Starts to predict the object of a slot. Only this function allocates: see state_arena.h. `layout` must
  /// outlive the prediction. False when the slot is predicted already or the bound is reached.
  bool add(uint32_t slot, const serialization::Layout& layout);
  void remove(uint32_t slot);
  bool contains(uint32_t slot) const { return find(slot) != kNoObject; }
  size_t object_count() const { return objects_.size(); }
  /// The slot of predicted object `index`, below object_count(). Removing an object changes the order.
  uint32_t slot(size_t index) const { return objects_[index].slot; }

  /// Records the state of every predicted object after the client ran `tick`.
  void record(Tick tick, ResimulationHost& host);

  /// Opens the comparison with the server's tick `state_tick`. Returns false when the tick is older than the
  /// last reconciled one: there is nothing to do (S-01). The last reconciled tick itself may come again, for
  /// another part of its snapshot.
  bool begin(Tick state_tick);
  /// Gives the server's state of one object at that tick. Ignored for objects that are not predicted.
  void authoritative(uint32_t slot, const serialization::Word* words);
  /// Compares, and if needed rewinds. Then resimulates up to `current`, the client's newest tick, or as far
  /// as the budget goes. To be called once per receive phase while unfinished(), with or without begin().
  ReconcileOutcome reconcile(Tick current, ResimulationHost& host);
  /// True while a resimulation has not arrived at the present.
  bool unfinished() const { return unfinished_; }

  /// Drops all recorded states, after a jump of the client's clock. An unfinished resimulation ends where it
  /// is: the state that it reached becomes the present state. So the truth is seen also where the clock jumps
  /// again and again.
  void clear_histories(ResimulationHost& host);
  /// Drops all recorded states, and the next state is compared whatever its tick is: for another session.
  void restart();

  Tick last_reconciled_tick() const { return last_reconciled_; }
  /// The shown state of an object for a tick, or null.
  const serialization::Word* predicted(uint32_t slot, Tick tick) const;
  const ReconcileStats& stats() const { return stats_; }

 private:
  static constexpr uint32_t kNoObject = UINT32_MAX;
  struct Object {
    uint32_t slot;
    const serialization::Layout* layout;
    Tick first_tick = 0;       // the shown timeline has records from here on; 0: none
    Tick reconciled_tick = 0;  // newest tick whose authoritative state was used
    Tick joined_tick = 0;      // the corrected timeline has states from here on, unless waiting
    bool has_truth = false;    // the row kTruth holds the authoritative words for state_tick_
    bool corrects = false;     // its authoritative state began the unfinished resimulation
    bool waiting = false;      // has not joined the unfinished resimulation yet
  };
  /// What the truths of a snapshot say about the predictions.
  struct Verdict {
    bool any = false;
    bool mismatch = false;
    bool missing = false;  // there is no prediction to compare with
  };

  uint32_t find(uint32_t slot) const {
    return slot < object_of_slot_.size() ? object_of_slot_[slot] : kNoObject;
  }
  const serialization::Word* shown(uint32_t object, Tick tick) const;
  bool may_replace_unfinished() const;
  ReconcileOutcome compare(Tick current, ResimulationHost& host);
  Verdict verdict(bool in_window, ResimulationHost& host);
  void keep_unsent(uint32_t object, const serialization::Word* own, ResimulationHost& host);
  void take_as_present(Tick current, ResimulationHost& host);
  void rewind();
  void take_reached(ResimulationHost& host);
  void drop_histories();
  void finish();
  void advance(Tick current, ResimulationHost& host);
  void enter_corrected(Tick current, ResimulationHost& host);
  void leave_corrected(Tick current, ResimulationHost& host);
  void resimulate(Tick tick, ResimulationHost& host);
  void arrive(Tick current, ResimulationHost& host);
  void validate() const;

  ReconcilerConfig config_;
  uint32_t truth_row_;  // authoritative words
  uint32_t aside_row_;  // live states that no timeline has, while the corrected one runs
  StateArena states_;
  Timeline shown_;
  Timeline corrected_;
  std::vector<Object> objects_;           // the object of each column of states_
  std::vector<uint32_t> object_of_slot_;  // index into objects_, or kNoObject
  Tick state_tick_ = 0;
  Tick last_reconciled_ = 0;
  Tick from_tick_ = 0;     // where the unfinished resimulation began
  Tick reached_tick_ = 0;  // the last tick that it ran
  Tick advanced_at_ = 0;   // the present when it ran last
  bool open_ = false;
  bool unfinished_ = false;
  ReconcileStats stats_;
};

}  // namespace lattice::prediction
