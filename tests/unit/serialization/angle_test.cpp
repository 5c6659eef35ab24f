// Angles: codes that wrap, the short way round, what is refused.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <limits>

#include "unit/serialization/everything.h"

namespace lattice::serialization {
namespace {

// clang-format off
LATTICE_NETWORKED(Compass,
  (yaw, float, ANGLE), (spin, float, ANGULAR_VELOCITY), (heading, double, BOUNDS(0, 360, 1), ANGLE),
  (held, float, ANGLE, SNAP))
// clang-format on

constexpr double kTurn = 2 * kPi;

class Angle : public ::testing::Test {
 protected:
  std::vector<serialization::Word> words(const Compass& compass) const {
    std::vector<serialization::Word> out(layout_.word_count());
    const void* host[] = {&compass};
    layout_.quantize(host, out.data());
    return out;
  }
  Compass between(const Compass& a, const Compass& b, double t) const {
    Compass out;
    void* host[] = {&out};
    layout_.interpolate(words(a).data(), words(b).data(), t, host);
    return out;
  }
  Layout layout_ = test::layout_of(struct_desc<Compass>());
};

TEST(AngleQuant, CodesOfTheSpecification) {
  constexpr AngleQuant radians;
  EXPECT_EQ(radians.bits, 16u);
  EXPECT_EQ(radians.code(0), 32768u);
  EXPECT_EQ(radians.code(kPi), 0u);
  EXPECT_EQ(radians.code(-kPi), 0u);
  EXPECT_EQ(radians.code(3), 64059u);
  EXPECT_EQ(radians.code(4), 8954u);
  constexpr AngleQuant degrees(0, 360, 1);
  EXPECT_EQ(degrees.bits, 9u);
  EXPECT_EQ(degrees.code(0), 0u);
  EXPECT_EQ(degrees.code(359.5), 0u);
  EXPECT_EQ(degrees.code(359.4), 359u);
  EXPECT_EQ(degrees.code(-90), 270u);
  EXPECT_EQ(degrees.code(765), 45u);
  EXPECT_EQ(degrees.code(std::nan("")), 0u);
  EXPECT_EQ(radians.code(std::numeric_limits<double>::infinity()), radians.code(0));
  EXPECT_LT(radians.code(1e300), radians.steps);
}

TEST(AngleQuant, BytesOfOneAngle) {
  uint8_t buffer[4];
  BitWriter w(buffer);
  w.WriteAngle(3.0, AngleQuant());
  const auto bytes = w.finish();
  EXPECT_EQ(std::vector<uint8_t>(bytes.begin(), bytes.end()), (std::vector<uint8_t>{0xFA, 0x3B}));
  BitReader r(bytes);
  EXPECT_NEAR(r.ReadAngle(AngleQuant()), 3.0, kTurn / 65536);
  EXPECT_TRUE(r.at_end());
}

TEST(AngleQuant, AnyValueStaysWithinAStepTheShortWay) {
  EXPECT_TRUE(rc::check(
      "quantized, an angle is less than a step away, and quantizes to itself as float and double", [] {
        base::Random random(*rc::gen::arbitrary<uint64_t>());
        const double low = (random.next_unit() - 0.5) * 8;
        const double turn = 0.5 + random.next_unit() * 400;
        const AngleQuant q(low, low + turn, turn / static_cast<double>(2 + random.next_below(60'000)));
        const double v = (random.next_unit() - 0.5) * turn * 20;
        const uint64_t code = q.code(v);
        RC_ASSERT(code < q.steps);
        const double back = q.value(code);
        RC_ASSERT(back >= q.min && back < q.max);
        RC_ASSERT(std::fabs(q.short_way(back - v)) <= turn / static_cast<double>(q.steps));
        RC_ASSERT(q.code(back) == code);
        RC_ASSERT(q.code(static_cast<double>(static_cast<float>(back))) == code);
        const double wrapped = q.wrapped(v);
        RC_ASSERT(wrapped >= q.min && wrapped < q.max);
        RC_ASSERT(std::fabs(q.short_way(wrapped - v)) < 1e-9 * turn);
        RC_ASSERT(std::fabs(q.short_way(v)) <= turn / 2);
      }));
}

TEST(AngleQuant, OneCodeTooMuchIsRefused) {
  // 360 codes in nine bits: 359 is the last.
  const uint8_t last[] = {0b10110011, 0b1'0000000};
  const uint8_t past[] = {0b10110100, 0b0'0000000};
  BitReader good(last), bad(past);
  EXPECT_EQ(good.ReadAngle(0, 360, 1), 359.0);
  EXPECT_EQ(bad.ReadAngle(0, 360, 1), 0.0);
  EXPECT_FALSE(bad.ok());
  BitReader cut(std::span<const uint8_t>(last, 1));
  cut.ReadAngle(0, 360, 1);
  EXPECT_FALSE(cut.ok());
}

TEST_F(Angle, BlendsTheShortWay) {
  Compass a, b;
  a.yaw = 3.1f, b.yaw = -3.1f;
  a.heading = 350, b.heading = 30;
  a.held = 3.1f, b.held = -3.1f;
  const Compass half = between(a, b, 0.5);
  EXPECT_NEAR(std::fabs(half.yaw), kPi, 1e-3);
  EXPECT_NEAR(half.heading, 10.0, 1e-9);
  EXPECT_NEAR(half.held, 3.1, 1e-3);
  EXPECT_NEAR(between(b, a, 0.75).heading, 0.0, 1e-9);
  EXPECT_NEAR(between(b, a, 0.9).heading, 354.0, 1e-9);
}

TEST_F(Angle, TurnsOnByItsAngularVelocityAndWraps) {
  Compass a;
  a.yaw = 3.0f, a.spin = 2.0f, a.heading = 90;
  Compass later;
  void* host[] = {&later};
  layout_.extrapolate(words(a).data(), {.seconds = 0.25}, host);
  EXPECT_NEAR(later.yaw, 3.5 - kTurn, 1e-3);
  EXPECT_EQ(later.heading, 90.0);  // the second angle has no second angular velocity
  EXPECT_TRUE(layout_.moving(words(a).data(), nullptr));
  a.spin = 0;
  EXPECT_FALSE(layout_.moving(words(a).data(), nullptr));
}

TEST_F(Angle, IsCloseAcrossTheEdge) {
  const auto step = static_cast<float>(kTurn / 65536);
  const auto edge = static_cast<float>(kPi);
  Compass a, b;
  a.yaw = edge - step, b.yaw = -edge;
  EXPECT_TRUE(layout_.approx_equal(words(a).data(), words(b).data()));
  a.yaw = edge - 2 * step;
  EXPECT_FALSE(layout_.approx_equal(words(a).data(), words(b).data()));
}

std::string refusal_of(lattice_wire_type type, lattice_encoding encoding, uint32_t flags,
                       lattice_quant quant) {
  lattice_member_desc member;
  lattice_member_desc_init(&member);
  member.name = "m";
  member.type = type;
  member.encoding = encoding;
  member.flags = flags;
  member.quant[0] = quant;
  lattice_struct_desc desc;
  lattice_struct_desc_init(&desc);
  desc.name = "S";
  desc.host_bytes = 64;
  desc.host_align = 8;
  desc.members = &member;
  desc.member_count = 1;
  Layout layout;
  std::string error;
  return Layout::compile_structure(desc, false, &layout, &error) ? "" : error;
}

TEST(AngleRefusals, NameWhatDoesNotFit) {
  constexpr uint32_t kAngle = LATTICE_MEMBER_ANGLE;
  constexpr lattice_quant kDegrees = {0, 360, 1};
  const std::string where = "structure 'S', member 'm': ";
  EXPECT_EQ(refusal_of(LATTICE_WIRE_FLOAT, LATTICE_ENCODING_DEFAULT, kAngle, {}), "");
  EXPECT_EQ(refusal_of(LATTICE_WIRE_DOUBLE, LATTICE_ENCODING_COMPRESSED, kAngle, kDegrees), "");
  EXPECT_EQ(refusal_of(LATTICE_WIRE_FLOAT, LATTICE_ENCODING_FULL, kAngle, {}),
            where + "encoding full does not fit flag ANGLE");
  EXPECT_EQ(refusal_of(LATTICE_WIRE_VECTOR2, LATTICE_ENCODING_DEFAULT, kAngle, kDegrees),
            where + "flag ANGLE needs a float or a double");
  EXPECT_EQ(
      refusal_of(LATTICE_WIRE_FLOAT, LATTICE_ENCODING_DEFAULT, kAngle | LATTICE_MEMBER_POSITION, kDegrees),
      where + "flags name two kinds of motion");
  EXPECT_EQ(refusal_of(LATTICE_WIRE_FLOAT, LATTICE_ENCODING_DEFAULT, kAngle, {0, 360, 180}), "");
  EXPECT_EQ(refusal_of(LATTICE_WIRE_FLOAT, LATTICE_ENCODING_DEFAULT, kAngle, {0, 360, 181}),
            where + "precision is 181; an angle's must be at most half a turn, 180");
  EXPECT_EQ(refusal_of(LATTICE_WIRE_FLOAT, LATTICE_ENCODING_DEFAULT, kAngle, {0, 360, 1e-6}),
            where + "precision is 1e-06; the host number near the bounds has steps of 3.0517578125e-05");
  EXPECT_EQ(refusal_of(LATTICE_WIRE_FLOAT, LATTICE_ENCODING_DEFAULT, kAngle, {360, 0, 1}),
            where + "bounds are 360..0; min must be below max, both finite");
  EXPECT_EQ(refusal_of(LATTICE_WIRE_FLOAT, LATTICE_ENCODING_DEFAULT, 1u << 14, {}),
            where + "flags is 16384; has bits that are not defined");
}

}  // namespace
}  // namespace lattice::serialization
