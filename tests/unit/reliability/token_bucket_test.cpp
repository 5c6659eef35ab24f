// C-03: what a bucket gives over time, at most, and after an overdraft.
#include "reliability/congestion/token_bucket.h"

#include <gtest/gtest.h>

#include "support/durations.h"

namespace lattice::reliability {
namespace {

using test::kMs;

TEST(TokenBucket, StartsFullAndNeverHoldsMoreThanItsCap) {
  TokenBucket bucket(2400, 0);
  EXPECT_EQ(bucket.balance_bytes(), 2400);
  bucket.refill(500 * kMs, 72'000, 2400);
  EXPECT_EQ(bucket.balance_bytes(), 2400);
  bucket.take(1200);
  bucket.refill(510 * kMs, 72'000, 2400);
  EXPECT_EQ(bucket.balance_bytes(), 1200 + 720);
  bucket.refill(520 * kMs, 72'000, 1000);  // A smaller cap takes effect at once.
  EXPECT_EQ(bucket.balance_bytes(), 1000);
}

TEST(TokenBucket, AnOverdraftIsPaidBack) {
  TokenBucket bucket(2400, 0);
  bucket.take(2400 + 1200);
  EXPECT_EQ(bucket.balance_bytes(), -1200);
  bucket.refill(50 * kMs, 12'000, 2400);
  EXPECT_EQ(bucket.balance_bytes(), -600);
  bucket.refill(150 * kMs, 12'000, 2400);
  EXPECT_EQ(bucket.balance_bytes(), 600);
}

TEST(TokenBucket, LosesNoFractionHoweverOftenItIsRefilled) {
  // A pump at 100 kHz and 12 kB/s: 0.12 bytes each time.
  TokenBucket bucket(1'000'000, 0);
  bucket.take(1'000'000);
  for (uint64_t now_ns = 0; now_ns <= 1000 * kMs; now_ns += 10'000) bucket.refill(now_ns, 12'000, 1'000'000);
  EXPECT_EQ(bucket.balance_bytes(), 12'000);
}

TEST(TokenBucket, NegativeFractionsRoundAwayFromWhatIsThere) {
  TokenBucket bucket(0, 0);
  bucket.take(1);
  bucket.refill(1, 1, 2400);  // A nano-byte.
  EXPECT_EQ(bucket.balance_bytes(), -1);
}

TEST(TokenBucket, ALongSleepAtTheHighestRateDoesNotOverflow) {
  TokenBucket bucket(2400, 0);
  bucket.refill(3600ull * 1000 * kMs, 4'000'000'000, 4'000'000'000);
  EXPECT_EQ(bucket.balance_bytes(), 4'000'000'000);
}

TEST(TokenBucket, OverAnyTimeItGivesAtMostRateAndCap) {
  constexpr uint64_t kRate = 50'000;
  TokenBucket bucket(2400, 0);
  uint64_t taken = 0;
  for (uint64_t ms = 1; ms <= 2000; ++ms) {
    bucket.refill(ms * kMs, kRate, 2400);
    while (bucket.balance_bytes() >= 1200) {
      bucket.take(1200);
      taken += 1200;
    }
    ASSERT_LE(taken, kRate * ms / 1000 + 2400);
  }
  EXPECT_GE(taken, 100'000u - 1200);
}

}  // namespace
}  // namespace lattice::reliability
