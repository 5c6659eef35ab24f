// The newest message of a sequenced channel, and each reliable channel's own window.
#include "reliability/channel/incoming_channels.h"

#include <gtest/gtest.h>

namespace lattice::reliability {
namespace {

TEST(SequencedOrder, OnlyNewerSequencesAreNews) {
  SequencedOrder order;
  EXPECT_FALSE(order.newest());
  EXPECT_TRUE(order.is_news({65535}, 1));
  order.note({65535}, 1);
  EXPECT_FALSE(order.is_news({65535}, 2));
  EXPECT_FALSE(order.is_news({65000}, 2));
  EXPECT_TRUE(order.is_news({3}, 2));  // Wrapped.
  EXPECT_EQ(order.newest()->value, 65535);
}

TEST(SequencedOrder, AfterManyPacketsEverySequenceIsNews) {
  SequencedOrder order;
  order.note({100}, 10);
  EXPECT_FALSE(order.is_news({50}, 10 + kMaxNumberedPackets));
  EXPECT_TRUE(order.is_news({50}, 11 + kMaxNumberedPackets));
}

TEST(IncomingChannels, EachReliableChannelHasItsOwnOrder) {
  base::BufferPool pool(1u << 20);
  ReceiveMemory memory(8, 64, 4, base::PageSize::kSmall);
  const wire::ChannelTable modes;
  IncomingChannels channels(pool, memory, modes);
  const uint8_t body[] = {1, 2, 3};
  using Outcome = ReceiveChannel::Outcome;
  EXPECT_EQ(channels.reliable(3).offer({1}, 0, body), Outcome::kStored);    // Ordered: 0 is missing.
  EXPECT_EQ(channels.reliable(2).offer({1}, 0, body), Outcome::kDeliver);   // Unordered.
  EXPECT_EQ(channels.reliable(15).offer({0}, 0, body), Outcome::kDeliver);  // Control: ordered.
  EXPECT_EQ(channels.reliable(2).offer({1}, 0, body), Outcome::kDuplicate);
  EXPECT_EQ(channels.reliable(3).next_expected().value, 0);
  EXPECT_EQ(channels.reliable(15).next_expected().value, 1);
  channels.sequenced(1).note({9}, 1);
  EXPECT_FALSE(channels.sequenced(4).newest());
}

}  // namespace
}  // namespace lattice::reliability
