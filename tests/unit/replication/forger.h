// Parts of snapshots that no authority of ours would write.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "lattice/authoring/bit_writer.h"
#include "unit/replication/replication_fixture.h"

namespace lattice::replication::test {

/// Writes parts by hand, as a hostile or broken peer might. Each entry has a block of its own, unless block()
/// began one.
class Forger {
 public:
  explicit Forger(Tick tick, uint8_t flags = 0) : tick_(tick) {
    out.WriteU32(tick);
    out.WriteByte(flags);
  }
  /// The head of a block. Ages are written for the kinds that have them.
  Forger& block(EntryKind kind, uint64_t slot, uint64_t age = 0, uint64_t count = 1, bool mixed = false,
                uint64_t k = 0) {
    pad();
    out.WriteBits(static_cast<uint64_t>(kind), 3);
    out.WriteBool(mixed);
    out.WriteBits(k, 4);
    out.WriteVarint(count);
    if (kind == EntryKind::kDelta || kind == EntryKind::kRested) out.WriteVarint(age);
    out.WriteVarint(slot);
    return *this;
  }
  Forger& removal_content(uint64_t name = 0, uint64_t rpc_count = 0) {
    out.WriteBool(false);
    out.WriteBool(name != 0);
    if (name != 0) out.WriteVarint(name);
    out.WriteBool(rpc_count != 0);
    if (rpc_count != 0) out.WriteVarint(rpc_count);
    return *this;
  }
  Forger& head(uint64_t type_id = Types::kLamp, uint64_t mode = 0, uint64_t owner = 0, uint64_t tenure = 0) {
    out.WriteVarint(type_id);
    out.WriteVarint(owner);
    out.WriteBits(mode, 2);
    out.WriteVarint(tenure);
    return *this;
  }
  /// A mask and a level: the changes of a lamp.
  Forger& changes(uint64_t level) {
    out.WriteBits(level != 0 ? 0b01 : 0b00, 2);
    if (level != 0) out.WriteBits(level, 4);
    return *this;
  }
  Forger& bits(uint64_t value, int count) {
    out.WriteBits(value, count);
    return *this;
  }
  Forger& varint(uint64_t value) {
    out.WriteVarint(value);
    return *this;
  }

  Forger& removed(uint64_t slot, uint64_t name = 0, uint64_t rpc_count = 0) {
    return block(EntryKind::kRemoved, slot).removal_content(name, rpc_count);
  }
  Forger& lamp(uint64_t slot, uint64_t id, uint64_t level, uint64_t type_id = Types::kLamp,
               uint64_t mode = 0) {
    return block(EntryKind::kFull, slot).head(type_id, mode, 0, tick_).varint(id).changes(level);
  }
  Forger& delta(uint64_t slot, uint64_t age, uint64_t level) {
    return block(EntryKind::kDelta, slot, age).changes(level);
  }
  Forger& rested(uint64_t slot, uint64_t age) { return block(EntryKind::kRested, slot, age); }
  void pad() { out.WriteBits(0, static_cast<int>((8 - out.bit_count() % 8) % 8)); }
  std::vector<uint8_t> done() {
    pad();
    return copy(out.finish());
  }
  std::array<uint8_t, 4000> buffer{};
  BitWriter out{buffer};

 private:
  Tick tick_;
};

}  // namespace lattice::replication::test
