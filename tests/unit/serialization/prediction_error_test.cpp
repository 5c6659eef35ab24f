// Layout::prediction_error(): how far a member was predicted wrong, in its unit.
#include <cmath>

#include "unit/serialization/containers.h"

namespace lattice::serialization {
namespace {

// clang-format off
struct Gear {
  LATTICE_NETSTRUCT_DELTA(Gear, (ammo, uint16), (heat, float, BOUNDS(0, 100, 0.5f)))
};
LATTICE_NETWORKED(Fighter,
  (health, int16, RANGED(-10, 200)), (place, vec2, BOUNDS(-100, 100, 0.01f)), (speed, vec3), (aim, quat, FULL),
  (turn, quat), (yaw, float, ANGLE), (mood, test::Mood), (name, string, STRING(8)), (since, nettick), (money, fixed64),
  (gear, Gear), (spare, Gear, ARRAY(2)), (marks, uint8, LIST(4)), (score, int32, NOT_PREDICTED), (heat, float, HALF))
// clang-format on

class PredictionError : public ::testing::Test {
 protected:
  double error(const char* member) const {
    std::vector<Word> p(layout_.word_count()), t(layout_.word_count());
    const void* hosts[1] = {&predicted_};
    layout_.quantize(hosts, p.data());
    hosts[0] = &truth_;
    layout_.quantize(hosts, t.data());
    double found = -1;
    bool all_right = true;
    for (const LayoutNode& node : layout_.nodes().first(layout_.behaviours()[0].node_count)) {
      const double e = layout_.prediction_error(node, p.data(), t.data());
      EXPECT_EQ(e, layout_.prediction_error(node, t.data(), p.data())) << node.name;
      if (node.name == member) found = e;
      all_right = all_right && e == 0;
    }
    EXPECT_EQ(all_right, layout_.prediction_equal(p.data(), t.data()));
    return found;
  }

  Layout layout_ = test::layout_of(struct_desc<Fighter>());
  Fighter predicted_{};
  Fighter truth_{};
};

TEST_F(PredictionError, NumbersByTheirDifference) {
  EXPECT_EQ(error("health"), 0);
  truth_.health = 150, predicted_.health = -5;
  EXPECT_EQ(error("health"), 155);
  truth_.since = NetTick{5}, predicted_.since = NetTick{UINT32_MAX};  // six ticks, over the wrap
  EXPECT_EQ(error("since"), 6);
  truth_.money = Fixed64::from_double(-2.5), predicted_.money = Fixed64::from_int(1);
  EXPECT_EQ(error("money"), 3.5);
}

TEST_F(PredictionError, WithinAStepThereIsNone) {
  predicted_.place.x = truth_.place.x + 0.012f;
  EXPECT_EQ(error("place"), 0);
  predicted_.gear.heat = 0.5f;
  EXPECT_EQ(error("gear"), 0);
}

TEST_F(PredictionError, VectorsByTheirLength) {
  truth_.place = {3, -4};
  EXPECT_NEAR(error("place"), 5, 0.02);
  truth_.speed = {1e30f, 0, 0}, predicted_.speed = {-1e30f, 0, 0};
  EXPECT_NEAR(error("speed"), 2e30, 1e24);
}

TEST_F(PredictionError, RotationsByTheirAngle) {
  const float half = std::sqrt(0.5f);
  truth_.aim = {0, half, 0, half}, predicted_.aim = {0, 0, 0, 1};
  EXPECT_NEAR(error("aim"), 1.5707963, 1e-5);
  predicted_.aim = {0, -half, 0, -half};  // the same rotation, so near enough, though not the same bits
  EXPECT_LT(error("aim"), 1e-3);
  truth_.turn = {1, 0, 0, 0}, predicted_.turn = {0, 0, 0, 1};
  EXPECT_NEAR(error("turn"), 3.1415926, 0.01);
  truth_.yaw = 3.1f, predicted_.yaw = -3.1f;  // the short way round
  EXPECT_NEAR(error("yaw"), 0.0832, 0.001);
}

TEST_F(PredictionError, StructuresAndArraysByTheWorstWithin) {
  truth_.gear.ammo = 7, truth_.gear.heat = 20;
  EXPECT_EQ(error("gear"), 20);
  truth_.spare[1].ammo = 300;
  EXPECT_EQ(error("spare"), 300);
}

TEST_F(PredictionError, OneForWhatHasNoDistance) {
  truth_.mood = test::Mood::kCalm;
  truth_.name = "Ada";
  truth_.marks.push_back(200);
  EXPECT_EQ(error("mood"), 1);
  EXPECT_EQ(error("name"), 1);
  EXPECT_EQ(error("marks"), 1);
}

TEST_F(PredictionError, NoneForWhatIsNotPredicted) {
  truth_.score = 9;
  EXPECT_EQ(error("score"), 0);
}

TEST_F(PredictionError, AnInfinityIsInfinitelyFar) {
  truth_.heat = HUGE_VALF, predicted_.heat = 2;
  EXPECT_GT(error("heat"), 60000);  // what a half can hold
  truth_.speed = {HUGE_VALF, 0, 0};
  EXPECT_EQ(error("speed"), HUGE_VAL);
}

}  // namespace
}  // namespace lattice::serialization
