// Sources that wait share a full link evenly, whatever their messages are like.
#include "reliability/channel/channel_turns.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace lattice::reliability {
namespace {

constexpr size_t kPacketBytes = 1166;

using Sizes = std::array<size_t, ChannelTurns::kSourceCount>;

// Fills packets from sources that always wait with messages of these lengths; 0 is no source. Returns the
// bytes of each.
Sizes fill(ChannelTurns& turns, const Sizes& message_bytes, int packets) {
  Sizes sent{};
  uint32_t waiting = 0;
  for (size_t i = 0; i < message_bytes.size(); ++i)
    if (message_bytes[i] != 0) waiting |= 1u << i;
  for (int packet = 0; packet < packets; ++packet) {
    size_t room = kPacketBytes;
    uint32_t fitting = waiting;
    while (fitting != 0) {
      const uint8_t source = turns.next(waiting, fitting);
      if (message_bytes[source] > room) {
        fitting &= ~(1u << source);
        continue;
      }
      room -= message_bytes[source];
      sent[source] += message_bytes[source];
      turns.charge(source, message_bytes[source]);
    }
  }
  return sent;
}

TEST(ChannelTurns, EqualSharesForMessagesOfAnyLength) {
  const std::array<Sizes, 5> cases = {
      {{1000, 0, 1000, 1000}, {700, 0, 400}, {30, 0, 1000, 500}, {1100, 0, 200}, {560, 0, 0, 20}}};
  for (const Sizes& bytes : cases) {
    ChannelTurns turns;
    const Sizes sent = fill(turns, bytes, 3000);
    size_t total = 0;
    size_t sources = 0;
    for (size_t i = 0; i < sent.size(); ++i) {
      total += sent[i];
      if (bytes[i] != 0) ++sources;
    }
    for (size_t i = 0; i < sent.size(); ++i) {
      if (bytes[i] == 0) continue;
      EXPECT_NEAR(static_cast<double>(sent[i]), static_cast<double>(total) / static_cast<double>(sources),
                  0.1 * static_cast<double>(total) / static_cast<double>(sources))
          << "source " << i << " of " << bytes[i] << " bytes";
    }
  }
}

TEST(ChannelTurns, OneThatComesAnewWaitsForOneTurnOfEachOther) {
  ChannelTurns turns;
  fill(turns, {0, 0, 1000, 1000}, 101);
  int packets = 0;
  for (; turns.next(0b1101, 0b1101) != 0; ++packets) turns.charge(turns.next(0b1101, 0b1101), 1000);
  EXPECT_LE(packets, 4);
}

TEST(ChannelTurns, NothingIsSavedWhileIdle) {
  ChannelTurns turns;
  for (int i = 0; i < 100; ++i) {  // Source 2 uses little of each of its turns.
    while (turns.next(0b1100, 0b1100) != 2) turns.charge(3, 1000);
    turns.charge(2, 10);
    EXPECT_EQ(turns.next(0b1000, 0b1000), 3);
  }
  size_t bytes = 0;
  while (turns.next(0b1100, 0b1100) != 2) turns.charge(3, 1000);
  for (; turns.next(0b1100, 0b1100) == 2; bytes += 100) turns.charge(2, 100);
  EXPECT_EQ(bytes, static_cast<size_t>(ChannelTurns::kTurnBytes));
}

TEST(ChannelTurns, WhoDoesNotFitKeepsItsTurn) {
  ChannelTurns turns;
  EXPECT_EQ(turns.next(0b1100, 0b1100), 2);
  EXPECT_EQ(turns.next(0b1100, 0b1000), 3);
  turns.charge(3, 100);
  EXPECT_EQ(turns.next(0b1100, 0b1100), 2);
}

}  // namespace
}  // namespace lattice::reliability
