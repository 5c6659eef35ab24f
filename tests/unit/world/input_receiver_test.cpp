#include "world/input_receiver.h"

#include <gtest/gtest.h>

#include <cstring>

#include "simulation/input_history.h"
#include "unit/world/session_rig.h"

namespace lattice::world::test {
namespace {

constexpr uint32_t kClient = 2;  // the slot of its connection

struct InputReceiverTest : ::testing::Test {
  InputReceiverTest() {
    register_push(schema);
    schema.fix(true);
    receiver.emplace(*schema.input(), simulation::InputBufferConfig{}, 4);
    receiver->open(kClient, 100);
  }
  /// A message with the inputs of `ticks`, as a client makes it; each is its tick times `factor`.
  std::vector<uint8_t> message(std::initializer_list<Tick> ticks, int32_t factor = 1) {
    simulation::InputHistory history(schema.input()->word_count());
    for (const Tick tick : ticks) {
      Push push{static_cast<int32_t>(tick) * factor};
      const void* host[] = {&push};
      std::vector<serialization::Word> words(schema.input()->word_count());
      schema.input()->quantize(host, words.data());
      history.push(tick, words);
    }
    std::vector<uint8_t> body(1000);
    body.resize(simulation::encode_inputs(*schema.input(), history, 9, body));
    return body;
  }
  bool receive(std::initializer_list<Tick> ticks, Tick now, int32_t factor = 1) {
    return receiver->receive(kClient, message(ticks, factor), now, {now, 0.0});
  }
  simulation::InputSource read(Tick tick, int32_t* by) {
    Push push{-1};
    const simulation::InputSource source = receiver->read(kClient, tick, &push);
    *by = push.by;
    return source;
  }

  Schema schema;
  std::optional<InputReceiver> receiver;
};

TEST_F(InputReceiverTest, gives_the_input_of_a_tick_however_often_it_is_asked) {
  ASSERT_TRUE(receive({101, 102, 103}, 100));
  for (int i = 0; i < 2; ++i) {
    int32_t by = 0;
    EXPECT_EQ(read(102, &by), simulation::InputSource::kFresh);
    EXPECT_EQ(by, 102);
  }
  InputSight sight;
  ASSERT_TRUE(receiver->sight(kClient, 103, &sight));
  EXPECT_EQ(sight.input_tick, 103u);
  EXPECT_EQ(sight.lead_quarter_ticks, 9);
  EXPECT_EQ(receiver->stats(103).fresh, 3u) << "ticks that nobody asked for took theirs too";
}

TEST_F(InputReceiverTest, tells_the_client_what_became_of_its_inputs) {
  replication::SnapshotHeader header;
  receiver->report(kClient, 100, &header);
  EXPECT_TRUE(header.has_input);
  EXPECT_EQ(header.last_input_tick, 0u);
  ASSERT_TRUE(receive({101, 102}, 100));
  receiver->report(kClient, 101, &header);
  EXPECT_EQ(header.last_input_tick, 101u);
  EXPECT_GT(header.input_margin, 0) << "it came early";
}

TEST_F(InputReceiverTest, counts_and_refuses_what_is_malformed) {
  std::vector<uint8_t> body = message({101});
  body.pop_back();
  EXPECT_FALSE(receiver->receive(kClient, body, 100, {100, 0.0}));
  uint64_t refused = 0;
  for (uint8_t i = 1; i < static_cast<uint8_t>(simulation::InputRefusal::kCount); ++i) {
    refused += receiver->refusals(simulation::InputRefusal{i});
  }
  EXPECT_EQ(refused, 1u);
  EXPECT_EQ(receiver->stats(100).messages, 0u);
}

TEST_F(InputReceiverTest, a_flood_of_inputs_is_dropped_unread) {
  std::vector<uint8_t> malformed = message({101});
  malformed.pop_back();
  for (int i = 0; i < 64; ++i) ASSERT_TRUE(receive({101}, 100));
  EXPECT_TRUE(receiver->receive(kClient, malformed, 100, {100, 0.0})) << "nobody looks into it";
  EXPECT_EQ(receiver->stats(100).messages, 64u);
  EXPECT_EQ(receiver->stats(100).over_rate, 1u);

  ASSERT_TRUE(receive({101, 102}, 101));  // the next tick has room again
  int32_t by = 0;
  EXPECT_EQ(read(102, &by), simulation::InputSource::kFresh);
}

TEST_F(InputReceiverTest, keeps_the_counters_of_a_client_that_left) {
  ASSERT_TRUE(receive({101, 102}, 100));
  ASSERT_TRUE(receive({101, 102}, 100, 7));  // other inputs for the same ticks
  const simulation::InputBufferStats before = receiver->stats(104);
  EXPECT_EQ(before.accepted, 2u);
  EXPECT_EQ(before.conflicting, 1u);  // of the newest; the other was not read
  EXPECT_EQ(before.duplicates, 1u);
  receiver->close(kClient, 104);
  const simulation::InputBufferStats after = receiver->stats(104);
  EXPECT_EQ(after.accepted, 2u);
  EXPECT_EQ(after.conflicting, 1u);
  EXPECT_EQ(after.repeated, before.repeated);
  receiver->open(kClient, 200);
  int32_t by = -1;
  EXPECT_EQ(read(201, &by), simulation::InputSource::kDefault) << "the slot begins anew";
  EXPECT_EQ(by, 0);
}

}  // namespace
}  // namespace lattice::world::test
