// Two types of objects of one structure: the second tells it as a variant.
#include <string_view>

#include "lattice/lattice.hpp"
#include "message_pair.h"

namespace lattice::test::variant_test {
namespace {

// clang-format off
LATTICE_NETWORKED(Ship,
  (place, vec2, BOUNDS(-512, 512, 0.01), POSITION), (drift, vec2, BOUNDS(-8, 8, 0.01), VELOCITY),
  (hull, uint16), (name, string, STRING(12)), (crew, uint8, ARRAY(4)))
LATTICE_VARIANT(FarShip, Ship,
  (place, BOUNDS(-512, 512, 1), POSITION), (name, OMIT), (drift, OMIT), (hull, BITS(4), OWNER_ONLY))
LATTICE_VARIANT(SameShip, Ship, (hull))
// clang-format on
constexpr Type<Ship> kShip{.id = 1, .name = "Ship"};
constexpr Type<FarShip> kFarShip{.id = 2, .name = "FarShip", .flags = LATTICE_TYPE_EXACT_SIMULATION};
constexpr uint64_t kTickNs = 1'000'000'000 / 60;

static_assert(prop_id<FarShip>(2, Ship::Member::hull) == (2 << 8 | 1));
static_assert(prop_id<FarShip>(0, Ship::Member::crew) == 2);
static_assert(prop_id<SameShip>(0, Ship::Member::crew) == prop_id(0, Ship::Member::crew));

TEST(Variant, HasTheMembersThatItNames) {
  const lattice_struct_desc& far = struct_desc<FarShip>();
  ASSERT_EQ(far.member_count, 3u);
  EXPECT_EQ(far.host_bytes, sizeof(Ship));
  EXPECT_STREQ(far.members[0].name, "place");
  EXPECT_EQ(far.members[0].quant[1].precision, 1);
  EXPECT_STREQ(far.members[1].name, "hull");
  EXPECT_EQ(far.members[1].flags, uint32_t{LATTICE_MEMBER_OWNER_ONLY});
  EXPECT_STREQ(far.members[2].name, "crew");
  EXPECT_EQ(far.members[2].offset, offsetof(Ship, crew));
  EXPECT_EQ(struct_desc<SameShip>().member_count, struct_desc<Ship>().member_count);
  EXPECT_NE(codec_desc<FarShip>(), nullptr);
}

TEST(Variant, IsToldInItsWayAndReadAsTheStructure) {
  MessagePair pair;
  const WorldRef server(pair.server.world), client(pair.client.world);
  for (const WorldRef& world : {server, client}) {
    ASSERT_EQ(world.add(kShip), LATTICE_OK) << lattice_last_error();
    ASSERT_EQ(world.add(kFarShip), LATTICE_OK) << lattice_last_error();
  }
  ASSERT_TRUE(pair.connect());
  const lattice_netid near = server.spawn(kShip), far = server.spawn(kFarShip);
  for (const lattice_netid id : {near, far}) {
    Ship* ship = server.state<Ship>(id);
    ASSERT_NE(ship, nullptr);
    ship->place = {100.3f, -7.6f};
    ship->drift = {0, 0.5f};
    ship->hull = 11;
    ship->name = "Argo";
    ship->crew[2] = 5;
  }
  for (int i = 0; i < 240; ++i) {
    pair.now_ns += kTickNs / 4;
    lattice_netsim_advance(pair.net, kTickNs / 4);
    lattice_world_pump(server.get());
    lattice_world_pump(client.get());
  }
  const Ship* at_near = client.read<Ship>(near);
  const FarShip* at_far = client.read<FarShip>(far);
  ASSERT_NE(at_near, nullptr);
  ASSERT_NE(at_far, nullptr);
  EXPECT_NEAR(at_near->place.x, 100.3f, 0.01f);
  EXPECT_EQ(at_near->hull, 11);
  EXPECT_EQ(at_near->name.view(), "Argo");
  EXPECT_FLOAT_EQ(at_far->place.x, 100);
  EXPECT_FLOAT_EQ(at_far->place.y, -8);
  EXPECT_EQ(at_far->crew[2], 5);
  EXPECT_EQ(at_far->name.view(), "") << "omitted";
  EXPECT_EQ(at_far->drift.y, 0) << "omitted";
  EXPECT_EQ(at_far->hull, 0) << "for the owner only";
  EXPECT_EQ(server.read<Ship>(far)->name.view(), "Argo") << "the game's own here";
}

TEST(Variant, IsCoarseOnTheWireAndExactAtTheAuthority) {
  MessagePair pair;
  const WorldRef server(pair.server.world), client(pair.client.world);
  for (const WorldRef& world : {server, client}) {
    ASSERT_EQ(world.add(kFarShip), LATTICE_OK) << lattice_last_error();
  }
  ASSERT_TRUE(pair.connect());
  const lattice_netid far = server.spawn(kFarShip);
  for (int i = 0; i < 240; ++i) {
    if (i < 180) server.state<Ship>(far)->place.x += 0.125f;
    pair.now_ns += kTickNs;
    lattice_netsim_advance(pair.net, kTickNs);
    lattice_world_pump(server.get());
    lattice_world_pump(client.get());
  }
  EXPECT_FLOAT_EQ(server.read<Ship>(far)->place.x, 22.5f) << "steps below the precision of the wire add up";
  EXPECT_NEAR(client.read<Ship>(far)->place.x, 22.5f, 0.51f);
}

}  // namespace
}  // namespace lattice::test::variant_test
