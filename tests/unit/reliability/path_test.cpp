// An address changes only by an answer to a challenge, and the size starts over there (L-04, L-06).
#include "reliability/path/path.h"

#include <gtest/gtest.h>

#include "support/durations.h"

namespace lattice::reliability {
namespace {

using test::kMs;
constexpr Path::Limits kLimits{1472, true};

class FixedEntropy final : public crypto::EntropySource {
 public:
  void fill(std::span<uint8_t> out) override { std::fill(out.begin(), out.end(), uint8_t{0x5A}); }
};

class PathTest : public testing::Test {
 protected:
  PathTest() {
    path_.begin(old_);
    path_.agree(1472, kLimits);
  }
  void prove(uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
      path_.mtu().on_probe_sent(i + 1, 0, kMs);
      path_.mtu().on_probe_acked();
    }
  }
  void challenge(const base::PathId& from) {
    ASSERT_TRUE(path_.on_authentic(from, 100, true, 2000 * kMs, entropy_));
    ASSERT_TRUE(path_.trial().challenge_due(80, 2000 * kMs, 100 * kMs));
    path_.on_challenge_sent(80, 2000 * kMs);
  }

  const base::PathId old_ = base::ipv4_path(192, 0, 2, 1, 1000);
  const base::PathId new_ = base::ipv4_path(192, 0, 2, 1, 2000);
  FixedEntropy entropy_;
  Path path_;
};

TEST_F(PathTest, AnAnswerFromTheNewAddressMovesThePath) {
  prove(3);
  EXPECT_EQ(path_.datagram_bytes(), 1400u);
  challenge(new_);
  EXPECT_EQ(path_.address(), old_);
  EXPECT_TRUE(path_.on_response(new_, path_.trial().challenge(), kLimits, 2100 * kMs));
  EXPECT_EQ(path_.address(), new_);
  EXPECT_FALSE(path_.on_trial());
  EXPECT_EQ(path_.datagram_bytes(), wire::kFloorDatagramBytes);
  EXPECT_EQ(path_.mtu().limit_bytes(), 1472u);
  EXPECT_FALSE(path_.was_used_at(2100 * kMs - 1));
  EXPECT_TRUE(path_.was_used_at(2100 * kMs));
}

TEST_F(PathTest, AnyOtherAnswerChangesNothing) {
  prove(2);
  challenge(new_);
  Path::Challenge wrong = path_.trial().challenge();
  wrong[0] ^= 1;
  EXPECT_FALSE(path_.on_response(new_, wrong, kLimits, 2100 * kMs));
  EXPECT_FALSE(path_.on_response(old_, path_.trial().challenge(), kLimits, 2100 * kMs));
  EXPECT_EQ(path_.address(), old_);
  EXPECT_EQ(path_.datagram_bytes(), 1350u);
  EXPECT_TRUE(path_.was_used_at(0));
}

TEST_F(PathTest, ANewerPacketFromTheOldAddressEndsTheTrial) {
  challenge(new_);
  EXPECT_FALSE(path_.on_authentic(old_, 100, true, 2050 * kMs, entropy_));
  EXPECT_FALSE(path_.on_trial());
}

TEST_F(PathTest, TheSmallestOfAllLimitsHolds) {
  path_.agree(1300, kLimits);
  EXPECT_EQ(path_.mtu().limit_bytes(), 1300u);
  path_.agree(1472, {1250, true});
  EXPECT_EQ(path_.mtu().limit_bytes(), 1250u);
  path_.agree(1472, {1472, false});
  EXPECT_EQ(path_.mtu().limit_bytes(), wire::kFloorDatagramBytes);
}

TEST_F(PathTest, AChallengeIsAnsweredOnce) {
  EXPECT_FALSE(path_.answer_waits());
  path_.on_challenge({1, 2, 3});
  EXPECT_TRUE(path_.answer_waits());
  EXPECT_EQ(path_.take_answer(), (Path::Challenge{1, 2, 3}));
  EXPECT_FALSE(path_.answer_waits());
}

}  // namespace
}  // namespace lattice::reliability
