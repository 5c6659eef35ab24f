// A small game whose objects push one another, as the host of a reconciler. Shared by the reconciler's tests.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "prediction/reconciler.h"
#include "unit/prediction/test_layouts.h"

namespace lattice::prediction::test {

using CounterWorld = std::map<uint32_t, Counter>;  // by slot, which is the id too

inline int32_t input_of(Tick tick, uint32_t id) {
  return static_cast<int32_t>((tick * 7u + id * 13u) % 11u) - 5;
}

/// One tick of the game, in ascending id.
inline void simulate(CounterWorld& world, Tick tick) {
  int32_t push = 0;
  for (auto& [id, object] : world) {
    object.v = object.v / 2 + input_of(tick, id) + (push & 3);
    object.x += object.v;
    push = object.x;
  }
}

inline bool same(const Counter& a, const Counter& b) {
  return a.x == b.x && a.v == b.v;
}

class CounterHost : public ResimulationHost {
 public:
  explicit CounterHost(const serialization::Layout& layout) : layout_(layout) {}
  void load_state(uint32_t id, const serialization::Word* words) override {
    void* hosts[1] = {&live[id]};
    layout_.dequantize(words, hosts);
  }
  void store_state(uint32_t id, serialization::Word* words) override {
    const void* hosts[1] = {&live.at(id)};
    layout_.quantize(hosts, words);
  }
  void resimulate_tick(Tick tick) override {
    resimulated.push_back(tick);
    simulate(live, tick);
  }
  void corrected(uint32_t id, const serialization::Word*, const serialization::Word*) override {
    corrections.insert(id);
  }

  CounterWorld live;
  std::vector<Tick> resimulated;
  std::set<uint32_t> corrections;

 private:
  const serialization::Layout& layout_;
};

}  // namespace lattice::prediction::test
