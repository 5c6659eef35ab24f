// Compressed floats and smallest three: the known answers, accuracy, and that a quantized value stays what it
// is.
#include "lattice/authoring/quantize.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/random.h"

namespace lattice {
namespace {

TEST(CompressedFloat, VectorV7StepsAndBits) {
  const struct {
    double min, max, precision;
    uint64_t steps;
    unsigned bits;
  } kCases[] = {{-512, 512, 0.01, 102400, 17},
                {-4096, 4096, 0.001, 8192000, 23},
                {-256, 256, 0.01, 51200, 16},
                {-1, 1, 1.0 / 512, 1024, 11},
                {0, 1, 1.0 / 256, 256, 9},
                {0, 1, 1.0 / 255, 255, 8},
                {0, 10, 3, 4, 3}};
  for (const auto& c : kCases) {
    for (double precision : {c.precision, static_cast<double>(static_cast<float>(c.precision))}) {
      const CompressedFloat q(c.min, c.max, precision);
      EXPECT_EQ(q.steps, c.steps) << c.min << ".." << c.max << " by " << precision;
      EXPECT_EQ(q.bits, c.bits);
    }
  }
}

TEST(CompressedFloat, VectorV7Codes) {
  const CompressedFloat q(-512, 512, 0.01);
  EXPECT_EQ(q.code(0), 51200u);
  EXPECT_EQ(q.code(3.14159), 51514u);
  EXPECT_EQ(q.code(512), 102400u);
  EXPECT_EQ(q.code(-512), 0u);
  EXPECT_EQ(q.code(0.006), 51201u);
  EXPECT_EQ(q.value(51200), 0.0);
  EXPECT_EQ(q.value(0), -512.0);
  EXPECT_EQ(q.value(102400), 512.0);
}

TEST(CompressedFloat, NotANumberAndOutOfRange) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  const CompressedFloat around(-1, 1, 0.5), above(2, 3, 0.5);
  EXPECT_EQ(around.code(nan), 2u);
  EXPECT_EQ(above.code(nan), 0u);
  EXPECT_EQ(around.code(inf), 4u);
  EXPECT_EQ(around.code(-inf), 0u);
  EXPECT_EQ(above.code(0), 0u);
}

TEST(CompressedFloat, CodesSurviveAFloatAndStayNear) {
  EXPECT_TRUE(rc::check("code(float(value(code))) == code", [](uint64_t seed) {
    base::Random random(seed);
    const double magnitude = std::ldexp(1.0, static_cast<int>(random.next_below(20)) - 6);
    const double low = -magnitude * random.next_unit();
    const double high = low + magnitude * (0.01 + random.next_unit());
    // As fine as a layout admits: the spacing of floats at the bound under 0.9 steps.
    const float bound = static_cast<float>(std::max(std::fabs(low), std::fabs(high)));
    const double spacing = static_cast<double>(bound) - static_cast<double>(std::nextafterf(bound, 0.0f));
    const double precision = std::min(spacing * (1.2 + random.next_unit() * 1000.0), high - low);
    const CompressedFloat q(low, high, precision);
    for (int i = 0; i < 50; ++i) {
      const uint64_t code = random.next_below(q.steps + 1);
      RC_ASSERT(q.code(q.value(code)) == code);
      RC_ASSERT(q.code(static_cast<double>(static_cast<float>(q.value(code)))) == code);
      const double v = low + random.next_unit() * (high - low);
      RC_ASSERT(std::fabs(q.value(q.code(v)) - v) <= 0.5000001 * (high - low) / static_cast<double>(q.steps));
    }
  }));
}

TEST(CompressedFloat, BothEndsAreExact) {
  base::Random random(4);
  for (int i = 0; i < 200'000; ++i) {
    const double low =
        (random.next_unit() - 0.7) * std::ldexp(1.0, static_cast<int>(random.next_below(40)) - 20);
    const double high = low + (0.01 + random.next_unit()) * std::max(std::fabs(low), 1e-3);
    const CompressedFloat q(low, high, (high - low) / static_cast<double>(1 + random.next_below(1'000'000)));
    ASSERT_EQ(q.code(low), 0u);
    ASSERT_EQ(q.inside_code(high), q.steps) << low << ".." << high;
    ASSERT_EQ(q.value(0), low);
    ASSERT_EQ(q.value(q.steps), high);
    ASSERT_LT(q.value(q.steps - 1), high);
  }
}

// As fine as a layout admits for doubles: 2^-48 of the larger bound is at most 0.9 steps, and there are fewer
// than 2^48 of them. Most bounds are not round, and the first and last codes are tried too.
TEST(CompressedFloat, CodesSurviveADoubleAtTheFinestSteps) {
  EXPECT_TRUE(rc::check("code(value(code)) == code, up to 2^48 steps", [](uint64_t seed) {
    base::Random random(seed);
    const double magnitude =
        std::ldexp(1.0 + random.next_unit(), static_cast<int>(random.next_below(1900)) - 960);
    const double share =
        random.chance(0.5) ? random.next_unit() : std::ldexp(1.0, -static_cast<int>(random.next_below(30)));
    double low = -magnitude * (random.chance(0.5) ? 1.0 : random.next_unit()),
           high = low + magnitude * (1e-6 + share);
    if (random.chance(0.3)) low = -magnitude, high = magnitude;
    if (random.chance(0.3)) std::swap(low, high), low = -low, high = -high;
    const double largest = std::max(std::fabs(low), std::fabs(high));
    const double finest = std::max(largest * 0x1.0p-48 / 0.9, (high - low) * 0x1.0p-48) * 1.0000001;
    const CompressedFloat q(
        low, high,
        std::min(finest * (1.0 + random.next_unit() * (random.chance(0.5) ? 1e-3 : 50.0)), high - low));
    RC_PRE(largest * 0x1.0p-48 <= 0.9 * (high - low) / static_cast<double>(q.steps) && q.steps < uint64_t{1}
                                                                                                     << 48);
    for (int i = 0; i < 100; ++i) {
      const uint64_t drawn = random.next_below(q.steps + 1);
      for (const uint64_t code : {drawn, drawn >> 20, q.steps - (drawn >> 20)}) {
        const double value = q.value(code);
        RC_ASSERT(value >= low && value <= high);
        RC_ASSERT(q.code(value) == code);
      }
    }
    const AngleQuant angle(low, high, (high - low) / static_cast<double>(q.steps));
    for (int i = 0; i < 100; ++i) {
      const uint64_t code = random.next_below(angle.steps);
      const double value = angle.value(code);
      RC_ASSERT(value >= low && value < high);
      RC_ASSERT(angle.code(value) == code);
    }
  }));
}

TEST(CompressedFloat, CodesOfAFloatSurviveAtEverySpacing) {
  EXPECT_TRUE(rc::check("at 0.9 steps between floats, at bounds of any size", [](uint64_t seed) {
    base::Random random(seed);
    const double magnitude =
        std::ldexp(1.0 + random.next_unit(), static_cast<int>(random.next_below(250)) - 120);
    double low = -magnitude, high = low + magnitude * (1e-3 + random.next_unit() * 2.0);
    if (random.chance(0.5)) std::swap(low, high), low = -low, high = -high;
    const float bound = static_cast<float>(std::max(std::fabs(low), std::fabs(high)));
    const double spacing = static_cast<double>(bound) - static_cast<double>(std::nextafterf(bound, 0.0f));
    const CompressedFloat q(low, high, std::min(spacing / 0.9 * 1.0000001, high - low));
    RC_PRE(spacing <= 0.9 * (high - low) / static_cast<double>(q.steps));
    for (int i = 0; i < 200; ++i) {
      const uint64_t drawn = random.next_below(q.steps + 1);
      for (const uint64_t code : {drawn, q.steps - (drawn >> 12)}) {
        RC_ASSERT(q.code(double{static_cast<float>(q.value(code))}) == code);
      }
    }
  }));
}

Quaternion rotation_of(base::Random& random) {
  const auto one = [&] { return static_cast<float>(random.next_unit() * 2.0 - 1.0); };
  Quaternion q{one(), one(), one(), one()};
  // Equal and nearly equal components: ties decide which one is dropped.
  const float near = 1.0f + static_cast<float>(random.next_unit() - 0.5) * 0.01f;
  if (random.chance(0.4)) q.y = q.x * near;
  if (random.chance(0.4)) q.z = -q.x;
  if (random.chance(0.4)) q.w = q.y * near;
  if (random.chance(0.1)) q.x = 0.0f;
  return q;
}

TEST(SmallestThree, QuantizingAQuantizedRotationChangesNothing) {
  EXPECT_TRUE(rc::check("pack(unpack(pack(q))) == pack(q)", [](uint64_t seed) {
    base::Random random(seed);
    for (int i = 0; i < 200; ++i) {
      const Quaternion q = rotation_of(random);
      for (unsigned n = kMinRotationBits; n <= kMaxRotationBits; ++n) {
        const uint64_t packed = smallest_three_pack(q, n);
        RC_ASSERT(smallest_three_valid(packed, n));
        RC_ASSERT(smallest_three_pack(smallest_three_unpack(packed, n), n) == packed);
      }
    }
  }));
}

/// Rule D-5 word by word, without a short cut.
uint64_t packed_by_the_rule(Quaternion v, unsigned n) {
  double q[4] = {v.x, v.y, v.z, v.w};
  const double top = std::ldexp(1.0, static_cast<int>(n)) - 2.0;
  const double norm = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  const auto largest_of = [](const double(&of)[4]) {
    unsigned largest = 0;
    for (unsigned i = 1; i < 4; ++i) {
      if (std::fabs(of[i]) > std::fabs(of[largest])) largest = i;
    }
    return largest;
  };
  detail::SmallestThree s;
  s.dropped = largest_of(q);
  const double m = (q[s.dropped] < 0.0 ? -1.0 : 1.0) * (kSqrt2 * top / 2 / norm);
  for (unsigned i = 0, k = 0; i < 4; ++i) {
    if (i != s.dropped) s.code[k++] = static_cast<uint32_t>(std::floor(q[i] * m + (top / 2 + 0.5)));
  }
  const uint32_t zero = (uint32_t{1} << (n - 1)) - 1;
  for (int pass = 0; pass < 4; ++pass) {
    // Codes that make no unit quaternion yet count as having nothing left for the dropped component.
    double rebuilt[4], rest = 2.0 * top * top;
    for (unsigned i = 0, k = 0; i < 4; ++i) {
      if (i == s.dropped) continue;
      const double d = 2.0 * s.code[k++] - top;
      rebuilt[i] = double{static_cast<float>(d * (1.0 / (kSqrt2 * top)))};
      rest -= d * d;
    }
    const double left = std::sqrt(std::max(rest, 0.0)) * (1.0 / (kSqrt2 * top));
    rebuilt[s.dropped] = double{static_cast<float>(left)};
    const unsigned largest = largest_of(rebuilt);
    if (largest == s.dropped) break;
    uint32_t& code = s.code[largest < s.dropped ? largest : largest - 1];
    code = code > zero ? code - 1 : code + 1;
  }
  return uint64_t{s.dropped} << 3 * n | uint64_t{s.code[0]} << 2 * n | uint64_t{s.code[1]} << n | s.code[2];
}

TEST(SmallestThree, TheShortCutsChangeNoBit) {
  base::Random random(11);
  for (int i = 0; i < 20'000; ++i) {
    Quaternion q = rotation_of(random);
    // The second largest component approaches the largest one, past where the short cut ends.
    const auto near =
        static_cast<float>(std::ldexp(random.next_unit(), -static_cast<int>(random.next_below(20))));
    if (random.chance(0.5)) q.w = (random.chance(0.5) ? q.x : -q.z) * (1.0f + near);
    for (unsigned n = kMinRotationBits; n <= kMaxRotationBits; ++n) {
      ASSERT_EQ(smallest_three_pack(q, n), packed_by_the_rule(q, n))
          << n << ": " << q.x << " " << q.y << " " << q.z << " " << q.w;
    }
  }
}

TEST(SmallestThree, EveryCombinationNearATieIsStable) {
  // Exhaustive over signs and orders of the four-way tie and its neighbours, at every width.
  for (unsigned n = kMinRotationBits; n <= kMaxRotationBits; ++n) {
    const float step = 2.0f / static_cast<float>((uint64_t{1} << n) - 2);
    for (int a = -3; a <= 3; ++a) {
      for (int b = -3; b <= 3; ++b) {
        for (int c = -3; c <= 3; ++c) {
          const float k = 0.25f * step;
          const Quaternion q{0.5f, 0.5f + static_cast<float>(a) * k, -0.5f + static_cast<float>(b) * k,
                             0.5f + static_cast<float>(c) * k};
          const uint64_t packed = smallest_three_pack(q, n);
          ASSERT_EQ(smallest_three_pack(smallest_three_unpack(packed, n), n), packed) << n;
        }
      }
    }
  }
}

// What a decoder takes, against the lengths as real numbers: integers decide where doubles could not.
TEST(SmallestThree, LongerThanOneIsRefusedToTheLastHalfStep) {
  for (unsigned n = kMinRotationBits; n <= kMaxRotationBits; ++n) {
    const uint64_t top = (uint64_t{1} << n) - 2, zero = top / 2;
    const auto field = [n](uint64_t a, uint64_t b, uint64_t c) { return (a << n | b) << n | c; };
    EXPECT_TRUE(smallest_three_valid(field(zero, zero, zero), n));
    EXPECT_TRUE(smallest_three_valid(field(top, 0, zero), n));  // 1/2 + 1/2: nothing is left
    EXPECT_FALSE(smallest_three_valid(field(top, 0, zero + 1), n));
    EXPECT_FALSE(smallest_three_valid(field(top + 1, zero, zero), n));
    EXPECT_FALSE(smallest_three_valid(field(zero, zero, top + 1), n));
    EXPECT_EQ(smallest_three_unpack(field(top, 0, zero), n).x, 0.0f);
  }
}

TEST(SmallestThree, QuarterAndHalfTurnsAreExact) {
  const auto half = static_cast<float>(std::sqrt(0.5));
  for (unsigned n = kMinRotationBits; n <= kMaxRotationBits; ++n) {
    for (const Quaternion q :
         {Quaternion{half, 0, 0, half}, Quaternion{0, -half, half, 0}, Quaternion{0, 0, 1, 0}}) {
      const Quaternion back = smallest_three_unpack(smallest_three_pack(q, n), n);
      EXPECT_EQ(std::fabs(back.x), std::fabs(q.x)) << n;
      EXPECT_EQ(std::fabs(back.y), std::fabs(q.y)) << n;
      EXPECT_EQ(std::fabs(back.z), std::fabs(q.z)) << n;
      EXPECT_EQ(std::fabs(back.w), std::fabs(q.w)) << n;
    }
  }
}

TEST(SmallestThree, StaysWithinAStep) {
  EXPECT_TRUE(rc::check("each component is off by at most 3.5 steps", [](uint64_t seed) {
    base::Random random(seed);
    const Quaternion rotation = rotation_of(random);
    const std::array<double, 4> q = {rotation.x, rotation.y, rotation.z, rotation.w};
    const double norm = std::sqrt(std::inner_product(q.begin(), q.end(), q.begin(), 0.0));
    RC_PRE(norm > 1e-3);
    for (unsigned n = kMinRotationBits; n <= kMaxRotationBits; ++n) {
      const Quaternion unpacked = smallest_three_unpack(smallest_three_pack(rotation, n), n);
      const std::array<double, 4> r = {unpacked.x, unpacked.y, unpacked.z, unpacked.w};
      const double length = std::sqrt(std::inner_product(r.begin(), r.end(), r.begin(), 0.0));
      RC_ASSERT(std::fabs(length - 1.0) < 1e-6);
      // q and -q are one rotation. Differences, not 2 - 2·dot: that would lose half the digits.
      const double sign = std::inner_product(q.begin(), q.end(), r.begin(), 0.0) < 0 ? -1.0 : 1.0;
      double chord_squared = 0;
      for (size_t i = 0; i < q.size(); ++i) {
        const double difference = q[i] / norm - sign * r[i] / length;
        chord_squared += difference * difference;
      }
      const double step = kSqrt2 / static_cast<double>((uint64_t{1} << n) - 2);
      RC_ASSERT(std::sqrt(chord_squared) <= 3.5 * step + 1e-6);
    }
  }));
}

TEST(Ranged, BitsAndExtremes) {
  EXPECT_EQ(bits_for_span(range_span(0, 1023)), 10u);
  EXPECT_EQ(bits_for_span(range_span(0, 1024)), 11u);
  EXPECT_EQ(bits_for_span(range_span(7, 7)), 0u);
  EXPECT_EQ(bits_for_span(range_span(INT64_MIN, INT64_MAX)), 64u);
  EXPECT_EQ(ranged_code(INT64_MAX, INT64_MIN, INT64_MAX), UINT64_MAX);
  EXPECT_EQ(ranged_value(UINT64_MAX, INT64_MIN), INT64_MAX);
  EXPECT_EQ(bits_for_count(1), 0u);
  EXPECT_EQ(bits_for_count(5), 3u);
}

}  // namespace
}  // namespace lattice
