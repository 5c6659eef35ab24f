// Interpolation and dead reckoning: each type's rule (§21.7), the short arc, teleports, pairing, bounds.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>

#include "unit/serialization/everything.h"

namespace lattice::serialization {
namespace {

using test::layout_of;
using test::Mover;

// clang-format off
struct Odd { LATTICE_NETSTRUCT(Odd, (p, float, POSITION), (v, float, BOUNDS(-1, 1, 0.4f), VELOCITY)) };
// clang-format on

class Motion : public ::testing::Test {
 protected:
  std::vector<serialization::Word> words(const Mover& m) const {
    std::vector<serialization::Word> out(layout_.word_count());
    const void* host[] = {&m};
    layout_.quantize(host, out.data());
    return out;
  }
  Mover between(const Mover& a, const Mover& b, double t) const {
    Mover out;
    void* host[] = {&out};
    layout_.interpolate(words(a).data(), words(b).data(), t, host);
    return out;
  }
  Mover later(const Mover& a, double seconds) const {
    Mover out;
    void* host[] = {&out};
    layout_.extrapolate(words(a).data(), {.seconds = seconds}, host);
    return out;
  }
  static Quaternion about_z(double radians) {
    return {0, 0, static_cast<float>(std::sin(radians / 2)), static_cast<float>(std::cos(radians / 2))};
  }
  static double angle_z(Quaternion q) { return 2.0 * std::atan2(double{q.z}, double{q.w}); }

  Layout layout_ = layout_of(struct_desc<Mover>());
};

TEST_F(Motion, NumbersBlendAndTheRestHolds) {
  Mover a, b;
  a.position = {0, 10, -20}, b.position = {10, 20, 20};
  a.health = 100, b.health = 200;
  a.ammo = 10, b.ammo = 20;
  b.alive = true;
  a.score = -5, b.score = 5;
  const Mover m = between(a, b, 0.25);
  EXPECT_NEAR(m.position.x, 2.5f, 1e-4f);
  EXPECT_NEAR(m.position.y, 12.5f, 1e-4f);
  EXPECT_NEAR(m.position.z, -10.0f, 1e-4f);
  EXPECT_EQ(m.health, 125);
  EXPECT_EQ(m.ammo, 10);
  EXPECT_FALSE(m.alive);
  EXPECT_EQ(m.score, -3);
  EXPECT_TRUE(between(a, b, 1.0).alive);
  EXPECT_EQ(between(a, b, 1.0).ammo, 20);
  EXPECT_EQ(between(a, b, std::nan("")).health, 100);
}

TEST_F(Motion, EndsAreExact) {
  EXPECT_TRUE(rc::check("t = 0 gives a, t = 1 gives b", [&](uint64_t seed) {
    base::Random random(seed);
    Mover a, b;
    test::fill_garbage(random, &a);
    test::fill_garbage(random, &b);
    const Mover first = between(a, b, -1.0), last = between(a, b, 2.0);
    RC_ASSERT(words(first) == words(a));
    RC_ASSERT(words(last) == words(b));
    between(a, b, random.next_unit());  // and nothing in between is undefined
    later(a, random.next_unit());
  }));
}

TEST_F(Motion, WideIntegersBlendTheirDifference) {
  Mover a, b;
  a.score = INT64_MIN, b.score = INT64_MIN + 100;
  EXPECT_EQ(between(a, b, 0.5).score, INT64_MIN + 50);
  a.score = INT64_MAX, b.score = INT64_MIN;
  const int64_t half = between(a, b, 0.5).score;
  EXPECT_LT(half, 4096);
  EXPECT_GT(half, -4096);
}

TEST_F(Motion, RotationsTakeTheShortArc) {
  Mover a, b;
  a.rotation = about_z(-3.0), b.rotation = about_z(3.0);  // 0.283 rad apart across the half turn
  const double middle = angle_z(between(a, b, 0.5).rotation);
  EXPECT_NEAR(std::fabs(middle), 3.14159, 2e-3);
  a.rotation = about_z(0), b.rotation = about_z(1.0);
  EXPECT_NEAR(angle_z(between(a, b, 0.3).rotation), 0.3, 2e-3);
  b.rotation = {0, 0, -b.rotation.z, -b.rotation.w};
  EXPECT_NEAR(angle_z(between(a, b, 0.3).rotation), 0.3, 2e-3);
}

TEST_F(Motion, ATeleportSnapsEverything) {
  Mover a, b;
  b.position = {50, 0, 0};
  b.health = 10;
  b.jumps = 1;
  EXPECT_TRUE(layout_.teleported(words(a).data(), words(b).data()));
  EXPECT_EQ(words(between(a, b, 0.99)), words(a));
  EXPECT_EQ(words(between(a, b, 1.0)), words(b));
  b.jumps = 0;
  EXPECT_FALSE(layout_.teleported(words(a).data(), words(b).data()));
}

TEST_F(Motion, PositionsFollowTheirVelocities) {
  Mover a;
  a.position = {1, 2, 3};
  a.velocity = {10, 0, -10};
  a.height = 5, a.climb = 4, a.gravity = -10;
  a.health = 7;
  const Mover m = later(a, 0.2);
  EXPECT_NEAR(m.position.x, 3.0f, 1e-3f);
  EXPECT_NEAR(m.position.y, 2.0f, 1e-3f);
  EXPECT_NEAR(m.position.z, 1.0f, 1e-3f);
  EXPECT_NEAR(m.height, 5 + 0.8 - 0.2, 1e-4);
  EXPECT_EQ(m.health, 7);
  EXPECT_EQ(words(later(a, 0.0)), words(a));
  EXPECT_EQ(words(later(a, std::nan(""))), words(a));
}

TEST_F(Motion, ReckoningStaysInsideTheBounds) {
  Mover a;
  a.position = {99, 0, 0};
  a.velocity = {50, 0, 0};
  EXPECT_EQ(later(a, 1.0).position.x, 100.0f);
}

TEST_F(Motion, RotationsIntegrateTheirSpin) {
  Mover a;
  a.rotation = about_z(0.5);
  a.spin = {0, 0, 2};
  EXPECT_NEAR(angle_z(later(a, 0.25).rotation), 1.0, 2e-3);
  // About x first, then the spin about z in the frame the rotation maps to.
  const float h = static_cast<float>(std::sqrt(0.5));
  a.rotation = {h, 0, 0, h};
  a.spin = {0, 0, static_cast<float>(3.14159265 / 2)};
  const Quaternion q = later(a, 1.0).rotation;
  EXPECT_NEAR(q.x, 0.5f, 2e-3f);
  EXPECT_NEAR(q.y, 0.5f, 2e-3f);
  EXPECT_NEAR(q.z, 0.5f, 2e-3f);
  EXPECT_NEAR(q.w, 0.5f, 2e-3f);
}

TEST_F(Motion, RestIsRest) {
  Mover a;
  EXPECT_FALSE(layout_.moving(words(a).data(), nullptr));
  a.spin.x = 1;
  EXPECT_TRUE(layout_.moving(words(a).data(), nullptr));
  // An odd number of steps has no exact zero; the code nearest to it still counts as rest.
  const Layout layout = layout_of(struct_desc<Odd>());
  ASSERT_EQ(layout.leaves()[1].max_code % 2, 1u);
  std::vector<serialization::Word> zero(layout.word_count());
  layout.zero_baseline(zero.data());
  EXPECT_FALSE(layout.moving(zero.data(), nullptr));
  Odd out;
  void* host[] = {&out};
  layout.extrapolate(zero.data(), {.seconds = 1.0}, host);
  EXPECT_EQ(out.p, 0.0f);
}

TEST_F(Motion, PairsByOrderAndComponents) {
  const auto motion = layout_.motion();
  ASSERT_EQ(motion.size(), 7u);
  EXPECT_EQ(motion[0].velocity, 1);  // position (3) by velocity (3)
  EXPECT_EQ(motion[2].velocity, 3);  // rotation by spin
  EXPECT_EQ(motion[4].velocity, 5);  // height (1) by climb (1)
  EXPECT_EQ(motion[4].acceleration, 6);
  EXPECT_EQ(motion[0].acceleration, -1);
  EXPECT_EQ(motion[0].host_offset, offsetof(Mover, position));
}

}  // namespace
}  // namespace lattice::serialization
