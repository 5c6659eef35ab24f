// Priorities of members: which one a change has, and where a priority may be.
#include <gtest/gtest.h>

#include <limits>

#include "unit/serialization/containers.h"

namespace lattice::serialization::member_priority_test {
namespace {

// clang-format off
LATTICE_NETWORKED(Ship,
  (place, vec2, BOUNDS(-1, 1, 0.01f)), (hull, uint8, PRIORITY(8)), (flag, uint8, PRIORITY(0.25)),
  (orders, uint8, LIST(4), OWNER_ONLY, PRIORITY(20)), (name, string, STRING(8), INITIAL_ONLY, PRIORITY(30)))
LATTICE_NETWORKED(PlainShip, (place, vec2, BOUNDS(-1, 1, 0.01f)), (hull, uint8), (flag, uint8, PRIORITY(1)))
struct Mast { LATTICE_NETSTRUCT(Mast, (sails, uint8, PRIORITY(2))) };
LATTICE_NETWORKED(Masted, (mast, Mast))
// clang-format on

template <typename... States>
std::string compile(Layout* layout) {
  const lattice_behaviour_desc behaviours[] = {behaviour_desc<States>()...};
  std::string error;
  const bool ok = Layout::compile_object(type_desc("Thing", behaviours), layout, &error);
  return ok ? "" : error.substr(error.rfind("member '"));
}

TEST(MemberPriority, OfAChangeIsTheLargest) {
  Layout layout;
  ASSERT_EQ((compile<PlainShip, Ship>(&layout)), "");
  ASSERT_TRUE(layout.has_priorities());
  PlainShip still{};
  Ship before{}, now{};
  const auto words = [&](const Ship& ship) {
    std::vector<Word> out(layout.word_count());
    const void* hosts[2] = {&still, &ship};
    layout.quantize(hosts, out.data());
    return out;
  };
  const auto priority = [&](Layout::Sight sight = {.is_owner = false, .has_baseline = true}) {
    return layout.change_priority(sight, words(before).data(), words(now).data());
  };
  now.flag = 3;
  EXPECT_EQ(priority(), 0.25f);
  now.place.x = 0.5f;
  EXPECT_EQ(priority(), 1.0f) << "a member without a priority has 1";
  now.hull = 7;
  EXPECT_EQ(priority(), 8.0f);
  now.orders.push_back(3);
  EXPECT_EQ(priority(), 8.0f) << "the client does not get the orders";
  EXPECT_EQ(priority({.is_owner = true, .has_baseline = true}), 20.0f);
  now.name = "Argo";
  EXPECT_EQ(priority({.is_owner = true, .has_baseline = true}), 20.0f) << "its changes do not travel";
  EXPECT_EQ(priority({.is_owner = false, .has_baseline = false}), 30.0f) << "but the first state has it";
  EXPECT_EQ(layout.change_priority({}, nullptr, words(now).data()), 30.0f);
  EXPECT_EQ(layout.change_priority({.is_owner = true, .has_baseline = true}, nullptr, words(now).data()), 1.0f)
      << "what the client was sent is forgotten: nobody knows what changed";
  now = before;
  EXPECT_EQ(priority(), 0.25f) << "nothing that the client sees";
}

TEST(MemberPriority, OfOneIsNone) {
  Layout layout;
  ASSERT_EQ((compile<PlainShip>(&layout)), "");
  EXPECT_FALSE(layout.has_priorities());
}

TEST(MemberPriority, BelongsToMembersOfBehaviours) {
  Layout layout;
  EXPECT_EQ(compile<Masted>(&layout), "member 'sails': a priority belongs to a member of a behaviour itself");
  std::string error;
  EXPECT_FALSE(Layout::compile_structure(struct_desc<Ship>(), false, &layout, &error));
  EXPECT_NE(error.find("a priority belongs to a member of a behaviour itself"), std::string::npos) << error;
  for (const float bad : {-1.0f, 1000.5f, std::numeric_limits<float>::quiet_NaN()}) {
    lattice_member_desc member = struct_desc<PlainShip>().members[1];
    member.priority = bad;
    lattice_struct_desc structure = struct_desc<PlainShip>();
    structure.members = &member;
    structure.member_count = 1;
    lattice_behaviour_desc behaviour;
    lattice_behaviour_desc_init(&behaviour);
    behaviour.structure = &structure;
    const lattice_behaviour_desc behaviours[] = {behaviour};
    EXPECT_FALSE(Layout::compile_object(type_desc("Thing", behaviours), &layout, &error));
    EXPECT_NE(error.find("must be above 0 and at most 1000"), std::string::npos) << error;
  }
}

}  // namespace
}  // namespace lattice::serialization::member_priority_test
