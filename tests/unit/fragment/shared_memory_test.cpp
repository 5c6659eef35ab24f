// Connections that share one ReceiveMemory, most of them hostile: an honest one makes progress whatever the
// others hold, also while the system has no memory for a time.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <limits>
#include <memory>

#include "allocation_counter.h"
#include "base/random.h"
#include "fragment/reassembler.h"
#include "pieces.h"
#include "reliability/channel/receive_channel.h"

namespace lattice::fragment {
namespace {

using reliability::ReceiveChannel;
using reliability::ReceiveMemory;
using test::cut;
using test::MessageBytes;
using test::pattern;
using wire::ChannelMode;

constexpr uint8_t kUnordered = 2, kOrdered = 3;
constexpr size_t kUnit = 3;  // Bytes of a fragment: each takes a block, however short it is.

/// The receiving side of one connection: what an endpoint does with its reliable messages and fragments.
class Receiver {
 public:
  Receiver(base::BufferPool& pool, ReceiveMemory& memory)
      : channels_{ReceiveChannel(pool, memory, false), ReceiveChannel(pool, memory, true)},
        reassembler_(memory) {}

  enum class Answer : uint8_t { kAck, kNoAck, kEnd };
  /// Whole messages are appended to `delivered`.
  Answer offer(const Piece& piece, std::deque<MessageBytes>* delivered) {
    ReceiveChannel& channel = channels_[piece.channel - kUnordered];
    switch (channel.offer(piece.id, wire::kFlagFragment, piece.body, piece.header)) {
      case ReceiveChannel::Outcome::kNoMemory:
        return Answer::kNoAck;
      case ReceiveChannel::Outcome::kBeyondWindow:
        return Answer::kEnd;
      case ReceiveChannel::Outcome::kDuplicate:
      case ReceiveChannel::Outcome::kStored:
        return Answer::kAck;
      case ReceiveChannel::Outcome::kDeliver:
        break;
    }
    bool is_fine = hand_up(piece, channel, delivered);
    ReceiveChannel::Ready ready;
    while (is_fine && channel.pop_ready(&ready)) {
      Piece stored = piece;
      stored.id = ready.id;
      stored.header = ready.fragment;
      stored.body = ready.body();
      is_fine = hand_up(stored, channel, delivered);
      channel.release(ready);
    }
    return is_fine ? Answer::kAck : Answer::kEnd;
  }
  void offer_unreliable(const Piece& piece) { (void)reassembler_.add(piece, 0, &message_); }

 private:
  bool hand_up(Piece piece, ReceiveChannel& channel, std::deque<MessageBytes>* delivered) {
    piece.next_id = channel.next_expected();
    const Reassembler::Result result = reassembler_.add(piece, 0, &message_);
    if (result.refusal) return false;
    channel.set_incomplete(reassembler_.oldest_incomplete(piece.channel), reassembler_.is_crowded());
    if (result.is_complete) delivered->push_back(message_);
    return true;
  }

  std::array<ReceiveChannel, 2> channels_;
  Reassembler reassembler_;
  MessageBytes message_;
};

/// Keeps the rules: a window of 256 from the oldest id not acknowledged, and what is refused comes again.
class HonestSender {
 public:
  HonestSender(uint8_t channel, ChannelMode mode, uint32_t seed)
      : channel_(channel), mode_(mode), seed_(seed) {}

  /// Offers each id of the window that is not acknowledged, in any order, and loses some.
  void send_window(base::Random& random, Receiver& to) {
    while (pieces_.size() < 2 * ReceiveMemory::kShareBlocks) add_message(random);
    std::vector<size_t> order;
    for (size_t i = 0; i < ReceiveMemory::kShareBlocks; ++i) {
      if (!acked_[i]) order.push_back(i);
    }
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.next_below(i)]);
    for (const size_t i : order) {
      if (random.next_below(8) == 0) continue;
      const Receiver::Answer answer = to.offer(pieces_[i], &delivered_);
      ASSERT_NE(answer, Receiver::Answer::kEnd) << "ended because of others";
      acked_[i] = answer == Receiver::Answer::kAck;
    }
    for (; acked_.front(); acked_.pop_front(), pieces_.pop_front()) ++progress_;
    check_delivered();
  }
  uint64_t progress() const { return progress_; }
  uint64_t messages() const { return messages_; }

 private:
  void add_message(base::Random& random) {
    const auto bytes = kUnit + 1 + random.next_below(256 * kUnit - kUnit);
    sent_.push_back(pattern(bytes, ++seed_));
    for (Piece& piece : cut(sent_.back(), kUnit, mode_, channel_, group_++, next_id_)) {
      piece.id.value = next_id_++;
      pieces_.push_back(piece);
      acked_.push_back(false);
    }
  }
  // A deque's messages stay where they are, so the pieces may point into them.
  void check_delivered() {
    for (const MessageBytes& message : delivered_) {
      const auto it = std::find(sent_.begin(), sent_.end(), message);
      ASSERT_NE(it, sent_.end()) << "not what was sent, or twice";
      const bool is_in_turn = it == sent_.begin() + open_;
      ASSERT_TRUE(is_in_turn || mode_ == ChannelMode::kReliableUnordered) << "out of order";
      *it = {};
      ++messages_;
      while (static_cast<size_t>(open_) < sent_.size() && sent_[static_cast<size_t>(open_)].empty()) ++open_;
    }
    delivered_.clear();
  }

  uint8_t channel_;
  ChannelMode mode_;
  uint32_t seed_;
  uint16_t group_ = 0, next_id_ = 0;
  std::ptrdiff_t open_ = 0;
  std::deque<MessageBytes> sent_, delivered_;
  std::deque<Piece> pieces_;
  std::deque<bool> acked_;
  uint64_t progress_ = 0, messages_ = 0;
};

/// Sends what costs memory: fragments of messages that are never whole, as far ahead as the window lets it.
class Hostile {
 public:
  Hostile(base::BufferPool& pool, ReceiveMemory& memory) : pool_(pool), memory_(memory) { start(); }

  void send(base::Random& random) {
    for (int i = 0; i < 40; ++i) {
      Piece piece;
      piece.channel = random.chance(0.5) ? kOrdered : kUnordered;
      piece.mode =
          piece.channel == kOrdered ? ChannelMode::kReliableOrdered : ChannelMode::kReliableUnordered;
      const auto first = static_cast<uint16_t>(random.next_below(2) * 256);
      const auto index = static_cast<uint8_t>(random.next_below(255));
      piece.header = {first, index, 256};
      piece.id.value = static_cast<uint16_t>(first + index);
      piece.body = kBody;
      if (receiver_->offer(piece, &delivered_) == Receiver::Answer::kEnd) start();
      piece.channel = 0;
      piece.mode = ChannelMode::kUnreliable;
      piece.header.group = static_cast<uint16_t>(random.next_below(3));
      receiver_->offer_unreliable(piece);
    }
    if (random.next_below(200) == 0) start();  // It leaves, and another comes.
  }

 private:
  void start() {
    receiver_.reset();
    receiver_ = std::make_unique<Receiver>(pool_, memory_);
  }

  static constexpr std::array<uint8_t, 1> kBody{7};
  base::BufferPool& pool_;
  ReceiveMemory& memory_;
  std::unique_ptr<Receiver> receiver_;
  std::deque<MessageBytes> delivered_;
};

class SharedMemory : public ::testing::TestWithParam<uint64_t> {};

TEST_P(SharedMemory, AnHonestConnectionMakesProgress) {
  constexpr size_t kHostile = 4;
  constexpr uint64_t kShares = 3 * (kHostile + 1), kGrowth = 64;
  base::Random random(GetParam());
  base::BufferPool pool(64u << 20);
  ReceiveMemory memory(kShares, kGrowth, 0, base::PageSize::kSmall);
  {
    Receiver honest(pool, memory);
    HonestSender unordered(kUnordered, ChannelMode::kReliableUnordered, 1);
    HonestSender ordered(kOrdered, ChannelMode::kReliableOrdered, 1000);
    std::vector<std::unique_ptr<Hostile>> hostile;
    for (size_t i = 0; i < kHostile; ++i) hostile.push_back(std::make_unique<Hostile>(pool, memory));
    for (int round = 0; round < 60; ++round) {
      const bool has_system_none = random.next_below(4) == 0;
      const uint64_t before = unordered.progress();
      const uint64_t ordered_before = ordered.progress();
      for (int step = 0; step < 8; ++step) {
        const test::NoMemory none(has_system_none ? 1 : std::numeric_limits<size_t>::max());
        for (const auto& one : hostile) one->send(random);
        unordered.send_window(random, honest);
        ordered.send_window(random, honest);
        ASSERT_LE(memory.blocks_live(), kShares * ReceiveMemory::kShareBlocks + kGrowth + 1);
      }
      if (has_system_none) continue;
      EXPECT_GT(unordered.progress(), before) << round;
      EXPECT_GT(ordered.progress(), ordered_before) << round;
    }
    EXPECT_GT(unordered.messages(), 100u);
    EXPECT_GT(ordered.messages(), 100u);
  }
  EXPECT_EQ(memory.blocks_live(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, SharedMemory, ::testing::Range<uint64_t>(1, 5));

TEST(SharedMemoryOf, ASystemWithoutMemoryRefusesAndIsAskedAgain) {
  base::BufferPool pool(64u << 20);
  ASSERT_TRUE(pool.reserve(16384, 1));
  ReceiveMemory memory(3, 0, 0, base::PageSize::kSmall);
  Receiver receiver(pool, memory);
  const MessageBytes sent = pattern(2 * kUnit, 1);
  const std::vector<Piece> pieces = cut(sent, kUnit, ChannelMode::kReliableOrdered, kOrdered, 0, 0);
  const std::vector<Piece> loose = cut(sent, kUnit, ChannelMode::kUnreliable, 0, 0, 0);
  std::deque<MessageBytes> delivered;
  {
    const test::NoMemory none(1);
    for (const Piece& piece : {pieces[1], pieces[0]}) {
      EXPECT_EQ(receiver.offer(piece, &delivered), Receiver::Answer::kNoAck);
    }
    Reassembler reassembler(memory);
    MessageBytes message;
    EXPECT_EQ(reassembler.add(loose[0], 0, &message).refusal, reliability::Refusal::kMessageNoMemory);
    EXPECT_EQ(reassembler.group_count(), 0u);
  }
  for (const Piece& piece : {pieces[1], pieces[0]}) {
    EXPECT_EQ(receiver.offer(piece, &delivered), Receiver::Answer::kAck);
  }
  ASSERT_EQ(delivered.size(), 1u);
  EXPECT_EQ(delivered.front(), sent);
}

}  // namespace
}  // namespace lattice::fragment
