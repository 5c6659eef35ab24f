// Messages longer than a packet, and receipts, from one game to another.
#include "allocation_counter.h"
#include "message_pair.h"

namespace lattice::test::long_message_test {
namespace {

constexpr lattice_channel kFour[] = {LATTICE_CHANNEL_UNRELIABLE, LATTICE_CHANNEL_UNRELIABLE_SEQUENCED,
                                     LATTICE_CHANNEL_RELIABLE_UNORDERED, LATTICE_CHANNEL_RELIABLE_ORDERED};

TEST(LongMessage, TheLongestArrivesExactlyOnceUnder30PercentLoss) {
  for (const lattice_channel channel :
       {LATTICE_CHANNEL_RELIABLE_UNORDERED, LATTICE_CHANNEL_RELIABLE_ORDERED}) {
    SCOPED_TRACE(channel);
    MessagePair pair;
    pair.impair(25, 30);
    ASSERT_TRUE(pair.connect(60'000));
    const Bytes longest = pattern(LATTICE_MESSAGE_MAX_BYTES, 1);
    const Bytes after = {1, 2, 3};
    for (Side* side : {&pair.client, &pair.server}) {
      uint32_t receipt = 0;
      ASSERT_EQ(lattice_send_with_receipt(side->conn, channel, longest.data(), longest.size(), &receipt),
                LATTICE_OK)
          << lattice_last_error();
      EXPECT_NE(receipt, 0u);
      ASSERT_EQ(side->send(channel, after), LATTICE_OK);
      ASSERT_TRUE(pair.run_until(120'000, [&] { return side->receipts.count(receipt) != 0; }));
      EXPECT_EQ(side->receipts[receipt], std::vector<int>{1});
    }
    pair.run_until(5000, [] { return false; });  // Whatever is still under way.
    for (Side* side : {&pair.client, &pair.server}) {
      ASSERT_EQ(side->received.size(), 2u);
      const size_t first = side->received[0].second.size() == longest.size() ? 0 : 1;
      EXPECT_EQ(side->received[first].second, longest);
      EXPECT_EQ(side->received[1 - first].second, after);
      EXPECT_TRUE(first == 0 || channel == LATTICE_CHANNEL_RELIABLE_UNORDERED);
      EXPECT_EQ(side->reason, -1);
    }
  }
}

TEST(LongMessage, EveryChannelTakesTheLongestAndRefusesOneByteMore) {
  MessagePair pair;
  pair.impair(10, 0);
  ASSERT_TRUE(pair.connect());
  for (const lattice_channel channel : kFour) {
    SCOPED_TRACE(channel);
    pair.server.received.clear();
    const Bytes longest = pattern(LATTICE_MESSAGE_MAX_BYTES, 1);
    Bytes longer = longest;
    longer.push_back(0);
    EXPECT_EQ(pair.client.send(channel, longer), LATTICE_ERROR_LIMIT);
    EXPECT_NE(std::string(lattice_last_error()).find("290816"), std::string::npos);
    ASSERT_EQ(pair.client.send(channel, longest), LATTICE_OK) << lattice_last_error();
    ASSERT_TRUE(pair.run_until(30'000, [&] { return !pair.server.received.empty(); }));
    EXPECT_EQ(pair.server.received[0].first, channel);
    EXPECT_EQ(pair.server.received[0].second, longest);
    pair.run_until(1000, [] { return false; });
    EXPECT_EQ(pair.server.received.size(), 1u);
  }
}

TEST(LongMessage, ReceiptsSayWhatBecameOfEachMessage) {
  MessagePair pair;
  pair.impair(20, 20);
  ASSERT_TRUE(pair.connect(60'000));
  std::map<uint32_t, lattice_channel> sent;
  for (int i = 0; i < 100; ++i) {
    for (const lattice_channel channel : kFour) {
      const Bytes body(i % 3 == 0 ? 3000 : 20, static_cast<uint8_t>(i));
      uint32_t receipt = 0;
      ASSERT_EQ(lattice_send_with_receipt(pair.client.conn, channel, body.data(), body.size(), &receipt),
                LATTICE_OK);
      EXPECT_TRUE(sent.emplace(receipt, channel).second);
    }
    pair.step(30'000'000);
  }
  ASSERT_TRUE(pair.run_until(60'000, [&] { return pair.client.receipts.size() == sent.size(); }));
  size_t given_up = 0;
  for (const auto& [receipt, channel] : sent) {
    ASSERT_EQ(pair.client.receipts[receipt].size(), 1u);
    const bool acked = pair.client.receipts[receipt][0] == 1;
    EXPECT_TRUE(acked || channel < LATTICE_CHANNEL_RELIABLE_UNORDERED);
    given_up += acked ? 0u : 1u;
  }
  EXPECT_GT(given_up, 20u);  // Of 200 unreliable ones at 20 % loss.
  EXPECT_LT(given_up, 120u);
}

TEST(LongMessage, TheEndGivesUpWhatWasNotAcknowledged) {
  MessagePair pair;
  pair.impair(20, 0);
  ASSERT_TRUE(pair.connect());
  const Bytes body = pattern(100'000, 1);
  uint32_t receipt = 0;
  ASSERT_EQ(lattice_send_with_receipt(pair.client.conn, LATTICE_CHANNEL_RELIABLE_ORDERED, body.data(),
                                      body.size(), &receipt),
            LATTICE_OK);
  lattice_disconnect(pair.client.conn);
  ASSERT_TRUE(pair.run_until(1000, [&] { return pair.client.reason >= 0; }));
  EXPECT_EQ(pair.client.receipts[receipt], std::vector<int>{0});
}

TEST(LongMessage, ArgumentsAreChecked) {
  MessagePair pair;
  ASSERT_TRUE(pair.connect());
  const uint8_t byte = 1;
  volatile int no_channel = 4;  // Unknown to the compiler, which would refuse it.
  uint32_t receipt = 5;
  EXPECT_EQ(lattice_send_with_receipt(pair.client.conn, LATTICE_CHANNEL_RELIABLE_ORDERED, &byte, 1, nullptr),
            LATTICE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(lattice_send_with_receipt(pair.client.conn, static_cast<lattice_channel>(no_channel), &byte, 1,
                                      &receipt),
            LATTICE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(lattice_send_with_receipt(pair.client.conn, LATTICE_CHANNEL_UNRELIABLE, nullptr, 1, &receipt),
            LATTICE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(lattice_send_with_receipt(nullptr, LATTICE_CHANNEL_UNRELIABLE, &byte, 1, &receipt),
            LATTICE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(receipt, 5u);  // Untouched by what failed.
}

TEST(LongMessage, AfterWarmUpOnlyANewPeakAllocates) {
  MessagePair pair;
  pair.impair(20, 5);
  ASSERT_TRUE(pair.connect());
  for (Side* side : {&pair.client, &pair.server}) side->keep = false;
  const Bytes longest = pattern(LATTICE_MESSAGE_MAX_BYTES, 1);
  const Bytes medium = pattern(5000, 2);
  uint64_t warm = 0;
  for (int i = 0; i < 3500; ++i) {
    if (i == 2500) warm = allocation_count();
    uint32_t receipt = 0;
    if (i % 100 == 0) pair.client.send(LATTICE_CHANNEL_RELIABLE_UNORDERED, longest);
    if (i % 7 == 0) pair.client.send(LATTICE_CHANNEL_UNRELIABLE, medium);
    if (i % 7 == 3) pair.client.send(LATTICE_CHANNEL_UNRELIABLE_SEQUENCED, medium);
    if (i % 11 == 0) {
      lattice_send_with_receipt(pair.server.conn, LATTICE_CHANNEL_RELIABLE_ORDERED, medium.data(),
                                medium.size(), &receipt);
    }
    pair.step(10'000'000);
  }
  // Losses decide how many fragments wait at once: a peak not seen before takes a slab.
  EXPECT_LE(allocation_count() - warm, 2u);
  EXPECT_GT(pair.server.messages, 500u);
  EXPECT_GT(pair.client.messages, 200u);
}

}  // namespace
}  // namespace lattice::test::long_message_test
