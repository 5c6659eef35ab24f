// A client fed with arbitrary snapshot parts (docs/spec/data.md). Input: parts, each behind a u16 length.
// Must hold: no part breaks the applier, a refused part changes nothing, the client's objects stay in bounds.
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "base/byte_cursor.h"
#include "replication/snapshot_applier.h"
#include "unit/replication/replication_types.h"

namespace {

using namespace lattice::replication;

class Listener : public SnapshotListener {
 public:
  void on_spawn(uint32_t, Tick) override { ++events; }
  void on_despawn(uint32_t, Tick, DespawnReason) override { ++events; }
  void on_state(uint32_t, Tick, const lattice::serialization::Word*, EntryKind) override { ++events; }
  void on_rested(uint32_t, Tick) override { ++events; }
  /// One that waits for RPCs may go when it is asked about for the fourth time, more or less.
  bool may_despawn(uint32_t, uint32_t rpc_count) override { return rpc_count == 0 || ++asked % 4 == 0; }
  void on_stays(uint32_t) override { ++events; }
  uint64_t events = 0;
  uint64_t asked = 0;
};

uint64_t hash_of(const ObjectTable& mirror, const SnapshotApplier& applier) {
  uint64_t hash = applier.newest_tick();
  for (const uint32_t slot : mirror.ascending()) {
    Tick tick = 0;
    const lattice::serialization::Word* words = applier.confirmed(slot, &tick);
    const ObjectInfo& info = mirror.info(slot);
    hash = hash * 31 + info.network_id + info.owner * 7 + tick;
    hash = hash * 31 + info.type->layout->state_hash(words);
  }
  return hash;
}

// Two lamps that both sides placed, behind the slots and ids of the corpus (D-51).
void place_lamps(const ObjectType& lamp, SnapshotApplier& applier) {
  for (uint32_t i = 0; i < 2; ++i) {
    ObjectInfo info;
    info.network_id = (uint64_t{1} << 40) + i;
    info.type = &lamp;
    applier.place(info, 60 + i, lamp.zero_words.data(), 1);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const lattice::replication::test::Types types;
  constexpr uint32_t kClientObjects = 32;
  ObjectTable mirror(kClientObjects);
  Listener listener;
  SnapshotApplier applier(types.table, mirror, listener, 64);
  place_lamps(types.lamp(), applier);
  lattice::base::ByteReader in({data, size});
  while (in.remaining() > 2) {
    const uint16_t wanted = in.u16();
    const auto part = in.bytes(wanted < in.remaining() ? wanted : in.remaining());
    const uint64_t before = hash_of(mirror, applier);
    const uint64_t events = listener.events;
    if (applier.apply(part) != SnapshotApplier::Result::kApplied) {
      LATTICE_CHECK(applier.refusal() != SnapshotRefusal::kNone);
      LATTICE_CHECK(hash_of(mirror, applier) == before && listener.events == events);
    }
    LATTICE_CHECK(mirror.size() <= kClientObjects);
    applier.retry_removals();
  }
  return 0;
}
