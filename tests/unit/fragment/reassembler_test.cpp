// Many messages in pieces at once, from honest and from hostile senders: what is delivered, what is refused,
// and the bounds (F-03, F-04, F-06).
#include "fragment/reassembler.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>

#include "base/random.h"
#include "pieces.h"
#include "support/durations.h"

namespace lattice::fragment {
namespace {

using reliability::Refusal;
using test::cut;
using test::MessageBytes;
using test::pattern;
using wire::ChannelMode;

using test::kMs;

class ReassemblerTest : public ::testing::Test {
 protected:
  ~ReassemblerTest() override {
    reassembler.clear();
    EXPECT_EQ(memory.blocks_live(), 0u);
  }
  Reassembler::Result add(const Piece& piece, uint64_t now_ns = 0) {
    const Reassembler::Result result = reassembler.add(piece, now_ns, &message);
    evicted += result.evicted;
    return result;
  }
  std::optional<Refusal> refusal(const Piece& piece, uint64_t now_ns = 0) {
    return add(piece, now_ns).refusal;
  }

  static constexpr uint64_t kShares = 2;
  reliability::ReceiveMemory memory{kShares, 4096, 0, base::PageSize::kSmall};
  Reassembler reassembler{memory};
  MessageBytes message;
  uint32_t evicted = 0;
};

TEST_F(ReassemblerTest, ManyMessagesInterleavedOnEveryMode) {
  const uint64_t seed = 11;
  SCOPED_TRACE(seed);
  base::Random random(seed);
  struct Sent {
    MessageBytes bytes;
    std::vector<Piece> pieces;
  };
  std::vector<Sent> sent(12);
  std::vector<std::pair<size_t, size_t>> order;
  uint16_t next_id = 65000;  // The ids wrap on the way.
  for (size_t i = 0; i < sent.size(); ++i) {
    const ChannelMode mode = i % 2 == 0 ? ChannelMode::kUnreliable : ChannelMode::kReliableUnordered;
    sent[i].bytes = pattern(2000 + random.next_below(40'000), static_cast<uint32_t>(i));
    sent[i].pieces = cut(sent[i].bytes, 1136, mode, static_cast<uint8_t>(i % 2 == 0 ? 0 : 2),
                         static_cast<uint16_t>(i), next_id);
    if (i % 2 != 0) next_id = static_cast<uint16_t>(next_id + sent[i].pieces.size());
    for (size_t k = 0; k < sent[i].pieces.size(); ++k) order.emplace_back(i, k);
  }
  for (size_t i = order.size(); i-- > 1;) std::swap(order[i], order[random.next_below(i + 1)]);
  size_t complete = 0;
  for (const auto& [i, k] : order) {
    Piece piece = sent[i].pieces[k];
    piece.next_id = {65000};
    const Reassembler::Result result = add(piece);
    ASSERT_FALSE(result.refusal) << reliability::refusal_name(*result.refusal);
    if (!result.is_complete) continue;
    EXPECT_EQ(message, sent[i].bytes);
    ++complete;
  }
  EXPECT_EQ(complete, sent.size());
  EXPECT_EQ(reassembler.group_count(), 0u);
  EXPECT_EQ(reassembler.held_blocks(), 0u);
  EXPECT_EQ(evicted, 0u);
}

// G-10: a sender would send it whole, but may not have to.
TEST_F(ReassemblerTest, AMessageOfOneFragmentIsWhole) {
  for (const ChannelMode mode : {ChannelMode::kUnreliable, ChannelMode::kUnreliableSequenced,
                                 ChannelMode::kReliableUnordered, ChannelMode::kReliableOrdered}) {
    const MessageBytes bytes = pattern(700, static_cast<uint32_t>(mode));
    const std::vector<Piece> pieces = cut(bytes, 1136, mode, 5, 0, 0);
    ASSERT_EQ(pieces.size(), 1u);
    const Reassembler::Result result = add(pieces[0]);
    EXPECT_FALSE(result.refusal);
    EXPECT_TRUE(result.is_complete);
    EXPECT_EQ(message, bytes);
    Piece empty = pieces[0];
    empty.body = {};
    EXPECT_EQ(refusal(empty), Refusal::kFragmentLength);
    reassembler.clear();
  }
}

TEST_F(ReassemblerTest, OrderedFragmentsComeOneAfterAnother) {
  const MessageBytes bytes = pattern(5000, 1);
  const auto pieces = cut(bytes, 1136, ChannelMode::kReliableOrdered, 3, 0, 40);
  EXPECT_EQ(refusal(pieces[1]), Refusal::kFragmentOrder);  // A message begins with index 0.
  EXPECT_FALSE(reassembler.is_inside_message(3));
  EXPECT_EQ(refusal(pieces[0]), std::nullopt);
  EXPECT_TRUE(reassembler.is_inside_message(3));
  EXPECT_FALSE(reassembler.is_inside_message(4));
  EXPECT_EQ(refusal(pieces[2]), Refusal::kFragmentOrder);
  EXPECT_EQ(refusal(pieces[0]), Refusal::kFragmentOrder);
  for (size_t i = 1; i < pieces.size(); ++i) EXPECT_EQ(add(pieces[i]).is_complete, i + 1 == pieces.size());
  EXPECT_EQ(message, bytes);
  EXPECT_FALSE(reassembler.is_inside_message(3));
}

TEST_F(ReassemblerTest, UnorderedMessagesDoNotOverlap) {
  const MessageBytes bytes = pattern(10 * 1136, 1);
  const auto first = cut(bytes, 1136, ChannelMode::kReliableUnordered, 2, 0, 100);
  ASSERT_EQ(refusal(first[9]), std::nullopt);
  // Another whose last id would be the first's first; then one whose first id would be its last.
  for (const uint16_t id : {uint16_t{91}, uint16_t{109}}) {
    auto other = cut(bytes, 1136, ChannelMode::kReliableUnordered, 2, 1, id);
    for (Piece& piece : other) piece.next_id = {91};
    EXPECT_EQ(refusal(other[5]), Refusal::kFragmentMismatch) << id;
  }
  for (const uint16_t id : {uint16_t{90}, uint16_t{110}}) {
    auto other = cut(bytes, 1136, ChannelMode::kReliableUnordered, 2, 1, id);
    for (Piece& piece : other) piece.next_id = {90};
    EXPECT_EQ(refusal(other[5]), std::nullopt) << id;
  }
  auto elsewhere = cut(bytes, 1136, ChannelMode::kReliableUnordered, 5, 1, 100);
  EXPECT_EQ(refusal(elsewhere[0]), std::nullopt);
}

TEST_F(ReassemblerTest, AMessageWhoseIdsWentElsewhereIsFoundOut) {
  // Half a message at ids 10 and 11; id 11 came as something else, and the window has moved on.
  const MessageBytes bytes = pattern(2000, 1);
  ASSERT_EQ(refusal(cut(bytes, 1136, ChannelMode::kReliableUnordered, 2, 0, 10)[0]), std::nullopt);
  Piece next = cut(bytes, 1136, ChannelMode::kReliableUnordered, 2, 1, 12)[0];
  next.next_id = {12};
  EXPECT_EQ(refusal(next), Refusal::kFragmentOrder);
}

TEST_F(ReassemblerTest, SixteenUnreliableGroupsAndTheOldestGivesWay) {
  const MessageBytes bytes = pattern(2000, 1);
  std::vector<std::vector<Piece>> groups;
  for (uint16_t i = 0; i < 17; ++i) {
    groups.push_back(cut(bytes, 1136, ChannelMode::kUnreliable, 0, i, 0));
    ASSERT_EQ(refusal(groups[i][0], i), std::nullopt);
    EXPECT_LE(reassembler.group_count(), kMaxUnreliableGroups);
  }
  EXPECT_EQ(evicted, 1u);
  EXPECT_FALSE(add(groups[0][1]).is_complete);  // The start of it is gone; it took the place of group 1.
  EXPECT_EQ(evicted, 2u);
  EXPECT_TRUE(add(groups[2][1]).is_complete);
  EXPECT_TRUE(add(groups[16][1]).is_complete);
}

TEST_F(ReassemblerTest, TwoMebibytesOfUnreliableFragments) {
  const MessageBytes bytes = pattern(kMaxMessageBytes, 1);
  for (uint16_t i = 0; i < 16; ++i) {
    auto pieces = cut(bytes, 1136, ChannelMode::kUnreliable, 0, i, 0);
    pieces.pop_back();
    for (const Piece& piece : pieces) {
      ASSERT_EQ(refusal(piece), std::nullopt);
      ASSERT_LE(memory.blocks_live(), kMaxUnreliableBlocks);
    }
  }
  EXPECT_EQ(reassembler.held_blocks(), memory.blocks_live());
  EXPECT_EQ(reassembler.group_count(), 5u);  // 393 kB of memory each.
  EXPECT_EQ(evicted, 11u);
  // The newest is whole but for its last fragment.
  EXPECT_TRUE(add(cut(bytes, 1136, ChannelMode::kUnreliable, 0, 15, 0)[255]).is_complete);
  EXPECT_EQ(message, bytes);
}

TEST_F(ReassemblerTest, ADisagreementCostsAnUnreliableMessageOnly) {
  const MessageBytes bytes = pattern(4000, 1);
  auto pieces = cut(bytes, 1136, ChannelMode::kUnreliable, 0, 0, 0);
  const auto other = cut(bytes, 1136, ChannelMode::kUnreliable, 0, 1, 0);
  ASSERT_EQ(refusal(pieces[0]), std::nullopt);
  ASSERT_EQ(refusal(other[0]), std::nullopt);
  EXPECT_EQ(refusal(pieces[0]), Refusal::kFragmentDuplicate);
  EXPECT_EQ(reassembler.group_count(), 2u);  // That says nothing against the group.
  pieces[1].header.count = 3;
  EXPECT_EQ(refusal(pieces[1]), Refusal::kFragmentMismatch);
  EXPECT_EQ(reassembler.group_count(), 1u);
  for (size_t i = 1; i < other.size(); ++i) EXPECT_EQ(add(other[i]).is_complete, i + 1 == other.size());
  EXPECT_EQ(message, bytes);
}

TEST_F(ReassemblerTest, OnlyUnreliableGroupsTimeOut) {
  const MessageBytes bytes = pattern(4000, 1);
  const auto unreliable = cut(bytes, 1136, ChannelMode::kUnreliableSequenced, 1, 0, 7);
  const auto reliable = cut(bytes, 1136, ChannelMode::kReliableOrdered, 3, 0, 0);
  EXPECT_EQ(reassembler.next_expiry_ns(), UINT64_MAX);
  ASSERT_EQ(refusal(unreliable[0], 0), std::nullopt);
  ASSERT_EQ(refusal(reliable[0], 0), std::nullopt);
  EXPECT_EQ(reassembler.next_expiry_ns(), 2000 * kMs);
  EXPECT_EQ(reassembler.expire(1999 * kMs), 0u);
  ASSERT_EQ(refusal(unreliable[1], 1999 * kMs), std::nullopt);  // News: two seconds more.
  EXPECT_EQ(reassembler.next_expiry_ns(), 3999 * kMs);
  EXPECT_EQ(reassembler.expire(3998 * kMs), 0u);
  EXPECT_EQ(reassembler.expire(3999 * kMs), 1u);
  EXPECT_EQ(reassembler.group_count(), 1u);
  EXPECT_EQ(reassembler.expire(UINT64_MAX), 0u);
  for (size_t i = 1; i < reliable.size(); ++i) EXPECT_EQ(refusal(reliable[i]), std::nullopt);
  EXPECT_EQ(message, bytes);
}

TEST_F(ReassemblerTest, WhatIsOvertakenIsFreed) {
  const MessageBytes bytes = pattern(2000, 1);
  for (uint16_t i = 0; i < 4; ++i) {
    const auto sequence = static_cast<uint16_t>(65534 + i);
    ASSERT_EQ(refusal(cut(bytes, 1136, ChannelMode::kUnreliableSequenced, 1, i, sequence)[0]), std::nullopt);
  }
  ASSERT_EQ(refusal(cut(bytes, 1136, ChannelMode::kUnreliableSequenced, 4, 9, 65534)[0]), std::nullopt);
  ASSERT_EQ(refusal(cut(bytes, 1136, ChannelMode::kUnreliable, 0, 9, 0)[0]), std::nullopt);
  EXPECT_EQ(reassembler.drop_overtaken(1, {0}), 3u);  // 65534, 65535 and 0 itself; 1 is newer.
  EXPECT_EQ(reassembler.group_count(), 3u);
}

TEST_F(ReassemblerTest, WithoutGrowthUnreliableMessagesStayWithinOneShare) {
  reliability::ReceiveMemory tight(1, 0, 0, base::PageSize::kSmall);
  Reassembler poor(tight);
  const MessageBytes bytes = pattern(kMaxMessageBytes, 1);
  size_t complete = 0;
  for (uint16_t group = 0; group < 3; ++group) {
    auto pieces = cut(bytes, 1136, ChannelMode::kUnreliable, 0, group, 0);
    if (group != 2) pieces.pop_back();
    for (const Piece& piece : pieces) {
      const Reassembler::Result result = poor.add(piece, 0, &message);
      ASSERT_EQ(result.refusal, std::nullopt);
      ASSERT_LE(tight.blocks_live(), reliability::ReceiveMemory::kShareBlocks);
      complete += result.is_complete;
    }
  }
  EXPECT_EQ(complete, 1u) << "the longest message fits the share; the older ones gave way";
  EXPECT_EQ(message, bytes);
}

TEST_F(ReassemblerTest, TheOldestIncompleteMessageOfAChannel) {
  const MessageBytes bytes = pattern(2000, 1);
  EXPECT_EQ(reassembler.oldest_incomplete(2), std::nullopt);
  for (const uint16_t id : {uint16_t{1}, uint16_t{65534}, uint16_t{7}}) {  // The ids wrap.
    Piece piece = cut(bytes, 1136, ChannelMode::kReliableUnordered, 2, id, id)[0];
    piece.next_id = {65534};
    ASSERT_EQ(refusal(piece), std::nullopt);
  }
  EXPECT_EQ(reassembler.oldest_incomplete(2), base::Sequence16{65534});
  EXPECT_EQ(reassembler.oldest_incomplete(4), std::nullopt);
}

TEST_F(ReassemblerTest, ManyIncompleteMessagesAreACrowd) {
  const MessageBytes bytes = pattern(2000, 1);
  const auto piece = [&bytes](uint16_t id, size_t index) {
    Piece out = cut(bytes, 1136, ChannelMode::kReliableUnordered, 2, id, id)[index];
    out.next_id = {0};
    return out;
  };
  for (uint16_t id = 0; id < 512; id = static_cast<uint16_t>(id + 2)) {
    EXPECT_FALSE(reassembler.is_crowded());
    ASSERT_EQ(refusal(piece(id, 0)), std::nullopt);
  }
  EXPECT_TRUE(reassembler.is_crowded());
  ASSERT_EQ(refusal(piece(0, 1)), std::nullopt);
  EXPECT_FALSE(reassembler.is_crowded()) << "one was completed";
}

TEST_F(ReassemblerTest, NoMessageBeginsBelowWhatHasCome) {
  const MessageBytes bytes = pattern(3000, 1);
  Piece piece = cut(bytes, 1136, ChannelMode::kReliableUnordered, 2, 0, 10)[2];  // Id 12.
  piece.next_id = {11};  // Id 10 has come, and was not a fragment of it.
  EXPECT_EQ(refusal(piece), Refusal::kFragmentOrder);
}

// Splits messages, loses, repeats and reorders the fragments as the channel modes below would let them
// through, and compares what comes out with what went in.
TEST_F(ReassemblerTest, UnderLossDuplicationAndReordering) {
  EXPECT_TRUE(rc::check("every unreliable message comes out whole or not at all", [this] {
    const auto seed = *rc::gen::arbitrary<uint64_t>();
    base::Random random(seed);
    std::map<uint16_t, MessageBytes> sent;
    std::vector<Piece> wire;
    std::vector<uint16_t> whole;
    for (uint16_t group = 0; group < 10; ++group) {
      MessageBytes& bytes = sent[group] = pattern(1137 + random.next_below(20'000), group);
      bool lost = false;
      for (const Piece& piece : cut(bytes, 1136, ChannelMode::kUnreliable, 0, group, 0)) {
        if (random.chance(0.03)) {
          lost = true;
          continue;
        }
        wire.push_back(piece);
        if (random.chance(0.1)) wire.push_back(piece);
      }
      if (!lost) whole.push_back(group);
    }
    for (size_t i = 0; i + 1 < wire.size(); ++i) {
      std::swap(wire[i], wire[i + random.next_below(std::min<size_t>(20, wire.size() - i))]);
    }
    std::vector<uint16_t> delivered;
    for (const Piece& piece : wire) {
      // Repetitions are the peer's; the replay window leaves none of the network's. One of a message already
      // delivered would begin it anew, as the same message sent twice does.
      if (std::find(delivered.begin(), delivered.end(), piece.header.group) != delivered.end()) continue;
      const Reassembler::Result result = add(piece);
      RC_ASSERT(!result.refusal || result.refusal == Refusal::kFragmentDuplicate);
      if (!result.is_complete) continue;
      RC_ASSERT(message == sent[piece.header.group]);
      delivered.push_back(piece.header.group);
    }
    std::sort(delivered.begin(), delivered.end());
    RC_ASSERT(delivered == whole);
    reassembler.clear();
    RC_ASSERT(memory.blocks_live() == 0u);
  }));
}

}  // namespace
}  // namespace lattice::fragment
