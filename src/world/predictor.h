// Predicts objects that the other side writes: records what the game makes of them in each tick, compares
// that with the states that come, and where they differ runs the ticks since again (§11).
//
// The host structures of a predicted object hold the predicted present.
#pragma once

#include <cstdint>

#include "prediction/prediction_errors.h"
#include "prediction/reconciler.h"
#include "replication/object_table.h"
#include "world/state_receiver.h"

namespace lattice::world {

/// What the predictor asks of the session while it corrects.
class PredictionGame {
 public:
  virtual ~PredictionGame() = default;
  /// The game steps all predicted objects again, as in `tick`.
  virtual void run_again(base::Tick tick) = 0;
  /// The present state of an object went from `before` to `after`.
  virtual void on_corrected(uint32_t slot, const serialization::Word* before,
                            const serialization::Word* after) = 0;
};

class Predictor final : private prediction::ResimulationHost {
 public:
  using Tick = base::Tick;
  using Word = serialization::Word;

  /// All but the configuration outlives this.
  Predictor(const prediction::ReconcilerConfig& config, replication::ObjectTable& table,
            StateReceiver& received, PredictionGame& game);

  bool predicts(uint32_t slot) const { return reconciler_.contains(slot); }
  /// Begins or ends to predict the object, which has a state. True when that changed anything.
  bool set_predicted(uint32_t slot, bool predicted);
  /// The newest state of a predicted object came: `words` at `tick`.
  void on_state(uint32_t slot, Tick tick, const Word* words);
  /// There is news about a predicted object: the states of `tick` are worth a comparison.
  void note_news(Tick tick);
  /// A part of a snapshot says whether what this side owns is confirmed at its tick (D-40).
  void on_part(const replication::SnapshotHeader& header);

  /// Records the predicted objects after `tick` ran.
  void record(Tick tick) { reconciler_.record(tick, *this); }
  /// Compares, and if needed runs ticks up to `present` again. Once per receive phase.
  void reconcile(Tick present);
  /// Forgets what was recorded: the clock jumped.
  void forget_ticks() { reconciler_.clear_histories(*this); }
  /// The session has ended.
  void end_session();

  /// The shown state of an object for a tick, or null.
  const Word* predicted(uint32_t slot, Tick tick) const { return reconciler_.predicted(slot, tick); }
  const prediction::ReconcileStats& stats() const { return reconciler_.stats(); }
  /// Takes the errors of one member since they were last taken; null when there are no more.
  const prediction::PredictionError* take_error() { return errors_.take(); }

 private:
  // prediction::ResimulationHost
  void load_state(uint32_t slot, const Word* words) override;
  void store_state(uint32_t slot, Word* words) override;
  void resimulate_tick(Tick tick) override { game_.run_again(tick); }
  void mispredicted(uint32_t slot, Tick tick, const Word* predicted, const Word* truth) override;
  void corrected(uint32_t slot, const Word* before, const Word* after) override {
    game_.on_corrected(slot, before, after);
  }

  void offer_truths(Tick tick);

  prediction::Reconciler reconciler_;
  prediction::PredictionErrors errors_;
  replication::ObjectTable& table_;
  StateReceiver& received_;
  PredictionGame& game_;
  Tick own_tick_ = 0;   // newest tick at which a part confirmed what this side owns
  Tick news_tick_ = 0;  // newest tick with news about a predicted object; 0: none since the last comparison
};

}  // namespace lattice::world
