// What a reconciliation costs without a game: 100 predicted objects of 10 members that all move. In every
// repetition, one of them differs from the authority's state of 9 ticks ago.
#include "rollback.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "member.h"
#include "prediction/reconciler.h"
#include "replication/object_table.h"
#include "serialization/layout.h"

namespace bench {
namespace {

namespace replication = lattice::replication;
namespace serialization = lattice::serialization;
namespace prediction = lattice::prediction;

constexpr uint32_t kObjects = 100;
constexpr uint32_t kDepthTicks = 9;

/// Ten members of a character: three places, three speeds, two angles, two small numbers.
struct Actor {
  float place[3];
  float speed[3];
  float yaw;
  float pitch;
  uint8_t alive;
  int32_t health;
};

bool compile_actor(serialization::Layout* layout, std::string* error) {
  std::vector<lattice_member_desc> members;
  const char* const names[6] = {"x", "y", "z", "vx", "vy", "vz"};
  for (size_t i = 0; i < 6; ++i) {
    members.push_back(member(names[i], LATTICE_WIRE_FLOAT, i * sizeof(float)));
    members.back().encoding = LATTICE_ENCODING_COMPRESSED;
    members.back().quant[0] = i < 3 ? lattice_quant{-512, 512, 0.01} : lattice_quant{-64, 64, 0.01};
  }
  for (const auto& [name, offset] :
       {std::pair{"yaw", offsetof(Actor, yaw)}, {"pitch", offsetof(Actor, pitch)}}) {
    members.push_back(member(name, LATTICE_WIRE_FLOAT, offset));
    members.back().encoding = LATTICE_ENCODING_COMPRESSED;
    members.back().quant[0] = {-4, 4, 0.001};
  }
  members.push_back(member("alive", LATTICE_WIRE_BOOL, offsetof(Actor, alive)));
  members.push_back(member("health", LATTICE_WIRE_INT32, offsetof(Actor, health)));
  members.back().encoding = LATTICE_ENCODING_RANGED;
  members.back().max_value = 100;
  lattice_struct_desc structure;
  lattice_struct_desc_init(&structure);
  structure.name = "Actor";
  structure.host_bytes = sizeof(Actor);
  structure.host_align = alignof(Actor);
  structure.members = members.data();
  structure.member_count = static_cast<uint32_t>(members.size());
  lattice_behaviour_desc behaviour;
  lattice_behaviour_desc_init(&behaviour);
  behaviour.structure = &structure;
  lattice_type_desc type;
  lattice_type_desc_init(&type);
  type.name = "Actor";
  type.behaviours = &behaviour;
  type.behaviour_count = 1;
  return serialization::Layout::compile_object(type, layout, error);
}

uint64_t now_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

/// The live objects, as a client world keeps them, with simulation rounded to the wire's values.
class Host final : public prediction::ResimulationHost {
 public:
  Host(const serialization::Layout& layout, replication::ObjectTable& table)
      : layout_(layout), table_(table) {}
  void load_state(uint32_t slot, const serialization::Word* words) override {
    layout_.dequantize(words, table_.host(slot));
  }
  void store_state(uint32_t slot, serialization::Word* words) override {
    layout_.round(table_.host(slot), words);
  }
  void resimulate_tick(prediction::Tick tick) override {
    for (const uint32_t slot : table_.ascending()) {
      auto& actor = *static_cast<Actor*>(table_.host(slot)[0]);
      actor.place[0] += tick % 2 == 0 ? actor.speed[0] : -actor.speed[0];
    }
  }
  void corrected(uint32_t, const serialization::Word*, const serialization::Word*) override { ++corrections; }
  uint64_t corrections = 0;

 private:
  const serialization::Layout& layout_;
  replication::ObjectTable& table_;
};

}  // namespace

std::string measure_rollback(const Options& options, Report& report) {
  serialization::Layout layout;
  std::string error;
  if (!compile_actor(&layout, &error)) return error;
  replication::TypeTable types;
  const replication::ObjectType* type = types.add(1, layout);
  replication::ObjectTable table(kObjects);
  Host host(layout, table);
  prediction::Reconciler reconciler({kObjects});
  for (uint32_t i = 0; i < kObjects; ++i) {
    const uint32_t slot = table.spawn(*type, 1, LATTICE_AUTHORITY_SERVER, 0, 0);
    auto& actor = *static_cast<Actor*>(table.host(slot)[0]);
    actor = {{1.0f * static_cast<float>(i), 2, 3}, {4, 5, 6}, 0.5f, 0.25f, 1, 99};
    if (!reconciler.add(slot, layout)) return "The reconciler refused an object. Report a defect.";
  }
  prediction::Tick tick = 0;
  while (tick < 2 * prediction::kPredictionWindowTicks) reconciler.record(++tick, host);

  const uint32_t rollbacks = options.quick ? 20 : 20'000;
  std::vector<serialization::Word> truth(layout.word_count());
  for (uint32_t repetition = 0; repetition < options.repetitions; ++repetition) {
    std::vector<uint64_t> spent_ns(rollbacks);
    for (uint32_t i = 0; i < rollbacks; ++i) {
      host.resimulate_tick(++tick);
      reconciler.record(tick, host);
      const prediction::Tick at = tick - kDepthTicks;
      const uint64_t begun = now_ns();
      reconciler.begin(at);
      const uint32_t slot = table.ascending()[i % kObjects];
      std::copy_n(reconciler.predicted(slot, at), truth.size(), truth.begin());
      truth[0] += truth[0] > 50000 ? serialization::Word(0) - 500 : 500;
      reconciler.authoritative(slot, truth.data());
      reconciler.reconcile(tick, host);
      spent_ns[i] = now_ns() - begun;
    }
    // The median: a rollback during which something else had the processor says nothing.
    const auto middle = spent_ns.begin() + rollbacks / 2;
    std::nth_element(spent_ns.begin(), middle, spent_ns.end());
    report.metric("reconcile9x100_us", static_cast<double>(*middle) / 1e3);
  }
  if (reconciler.stats().rollbacks != host.corrections || host.corrections == 0) {
    return "A rollback corrected nothing. Report a defect.";
  }
  return "";
}

}  // namespace bench
