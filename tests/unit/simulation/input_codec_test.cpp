#include "simulation/input_codec.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <vector>

#include "base/random.h"
#include "unit/simulation/input_layout.h"
#include "unit/simulation/random_sight.h"

namespace lattice::simulation {
namespace {

using test::move_input_layout;
using test::MoveInput;

MoveInput random_input(base::Random& random) {
  MoveInput input{};
  input.jump = random.chance(0.5) ? 1 : 0;
  input.weapon = static_cast<uint8_t>(random.next_below(8));
  input.forward = static_cast<float>(random.next_unit() * 2 - 1);
  input.turn = static_cast<float>(random.next_unit() * 2 - 1);
  input.buttons = static_cast<uint32_t>(random.next_u64());
  return input;
}

std::vector<serialization::Word> words_of(const serialization::Layout& layout, const MoveInput& input) {
  std::vector<serialization::Word> words(layout.word_count());
  const void* host[1] = {&input};
  layout.quantize(host, words.data());
  return words;
}

class InputCodec : public ::testing::Test {
 protected:
  serialization::Layout layout_ = move_input_layout();
  std::vector<serialization::Word> decoded_ =
      std::vector<serialization::Word>(layout_.word_count() * kMaxInputsPerMessage);
  std::array<uint8_t, 1200> buffer_{};

  std::span<const uint8_t> encode(const InputHistory& history, size_t capacity = 1200) {
    const size_t bytes = encode_inputs(layout_, history, kLead, std::span(buffer_).first(capacity));
    return std::span(buffer_).first(bytes);
  }
  DecodedInputs decode(std::span<const uint8_t> body) { return decode_inputs(layout_, body, 0, decoded_); }
  InputHistory history_of(base::Random& random, Tick newest, uint32_t count, double change) {
    InputHistory history(layout_.word_count());
    MoveInput input = random_input(random);
    Sight sight;
    for (uint32_t i = 0; i < count; ++i) {
      const Tick tick = newest - (count - 1) + i;
      if (random.chance(change)) input = random_input(random);
      sight = test::next_sight(random, sight, tick);
      history.push(tick, words_of(layout_, input), sight);
    }
    return history;
  }
  static constexpr uint8_t kLead = 9;
};

TEST_F(InputCodec, GoldenBytes) {
  InputHistory history(layout_.word_count());
  MoveInput input{};
  input.weapon = 5;
  input.buttons = 3;
  history.push(0x01020304, words_of(layout_, input));
  history.push(0x01020305, words_of(layout_, input));
  input.jump = 1;
  history.push(0x01020306, words_of(layout_, input));
  // 06 03 02 01 | 03 | 09 | 00 00: no sight | 1 101 1000000.. : jump 1, weapon 101, forward and turn 8 bits
  // each (code 64 of 0..128), buttons varint 03, then: 1 changed, mask 10000 (jump differs), 00 0 the same
  // sight, 0 unchanged, 00 0, zero padding.
  const std::vector<uint8_t> golden = {0x06, 0x03, 0x02, 0x01, 0x03, 0x09, 0x00,
                                       0x00, 0xD4, 0x04, 0x00, 0x3C, 0x00, 0x00};
  const auto body = encode(history);
  EXPECT_EQ(std::vector<uint8_t>(body.begin(), body.end()), golden);
}

TEST_F(InputCodec, RoundTripsAnyWindow) {
  EXPECT_TRUE(rc::check("decode(encode(window)) is the window", [this] {
    const auto seed = *rc::gen::arbitrary<uint64_t>();
    base::Random random(seed);
    const auto count = static_cast<uint32_t>(1 + random.next_below(40));
    const auto newest = static_cast<Tick>(1000 + random.next_below(UINT32_MAX - 1000));
    const InputHistory history = history_of(random, newest, count, random.next_unit());
    const DecodedInputs result = decode(encode(history));
    RC_ASSERT(result.refusal == InputRefusal::kNone);
    RC_ASSERT(result.newest_tick == newest);
    RC_ASSERT(result.lead_quarter_ticks == kLead);
    RC_ASSERT(result.count == std::min(count, kMaxInputsPerMessage));
    for (uint32_t i = 0; i < result.count; ++i) {
      RC_ASSERT(layout_.equal(&decoded_[i * layout_.word_count()], history.find(newest - i)));
      RC_ASSERT(result.sights[i] == history.sight(newest - i));
    }
  }));
}

TEST_F(InputCodec, EveryTruncationIsRefused) {
  base::Random random(5);
  const InputHistory history = history_of(random, 500, 12, 0.5);
  const auto body = encode(history);
  ASSERT_GT(body.size(), 20u);
  EXPECT_EQ(decode(body).refusal, InputRefusal::kNone);
  for (size_t size = 0; size < body.size(); ++size) {
    EXPECT_NE(decode(body.first(size)).refusal, InputRefusal::kNone) << size;
  }
}

TEST_F(InputCodec, ShrinksToTheCapacityFromTheOldEnd) {
  base::Random random(6);
  const InputHistory history = history_of(random, 500, 32, 1.0);
  const size_t whole = encode(history).size();
  uint32_t last_count = 0;
  for (size_t capacity = 0; capacity <= whole; ++capacity) {
    const auto body = encode(history, capacity);
    ASSERT_LE(body.size(), capacity);
    if (body.empty()) {
      EXPECT_EQ(last_count, 0u);
      continue;
    }
    const DecodedInputs result = decode(body);
    ASSERT_EQ(result.refusal, InputRefusal::kNone) << capacity;
    EXPECT_EQ(result.newest_tick, 500u);
    EXPECT_GE(result.count, last_count);
    last_count = result.count;
  }
  EXPECT_EQ(last_count, 32u);
}

TEST_F(InputCodec, ReadsBackToTheLastTickThatRan) {
  base::Random random(11);
  const auto span = encode(history_of(random, 500, 12, 0.7));
  const std::vector<uint8_t> body(span.begin(), span.end());
  const DecodedInputs all = decode(body);
  ASSERT_EQ(all.read_count, 12u);
  const std::vector<serialization::Word> words = decoded_;
  for (const auto& [last_run, read] : {std::pair<Tick, uint32_t>{488, 12}, {489, 11}, {497, 3}, {499, 1}}) {
    std::fill(decoded_.begin(), decoded_.end(), 0);
    const DecodedInputs result = decode_inputs(layout_, body, last_run, decoded_);
    ASSERT_EQ(result.refusal, InputRefusal::kNone) << last_run;
    EXPECT_EQ(result.count, 12u);
    EXPECT_EQ(result.read_count, read);
    EXPECT_TRUE(std::equal(all.sights.begin(), all.sights.begin() + read, result.sights.begin()));
    EXPECT_TRUE(std::equal(words.begin(), words.begin() + static_cast<ptrdiff_t>(read * layout_.word_count()),
                           decoded_.begin()));
  }
  EXPECT_EQ(decode_inputs(layout_, body, 600, decoded_).read_count, 1u)
      << "the newest tells how late they are";
  EXPECT_EQ(decode_inputs(layout_, body, 500 + (1u << 31) - 5, decoded_).read_count, 1u) << "far behind";
  EXPECT_EQ(decode_inputs(layout_, body, 500 + (1u << 31) + 5, decoded_).read_count, 12u) << "far ahead";
  EXPECT_EQ(decode_inputs(layout_, body, 500 + (1u << 31), decoded_).read_count, 1u) << "as far as can be";
  // What nobody can use may be anything, or missing.
  const std::span<const uint8_t> cut = std::span(body).first(body.size() - 4);
  EXPECT_EQ(decode(cut).refusal, InputRefusal::kTruncated);
  EXPECT_EQ(decode_inputs(layout_, cut, 498, decoded_).refusal, InputRefusal::kNone);
  EXPECT_EQ(decode_inputs(layout_, std::span(body).first(7), 600, decoded_).refusal,
            InputRefusal::kTruncated);
}

TEST_F(InputCodec, NamedRefusals) {
  base::Random random(7);
  const auto good_span = encode(history_of(random, 500, 3, 0.0));
  const std::vector<uint8_t> good(good_span.begin(), good_span.end());

  std::vector<uint8_t> bad = good;
  bad[4] = 0;
  EXPECT_EQ(decode(bad).refusal, InputRefusal::kBadCount);
  bad[4] = 33;
  EXPECT_EQ(decode(bad).refusal, InputRefusal::kBadCount);

  bad = good;
  bad[0] = 0, bad[1] = 0;
  EXPECT_EQ(decode(bad).refusal, InputRefusal::kBadTick);
  bad[0] = 2;  // ticks 2, 1, 0
  EXPECT_EQ(decode(bad).refusal, InputRefusal::kBadTick);
  bad[0] = 3;
  EXPECT_EQ(decode(bad).refusal, InputRefusal::kNone);

  bad = good;
  bad.push_back(0);
  EXPECT_EQ(decode(bad).refusal, InputRefusal::kTrailing);
  EXPECT_EQ(decode(std::span(good).first(4)).refusal, InputRefusal::kTruncated);
}

TEST_F(InputCodec, ChangedButEqualIsRefused) {
  InputHistory history(layout_.word_count());
  const MoveInput input{};
  history.push(10, words_of(layout_, input));
  const auto one = encode(history);
  // Claim a second input that "changed", with a mask of one field and that field's same value.
  std::array<uint8_t, 64> forged{};
  serialization::BitWriter writer(forged);
  writer.WriteU32(10);
  writer.WriteByte(2);
  writer.WriteByte(0);
  writer.WriteBits(0, 16);  // no sight
  layout_.encode_whole(writer, history.find(10));
  writer.WriteBool(true);
  writer.WriteBits(0b01000, 5);  // weapon
  writer.WriteBits(0, 3);
  const DecodedInputs result = decode(writer.finish());
  EXPECT_TRUE(result.refusal == InputRefusal::kNotCanonical || result.refusal == InputRefusal::kTruncated);
  EXPECT_EQ(result.count, 0u);
  EXPECT_FALSE(one.empty());
}

TEST_F(InputCodec, EmptyHistoryWritesNothing) {
  const InputHistory history(layout_.word_count());
  EXPECT_TRUE(encode(history).empty());
}

TEST_F(InputCodec, RandomBytesNeverDecodeToASecondEncoding) {
  EXPECT_TRUE(rc::check("what decodes, encodes back to the same bytes", [this] {
    const auto seed = *rc::gen::arbitrary<uint64_t>();
    base::Random random(seed);
    const auto body = encode(history_of(random, 5000, static_cast<uint32_t>(1 + random.next_below(32)), 0.5));
    std::vector<uint8_t> bytes(body.begin(), body.end());
    for (uint64_t flips = random.next_below(4); flips-- > 0;) {
      bytes[random.next_below(bytes.size())] ^= static_cast<uint8_t>(1u << random.next_below(8));
    }
    const DecodedInputs result = decode(bytes);
    if (result.refusal != InputRefusal::kNone) return;
    InputHistory history(layout_.word_count());
    for (uint32_t i = result.count; i-- > 0;) {
      history.push(result.newest_tick - i,
                   std::span(decoded_).subspan(i * layout_.word_count(), layout_.word_count()),
                   result.sights[i]);
    }
    std::array<uint8_t, 1200> again{};
    const size_t size = encode_inputs(layout_, history, result.lead_quarter_ticks, again);
    RC_ASSERT(std::vector<uint8_t>(again.begin(), again.begin() + size) == bytes);
  }));
}

}  // namespace
}  // namespace lattice::simulation
