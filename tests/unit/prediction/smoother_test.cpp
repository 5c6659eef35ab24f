#include "prediction/smoother.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <limits>

#include "base/random.h"
#include "support/durations.h"
#include "unit/prediction/test_layouts.h"

namespace lattice::prediction {
namespace {

using test::Pawn;
using test::pawn_at;
using test::Quat;

using lattice::test::kMs;

Quat about_z(double angle) {
  return Quat{0, 0, static_cast<float>(std::sin(angle / 2)), static_cast<float>(std::cos(angle / 2))};
}
double angle_z(const Quat& q) {
  return 2 * std::atan2(static_cast<double>(q.z), static_cast<double>(q.w));
}

class SmootherTest : public ::testing::Test {
 protected:
  void correct(Smoother& smoother, const Pawn& before, const Pawn& after, uint64_t now,
               bool teleported = false) {
    const void* was[1] = {&before};
    const void* is[1] = {&after};
    smoother.correct(was, is, teleported, now);
  }
  Pawn shown(Smoother& smoother, Pawn pawn, uint64_t now) {
    void* hosts[1] = {&pawn};
    smoother.apply(hosts, now);
    return pawn;
  }
  serialization::Layout layout_ = test::pawn_layout();
};

TEST_F(SmootherTest, TheShownPoseStaysThenDecays) {
  Smoother smoother(layout_, SmootherConfig{});
  const Pawn after = pawn_at(10.0f);
  EXPECT_FLOAT_EQ(shown(smoother, after, 0).position.x, 10.0f);
  correct(smoother, pawn_at(12.0f), after, 1000 * kMs);
  EXPECT_FLOAT_EQ(shown(smoother, after, 1000 * kMs).position.x, 12.0f);
  EXPECT_NEAR(shown(smoother, after, 1060 * kMs).position.x, 10.0 + 2.0 * std::exp(-1.0), 1e-5);
  EXPECT_LT(shown(smoother, after, 1180 * kMs).position.x, 10.0f + 2.0f * 0.05f);  // 95 % in 180 ms
  EXPECT_FALSE(smoother.idle());
  EXPECT_FLOAT_EQ(shown(smoother, after, 2000 * kMs).position.x, 10.0f);
  EXPECT_TRUE(smoother.idle());
}

TEST_F(SmootherTest, ScalarDoublePositionsAreEasedToo) {
  Smoother smoother(layout_, SmootherConfig{});
  Pawn before = pawn_at(0);
  before.height = 1.5;
  correct(smoother, before, pawn_at(0), 0);
  EXPECT_DOUBLE_EQ(shown(smoother, pawn_at(0), 0).height, 1.5);
}

TEST_F(SmootherTest, ASecondCorrectionStartsFromWhatIsShown) {
  Smoother smoother(layout_, SmootherConfig{});
  correct(smoother, pawn_at(2.0f), pawn_at(0.0f), 0);
  const float shown_then = shown(smoother, pawn_at(0.0f), 60 * kMs).position.x;
  correct(smoother, pawn_at(0.0f), pawn_at(-1.0f), 60 * kMs);
  EXPECT_NEAR(shown(smoother, pawn_at(-1.0f), 60 * kMs).position.x, shown_then, 1e-5);
}

TEST_F(SmootherTest, BeyondTheSnapDistanceItCuts) {
  Smoother smoother(layout_, SmootherConfig{});
  correct(smoother, pawn_at(0.0f), pawn_at(4.9f), 0);
  EXPECT_FLOAT_EQ(shown(smoother, pawn_at(4.9f), 0).position.x, 0.0f);
  correct(smoother, pawn_at(4.9f), pawn_at(5.2f), 0);  // 5.2 in all
  EXPECT_FLOAT_EQ(shown(smoother, pawn_at(5.2f), 0).position.x, 5.2f);
  EXPECT_EQ(smoother.snaps(), 1u);
  Pawn broken = pawn_at(0.0f);
  broken.position.y = std::numeric_limits<float>::quiet_NaN();
  correct(smoother, broken, pawn_at(1.0f), 0);
  EXPECT_FLOAT_EQ(shown(smoother, pawn_at(1.0f), 0).position.x, 1.0f);
}

TEST_F(SmootherTest, ATeleportCuts) {
  Smoother smoother(layout_, SmootherConfig{});
  correct(smoother, pawn_at(1.0f), pawn_at(0.0f), 0);
  correct(smoother, pawn_at(0.0f), pawn_at(0.5f), 0, true);
  EXPECT_FLOAT_EQ(shown(smoother, pawn_at(0.5f), 0).position.x, 0.5f);
}

TEST_F(SmootherTest, RotationsTurnBackTheShortWay) {
  Smoother smoother(layout_, SmootherConfig{});
  Pawn before = pawn_at(0);
  Pawn after = pawn_at(0);
  before.rotation = about_z(0.4);
  after.rotation = about_z(-0.2);
  correct(smoother, before, after, 0);
  EXPECT_NEAR(angle_z(shown(smoother, after, 0).rotation), 0.4, 1e-5);
  EXPECT_NEAR(angle_z(shown(smoother, after, 60 * kMs).rotation), -0.2 + 0.6 * std::exp(-1.0), 1e-5);
  EXPECT_NEAR(smoother.offset_angle_rad(60 * kMs), 0.6 * std::exp(-1.0), 1e-6);

  Smoother other(layout_, SmootherConfig{});  // 350° apart is 10° the other way; q and -q are the same
  before.rotation = about_z(175.0 * 3.14159265358979 / 180);
  after.rotation = about_z(-175.0 * 3.14159265358979 / 180);
  correct(other, before, after, 0);
  EXPECT_NEAR(other.offset_angle_rad(0), 10.0 * 3.14159265358979 / 180, 1e-5);
}

TEST_F(SmootherTest, NeverMovesAway) {
  EXPECT_TRUE(
      rc::check("between corrections the offset only shrinks; at one the picture stands still", [this] {
        const auto seed = *rc::gen::arbitrary<uint64_t>();
        base::Random random(seed);
        Smoother smoother(layout_, SmootherConfig{kSmootherTauNs, 1e9});
        const auto random_pawn = [&] {
          Pawn pawn = pawn_at(static_cast<float>(random.next_unit() * 20 - 10));
          pawn.position.y = static_cast<float>(random.next_unit() * 20 - 10);
          pawn.rotation = about_z(random.next_unit() * 6 - 3);
          return pawn;
        };
        Pawn now_true = random_pawn();
        uint64_t now = 0;
        double distance = 0;
        double angle = 0;
        for (int step = 0; step < 60; ++step) {
          now += random.next_below(30 * kMs);
          RC_ASSERT(smoother.offset_distance(now) <= distance + 1e-9);
          RC_ASSERT(smoother.offset_angle_rad(now) <= angle + 1e-9);
          if (random.chance(0.3)) {
            const Pawn before = shown(smoother, now_true, now);
            const Pawn next = random_pawn();
            correct(smoother, now_true, next, now);
            now_true = next;
            const Pawn after = shown(smoother, now_true, now);
            RC_ASSERT(std::abs(before.position.x - after.position.x) < 2e-3f);
            RC_ASSERT(std::abs(before.position.y - after.position.y) < 2e-3f);
            const float dot = before.rotation.z * after.rotation.z + before.rotation.w * after.rotation.w;
            RC_ASSERT(std::abs(dot) > 0.99999f);
          }
          distance = smoother.offset_distance(now);
          angle = smoother.offset_angle_rad(now);
        }
      }));
}

TEST(SmootherAngle, EasesTheShortWayRound) {
  const serialization::Layout layout = test::turret_layout();
  Smoother smoother(layout, SmootherConfig{});
  const test::Turret was{3.0f};
  const test::Turret is{-3.0f};
  const void* before[1] = {&was};
  const void* after[1] = {&is};
  smoother.correct(before, after, false, 0);
  const auto shown = [&](uint64_t now) {
    test::Turret turret = is;
    void* hosts[1] = {&turret};
    smoother.apply(hosts, now);
    return double{turret.yaw};
  };
  const double way = 2 * kPi - 6;  // from -3 down over the edge to 3
  EXPECT_NEAR(shown(0), 3.0, 1e-5);
  EXPECT_NEAR(shown(60 * kMs), -3.0 - way * std::exp(-1.0), 1e-4);  // back past the edge
  EXPECT_NEAR(smoother.offset_angle_rad(0), way, 1e-5);
  EXPECT_NEAR(shown(2000 * kMs), -3.0, 1e-4);
}

}  // namespace
}  // namespace lattice::prediction
