#include "replication/state_store.h"

#include <gtest/gtest.h>

#include "allocation_counter.h"
#include "unit/replication/replication_fixture.h"

namespace lattice::replication::test {
namespace {

TEST(StateStore, makes_a_version_only_when_words_differ) {
  Types types;
  Authority authority(types);
  const uint32_t slot = authority.spawn(types.lamp());
  EXPECT_EQ(authority.store.version(slot), 0u);
  EXPECT_EQ(authority.store.current(slot), nullptr);
  authority.record();
  EXPECT_EQ(authority.store.version(slot), 1u);
  ++authority.tick;
  authority.state<Lamp>(slot).level = 0;  // written, not changed
  EXPECT_EQ(authority.store.record(authority.table, authority.tick), 0u);
  ++authority.tick;
  authority.state<Lamp>(slot).level = 3;
  EXPECT_EQ(authority.store.record(authority.table, authority.tick), 1u);
  EXPECT_EQ(authority.store.version(slot), 2u);
  EXPECT_EQ(authority.store.summary(slot).tick, 3u);
  ++authority.tick;
  static_cast<Lamp*>(authority.table.host(slot)[0])->level = 9;  // not announced: not looked at
  EXPECT_EQ(authority.store.record(authority.table, authority.tick), 0u);
}

TEST(StateStore, looks_at_the_marked_objects_and_at_no_other) {
  Types types;
  Authority authority(types);
  std::vector<uint32_t> slots;
  for (int i = 0; i < 1000; ++i) slots.push_back(authority.spawn(types.lamp()));
  authority.record();
  EXPECT_EQ(authority.store.compared(), 1000u);
  for (; authority.tick < 100; ++authority.tick) authority.store.record(authority.table, authority.tick + 1);
  EXPECT_EQ(authority.store.compared(), 1000u) << "a world at rest costs nothing";
  for (const uint32_t slot : {slots[7], slots[300]}) {
    authority.store.mark(slot);
    authority.store.mark(slot);
  }
  authority.store.record(authority.table, ++authority.tick);
  EXPECT_EQ(authority.store.compared(), 1002u) << "each once, however often it was marked";
}

TEST(StateStore, some_types_are_always_compared) {
  Types types;
  Authority authority(types);
  ObjectType type = types.lamp();
  type.compare_always = true;
  const uint32_t always = authority.spawn(type);
  const uint32_t gone = authority.spawn(type);
  authority.spawn(types.lamp());
  authority.record();
  ++authority.tick;
  static_cast<Lamp*>(authority.table.host(always)[0])->level = 9;
  EXPECT_EQ(authority.store.record(authority.table, authority.tick), 1u);
  EXPECT_EQ(authority.store.compared(), 3u + 2u);
  authority.despawn(gone);
  authority.store.record(authority.table, ++authority.tick);
  EXPECT_EQ(authority.store.compared(), 3u + 2u + 1u);
}

TEST(StateStore, what_sleeps_is_not_compared_until_it_is_marked) {
  Types types;
  Authority authority(types);
  ObjectType type = types.lamp();
  type.compare_always = true;
  const uint32_t sleeper = authority.spawn(type);
  const uint32_t other = authority.spawn(type);
  const auto level = [&](uint32_t slot) -> uint8_t& {
    return static_cast<Lamp*>(authority.table.host(slot)[0])->level;
  };
  authority.record();
  level(sleeper) = 3;
  authority.store.sleep(sleeper);
  authority.store.sleep(sleeper);
  EXPECT_TRUE(authority.store.asleep(sleeper));
  EXPECT_EQ(authority.store.record(authority.table, ++authority.tick), 1u) << "written before it slept";
  level(sleeper) = 4;
  level(other) = 4;
  const uint64_t compared = authority.store.compared();
  EXPECT_EQ(authority.store.record(authority.table, ++authority.tick), 1u);
  EXPECT_EQ(authority.store.compared(), compared + 1);

  authority.store.mark(sleeper);
  EXPECT_FALSE(authority.store.asleep(sleeper));
  EXPECT_EQ(authority.store.record(authority.table, ++authority.tick), 1u);
  level(sleeper) = 5;
  EXPECT_EQ(authority.store.record(authority.table, ++authority.tick), 1u) << "it is compared always again";

  authority.store.sleep(sleeper);
  authority.despawn(sleeper);
  level(other) = 6;
  EXPECT_EQ(authority.store.record(authority.table, ++authority.tick), 1u) << "the other is still compared";
  EXPECT_FALSE(authority.store.asleep(authority.spawn(type))) << "a new object in the slot is awake";
}

TEST(StateStore, logs_the_changes_in_order) {
  Types types;
  Authority authority(types);
  const uint32_t a = authority.spawn(types.lamp());
  const uint32_t b = authority.spawn(types.lamp());
  authority.record();
  const uint64_t place = authority.store.changes().end();
  ++authority.tick;
  authority.state<Lamp>(b).level = 1;
  authority.store.mark(a);  // written, not changed
  authority.record();
  ++authority.tick;
  authority.state<Lamp>(a).level = 1;
  authority.record();
  const ChangeLog& changes = authority.store.changes();
  ASSERT_EQ(changes.end() - place, 2u);
  ASSERT_TRUE(changes.reaches(place));
  EXPECT_EQ(changes.at(place), b);
  EXPECT_EQ(changes.at(place + 1), a);
}

TEST(ChangeLog, forgets_the_oldest_and_says_so) {
  ChangeLog changes;
  changes.reserve(5);  // room for 8
  for (uint32_t i = 0; i < 8; ++i) changes.add(100 + i);
  EXPECT_TRUE(changes.reaches(0));
  EXPECT_EQ(changes.at(0), 100u);
  changes.add(108);
  EXPECT_FALSE(changes.reaches(0));
  EXPECT_TRUE(changes.reaches(1));
  EXPECT_EQ(changes.at(1), 101u);
  EXPECT_EQ(changes.at(8), 108u);
  changes.reserve(8);
  EXPECT_TRUE(changes.reaches(1)) << "nothing was to grow";
  changes.reserve(9);
  EXPECT_FALSE(changes.reaches(8));
  EXPECT_TRUE(changes.reaches(9)) << "the end is always reached";
}

/// Every version of the last `depth` ticks is found, and all are gone once enough time has passed.
void answers_for_every_tick_of(int32_t depth) {
  Types types;
  Authority authority(types, {}, 4096, depth);
  const uint32_t slot = authority.spawn(types.actor());
  std::map<Tick, uint32_t> version_at;
  std::map<uint32_t, std::vector<Word>> truth;
  base::Random random(5);
  for (; authority.tick <= 400; ++authority.tick) {
    if (random.chance(authority.tick < 150 ? 1.0 : 0.1)) {
      authority.state<Soul>(slot, 1).health = static_cast<int32_t>(random.next_below(101));
    }
    authority.record();
    const uint32_t newest = authority.store.version(slot);
    version_at[authority.tick] = newest;
    truth[newest] = authority.words(slot);
    for (int32_t back = 0; back <= depth && static_cast<Tick>(back) < authority.tick; ++back) {
      const uint32_t version = version_at[authority.tick - static_cast<Tick>(back)];
      const Word* words = authority.store.words(slot, version);
      ASSERT_NE(words, nullptr) << back << " ticks ago at " << authority.tick;
      ASSERT_EQ(std::vector<Word>(words, words + types.actor().word_count), truth[version]);
    }
  }
}

TEST(StateStore, has_every_state_of_the_last_ticks) {
  for (const int32_t depth : {2, 8, 33, 64}) answers_for_every_tick_of(depth);
}

/// After `seconds` of change in each tick, the state of each keep tick of the last 5 s is here, and no older
/// one is.
void keeps_states_for_5_s(uint32_t tick_rate_hz, uint32_t turns) {
  SCOPED_TRACE(testing::Message() << tick_rate_hz << " Hz, one of " << turns);
  Types types;
  SnapshotBuilder::Config config;
  config.tick_rate_hz = tick_rate_hz;
  config.send_interval_ticks = turns;
  Authority authority(types, config);
  const uint32_t slot = authority.spawn(types.actor());
  std::map<Tick, std::vector<Word>> truth;
  base::Random random(7);
  const Tick end = 12 * tick_rate_hz;
  for (; authority.tick <= end; ++authority.tick) {
    authority.state<Soul>(slot, 1).target = random.next_u64();
    authority.record();
    truth[authority.tick] = authority.words(slot);
  }
  const Tick now = end;
  uint32_t kept = 0;
  for (Tick tick = 1; tick <= now; ++tick) {
    const Word* words = authority.store.words(slot, tick);  // a version in each tick
    const bool recent = now - tick <= static_cast<Tick>(kHistoryTicks);
    const bool keep = authority.store.keep_ticks().contains(tick) && now - tick <= 5 * tick_rate_hz;
    if (recent || keep) {
      ASSERT_NE(words, nullptr) << now - tick << " ticks ago";
      EXPECT_EQ(std::vector<Word>(words, words + truth[tick].size()), truth[tick]);
      kept += recent ? 0 : 1;
    } else if (words != nullptr) {
      ++kept;
      EXPECT_LE(now - tick, kHistoryTicks + authority.store.keep_ticks().span_ticks());
    }
  }
  EXPECT_LE(kept, kKeptStates);
  EXPECT_GE(kept,
            (5 * tick_rate_hz - kHistoryTicks) * kKeptStates / (5 * tick_rate_hz + kKeptStates * turns) - 1);
}

TEST(StateStore, states_of_keep_ticks_stay_for_5_s_at_every_rate) {
  for (const uint32_t rate : {30u, 60u, 240u}) {
    for (const uint32_t turns : {1u, 2u, 3u, 8u}) keeps_states_for_5_s(rate, turns);
  }
}

// A client that sends in tick phase p meets only the keep ticks of that phase.
TEST(KeepTicks, every_turn_meets_its_own) {
  for (const uint32_t rate : {10u, 30u, 60u, 128u, 240u}) {
    for (uint32_t turns = 1; turns <= 12; ++turns) {
      const KeepTicks keep(rate, turns);
      EXPECT_GE(keep.span_ticks(), 5 * rate);
      std::vector<uint32_t> met(turns);
      const Tick periods = 4 * turns;
      const Tick end = periods * (keep.span_ticks() / kKeptStates);
      for (Tick tick = 0; tick < end; ++tick) met[tick % turns] += keep.contains(tick) ? 1u : 0u;
      for (uint32_t turn = 0; turn < turns; ++turn) {
        EXPECT_GE(met[turn], 2u) << rate << " Hz, turn " << turn << " of " << turns;
      }
    }
  }
}

TEST(KeepTicks, a_span_holds_one_exactly_if_one_of_its_ticks_is_one) {
  const KeepTicks keep(60, 2);
  for (Tick first = 1; first < 100; ++first) {
    bool any = false;
    for (Tick end = first + 1; end < first + 90; ++end) {
      any = any || keep.contains(end - 1);
      ASSERT_EQ(keep.any_in(first, end), any) << first << " " << end;
    }
  }
}

TEST(StateStore, an_object_that_changes_seldom_has_its_states_at_keep_ticks) {
  Types types;
  Authority authority(types);
  const uint32_t slot = authority.spawn(types.lamp());
  std::map<Tick, uint32_t> version_at;
  for (; authority.tick <= 1000; ++authority.tick) {
    if (authority.tick % 35 == 0)
      authority.state<Lamp>(slot).level = static_cast<uint8_t>(authority.tick / 35 % 16);
    authority.record();
    version_at[authority.tick] = authority.store.version(slot);
    for (Tick tick = authority.tick > 300 ? authority.tick - 300 : 1; tick <= authority.tick; ++tick) {
      if (!authority.store.keep_ticks().contains(tick)) continue;
      ASSERT_NE(authority.store.words(slot, version_at[tick]), nullptr) << tick << " at " << authority.tick;
    }
  }
}

TEST(StateStore, an_object_that_stands_still_outlives_the_wrap_of_ticks) {
  Types types;
  Authority authority(types);
  const uint32_t slot = authority.spawn(types.lamp());
  authority.tick = 0xFFFFFFFFu - 3u * kAgingTicks;
  for (int i = 0; i < 12; ++i) {
    authority.record();
    authority.tick += kAgingTicks / 2 + 1;
  }
  EXPECT_EQ(authority.store.version(slot), 1u);
  authority.state<Lamp>(slot).level = 3;
  authority.record();
  ASSERT_NE(authority.store.words(slot, 1), nullptr);
  for (Tick i = 0; i < 1000; ++i) {
    authority.state<Lamp>(slot).level ^= 1;
    ++authority.tick;
    authority.record();
  }
  EXPECT_EQ(authority.store.words(slot, 1), nullptr);
}

TEST(StateStore, version_zero_is_the_zero_baseline_and_unknown_ones_are_null) {
  Types types;
  Authority authority(types);
  const uint32_t slot = authority.spawn(types.lamp());
  authority.record();
  EXPECT_EQ(authority.store.words(slot, 0), types.lamp().zero_words.data());
  EXPECT_NE(authority.store.words(slot, 1), nullptr);
  EXPECT_EQ(authority.store.words(slot, 2), nullptr);
}

TEST(StateStore, announcing_makes_a_version_that_needs_a_full_entry) {
  Types types;
  Authority authority(types);
  const uint32_t slot = authority.spawn(types.lamp());
  authority.record();
  EXPECT_EQ(authority.store.summary(slot).full_version, 1u);
  ++authority.tick;
  authority.store.announce(slot);
  authority.record();
  EXPECT_EQ(authority.store.version(slot), 2u);
  EXPECT_EQ(authority.store.summary(slot).full_version, 2u);
}

TEST(StateStore, a_slot_begins_anew_with_its_next_object) {
  Types types;
  Authority authority(types, {}, 8, kHistoryTicks, 0);
  const uint32_t slot = authority.spawn(types.actor());
  for (; authority.tick < 90; ++authority.tick) {
    authority.state<Soul>(slot, 1).target = authority.tick;
    authority.record();
  }
  authority.store.announce(slot);
  authority.despawn(slot);
  ASSERT_EQ(authority.spawn(types.lamp()), slot);
  EXPECT_EQ(authority.store.version(slot), 0u);
  authority.record();
  EXPECT_EQ(authority.store.version(slot), 1u);
  EXPECT_EQ(authority.store.summary(slot).full_version, 1u);
}

TEST(StateStore, rounds_host_values_when_the_type_asks) {
  Types types;
  TypeTable rounding;
  const ObjectType& type = *rounding.add(Types::kActor, *types.actor().layout, {.round_host = true});
  Authority authority(types);
  const uint32_t slot = authority.spawn(type);
  authority.state<Body>(slot).position[0] = 1.00321f;
  authority.record();
  EXPECT_FLOAT_EQ(authority.state<Body>(slot).position[0], 1.0f);
}

TEST(StateStore, knows_what_moves) {
  Types types;
  Authority authority(types);
  const uint32_t slot = authority.spawn(types.actor());
  authority.record();
  EXPECT_FALSE(authority.store.summary(slot).moves_for_owner);
  ++authority.tick;
  authority.state<Body>(slot).velocity[1] = 2;
  authority.record();
  EXPECT_TRUE(authority.store.summary(slot).moves_for_owner);
}

// Baselines are taken from the history without a look, at any tick rate.
TEST(StateStore, an_object_that_rests_keeps_its_history) {
  Types types;
  for (const uint32_t tick_rate_hz : {1u, 2u, 5u, 9u, 12u, 60u}) {
    ObjectTable table(4);
    StateStore store(kHistoryTicks, KeepTicks(tick_rate_hz, 1));
    const uint32_t slot = table.spawn(types.lamp(), 0, LATTICE_AUTHORITY_SERVER, 0, 1);
    store.begin(slot, types.lamp());
    store.record(table, 1);
    static_cast<Lamp*>(table.host(slot)[0])->level = 3;
    store.mark(slot);
    for (Tick tick = 2; tick < 1 + kHistoryTicks; ++tick) {
      store.record(table, tick);
      ASSERT_NE(store.words(slot, 1), nullptr) << tick_rate_hz << " Hz, tick " << tick;
    }
  }
}

// ---- Memory ---------------------------------------------------------------------------------------

/// Lets 100 objects of a world move at a time, in turns of `ticks`.
uint64_t bytes_after(uint32_t turns, Tick ticks) {
  Types types;
  Authority authority(types);
  for (int i = 0; i < 1000; ++i) authority.spawn(types.actor());
  authority.record();
  for (uint32_t turn = 0; turn < turns; ++turn) {
    for (const Tick end = authority.tick + ticks; authority.tick != end;) {
      ++authority.tick;
      for (uint32_t i = 0; i < 100; ++i)
        authority.state<Soul>(turn % 10 * 100 + i, 1).target = authority.tick;
      authority.record();
    }
  }
  return authority.store.allocated_bytes();
}

TEST(StateStore, memory_of_objects_that_rest_serves_those_that_move) {
  const uint64_t two_turns = bytes_after(2, 1000);
  EXPECT_EQ(bytes_after(10, 1000), two_turns);
  EXPECT_EQ(bytes_after(20, 1000), two_turns);
}

/// A type of ten words.
struct Ten {
  uint32_t value[10] = {};
};

struct MemoryTest : testing::Test {
  static constexpr uint32_t kObjects = 1000;
  MemoryTest() {
    std::vector<lattice_member_desc> members;
    static const char* const kNames[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
    for (size_t i = 0; i < 10; ++i) members.push_back(member(kNames[i], LATTICE_WIRE_UINT32, 4 * i));
    const lattice_struct_desc ten = structure<Ten>("Ten", members);
    lattice_behaviour_desc behaviour;
    lattice_behaviour_desc_init(&behaviour);
    behaviour.structure = &ten;
    lattice_type_desc desc;
    lattice_type_desc_init(&desc);
    desc.type_id = 20;
    desc.name = "Ten";
    desc.behaviours = &behaviour;
    desc.behaviour_count = 1;
    std::string error;
    EXPECT_TRUE(serialization::Layout::compile_object(desc, &layout, &error)) << error;
    type = table.add(20, layout);
  }
  /// Heap bytes of table and store per object, without the game's own structure. The objects change in each
  /// tick, each from a tick of its own on, and the last for `ticks` ticks. With 0 ticks none changes.
  double bytes_per_object(Tick ticks) {
    const int64_t before = lattice::test::live_bytes();
    ObjectTable objects(kObjects);
    StateStore store(kHistoryTicks, KeepTicks(60, 2));
    for (uint32_t i = 0; i < kObjects; ++i) {
      store.begin(objects.spawn(*type, 0, LATTICE_AUTHORITY_SERVER, 0, 1), *type);
    }
    static_cast<void>(store.record(objects, 1));
    const Tick end = ticks == 0 ? 2 : kObjects + ticks;
    for (Tick tick = 2; tick < end; ++tick) {
      for (uint32_t slot = 0; slot < kObjects && slot < tick; ++slot) {
        store.mark(slot);
        static_cast<Ten*>(objects.host(slot)[0])->value[tick % 10] = tick;
      }
      static_cast<void>(store.record(objects, tick));
    }
    return static_cast<double>(lattice::test::live_bytes() - before) / kObjects - sizeof(Ten);
  }
  serialization::Layout layout;
  TypeTable table;
  const ObjectType* type = nullptr;
};

// 256 bytes with words of 4 bytes, of which there are 10. A wider word costs its width.
TEST_F(MemoryTest, a_resting_object_of_ten_words_takes_256_bytes_at_most) {
  ASSERT_EQ(type->word_count, 10u);
  const double bytes = bytes_per_object(0);
  RecordProperty("bytes", std::to_string(bytes));
  EXPECT_LE(bytes, 256.0 - 10 * 4 + 10 * sizeof(Word));
}

// The states of the last ticks, the one before them, room for the next, and those of keep ticks: each has 10
// words and 8 bytes. The rest is that of a resting object, and 2 % for blocks that wait for other objects to
// grow.
TEST_F(MemoryTest, a_moving_object_of_ten_words_takes_82_states_at_most) {
  constexpr double kStates = kHistoryTicks + 2 + kKeptStates;
  static_assert(kStates == 82);
  const double bytes = bytes_per_object(400);
  RecordProperty("bytes", std::to_string(bytes));
  EXPECT_LE(bytes, 1.02 * kStates * (10 * sizeof(Word) + 8) + 256);
}

TEST(StateStore, a_warm_world_does_not_allocate) {
  Types types;
  Authority authority(types);
  for (int i = 0; i < 200; ++i) authority.spawn(types.actor());
  uint64_t allocations = 0;
  for (; authority.tick < 2000; ++authority.tick) {
    if (authority.tick == 1000) allocations = lattice::test::allocation_count();
    const uint32_t group = authority.tick / 50 % 2 * 100;
    for (uint32_t i = 0; i < 100; ++i) authority.state<Soul>(group + i, 1).target = authority.tick;
    authority.record();
  }
  EXPECT_EQ(lattice::test::allocation_count(), allocations);
}

// ---- Writes that nobody announced -----------------------------------------------------------------

struct HeardWrites : UnannouncedWrites {
  void on_unannounced_write(uint32_t slot, Tick tick, const Word* recorded, const Word* words) override {
    slots.push_back(slot);
    at = tick;
    was = recorded[1];
    is = words[1];
  }
  std::vector<uint32_t> slots;
  Tick at = 0;
  Word was = 0;
  Word is = 0;
};

#if defined(LATTICE_VALIDATION)
TEST(StateStore, reports_writes_that_were_not_announced) {
  Types types;
  Authority authority(types);
  HeardWrites heard;
  authority.store.set_unannounced_writes(&heard);
  authority.spawn(types.lamp());
  const uint32_t slot = authority.spawn(types.lamp());
  authority.state<Lamp>(slot).level = 3;
  authority.record();
  ++authority.tick;
  authority.state<Lamp>(slot).level = 4;
  authority.record();
  EXPECT_EQ(heard.slots, std::vector<uint32_t>{});
  ++authority.tick;
  static_cast<Lamp*>(authority.table.host(slot)[0])->level = 9;
  authority.record();
  EXPECT_EQ(heard.slots, std::vector<uint32_t>{slot});
  EXPECT_EQ(heard.at, 3u);
  EXPECT_EQ(heard.was, 4u);
  EXPECT_EQ(heard.is, 9u);
  EXPECT_EQ(authority.store.current(slot)[1], 4u) << "it is reported, not taken over";
  authority.store.set_unannounced_writes(nullptr);
  ++authority.tick;
  authority.record();
  EXPECT_EQ(heard.slots.size(), 1u);
}
#endif

TEST(StateStore, records_no_writes_to_an_object_that_another_peer_writes) {
  Types types;
  Authority authority(types);
  HeardWrites heard;
  authority.store.set_unannounced_writes(&heard);
  ObjectType always = types.lamp();
  always.compare_always = true;
  const uint32_t marked = authority.spawn(types.lamp());
  const uint32_t compared = authority.spawn(always);
  for (const uint32_t slot : {marked, compared}) {
    authority.table.set_authority(slot, 2, LATTICE_AUTHORITY_SHARED, authority.tick);
    authority.state<Lamp>(slot).level = 3;
  }
  authority.record();
  EXPECT_EQ(authority.store.version(marked), 1u) << "its first state is that of its spawning";
  for (const uint32_t slot : {marked, compared}) authority.state<Lamp>(slot).level = 9;
  EXPECT_EQ(authority.store.record(authority.table, ++authority.tick), 0u);
  static_cast<Lamp*>(authority.table.host(marked)[0])->level = 11;
  EXPECT_EQ(authority.store.record(authority.table, ++authority.tick), 0u);
  EXPECT_EQ(heard.slots, std::vector<uint32_t>{}) << "a write without effect is none to announce";

  const std::vector<Word> before = authority.words(marked);
  authority.store.announce(marked);
  EXPECT_EQ(authority.store.record(authority.table, ++authority.tick), 1u);
  EXPECT_EQ(authority.words(marked), before);

  authority.table.set_authority(marked, 2, LATTICE_AUTHORITY_SERVER, authority.tick);
  authority.store.announce(marked);
  authority.store.record(authority.table, ++authority.tick);
  EXPECT_NE(authority.words(marked), before) << "from its tenure on, what this side wrote counts";
}

}  // namespace
}  // namespace lattice::replication::test
