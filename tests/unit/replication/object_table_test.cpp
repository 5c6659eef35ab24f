#include "replication/object_table.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>

#include "unit/replication/replication_fixture.h"

namespace lattice::replication::test {
namespace {

TEST(ObjectTable, ids_start_at_one_and_are_never_reused) {
  Types types;
  ObjectTable table(8);
  const uint32_t a = table.spawn(types.lamp(), 0, LATTICE_AUTHORITY_SERVER, 0, 1);
  EXPECT_EQ(table.network_id(a), 1u);
  table.despawn(a);
  const uint32_t b = table.spawn(types.lamp(), 0, LATTICE_AUTHORITY_SERVER, 0, 2);
  EXPECT_EQ(b, a);  // the slot is
  EXPECT_EQ(table.network_id(b), 2u);
  EXPECT_EQ(table.find(1), kNoSlot);
  EXPECT_EQ(table.find(2), b);
}

TEST(ObjectTable, refuses_one_past_its_limit) {
  Types types;
  ObjectTable table(2);
  EXPECT_NE(table.spawn(types.lamp(), 0, LATTICE_AUTHORITY_SERVER, 0, 1), kNoSlot);
  EXPECT_NE(table.spawn(types.lamp(), 0, LATTICE_AUTHORITY_SERVER, 0, 1), kNoSlot);
  EXPECT_EQ(table.spawn(types.lamp(), 0, LATTICE_AUTHORITY_SERVER, 0, 1), kNoSlot);
  EXPECT_EQ(table.size(), 2u);
}

TEST(ObjectTable, ascends_behind_the_largest_id_too) {
  Types types;
  ObjectTable table(4);
  ObjectInfo info;
  info.type = &types.lamp();
  std::vector<uint64_t> ids;
  for (const uint64_t id : {UINT64_MAX, uint64_t{9}, uint64_t{7}}) {
    info.network_id = id;
    ASSERT_NE(table.mirror(info), kNoSlot);
  }
  for (const uint32_t slot : table.ascending()) ids.push_back(table.network_id(slot));
  EXPECT_EQ(ids, (std::vector<uint64_t>{7, 9, UINT64_MAX}));
}

TEST(ObjectTable, mirror_refuses_zero_and_live_ids) {
  Types types;
  ObjectTable table(4);
  ObjectInfo info;
  info.type = &types.lamp();
  EXPECT_EQ(table.mirror(info), kNoSlot);
  info.network_id = 70;
  EXPECT_NE(table.mirror(info), kNoSlot);
  EXPECT_EQ(table.mirror(info), kNoSlot);
}

TEST(ObjectTable, storage_is_zeroed_aligned_and_does_not_move) {
  Types types;
  ObjectTable table(1000);
  const uint32_t first = table.spawn(types.actor(), 0, LATTICE_AUTHORITY_SERVER, 0, 1);
  auto* soul = static_cast<Soul*>(table.host(first)[1]);
  soul->health = 42;
  for (int i = 0; i < 500; ++i) table.spawn(types.lamp(), 0, LATTICE_AUTHORITY_SERVER, 0, 1);
  EXPECT_EQ(table.host(first)[1], soul);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(table.host(first)[0]) % alignof(Body), 0u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(table.host(first)[1]) % alignof(Soul), 0u);
  table.despawn(first);
  const uint32_t again = table.spawn(types.actor(), 0, LATTICE_AUTHORITY_SERVER, 0, 2);
  ASSERT_EQ(again, first);
  EXPECT_EQ(static_cast<Soul*>(table.host(again)[1])->health, 0);
}

TEST(ObjectTable, cells_of_one_type_never_overlap) {
  Types types;
  ObjectTable table(1000);
  std::vector<uint32_t> slots;
  for (int i = 0; i < 300; ++i) {
    slots.push_back(table.spawn(i % 3 ? types.actor() : types.lamp(), 0, LATTICE_AUTHORITY_SERVER, 0, 1));
    if (i % 3) static_cast<Soul*>(table.host(slots.back())[1])->health = i;
  }
  for (int i = 0; i < 300; ++i) {
    if (i % 3 == 1) table.despawn(slots[static_cast<size_t>(i)]);
  }
  for (int i = 0; i < 300; ++i) {
    if (i % 3 != 2) continue;
    EXPECT_EQ(static_cast<Soul*>(table.host(slots[static_cast<size_t>(i)])[1])->health, i);
  }
}

TEST(ObjectTable, a_freed_slot_rests_until_enough_others_are_free) {
  Types types;
  constexpr uint32_t kResting = 5;
  ObjectTable table(8, kResting);
  const auto spawn = [&] { return table.spawn(types.lamp(), 0, LATTICE_AUTHORITY_SERVER, 0, 1); };
  std::vector<uint32_t> freed;
  for (uint32_t i = 0; i < 40; ++i) {
    const uint32_t slot = spawn();
    const auto again = std::find(freed.begin(), freed.end(), slot);
    if (again != freed.end()) {
      EXPECT_EQ(again, freed.begin()) << "the longest free goes first";
      freed.erase(again);
    }
    EXPECT_EQ(again == freed.end() || freed.size() >= kResting, true);
    freed.push_back(slot);
    table.despawn(slot);
  }
  EXPECT_EQ(table.slot_count(), kResting + 1);
}

// Or each new object would wait for the clients where thousands come and go in a second.
TEST(ObjectTable, a_freed_slot_rests_for_some_ticks_while_others_were_never_used) {
  Types types;
  constexpr uint32_t kRestTicks = 60, kEachTick = 100;
  ObjectTable table(1000, 10);
  table.let_slots_rest(kRestTicks);
  std::map<uint32_t, Tick> freed;
  for (Tick tick = 1; tick < 300; ++tick) {
    table.begin_tick(tick);
    std::vector<uint32_t> slots;
    for (uint32_t i = 0; i < kEachTick; ++i) {
      slots.push_back(table.spawn(types.lamp(), 0, LATTICE_AUTHORITY_SERVER, 0, tick));
      const auto before = freed.find(slots.back());
      if (before != freed.end()) {
        ASSERT_GE(tick - before->second, kRestTicks);
      }
    }
    for (const uint32_t slot : slots) table.despawn(slot), freed[slot] = tick;
  }
  EXPECT_LE(table.slot_count(), (kRestTicks + 1) * kEachTick);
}

TEST(ObjectTable, slots_stay_below_their_bound_whatever_rests) {
  Types types;
  EXPECT_EQ(slot_bound(4), 65536u);
  EXPECT_EQ(slot_bound(40000), 80000u);
  ObjectTable table(4, UINT32_MAX);
  for (uint32_t i = 0; i < 70000; ++i) {
    const uint32_t slot = table.spawn(types.lamp(), 0, LATTICE_AUTHORITY_SERVER, 0, 1);
    ASSERT_EQ(slot, i % 65536u);
    table.despawn(slot);
  }
  EXPECT_EQ(table.slot_count(), 65536u);
}

TEST(ObjectTable, agrees_with_a_map_under_churn) {
  Types types;
  EXPECT_TRUE(rc::check("object table is an ordered map", [&](const std::vector<uint16_t>& actions) {
    ObjectTable table(64);
    std::map<uint64_t, uint32_t> model;
    for (const uint16_t action : actions) {
      if (action % 3 != 0 || model.empty()) {
        ObjectInfo info;
        info.network_id = action % 97;
        info.type = action % 2 ? &types.lamp() : &types.actor();
        const uint32_t slot = table.mirror(info);
        const bool expected = info.network_id != 0 && model.count(info.network_id) == 0 && model.size() < 64;
        RC_ASSERT((slot != kNoSlot) == expected);
        if (expected) model[info.network_id] = slot;
      } else {
        auto victim = std::next(model.begin(), static_cast<std::ptrdiff_t>(action % model.size()));
        table.despawn(victim->second);
        RC_ASSERT(!table.live(victim->second) && table.find(victim->first) == kNoSlot);
        model.erase(victim);
      }
      if (action % 5 == 0) RC_ASSERT(table.ascending().size() == model.size());
    }
    RC_ASSERT(table.size() == model.size());
    RC_ASSERT(table.ascending().size() == model.size());
    size_t i = 0;
    for (const auto& [id, slot] : model) {
      RC_ASSERT(table.ascending()[i++] == slot);
      RC_ASSERT(table.find(id) == slot);
    }
  }));
}

TEST(ObjectTable, the_owner_writes_a_shared_object_and_the_authority_every_other) {
  Types types;
  ObjectTable table(8);
  const auto writer = [&](lattice_authority_mode mode, uint64_t owner) {
    return table.info(table.spawn(types.lamp(), owner, mode, 77, 78)).authority;
  };
  EXPECT_EQ(writer(LATTICE_AUTHORITY_SERVER, 5), (replication::Authority{kAuthorityPeer, 77}));
  EXPECT_EQ(writer(LATTICE_AUTHORITY_SHARED, 5), (replication::Authority{5, 77}));
  EXPECT_EQ(writer(LATTICE_AUTHORITY_SERVER, 0).writer, kAuthorityPeer);
  EXPECT_EQ(writer(LATTICE_AUTHORITY_SHARED, 0).writer, kAuthorityPeer)
      << "nobody owns it, somebody writes it";
}

TEST(ObjectTable, each_side_knows_what_it_writes_and_what_it_owns) {
  Types types;
  ObjectTable authority(8);
  ObjectTable client(8, 0, 0);
  for (ObjectTable* side : {&authority, &client}) {
    const uint32_t pawn = side->spawn(types.lamp(), 5, LATTICE_AUTHORITY_SERVER, 1, 1);
    const uint32_t ball = side->spawn(types.lamp(), 5, LATTICE_AUTHORITY_SHARED, 1, 1);
    const uint32_t rock = side->spawn(types.lamp(), 0, LATTICE_AUTHORITY_SERVER, 1, 1);
    EXPECT_EQ(side->writes(pawn), side == &authority);
    EXPECT_FALSE(side->writes(ball)) << "a client without a session is nobody";
    EXPECT_FALSE(side->owns(ball));
    if (side == &client) side->set_local_peer(5);
    EXPECT_EQ(side->writes(ball), side == &client);
    EXPECT_EQ(side->owns(pawn), side == &client);
    EXPECT_FALSE(side->owns(rock));
    side->set_authority(ball, 6, LATTICE_AUTHORITY_SHARED, 9);
    EXPECT_FALSE(side->writes(ball)) << "exactly one peer writes in any tick (I5)";
    side->despawn(pawn);
    EXPECT_FALSE(side->writes(pawn));
  }
}

}  // namespace
}  // namespace lattice::replication::test
