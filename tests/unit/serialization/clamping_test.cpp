// Layout: which values do not fit their member, and that quantize() tells.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "unit/serialization/everything.h"
#include "unit/serialization/lists.h"

namespace lattice::serialization {
namespace {

using test::Everything;
using test::Lists;
using test::Mood;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// The names of the members whose value does not fit, in order. quantize() must agree.
template <typename T>
std::vector<std::string> clamped(const T& value) {
  const Layout layout = test::layout_of(struct_desc<T>());
  std::vector<Word> words(layout.word_count()), of_members(layout.word_count());
  const void* host[] = {&value};
  const bool fits = layout.quantize(host, words.data());
  std::vector<std::string> names;
  for (uint16_t i = 0; i < layout.behaviours()[0].node_count; ++i) {
    const LayoutNode& member = *layout.member(i);
    if (!layout.quantize_member(member, host, of_members.data())) names.push_back(member.name);
  }
  EXPECT_EQ(fits, names.empty());
  EXPECT_EQ(words, of_members) << "the members together are the state";
  return names;
}

using Names = std::vector<std::string>;

/// What one change of a value that fits makes of it.
Names after(const std::function<void(Everything&)>& change) {
  base::Random random(1);
  Everything value = test::plausible(random);
  value.small = 10.0f, value.v3 = {-4096.0f, 4096.0f, 0.0f};
  value.text = "text", value.mood = Mood::kSad, value.single = test::Single::kOnly;
  value.ranged = 1'000'000'000'000, value.bits = 1023;
  change(value);
  return clamped(value);
}

TEST(Clamping, ValuesUpToTheBoundsFit) {
  EXPECT_EQ(after([](Everything&) {}), Names{});
  EXPECT_EQ(after([](Everything& e) { e.ranged = -3, e.small = -10.0f, e.fine = -1e6; }), Names{});
}

TEST(Clamping, NumbersOutOfRange) {
  EXPECT_EQ(after([](Everything& e) { e.small = std::nextafterf(10.0f, 11.0f); }), Names{"small"});
  EXPECT_EQ(after([](Everything& e) { e.fine = -1'000'000.001; }), Names{"fine"});
  EXPECT_EQ(after([](Everything& e) { e.v3.z = 5000.0f; }), Names{"v3"});
  EXPECT_EQ(after([](Everything& e) { e.ranged = -4; }), Names{"ranged"});
  EXPECT_EQ(after([](Everything& e) { e.ranged = INT64_MAX; }), Names{"ranged"});
  EXPECT_EQ(after([](Everything& e) { e.bits = 1024; }), Names{"bits"});
  EXPECT_EQ(after([](Everything& e) { e.slots.inner.level = 251; }), Names{"slots"});
  EXPECT_EQ(after([](Everything& e) { e.bits = 1024, e.small = -11.0f; }), (Names{"bits", "small"}));
}

TEST(Clamping, NotANumberAndInfinity) {
  EXPECT_EQ(after([](Everything& e) { e.small = kNan; }), Names{"small"});
  EXPECT_EQ(after([](Everything& e) { e.small = -kInfinity; }), Names{"small"});
  EXPECT_EQ(after([](Everything& e) { e.v2.y = kNan; }), Names{"v2"});
  EXPECT_EQ(after([](Everything& e) { e.quat10.x = kNan; }), Names{"quat10"});
  EXPECT_EQ(after([](Everything& e) { e.quat_full.w = kInfinity; }), Names{"quat_full"});
  EXPECT_EQ(after([](Everything& e) { e.full = kNan, e.wide = double{kInfinity}; }), Names{})
      << "every bit of these travels";
}

TEST(Clamping, ARotationOfNoLengthFits) {
  EXPECT_EQ(after([](Everything& e) { e.quat10 = e.quat_full = {0, 0, 0, 0}; }), Names{});
}

TEST(Clamping, UnknownValuesTextAndSizes) {
  EXPECT_EQ(after([](Everything& e) { e.mood = static_cast<Mood>(1); }), Names{"mood"});
  EXPECT_EQ(after([](Everything& e) { e.data.size = 12; }), Names{"data"});
  EXPECT_EQ(after([](Everything& e) {
              void* text = &e.text;
              std::memcpy(text, "good \xFF", 7);
            }),
            Names{"text"});
  EXPECT_EQ(after([](Everything& e) { std::memset(e.text.data, 'x', sizeof e.text.data - 1); }), Names{});
  EXPECT_EQ(after([](Everything& e) { std::memset(e.text.data, 'x', sizeof e.text.data); }), Names{"text"})
      << "without an end";
}

TEST(Clamping, AnglesWrapAndElementsCount) {
  Lists lists;
  const Names of_zero = clamped(lists);
  lists.yaws[1] = 100.0f, lists.heading = -1e9;
  EXPECT_EQ(clamped(lists), of_zero);
  lists.yaws[1] = kInfinity, lists.numbers[3] = 1024;
  Names more = {"numbers", "yaws"};
  for (const std::string& name : clamped(lists)) std::erase(more, name);
  EXPECT_EQ(more, Names{});
}

}  // namespace
}  // namespace lattice::serialization
