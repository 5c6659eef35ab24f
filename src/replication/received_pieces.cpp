#include "replication/received_pieces.h"

#include <algorithm>
#include <cstring>

#include "base/assert.h"

namespace lattice::replication {

const ReceivedPieces::State* ReceivedPieces::find(uint32_t slot) const {
  const auto at =
      std::find_if(states_.begin(), states_.end(), [slot](const State& state) { return state.slot == slot; });
  return at == states_.end() ? nullptr : &*at;
}

bool ReceivedPieces::contradicts(const State& state, const ReceivedRun& run) {
  for (uint32_t i = 0; i < run.count; ++i) {
    if (!state.has.test(run.first + i)) continue;
    const size_t begin = size_t{i} * kPieceBytes;
    const size_t bytes = run_bytes(run.length, run.first + i, 1);
    if (std::memcmp(state.bytes.data() + size_t{run.first} * kPieceBytes + begin, run.bytes.data() + begin,
                    bytes) != 0) {
      return true;
    }
  }
  return false;
}

bool ReceivedPieces::would_complete(const ReceivedRun& run) const {
  const State* state = find(run.slot);
  uint32_t held = run.count;
  if (state != nullptr && state->tick == run.tick) {
    held += state->held;
    for (uint32_t i = 0; i < run.count; ++i) held -= state->has.test(run.first + i) ? 1u : 0u;
  }
  return held == piece_count(run.length);
}

void ReceivedPieces::assemble(const ReceivedRun& run, std::vector<uint8_t>* out) const {
  const State* state = find(run.slot);
  out->resize(run.length);
  if (state != nullptr && state->tick == run.tick)
    std::copy(state->bytes.begin(), state->bytes.end(), out->begin());
  std::copy(run.bytes.begin(), run.bytes.end(),
            out->begin() + static_cast<std::ptrdiff_t>(size_t{run.first} * kPieceBytes));
}

void ReceivedPieces::store(const ReceivedRun& run) {
  auto at = std::find_if(states_.begin(), states_.end(),
                         [&run](const State& state) { return state.slot == run.slot; });
  if (at == states_.end()) {
    LATTICE_ASSERT(states_.size() < kMaxLongStates);
    at = states_.emplace(states_.end());
    at->bytes = std::exchange(spare_, {});
    at->bytes.clear();
  }
  State& state = *at;
  if (state.tick != run.tick || state.bytes.empty()) {
    state.slot = run.slot;
    state.tick = run.tick;
    state.held = 0;
    state.has.clear_all();
    state.bytes.assign(run.length, 0);
  }
  for (uint32_t i = 0; i < run.count; ++i) {
    if (state.has.test(run.first + i)) continue;
    state.has.set(run.first + i);
    ++state.held;
  }
  std::copy(run.bytes.begin(), run.bytes.end(),
            state.bytes.begin() + static_cast<std::ptrdiff_t>(size_t{run.first} * kPieceBytes));
}

}  // namespace lattice::replication
