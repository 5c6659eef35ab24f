// The states that come to a client in pieces, until they are complete. Spec: D-54 to D-59.
//
// Bounded: kMaxLongStates states of kMaxLongBytes at most. The authority keeps within the bound, so a piece
// that exceeds it is hostile and refused. An incomplete state stays until it is complete, until a newer state
// of its object or a removal takes its place, or until the connection ends: the authority does not send an
// acked piece again, so a state must not expire while it is under way.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/bit_set.h"
#include "replication/snapshot_format.h"

namespace lattice::replication {

/// Consecutive pieces in a part.
struct ReceivedRun {
  uint32_t slot = 0;  // the authority's
  Tick tick = 0;      // of the state
  uint32_t length = 0;
  uint32_t first = 0;
  uint32_t count = 0;
  std::span<const uint8_t> bytes;
  bool completes = false;
  bool is_late = false;  // of a state that is over, or older than the one under way
};

class ReceivedPieces {
 public:
  struct State {
    uint32_t slot = 0;
    Tick tick = 0;
    uint32_t held = 0;  // pieces
    base::FixedBitSet<kMaxPieces> has;
    std::vector<uint8_t> bytes;
  };

  bool empty() const { return states_.empty(); }
  size_t size() const { return states_.size(); }
  const std::vector<State>& states() const { return states_; }
  const State* find(uint32_t slot) const;

  /// True when the pieces that are here already have other bytes in `run`, which is of the same state.
  static bool contradicts(const State& state, const ReceivedRun& run);
  /// True when no piece of the state is missing once `run` is stored.
  bool would_complete(const ReceivedRun& run) const;
  /// Writes the bytes of a state that `run` completes into `out`.
  void assemble(const ReceivedRun& run, std::vector<uint8_t>* out) const;

  /// Stores the pieces. A state of an earlier tick makes way.
  void store(const ReceivedRun& run);
  void drop(uint32_t slot) {
    drop_if([slot](uint32_t other, Tick) { return other == slot; });
  }
  /// Drops the states for which `is_over(slot, tick)` is true.
  template <class IsOver>
  void drop_if(IsOver is_over) {
    for (size_t i = 0; i < states_.size();) {
      if (!is_over(states_[i].slot, states_[i].tick)) {
        ++i;
        continue;
      }
      spare_ = std::move(states_[i].bytes);
      states_.erase(states_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

 private:
  std::vector<State> states_;
  std::vector<uint8_t> spare_;  // the memory of the state that ended last
};

}  // namespace lattice::replication
