// The replay window against a model that remembers every number in a set.
#include "transport/crypto/replay_window.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <set>
#include <vector>

#include "base/random.h"

namespace lattice::crypto {
namespace {

class SetModel {
 public:
  Replay test(uint64_t seq) const {
    if (seq == 0 || seq >= kPacketSeqLimit) return Replay::kOutOfRange;
    if (seq + kReplayWindowPackets <= highest_) return Replay::kTooOld;
    return seen_.count(seq) != 0 ? Replay::kDuplicate : Replay::kFresh;
  }
  void mark(uint64_t seq) {
    seen_.insert(seq);
    if (seq > highest_) highest_ = seq;
  }

 private:
  std::set<uint64_t> seen_;
  uint64_t highest_ = 0;
};

/// Runs `steps` numbers near a walking centre through both; reports the first difference.
testing::AssertionResult same_as_model(uint64_t seed, uint64_t start, int steps) {
  base::Random random(seed);
  ReplayWindow window;
  SetModel model;
  uint64_t centre = start;
  for (int i = 0; i < steps; ++i) {
    const uint64_t kind = random.next_below(100);
    if (kind < 3) {
      centre += random.next_below(5000);
    } else if (kind < 50) {
      centre += random.next_below(3);
    }
    const uint64_t spread = kind < 60 ? 4 : 2200;
    const uint64_t up = centre + random.next_below(spread);
    const uint64_t back = random.next_below(spread);
    const uint64_t seq = up > back ? up - back : 0;
    if (window.test(seq) != model.test(seq)) {
      return testing::AssertionFailure() << "seed " << seed << ", step " << i << ", seq " << seq;
    }
    // Half of the fresh numbers are forgeries that never reach the mark.
    if (window.test(seq) == Replay::kFresh && random.chance(0.5)) {
      window.mark(seq);
      model.mark(seq);
    }
  }
  return testing::AssertionSuccess();
}

TEST(ReplayWindow, EqualsTheSetModelFromTheStart) {
  for (uint64_t seed = 1; seed <= 20; ++seed) EXPECT_TRUE(same_as_model(seed, 0, 20'000));
}

TEST(ReplayWindow, EqualsTheSetModelNearPowersOfTwo) {
  for (const uint64_t edge : {uint64_t{1} << 32, (uint64_t{1} << 62) - 40'000, uint64_t{1} << 61}) {
    EXPECT_TRUE(same_as_model(edge, edge - 2000, 20'000)) << edge;
  }
}

TEST(ReplayWindow, RandomJumpsEqualTheSetModel) {
  EXPECT_TRUE(
      rc::check("replay window, arbitrary numbers", [](const std::vector<uint64_t>& raw, uint8_t bits) {
        ReplayWindow window;
        SetModel model;
        for (const uint64_t value : raw) {
          const uint64_t seq = value & ((uint64_t{1} << (bits % 63)) | 0xFFF);
          RC_ASSERT(window.test(seq) == model.test(seq));
          if (model.test(seq) == Replay::kFresh) {
            window.mark(seq);
            model.mark(seq);
          }
        }
      }));
}

TEST(ReplayWindow, FirstPacketsAreSafe) {
  ReplayWindow window;
  EXPECT_EQ(window.test(0), Replay::kOutOfRange);
  EXPECT_EQ(window.test(1), Replay::kFresh);
  window.mark(2);
  EXPECT_EQ(window.test(1), Replay::kFresh);
  EXPECT_EQ(window.test(2), Replay::kDuplicate);
}

TEST(ReplayWindow, Age1023IsAcceptedAnd1024Refused) {
  ReplayWindow window;
  window.mark(5000);
  EXPECT_EQ(window.test(5000 - 1023), Replay::kFresh);
  EXPECT_EQ(window.test(5000 - 1024), Replay::kTooOld);
  window.mark(5000 - 1023);
  EXPECT_EQ(window.test(5000 - 1023), Replay::kDuplicate);
  window.mark(5001);
  EXPECT_EQ(window.test(5000 - 1023), Replay::kTooOld);
}

TEST(ReplayWindow, NumbersEndAt2To62) {
  ReplayWindow window;
  EXPECT_EQ(window.test(kPacketSeqLimit), Replay::kOutOfRange);
  EXPECT_EQ(window.test(UINT64_MAX), Replay::kOutOfRange);
  EXPECT_EQ(window.test(kPacketSeqLimit - 1), Replay::kFresh);
  window.mark(kPacketSeqLimit - 1);
  EXPECT_EQ(window.test(kPacketSeqLimit - 1), Replay::kDuplicate);
  EXPECT_EQ(window.test(kPacketSeqLimit - 1024), Replay::kFresh);
  EXPECT_EQ(window.test(kPacketSeqLimit - 1025), Replay::kTooOld);
}

TEST(ReplayWindow, TestingAForgedJumpChangesNothing) {
  ReplayWindow window;
  window.mark(10);
  EXPECT_EQ(window.test(1'000'000), Replay::kFresh);
  EXPECT_EQ(window.highest(), 10u);
  EXPECT_EQ(window.test(9), Replay::kFresh);
}

}  // namespace
}  // namespace lattice::crypto
