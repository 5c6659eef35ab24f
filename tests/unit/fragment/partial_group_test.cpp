// One message in pieces: every rule of F-06 and F-07 by name, in every order of arrival, and memory that
// follows what was received.
#include "fragment/partial_group.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "pieces.h"

namespace lattice::fragment {
namespace {

using reliability::Refusal;
using test::cut;
using test::MessageBytes;
using test::pattern;
using wire::ChannelMode;

/// A group begun by `first`, closed at the end of the test.
struct Open {
  explicit Open(const Piece& first) : group(PartialGroup::open(memory, first)) {}
  ~Open() {
    PartialGroup::close(memory, group);
    EXPECT_EQ(memory.blocks_live(), 0u);
  }
  Open(const Open&) = delete;
  Open& operator=(const Open&) = delete;

  reliability::ReceiveMemory memory{4, 0, 0, base::PageSize::kSmall};
  PartialGroup* group;
};

TEST(PartialGroup, AnyOrderGivesTheMessage) {
  EXPECT_TRUE(rc::check("pieces in any order", [] {
    const auto unit = static_cast<size_t>(*rc::gen::inRange(1, 1137));
    const auto bytes = static_cast<size_t>(*rc::gen::inRange(1, static_cast<int>(unit) * 40));
    const MessageBytes message = pattern(bytes, 3);
    const auto mode = *rc::gen::element(ChannelMode::kUnreliable, ChannelMode::kReliableUnordered);
    std::vector<Piece> pieces = cut(message, unit, mode, 2, 7, 65530);
    const auto keys = *rc::gen::container<std::vector<int>>(pieces.size(), rc::gen::arbitrary<int>());
    std::vector<size_t> order(pieces.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return keys[a] < keys[b]; });
    Open open(pieces[order[0]]);
    for (const size_t i : order) {
      RC_ASSERT(!open.group->is_complete());
      RC_ASSERT(!open.group->refusal(pieces[i]));
      open.group->keep(open.memory, pieces[i], i);
      RC_ASSERT(open.group->refusal(pieces[i]) == Refusal::kFragmentDuplicate);
    }
    RC_ASSERT(open.group->is_complete());
    RC_ASSERT(open.group->message_bytes() == bytes);
    MessageBytes out(bytes);
    open.group->assemble(out);
    RC_ASSERT(out == message);
  }));
}

TEST(PartialGroup, TheLongestMessageIs256Units) {
  const MessageBytes message = pattern(kMaxMessageBytes, 1);
  const std::vector<Piece> pieces =
      cut(message, reliability::kFragmentUnitBytes, ChannelMode::kReliableUnordered, 2, 0, 0);
  ASSERT_EQ(pieces.size(), 256u);
  Open open(pieces[255]);
  EXPECT_EQ(open.group->last_id().value, 255);
  for (size_t i = pieces.size(); i-- > 0;) open.group->keep(open.memory, pieces[i], 0);
  ASSERT_TRUE(open.group->is_complete());
  MessageBytes out(open.group->message_bytes());
  open.group->assemble(out);
  EXPECT_EQ(out, message);
}

TEST(PartialGroup, EveryDisagreementHasAName) {
  const MessageBytes message = pattern(100, 1);
  const std::vector<Piece> pieces = cut(message, 30, ChannelMode::kReliableUnordered, 2, 9, 1000);
  Open open(pieces[1]);
  open.group->keep(open.memory, pieces[1], 0);
  const auto refusal_with = [&](size_t index, auto change) {
    Piece piece = pieces[index];
    change(piece);
    return open.group->refusal(piece);
  };
  EXPECT_EQ(refusal_with(2, [](Piece&) {}), std::nullopt);
  EXPECT_EQ(refusal_with(2, [](Piece& p) { p.header.count = 5; }), Refusal::kFragmentMismatch);
  EXPECT_EQ(refusal_with(2, [](Piece& p) { p.header.group = 10; }), Refusal::kFragmentMismatch);
  EXPECT_EQ(refusal_with(2, [](Piece& p) { p.is_rpc = true; }), Refusal::kFragmentMismatch);
  EXPECT_EQ(refusal_with(2, [](Piece& p) { ++p.id.value; }), Refusal::kFragmentMismatch);
  EXPECT_EQ(refusal_with(1, [](Piece&) {}), Refusal::kFragmentDuplicate);
  EXPECT_EQ(refusal_with(2, [](Piece& p) { p.body = {}; }), Refusal::kFragmentLength);
  EXPECT_EQ(refusal_with(2, [](Piece& p) { p.body = p.body.first(29); }), Refusal::kFragmentLength);
  EXPECT_EQ(refusal_with(2, [&](Piece& p) { p.body = std::span(message).first(31); }),
            Refusal::kFragmentLength);
  EXPECT_EQ(refusal_with(3, [](Piece&) {}), std::nullopt);  // The last may be shorter, ...
  EXPECT_EQ(refusal_with(3, [&](Piece& p) { p.body = std::span(message).first(30); }), std::nullopt);
  EXPECT_EQ(refusal_with(3, [&](Piece& p) { p.body = std::span(message).first(31); }),
            Refusal::kFragmentLength);                                                  // ... not longer ...
  EXPECT_EQ(refusal_with(3, [](Piece& p) { p.body = {}; }), Refusal::kFragmentLength);  // ... nor empty.
}

TEST(PartialGroup, ALongLastFragmentIsFoundOutByTheFirst) {
  const MessageBytes message = pattern(100, 1);
  const std::vector<Piece> pieces = cut(message, 50, ChannelMode::kUnreliable, 0, 0, 0);
  Open open(pieces[1]);
  open.group->keep(open.memory, pieces[1], 0);
  Piece first = pieces[0];
  first.body = first.body.first(49);
  EXPECT_EQ(open.group->refusal(first), Refusal::kFragmentLength);
}

TEST(PartialGroup, NoMessageBecomesLongerThanTheLimit) {
  const MessageBytes body(1200, 1);
  Piece piece;
  piece.header = {0, 0, 256};
  Open open(piece);
  // 255 units and one byte more: 1140 fit the limit, 1141 do not.
  piece.body = std::span(body).first(1140);
  EXPECT_EQ(open.group->refusal(piece), std::nullopt);
  piece.body = std::span(body).first(1141);
  EXPECT_EQ(open.group->refusal(piece), Refusal::kFragmentTooLong);
  piece.body = std::span(body).first(1140);
  open.group->keep(open.memory, piece, 0);
  piece.header.index = 255;
  piece.body = std::span(body).first(kMaxMessageBytes - 255 * 1140);
  EXPECT_EQ(open.group->refusal(piece), std::nullopt);
  piece.body = std::span(body).first(kMaxMessageBytes - 255 * 1140 + 1);
  EXPECT_EQ(open.group->refusal(piece), Refusal::kFragmentTooLong);
}

TEST(PartialGroup, MemoryFollowsWhatWasReceived) {
  const MessageBytes message = pattern(256, 1);
  const std::vector<Piece> pieces = cut(message, 1, ChannelMode::kUnreliable, 0, 0, 0);
  Open open(pieces[7]);
  for (size_t i = 7; i < 10; ++i) {
    open.group->keep(open.memory, pieces[i], 0);
    EXPECT_EQ(open.memory.blocks_live(), i - 6) << "256 fragments were announced";
    EXPECT_EQ(open.group->held_blocks(), open.memory.blocks_live());
  }
}

TEST(PartialGroup, TheLongestPieceFitsBehindTheGroup) {
  const MessageBytes message = pattern(2 * PartialGroup::kMaxPieceBytes, 1);
  const std::vector<Piece> pieces =
      cut(message, PartialGroup::kMaxPieceBytes, ChannelMode::kUnreliable, 0, 0, 0);
  Open open(pieces[0]);
  for (const Piece& piece : pieces) {
    ASSERT_EQ(open.group->refusal(piece), std::nullopt);
    open.group->keep(open.memory, piece, 0);
  }
  MessageBytes out(message.size());
  open.group->assemble(out);
  EXPECT_EQ(out, message);
  const MessageBytes longer(PartialGroup::kMaxPieceBytes + 1, 1);
  Piece piece = pieces[1];
  piece.header.count = 2;
  Open other(piece);
  piece.body = longer;
  EXPECT_EQ(other.group->refusal(piece), Refusal::kFragmentLength);
}

}  // namespace
}  // namespace lattice::fragment
