#include "world/input_sender.h"

#include <gtest/gtest.h>

#include <optional>

#include "unit/world/session_rig.h"

namespace lattice::world::test {
namespace {

struct InputSenderTest : ::testing::Test {
  InputSenderTest() {
    register_push(schema);
    schema.fix(true);
    sender.emplace(*schema.input(), simulation::InputHistoryConfig{});
  }
  void sample(Tick tick, int32_t by) {
    const Push push{by};
    const void* host[] = {&push};
    sender->sample(tick, host, {tick - 6, 128, tick - 3});
  }
  void hear(Tick server_tick, int8_t margin, bool has_input = true) {
    replication::SnapshotHeader header;
    header.server_tick = server_tick;
    header.has_input = has_input;
    header.input_margin = margin;
    sender->on_part(header);
  }

  Schema schema;
  std::optional<InputSender> sender;
};

TEST_F(InputSenderTest, gives_the_input_and_the_sight_of_a_tick) {
  sample(101, 4);
  sample(102, 5);
  Push push{};
  ASSERT_TRUE(sender->read(101, &push));
  EXPECT_EQ(push.by, 4);
  EXPECT_FALSE(sender->read(100, &push));
  simulation::Sight sight;
  ASSERT_TRUE(sender->sight(102, &sight));
  EXPECT_EQ(sight, (simulation::Sight{96, 128, 99}));
  EXPECT_FALSE(sender->sight(103, &sight));
}

TEST_F(InputSenderTest, the_newest_word_of_the_other_side_counts) {
  for (Tick tick = 101; tick <= 110; ++tick) sample(tick, 1);
  EXPECT_EQ(sender->unacked(), 10u);
  hear(105, 7, false);
  EXPECT_EQ(sender->unacked(), 10u) << "the part says nothing of inputs";
  hear(106, 6);
  hear(104, 4);  // overtaken
  EXPECT_EQ(sender->margin_quarter_ticks(), 6);
}

TEST_F(InputSenderTest, what_could_not_be_sent_waits) {
  SessionRig rig;
  rig.pump();  // without a connection
  sample(101, 1);
  sample(102, 1);
  EXPECT_FALSE(sender->send(*rig.client().endpoint(), {}, 4, 1));
  EXPECT_EQ(sender->newest_sent(), 0u);
  sender->drop_after(101);
  Push push{};
  EXPECT_FALSE(sender->read(102, &push));
  EXPECT_TRUE(sender->read(101, &push));
}

TEST_F(InputSenderTest, sends_each_input_once_it_is_new) {
  SessionRig rig;
  ASSERT_TRUE(rig.connect());
  sample(101, 1);
  const ConnectionHandle to = rig.clients[0]->connection;
  EXPECT_TRUE(sender->send(*rig.client().endpoint(), to, 4, rig.now_ns));
  EXPECT_EQ(sender->newest_sent(), 101u);
  EXPECT_FALSE(sender->send(*rig.client().endpoint(), to, 4, rig.now_ns)) << "nothing is new";
  sender->clear();
  sample(7, 1);  // of another session
  EXPECT_TRUE(sender->send(*rig.client().endpoint(), to, 4, rig.now_ns));
}

}  // namespace
}  // namespace lattice::world::test
