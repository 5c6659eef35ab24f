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
  const double norm = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  for (double& c : q) c /= norm;
  const auto largest_of = [](const double(&of)[4]) {
    unsigned largest = 0;
    for (unsigned i = 1; i < 4; ++i) {
      if (std::fabs(of[i]) > std::fabs(of[largest])) largest = i;
    }
    return largest;
  };
  detail::SmallestThree s;
  s.dropped = largest_of(q);
  for (unsigned i = 0, k = 0; i < 4; ++i) {
    if (i != s.dropped) s.code[k++] = detail::rotation_code(q[s.dropped] < 0.0 ? -q[i] : q[i], n);
  }
  const uint32_t zero = (uint32_t{1} << (n - 1)) - 1;
  for (int pass = 0; pass < 4; ++pass) {
    double rebuilt[4];
    detail::rotation_decode(s, n, rebuilt);
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
