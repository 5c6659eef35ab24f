// The replay window against a model that remembers every number in a set: a million operations, a hundred
// million when LATTICE_TEST_LONG is set.
#include "transport/crypto/replay_window.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdlib>
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
    if (seq <= highest_) return;
    highest_ = seq;
    // Numbers the window is past need no memory: they are too old whether seen or not.
    if (seq >= kReplayWindowPackets) {
      seen_.erase(seen_.begin(), seen_.upper_bound(seq - kReplayWindowPackets));
    }
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

constexpr int kStepsPerRun = 20'000;

int run_count() {
  return std::getenv("LATTICE_TEST_LONG") != nullptr ? 5000 : 50;
}

TEST(ReplayWindow, EqualsTheSetModelFromTheStart) {
  for (int seed = 1; seed <= run_count() / 2; ++seed) {
    ASSERT_TRUE(same_as_model(static_cast<uint64_t>(seed), 0, kStepsPerRun));
  }
}

TEST(ReplayWindow, EqualsTheSetModelNearPowersOfTwo) {
  const uint64_t edges[] = {uint64_t{1} << 16, uint64_t{1} << 32, uint64_t{1} << 61,
                            (uint64_t{1} << 62) - 40'000, (uint64_t{1} << 62) - 4000};
  for (int run = 0; run < run_count() / 2; ++run) {
    const uint64_t edge = edges[static_cast<size_t>(run) % std::size(edges)];
    ASSERT_TRUE(same_as_model(edge + static_cast<uint64_t>(run), edge - 2000, kStepsPerRun)) << edge;
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

TEST(ReplayWindow, EverySizeHasItsEdge) {
  for (const uint64_t packets : {64u, 65u, 127u, 500u, 1023u, 1024u}) {
    ReplayWindow window(packets);
    window.mark(1);
    window.mark(packets);
    EXPECT_EQ(window.test(1), Replay::kDuplicate) << packets;
    EXPECT_EQ(window.test(2), Replay::kFresh) << packets;
    window.mark(packets + 1);
    EXPECT_EQ(window.test(1), Replay::kTooOld) << packets;
    window.mark(packets + 2);
    EXPECT_EQ(window.test(2), Replay::kTooOld) << "never marked, and too old all the same: " << packets;
  }
}

}  // namespace
}  // namespace lattice::crypto
