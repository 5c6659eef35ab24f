// An object many datagrams long, among objects that move, under a cap and through losses: it arrives whole
// and stays current, and the others do not wait for it.
#include <algorithm>
#include <string>

#include "message_pair.h"
#include "plain_type.h"

namespace lattice::test::long_state_test {
namespace {

constexpr uint32_t kMapType = 11;
constexpr uint32_t kBallType = 12;
constexpr size_t kMapBytes = 20'000;
constexpr size_t kBalls = 50;
constexpr uint64_t kPumpNs = 1'000'000'000 / 60;

struct Map {
  uint32_t version;
  char cells[kMapBytes + 1];
};
struct Ball {
  uint32_t tick;
  uint64_t load[4];
};

void register_types(lattice_world* world) {
  lattice_member_desc map[2];
  lattice_member_desc ball[2];
  for (lattice_member_desc* members : {map, ball}) {
    for (size_t i = 0; i < 2; ++i) lattice_member_desc_init(&members[i]);
    members[0].name = "number";
    members[0].type = LATTICE_WIRE_UINT32;
  }
  map[1].name = "cells";
  map[1].type = LATTICE_WIRE_STRING;
  map[1].offset = offsetof(Map, cells);
  map[1].capacity = kMapBytes;
  register_plain_type<Map>(world, {.type_id = kMapType, .name = "Map", .members = map});
  ball[1].name = "load";
  ball[1].type = LATTICE_WIRE_UINT64;
  ball[1].encoding = LATTICE_ENCODING_FIXED;
  ball[1].offset = offsetof(Ball, load);
  ball[1].array_count = 4;
  register_plain_type<Ball>(world, {.type_id = kBallType, .name = "Ball", .members = ball});
}

class LongState : public testing::Test {
 protected:
  /// A map, and balls that all change in each tick: some 55 kB/s of them, of a cap of 64.
  LongState() {
    register_types(pair.server.world);
    register_types(pair.client.world);
    pair.impair(40, 10);
    map = lattice_spawn(pair.server.world, kMapType, LATTICE_AUTHORITY_SERVER);
    draw(1);
    for (lattice_netid& ball : balls) {
      ball = lattice_spawn(pair.server.world, kBallType, LATTICE_AUTHORITY_SERVER);
    }
    connected = pair.start() && pair.run_until(5'000, [this] {
      return pair.server.connected > 0 && pair.client.connected > 0;
    });
    lattice_callbacks callbacks;
    lattice_callbacks_init(&callbacks);
    callbacks.on_tick = [](void* ctx, lattice_world* world, const lattice_tick_context* tick) {
      for (const lattice_netid id : static_cast<LongState*>(ctx)->balls) {
        auto* ball = static_cast<Ball*>(lattice_object_state(world, id, 0));
        ball->tick = tick->tick;
        uint64_t word = tick->tick * 0x9e3779b97f4a7c15u + id;
        for (uint64_t& load : ball->load) load = word = word * 6364136223846793005u + 1442695040888963407u;
      }
    };
    EXPECT_EQ(lattice_set_callbacks(pair.server.world, &callbacks, this), LATTICE_OK);
  }
  static MessagePairOptions options() {
    MessagePairOptions options;
    options.adjust = [](lattice_world_config* config) { config->max_send_bytes_per_s = 64'000; };
    return options;
  }

  /// Runs the game until the condition holds.
  template <class Condition>
  bool play_until(uint64_t at_most_ms, Condition condition) {
    for (uint64_t ns = 0; ns < at_most_ms * 1'000'000; ns += kPumpNs) {
      if (condition()) return true;
      pair.now_ns += kPumpNs;
      lattice_netsim_advance(pair.net, kPumpNs);
      lattice_world_pump(pair.server.world);
      lattice_world_pump(pair.client.world);
    }
    return condition();
  }
  void play(uint64_t ms) {
    play_until(ms, [] { return false; });
  }

  void draw(uint32_t seed) {
    auto* state = static_cast<Map*>(lattice_object_state(pair.server.world, map, 0));
    const Bytes noise = pattern(kMapBytes, seed);
    for (size_t i = 0; i < kMapBytes; ++i) state->cells[i] = static_cast<char>('a' + noise[i] % 26);
    ++state->version;
  }
  /// True when the client has the map as it is now.
  bool arrived() {
    Map held{};
    if (lattice_object_confirmed(pair.client.world, map, 0, &held, sizeof held, nullptr) == 0) return false;
    const auto* now = static_cast<const Map*>(lattice_object_read(pair.server.world, map, 0));
    return held.version == now->version && std::equal(held.cells, held.cells + kMapBytes, now->cells);
  }
  /// How many ticks behind the server the client's oldest ball is.
  uint32_t oldest_ticks() {
    const uint32_t now = static_cast<const Ball*>(lattice_object_read(pair.server.world, balls[0], 0))->tick;
    uint32_t oldest = 0;
    for (const lattice_netid id : balls) {
      Ball ball{};
      lattice_object_confirmed(pair.client.world, id, 0, &ball, sizeof ball, nullptr);
      oldest = std::max(oldest, now - ball.tick);
    }
    return oldest;
  }
  lattice_why_info why() {
    lattice_why_info out;
    lattice_why_info_init(&out);
    EXPECT_EQ(lattice_conn_why(pair.server.conn, map, &out), LATTICE_OK) << lattice_last_error();
    return out;
  }

  MessagePair pair{options()};
  lattice_netid map = 0;
  lattice_netid balls[kBalls];
  bool connected = false;
};

TEST_F(LongState, ArrivesUnderACapAndLossesAndOthersDoNotWait) {
  ASSERT_TRUE(connected);
  ASSERT_TRUE(play_until(5'000, [this] { return arrived(); }));
  play_until(1'000, [] { return false; });
  uint32_t quiet_ticks = 0;
  play_until(3'000, [&] { return quiet_ticks = std::max(quiet_ticks, oldest_ticks()), false; });
  draw(2);
  uint32_t busy_ticks = 0;
  const bool came =
      play_until(5'000, [&] { return busy_ticks = std::max(busy_ticks, oldest_ticks()), arrived(); });
  EXPECT_TRUE(came);
  RecordProperty("quiet_ticks", static_cast<int>(quiet_ticks));
  RecordProperty("busy_ticks", static_cast<int>(busy_ticks));
  std::printf("oldest ball: %u ticks without, %u with the map\n", quiet_ticks, busy_ticks);
  EXPECT_LE(busy_ticks, quiet_ticks + 12);
  EXPECT_EQ(pair.client.reason, -1);
}

TEST_F(LongState, WhyTellsHowManyPiecesTheClientHas) {
  ASSERT_TRUE(connected);
  uint32_t most = 0;
  lattice_why_info seen{};
  ASSERT_TRUE(play_until(5'000, [&] {
    const lattice_why_info now = why();
    if (now.reason == LATTICE_WHY_IN_PIECES && now.acked_piece_count > most) {
      EXPECT_EQ(now.piece_count, (now.next_entry_bits / 8 + 63) / 64);
      EXPECT_EQ(now.needs_full, 1u);
      most = now.acked_piece_count;
      seen = now;
    }
    return arrived();
  }));
  EXPECT_GT(most, 100u);
  char text[LATTICE_WHY_TEXT_BYTES];
  ASSERT_EQ(lattice_why_text(&seen, text, sizeof text), LATTICE_OK);
  EXPECT_NE(std::string(text).find(std::to_string(most) + " of " + std::to_string(seen.piece_count) +
                                   " were acknowledged"),
            std::string::npos)
      << text;
  play_until(1'000, [] { return false; });
  EXPECT_EQ(why().reason, uint32_t{LATTICE_WHY_UP_TO_DATE});
}

TEST_F(LongState, ADespawnMidwayLeavesNothing) {
  ASSERT_TRUE(connected);
  ASSERT_TRUE(play_until(5'000, [this] { return why().acked_piece_count > 20; }));
  const lattice_netid first = map;
  ASSERT_EQ(lattice_despawn(pair.server.world, first), LATTICE_OK);
  map = lattice_spawn(pair.server.world, kMapType, LATTICE_AUTHORITY_SERVER);
  draw(5);
  EXPECT_TRUE(play_until(8'000, [this] { return arrived(); }));
  Map held{};
  EXPECT_EQ(lattice_object_confirmed(pair.client.world, first, 0, &held, sizeof held, nullptr), 0);
  EXPECT_EQ(pair.client.reason, -1);
}

TEST_F(LongState, TypesThatCannotBeSentAreRefused) {
  lattice_member_desc member;
  lattice_member_desc_init(&member);
  member.name = "text";
  member.type = LATTICE_WIRE_STRING;
  lattice_struct_desc structure;
  lattice_struct_desc_init(&structure);
  structure.name = "Long";
  structure.host_bytes = 65'536;
  structure.host_align = 1;
  structure.members = &member;
  structure.member_count = 1;
  lattice_behaviour_desc behaviour;
  lattice_behaviour_desc_init(&behaviour);
  behaviour.structure = &structure;
  lattice_type_desc type;
  lattice_type_desc_init(&type);
  type.name = "Long";
  type.behaviours = &behaviour;
  type.behaviour_count = 1;
  MessagePair other;
  const auto add = [&](uint32_t capacity, uint32_t flags) {
    member.capacity = capacity;
    type.flags = flags;
    return lattice_register_type(other.server.world, &type);
  };
  EXPECT_NE(add(65'482, 0), LATTICE_OK);
  EXPECT_NE(std::string(lattice_last_error()).find("at most 65485 can be sent"), std::string::npos);
  EXPECT_NE(add(1'094, LATTICE_TYPE_PREDICTED), LATTICE_OK);
  EXPECT_NE(std::string(lattice_last_error()).find("is predicted; at most 1096 fit a datagram"),
            std::string::npos);
  EXPECT_EQ(add(65'481, 0), LATTICE_OK) << lattice_last_error();
}

}  // namespace
}  // namespace lattice::test::long_state_test
