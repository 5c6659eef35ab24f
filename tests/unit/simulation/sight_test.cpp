#include "simulation/sight.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <utility>

#include "unit/simulation/random_sight.h"

namespace lattice::simulation {
namespace {

constexpr Tick kTick = 1000;

class SightTest : public testing::Test {
 protected:
  /// The code of `older`, of the input before that of `newer`, with its length in bits.
  std::span<const uint8_t> encode(const Sight& newer, const Sight& older, Tick tick = kTick) {
    BitWriter writer(bytes_);
    encode_older_sight(writer, newer, older, tick);
    bits_ = bytes_.size() * 8 - writer.bits_left();
    return writer.finish();
  }
  SightFault decode(std::span<const uint8_t> bytes, const Sight& newer, Sight* out, Tick tick = kTick) {
    BitReader reader(bytes);
    const SightFault fault = decode_older_sight(reader, newer, tick, out);
    EXPECT_TRUE(reader.ok());
    return fault;
  }
  template <class Write>
  SightFault decode_written(Write write, const Sight& newer) {
    BitWriter writer(bytes_);
    write(writer);
    Sight out;
    return decode(writer.finish(), newer, &out);
  }

  std::array<uint8_t, 32> bytes_{};
  size_t bits_ = 0;
  const Sight newer_{990, 64, 995};
};

TEST_F(SightTest, AViewIsRoundedToTheNearest256th) {
  EXPECT_EQ(sight_of(round_view({10, 0.25}), 0), (Sight{10, 64, 0}));
  EXPECT_EQ(sight_of(round_view({10, 64.4 / 256}), 0), (Sight{10, 64, 0}));
  EXPECT_EQ(sight_of(round_view({10, 64.6 / 256}), 0), (Sight{10, 65, 0}));
  EXPECT_EQ(sight_of(round_view({10, 0.999}), 0), (Sight{11, 0, 0}));
  for (uint32_t fraction = 0; fraction < 256; ++fraction) {
    const Sight sight{10, fraction, 0};
    EXPECT_EQ(sight_of(round_view(view_time(sight)), 0), sight);
  }
}

TEST_F(SightTest, WhatAnInputCannotSayIsLeftOut) {
  EXPECT_EQ(bounded_sight({kTick, 0, kTick}, kTick), (Sight{kTick, 0, kTick}));
  EXPECT_EQ(bounded_sight({kTick, 1, kTick + 1}, kTick), Sight{}) << "the future";
  EXPECT_EQ(bounded_sight({1, 0, 1}, 1 + kMaxSightTicks), (Sight{1, 0, 1}));
  EXPECT_EQ(bounded_sight({1, 0, 1}, 2 + kMaxSightTicks), Sight{}) << "too long ago";
  EXPECT_EQ(bounded_sight({1, 255, 0}, 2 + kMaxSightTicks), Sight{});
  EXPECT_EQ(bounded_sight({3, 0, 5}, 0x80000005), Sight{}) << "so far that 256ths overflow";
  EXPECT_EQ(bounded_sight({0, 7, 0}, kTick), Sight{}) << "tick 0 is none, with any fraction";
  EXPECT_EQ(bounded_sight({UINT32_MAX, 9, UINT32_MAX}, 4), (Sight{UINT32_MAX, 9, UINT32_MAX}))
      << "ticks wrap";
}

TEST_F(SightTest, TheUsualMovementsAreShort) {
  const std::pair<Sight, size_t> cases[] = {
      {{990, 64, 995}, 3},               // no frame in between, no snapshot
      {{989, 64, 995}, 8},               // a frame of one tick
      {{989, 79, 995}, 8},               // 15 later
      {{989, 48, 995}, 8},               // 16 earlier
      {{989, 80, 995}, 12},              // 16 later
      {{989, 64, 993}, 11},              // and a snapshot of two ticks
      {{988, 64, 988}, 15},              // 256 earlier, and 7 ticks
      {{988, 63, 987}, 2 + 16 + 4 + 8},  // the long forms of both
      {{0, 0, 0}, 2 + 8 + 4 + 8},
  };
  for (const auto& [older, bits] : cases) {
    const auto code = encode(newer_, older);
    EXPECT_EQ(bits_, bits) << older.view_tick << " + " << older.view_fraction;
    Sight out;
    EXPECT_EQ(decode(code, newer_, &out), SightFault::kNone);
    EXPECT_EQ(out, older);
  }
  encode({}, {});
  EXPECT_EQ(bits_, 3u);
}

TEST_F(SightTest, LongFormsOfShortThingsAreRefused) {
  const auto long_view = [](uint32_t age) {
    return [age](BitWriter& writer) {
      writer.WriteBits(3, 2);
      writer.WriteVarint(age);
      writer.WriteBool(false);
    };
  };
  const uint32_t same = 10 * 256 - 64 + 1;
  EXPECT_EQ(decode_written(long_view(same), newer_), SightFault::kNotCanonical);
  EXPECT_EQ(decode_written(long_view(same + 256), newer_), SightFault::kNotCanonical);
  EXPECT_EQ(decode_written(long_view(same + 512), newer_), SightFault::kNotCanonical);
  EXPECT_EQ(decode_written(long_view(same + 513), newer_), SightFault::kNone);
  EXPECT_EQ(decode_written(long_view(0), {}), SightFault::kNotCanonical);
  const auto longer_view = [](BitWriter& writer) {
    writer.WriteBits(2, 2);
    writer.WriteBits(256 + 15, 9);
    writer.WriteBool(false);
  };
  EXPECT_EQ(decode_written(longer_view, newer_), SightFault::kNotCanonical);
  const auto long_snapshot = [](uint32_t age) {
    return [age](BitWriter& writer) {
      writer.WriteBits(0, 2);
      writer.WriteBits(15, 4);
      writer.WriteVarint(age);
    };
  };
  EXPECT_EQ(decode_written(long_snapshot(6), newer_), SightFault::kNotCanonical) << "the same snapshot";
  EXPECT_EQ(decode_written(long_snapshot(13), newer_), SightFault::kNotCanonical) << "7 ticks";
  EXPECT_EQ(decode_written(long_snapshot(14), newer_), SightFault::kNone);
  EXPECT_EQ(decode_written(long_snapshot(5), newer_), SightFault::kNone) << "a newer one";
}

TEST_F(SightTest, MomentsThatAnInputCannotNameAreRefused) {
  Sight out;
  const auto newest = [&](uint32_t view_age, uint32_t snapshot_age, Tick tick) {
    BitWriter writer(bytes_);
    writer.WriteVarint(view_age);
    writer.WriteVarint(snapshot_age);
    BitReader reader(writer.finish());
    return decode_sight(reader, tick, &out);
  };
  EXPECT_EQ(newest(1 + 4096 * 256, 1 + 4096, 5000), SightFault::kNone);
  EXPECT_EQ(newest(2 + 4096 * 256, 0, 5000), SightFault::kBadSight);
  EXPECT_EQ(newest(UINT32_MAX, 0, 5000), SightFault::kBadSight);
  EXPECT_EQ(newest(0, 2 + 4096, 5000), SightFault::kBadSight);
  EXPECT_EQ(newest(0, UINT32_MAX, 5000), SightFault::kBadSight);
  EXPECT_EQ(newest(1 + 5 * 256, 0, 5), SightFault::kBadSight) << "tick 0";
  EXPECT_EQ(newest(0, 6, 5), SightFault::kBadSight) << "tick 0";
  // A view that would pass the tick of its own input.
  const auto later = [](BitWriter& writer) {
    writer.WriteBits(1, 2);
    writer.WriteBits(31, 5);
    writer.WriteBool(false);
  };
  EXPECT_EQ(decode_written(later, {kTick + 1, 0, 0}), SightFault::kBadSight);
  const auto against_none = [](BitWriter& writer) {
    writer.WriteBits(1, 2);
    writer.WriteBits(16, 5);
    writer.WriteBool(false);
  };
  EXPECT_EQ(decode_written(against_none, {}), SightFault::kBadSight);
}

TEST_F(SightTest, AnySequenceComesBack) {
  EXPECT_TRUE(rc::check("decode(encode(sight)) is the sight", [this] {
    base::Random random(*rc::gen::arbitrary<uint64_t>());
    const auto first = static_cast<Tick>(*rc::gen::inRange<uint32_t>(1, UINT32_MAX - 64));
    Sight older = test::next_sight(random, {}, first);
    for (Tick tick = first; tick != first + 40; ++tick) {
      const Sight newer = test::next_sight(random, older, tick + 1);
      Sight out;
      RC_ASSERT(decode(encode(newer, older, tick), newer, &out, tick) == SightFault::kNone);
      RC_ASSERT(out == older);
      BitWriter writer(bytes_);
      encode_sight(writer, newer, tick + 1);
      BitReader reader(writer.finish());
      RC_ASSERT(decode_sight(reader, tick + 1, &out) == SightFault::kNone);
      RC_ASSERT(out == newer);
      older = newer;
    }
  }));
}

}  // namespace
}  // namespace lattice::simulation
