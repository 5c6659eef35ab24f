#include "reliability/path/path_validator.h"

#include <gtest/gtest.h>

#include "endpoint_rig.h"

namespace lattice::reliability {
namespace {

using test::kMs;
using test::kSecond;

constexpr uint64_t kRtoNs = 100 * kMs;

class PathValidatorTest : public testing::Test {
 protected:
  bool newest(const base::PathId& from, uint64_t now_ns, size_t bytes = 100) {
    return validator.on_authentic(from, home, bytes, true, now_ns, entropy);
  }
  bool older(const base::PathId& from, uint64_t now_ns, size_t bytes = 100) {
    return validator.on_authentic(from, home, bytes, false, now_ns, entropy);
  }

  const base::PathId home = base::ipv4_path(192, 0, 2, 1, 1000);
  const base::PathId moved = base::ipv4_path(192, 0, 2, 1, 2000);
  const base::PathId attacker = base::ipv4_path(203, 0, 113, 9, 9);
  test::CountingEntropy entropy{3};
  PathValidator validator;
};

TEST_F(PathValidatorTest, TheNewestPacketPutsItsSourceOnTrialAndTheAnswerFromThereProvesIt) {
  EXPECT_FALSE(older(moved, 0)) << "an older number says nothing";
  EXPECT_FALSE(newest(home, 0));
  EXPECT_FALSE(validator.on_trial());
  EXPECT_TRUE(newest(moved, 0));
  EXPECT_EQ(validator.candidate(), moved);
  ASSERT_TRUE(validator.challenge_due(60, 0, kRtoNs));
  PathValidator::Challenge challenge = validator.challenge();
  EXPECT_FALSE(validator.on_response(moved, challenge)) << "nothing was sent yet";
  validator.on_challenge_sent(60, 0);
  EXPECT_FALSE(validator.on_response(home, challenge)) << "from elsewhere";
  challenge[3] ^= 1;
  EXPECT_FALSE(validator.on_response(moved, challenge));
  challenge[3] ^= 1;
  EXPECT_TRUE(validator.on_response(moved, challenge));
  EXPECT_FALSE(validator.on_trial());
  EXPECT_FALSE(validator.on_response(moved, challenge)) << "once";
}

TEST_F(PathValidatorTest, ANewerPacketFromTheOldAddressEndsTheTrial) {
  newest(attacker, 0);
  older(home, 1 * kMs);
  EXPECT_TRUE(validator.on_trial()) << "what was overtaken on the way says nothing";
  newest(home, 2 * kMs);
  EXPECT_FALSE(validator.on_trial());
}

TEST_F(PathValidatorTest, OneTrialASecond) {
  EXPECT_TRUE(newest(attacker, 5));
  newest(home, 10);
  EXPECT_FALSE(newest(moved, 20));
  EXPECT_FALSE(newest(moved, 5 + kSecond - 1));
  EXPECT_FALSE(validator.on_trial());
  EXPECT_TRUE(newest(moved, 5 + kSecond));
}

TEST_F(PathValidatorTest, AThirdAddressReplacesTheOneOnTrialAfterASecond) {
  newest(attacker, 0);
  const PathValidator::Challenge first = validator.challenge();
  EXPECT_FALSE(newest(moved, kSecond - 1));
  EXPECT_EQ(validator.candidate(), attacker);
  EXPECT_TRUE(newest(moved, kSecond));
  EXPECT_EQ(validator.candidate(), moved);
  EXPECT_NE(validator.challenge(), first);
}

TEST_F(PathValidatorTest, NeverMoreThanThreeTimesWhatCame) {
  newest(moved, 0, 31);
  EXPECT_FALSE(validator.challenge_due(94, 0, kRtoNs));
  ASSERT_TRUE(validator.challenge_due(93, 0, kRtoNs));
  validator.on_challenge_sent(60, 0);
  EXPECT_FALSE(validator.challenge_due(60, kSecond / 2, kRtoNs));
  newest(moved, kSecond / 2, 31);
  EXPECT_TRUE(validator.challenge_due(60, kSecond / 2, kRtoNs));
}

TEST_F(PathValidatorTest, ChallengesARoundTripApartUntilTheTrialIsOver) {
  newest(moved, 0, 10'000);
  validator.on_challenge_sent(60, 0);
  EXPECT_FALSE(validator.challenge_due(60, kRtoNs - 1, kRtoNs));
  EXPECT_TRUE(validator.challenge_due(60, kRtoNs, kRtoNs));
  validator.update(kSecond - 1, kRtoNs);
  EXPECT_TRUE(validator.on_trial());
  validator.update(kSecond, kRtoNs);
  EXPECT_FALSE(validator.on_trial());
  newest(moved, kSecond);
  validator.update(kSecond + 2 * kSecond, 800 * kMs);
  EXPECT_TRUE(validator.on_trial()) << "three round trips where that is longer";
  validator.update(kSecond + 2400 * kMs, 800 * kMs);
  EXPECT_FALSE(validator.on_trial());
}

TEST_F(PathValidatorTest, AHundredForeignDatagramsASecondAreOpened) {
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(validator.may_open_foreign(kSecond + 1));
  EXPECT_FALSE(validator.may_open_foreign(2 * kSecond - 1));
  EXPECT_TRUE(validator.may_open_foreign(2 * kSecond));
}

}  // namespace
}  // namespace lattice::reliability
