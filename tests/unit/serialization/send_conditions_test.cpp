// Which send conditions a type may have, and what Layout::seen() hides.
#include <gtest/gtest.h>

#include "unit/serialization/containers.h"

namespace lattice::serialization {
namespace {

// clang-format off
LATTICE_NETWORKED(Handful,
  (place, vec2, BOUNDS(-1, 1, 0.01f)), (cards, uint8, LIST(5), OWNER_ONLY), (lit, bool, SKIP_OWNER),
  (name, string, STRING(8), INITIAL_ONLY), (aim, float, PREDICTED_ONLY), (secret, uint64, OWNER_ONLY, INITIAL_ONLY))
LATTICE_NETWORKED(OpenCoins, (coins, uint16), (lit, bool))
LATTICE_NETWORKED(HiddenCoins, (coins, uint16, OWNER_ONLY), (lit, bool, INITIAL_ONLY))
struct Purse {
  LATTICE_NETSTRUCT(Purse, (coins, uint16, OWNER_ONLY))
};
LATTICE_NETWORKED(PurseOwner, (purse, Purse))
LATTICE_NETWORKED(TwoConditions, (coins, uint16, OWNER_ONLY, SKIP_OWNER))
LATTICE_NETWORKED(NotPredictedAtAll, (coins, uint16, SKIP_OWNER, NOT_PREDICTED))
LATTICE_NETWORKED(TwoThatAgree, (coins, uint16, OWNER_ONLY, NOT_PREDICTED))
// clang-format on

template <typename T>
std::string compile(Layout* layout, uint32_t flags = LATTICE_TYPE_PREDICTED) {
  const lattice_behaviour_desc behaviours[] = {behaviour_desc<T>()};
  lattice_type_desc type = type_desc("Thing", behaviours);
  type.flags = flags;
  std::string error;
  return Layout::compile_object(type, layout, &error) ? "" : error.substr(error.rfind("member '"));
}

TEST(SendConditions, ThoseThatMakeNoSenseAreRefused) {
  Layout layout;
  EXPECT_EQ(compile<Handful>(&layout), "");
  EXPECT_EQ(compile<TwoThatAgree>(&layout), "");
  EXPECT_EQ(compile<Handful>(&layout, 0),
            "member 'aim': flag PREDICTED_ONLY needs a type with LATTICE_TYPE_PREDICTED: no client predicts "
            "others");
  EXPECT_NE(compile<PurseOwner>(&layout).find("member 'coins': a send condition"), std::string::npos);
  EXPECT_NE(compile<TwoConditions>(&layout).find("flags name two of OWNER_ONLY"), std::string::npos);
  EXPECT_NE(compile<NotPredictedAtAll>(&layout).find("the owner never gets the member"), std::string::npos);
  std::string error;
  EXPECT_FALSE(Layout::compile_structure(struct_desc<TwoThatAgree>(), false, &layout, &error));
  EXPECT_NE(error.find("member 'coins': a send condition"), std::string::npos) << "inputs and RPCs have none";
}

TEST(SendConditions, AreNoPartOfTheSchema) {
  Layout hidden, open;
  ASSERT_EQ(compile<HiddenCoins>(&hidden), "");
  ASSERT_EQ(compile<OpenCoins>(&open), "");
  EXPECT_TRUE(hidden.has_conditions());
  EXPECT_FALSE(open.has_conditions());
  const auto members = [](const Layout& layout) {  // without the name of the behaviour
    return layout.canonical_members().substr(layout.canonical_members().find(' ', 11));
  };
  EXPECT_EQ(members(hidden), members(open));
}

TEST(SendConditions, HideExactlyWhatIsNotForTheClient) {
  Layout layout;
  ASSERT_EQ(compile<Handful>(&layout), "");
  ASSERT_TRUE(layout.has_conditions());
  Handful before{}, now{};
  before.cards.push_back(3), before.name = "Ada", before.secret = 5;
  now.place = {0.5f, 0}, now.cards.push_back(7), now.cards.push_back(8), now.lit = true;
  now.name = "Bob", now.aim = 2, now.secret = 9;
  const auto words_of = [&](const Handful& state) {
    std::vector<Word> words(layout.word_count());
    const void* hosts[1] = {&state};
    layout.quantize(hosts, words.data());
    return words;
  };
  const auto seen = [&](Layout::Sight sight) {
    std::vector<Word> scratch;
    const std::vector<Word> words = words_of(now), base = words_of(before);
    Handful out{};
    void* hosts[1] = {&out};
    layout.dequantize(layout.seen(sight, base.data(), words.data(), &scratch), hosts);
    return out;
  };
  const Handful owner = seen({true, true});
  EXPECT_EQ(owner.cards.count, 2);
  EXPECT_FALSE(owner.lit);
  EXPECT_EQ(owner.name, "Ada");
  EXPECT_EQ(owner.aim, 2);
  EXPECT_EQ(owner.secret, 5u);
  const Handful other = seen({false, true});
  EXPECT_EQ(other.cards.count, 1);
  EXPECT_TRUE(other.lit);
  EXPECT_EQ(other.name, "Ada");
  EXPECT_EQ(other.aim, 0);
  EXPECT_EQ(other.secret, 5u);
  const Handful new_owner = seen({true, false});
  EXPECT_EQ(new_owner.name, "Bob");
  EXPECT_EQ(new_owner.secret, 9u);
  const Handful new_other = seen({false, false});
  EXPECT_EQ(new_other.name, "Bob");
  EXPECT_EQ(new_other.secret, 5u);
  EXPECT_NEAR(new_other.place.x, 0.5, 0.01);
}

}  // namespace
}  // namespace lattice::serialization
