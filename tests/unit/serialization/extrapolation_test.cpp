// Members that go on in the line through their last two states (LATTICE_MEMBER_EXTRAPOLATE), hand-written
// ones among them, and what hand-written members say of their distance.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "unit/serialization/everything.h"

namespace lattice::serialization::extrapolation_test {
namespace {

/// A colour of three bytes.
struct Colour {
  static constexpr const char* kSerializerName = "colour.v1";
  uint8_t r = 0, g = 0, b = 0;

  void Serialize(BitWriter& w) const {
    for (const uint8_t part : {r, g, b}) w.WriteBits(part, 8);
  }
  void Deserialize(BitReader& in) {
    for (uint8_t* part : {&r, &g, &b}) *part = static_cast<uint8_t>(in.ReadBits(8));
  }
  static double Distance(const Colour& p, const Colour& q) {
    const int most = std::max({std::abs(p.r - q.r), std::abs(p.g - q.g), std::abs(p.b - q.b)});
    return most <= 2 ? 0 : most;
  }
  static Colour Interpolate(const Colour& p, const Colour& q, double t) {
    const auto mix = [t](uint8_t from, uint8_t to) {
      return static_cast<uint8_t>(std::clamp(std::lround(from + (to - from) * t), 0L, 255L));
    };
    return {mix(p.r, q.r), mix(p.g, q.g), mix(p.b, q.b)};
  }
  friend bool operator==(const Colour&, const Colour&) = default;
};

// clang-format off
LATTICE_NETWORKED(Gauge,
  (level, float, BOUNDS(0, 100, 0.01f), EXTRAPOLATE), (held, float, BOUNDS(0, 100, 0.01f)),
  (needle, vec2, EXTRAPOLATE), (yaw, float, ANGLE, EXTRAPOLATE), (turn, quat, SMALLEST_THREE(16), EXTRAPOLATE),
  (ticks, uint8, EXTRAPOLATE), (few, uint16, BITS(10), EXTRAPOLATE), (some, int32, RANGED(-5, 90), EXTRAPOLATE),
  (money, fixed64, EXTRAPOLATE), (most, uint64, EXTRAPOLATE), (least, int64, EXTRAPOLATE), (small, float, HALF, EXTRAPOLATE),
  (colour, Colour, CUSTOM(3), EXTRAPOLATE), (jumps, uint8, TELEPORT))
LATTICE_NETWORKED(Rolling,
  (place, float, POSITION, EXTRAPOLATE), (speed, float, VELOCITY), (height, float, POSITION, EXTRAPOLATE))
LATTICE_NETWORKED(Painted, (colour, Colour, CUSTOM(3)), (fixed, Colour, CUSTOM(3), SNAP))
LATTICE_NETWORKED(SnapsToo, (level, float, SNAP, EXTRAPOLATE))
LATTICE_NETWORKED(Lit, (lit, bool, EXTRAPOLATE))
LATTICE_NETWORKED(Named, (name, string, STRING(8), EXTRAPOLATE))
LATTICE_NETWORKED(Counted, (list, float, LIST(3), EXTRAPOLATE))
LATTICE_NETWORKED(RunsOn, (runs, test::Runs, CUSTOM(8), EXTRAPOLATE))
struct Part { LATTICE_NETSTRUCT(Part, (x, float, EXTRAPOLATE)) };
LATTICE_NETWORKED(Whole, (part, Part), (parts, Part, ARRAY(2)))
LATTICE_NETWORKED(OnTheWhole, (part, Part, EXTRAPOLATE))
// clang-format on

template <typename T>
std::string refusal() {
  Layout layout;
  std::string error;
  return Layout::compile_structure(struct_desc<T>(), false, &layout, &error)
             ? ""
             : error.substr(error.rfind("': ") + 3);
}

template <typename T>
std::vector<Word> words_of(const Layout& layout, const T& state) {
  std::vector<Word> words(layout.word_count());
  const void* hosts[1] = {&state};
  layout.quantize(hosts, words.data());
  return words;
}

class Extrapolation : public ::testing::Test {
 protected:
  Gauge after(const Gauge& before, const Gauge& last, double steps) const {
    Gauge out;
    void* hosts[1] = {&out};
    const std::vector<Word> first = words_of(layout_, before), second = words_of(layout_, last);
    layout_.extrapolate(second.data(), {.seconds = 0.1, .before = first.data(), .steps = steps}, hosts);
    return out;
  }
  Layout layout_ = test::layout_of(struct_desc<Gauge>());
};

TEST_F(Extrapolation, GoesOnInTheLine) {
  Gauge a, b;
  a.level = 10, b.level = 20;
  a.held = 10, b.held = 20;
  a.needle = {0, 8}, b.needle = {2, 4};
  a.ticks = 10, b.ticks = 14, a.few = 100, b.few = 90, a.some = 0, b.some = 3;
  a.money = Fixed64::from_double(1.5), b.money = Fixed64::from_double(2.5);
  a.most = uint64_t{1} << 60, b.most = (uint64_t{1} << 60) + 4;
  a.least = -100, b.least = -300;
  a.small = 1, b.small = 1.5f;
  a.colour = {10, 20, 30}, b.colour = {20, 20, 28};
  const Gauge m = after(a, b, 1.5);
  EXPECT_NEAR(m.level, 35, 0.01);
  EXPECT_NEAR(m.held, 20, 0.01) << "without the flag it holds";
  EXPECT_NEAR(m.needle.x, 5, 1e-6);
  EXPECT_NEAR(m.needle.y, -2, 1e-6);
  EXPECT_EQ(m.ticks, 20);
  EXPECT_EQ(m.few, 75);
  EXPECT_EQ(m.some, 8) << "7.5 is rounded";
  EXPECT_DOUBLE_EQ(m.money.to_double(), 4.0);
  EXPECT_EQ(m.most, (uint64_t{1} << 60) + 10) << "exact where a double is not";
  EXPECT_EQ(m.least, -600);
  EXPECT_FLOAT_EQ(m.small, 2.25f);
  EXPECT_EQ(m.colour, (Colour{35, 20, 25}));
}

TEST_F(Extrapolation, EndsAtTheBounds) {
  Gauge a, b;
  a.level = 10, b.level = 60;
  a.ticks = 20, b.ticks = 10, a.few = 100, b.few = 1000, a.some = 0, b.some = -4;
  a.money.raw = INT64_MAX - 10, b.money.raw = INT64_MAX - 4;
  a.most = 100, b.most = 10;
  a.least = INT64_MAX, b.least = INT64_MIN + 5;
  a.small = 0, b.small = 60000;
  const Gauge m = after(a, b, 3);
  EXPECT_FLOAT_EQ(m.level, 100);
  EXPECT_EQ(m.ticks, 0);
  EXPECT_EQ(m.few, 1023);
  EXPECT_EQ(m.some, -5);
  EXPECT_EQ(m.money.raw, INT64_MAX);
  EXPECT_EQ(m.most, 0u);
  EXPECT_EQ(m.least, INT64_MIN);
  EXPECT_FLOAT_EQ(m.small, 65504);
}

TEST_F(Extrapolation, TurnsTheShortWay) {
  Gauge a, b;
  a.yaw = 3.0f, b.yaw = -3.0f;
  const double half = 0.2;
  a.turn = {0, 0, 0, 1},
  b.turn = {0, 0, static_cast<float>(std::sin(half)), static_cast<float>(std::cos(half))};
  const Gauge m = after(a, b, 1);
  EXPECT_NEAR(m.yaw, -3.0 + (2 * kPi - 6.0), 0.001);
  EXPECT_NEAR(2 * std::atan2(double{m.turn.z}, double{m.turn.w}), 4 * half, 0.001);
}

TEST_F(Extrapolation, NeedsTwoStatesOfOneFlight) {
  Gauge a, b;
  a.level = 10, b.level = 20;
  Gauge out;
  void* hosts[1] = {&out};
  const std::vector<Word> first = words_of(layout_, a), last = words_of(layout_, b);
  layout_.extrapolate(last.data(), {.seconds = 0.1}, hosts);
  EXPECT_NEAR(out.level, 20, 0.01);
  b.jumps = 1;
  EXPECT_NEAR(after(a, b, 1).level, 20, 0.01) << "it teleported between the two";
  EXPECT_TRUE(layout_.moving(last.data(), first.data()));
  EXPECT_FALSE(layout_.moving(last.data(), last.data()));
  EXPECT_FALSE(layout_.moving(last.data(), nullptr));
  b = a, b.held = 50;
  EXPECT_FALSE(layout_.moving(words_of(layout_, b).data(), first.data())) << "what changed holds";
}

TEST_F(Extrapolation, FollowsAVelocityWhereThereIsOne) {
  const Layout layout = test::layout_of(struct_desc<Rolling>());
  Rolling a, b, out;
  b.place = 10, b.speed = 2, b.height = 3;
  void* hosts[1] = {&out};
  const std::vector<Word> first = words_of(layout, a), last = words_of(layout, b);
  layout.extrapolate(last.data(), {.seconds = 0.5, .before = first.data(), .steps = 1}, hosts);
  EXPECT_FLOAT_EQ(out.place, 11);
  EXPECT_FLOAT_EQ(out.height, 6);
}

TEST_F(Extrapolation, WorksWithinStructures) {
  const Layout layout = test::layout_of(struct_desc<Whole>());
  Whole a, b, out;
  b.part.x = 1, b.parts[1].x = 2;
  void* hosts[1] = {&out};
  const std::vector<Word> first = words_of(layout, a), last = words_of(layout, b);
  layout.extrapolate(last.data(), {.seconds = 0.5, .before = first.data(), .steps = 1}, hosts);
  EXPECT_FLOAT_EQ(out.part.x, 2);
  EXPECT_FLOAT_EQ(out.parts[0].x, 0);
  EXPECT_FLOAT_EQ(out.parts[1].x, 4);
}

TEST(ExtrapolationFlag, IsRefusedWhereItMakesNoSense) {
  EXPECT_EQ(refusal<SnapsToo>(), "flags EXTRAPOLATE and SNAP exclude each other");
  EXPECT_EQ(refusal<Lit>(), "flag EXTRAPOLATE needs a member that is interpolated");
  EXPECT_EQ(refusal<Named>(), "flag EXTRAPOLATE needs a member that is interpolated");
  EXPECT_EQ(refusal<RunsOn>(), "flag EXTRAPOLATE needs a member that is interpolated");
  EXPECT_EQ(refusal<Counted>(), "flag EXTRAPOLATE cannot be inside a list, a map or a union");
  EXPECT_EQ(refusal<OnTheWhole>(), "flag EXTRAPOLATE belongs to the members of the structure");
}

TEST(CustomMember, IsInterpolatedByItsOwnRule) {
  const Layout layout = test::layout_of(struct_desc<Painted>());
  Painted a, b, out;
  a.colour = a.fixed = {0, 100, 200}, b.colour = b.fixed = {100, 100, 100};
  void* hosts[1] = {&out};
  const std::vector<Word> first = words_of(layout, a), last = words_of(layout, b);
  layout.interpolate(first.data(), last.data(), 0.25, hosts);
  EXPECT_EQ(out.colour, (Colour{25, 100, 175}));
  EXPECT_EQ(out.fixed, a.fixed) << "SNAP";
}

TEST(CustomMember, SaysWhatIsCloseAndHowFar) {
  const Layout layout = test::layout_of(struct_desc<Painted>());
  Painted a, b;
  const auto error = [&] {
    const std::vector<Word> p = words_of(layout, a), q = words_of(layout, b);
    EXPECT_EQ(layout.prediction_equal(p.data(), q.data()), layout.approx_equal(p.data(), q.data()));
    const double far = layout.prediction_error(layout.nodes()[0], p.data(), q.data());
    EXPECT_EQ(far == 0, layout.prediction_equal(p.data(), q.data()));
    return far;
  };
  EXPECT_EQ(error(), 0);
  b.colour = {2, 1, 0};
  EXPECT_EQ(error(), 0) << "its own tolerance";
  b.colour = {3, 1, 0};
  EXPECT_EQ(error(), 3);
}

}  // namespace
}  // namespace lattice::serialization::extrapolation_test
