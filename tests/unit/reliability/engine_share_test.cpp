// a quarter for snapshots and inputs, whatever size they have.
#include "reliability/channel/engine_share.h"

#include <gtest/gtest.h>

namespace lattice::reliability {
namespace {

TEST(EngineShare, AWholePartGetsAPacketEveryFourth) {
  EngineShare share;
  uint64_t engine = 0, total = 0;
  for (int i = 0; i < 400; ++i) {
    const bool first = share.first(1147);
    share.on_packet(1160, first ? 1147 : 0);
    engine += first ? 1147 : 0;
    total += 1160;
  }
  EXPECT_NEAR(static_cast<double>(engine) / static_cast<double>(total), 0.25, 0.01);
}

TEST(EngineShare, NoMoreThanADatagramIsSavedUp) {
  EngineShare share;
  for (int i = 0; i < 10; ++i) share.on_packet(1160, 0);
  EXPECT_TRUE(share.first(1147));
  share.on_packet(1160, 1147);
  EXPECT_FALSE(share.first(1147));
  share.on_packet(1160, 1160);  // More than its share: nothing is owed, and nothing is taken back.
  EXPECT_FALSE(share.first(1));
}

}  // namespace
}  // namespace lattice::reliability
