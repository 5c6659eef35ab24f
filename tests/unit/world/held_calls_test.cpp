#include "world/held_calls.h"

#include <gtest/gtest.h>

namespace lattice::world {
namespace {

ConnectionHandle client(uint32_t slot, uint32_t generation = 1) {
  ConnectionHandle handle;
  handle.slot = slot;
  handle.generation = generation;
  return handle;
}

HeldCalls::Call call_on(uint64_t network_id) {
  return {network_id, LATTICE_CHANNEL_UNRELIABLE, false, std::make_shared<std::vector<uint8_t>>()};
}

struct HeldCallsTest : ::testing::Test {
  /// The objects of the calls that are settled, of clients that are due.
  std::vector<uint64_t> settle(ConnectionHandle due) {
    std::vector<uint64_t> objects;
    held.settle([&](ConnectionHandle to) { return to == due; },
                [&](ConnectionHandle, const HeldCalls::Call& call) {
                  objects.push_back(call.network_id);
                  return call.network_id != kept;
                });
    return objects;
  }
  HeldCalls held;
  uint64_t kept = 0;
};

TEST_F(HeldCallsTest, come_in_their_order_to_the_client_that_is_due) {
  for (uint64_t id = 1; id <= 3; ++id) {
    EXPECT_TRUE(held.hold(client(0), call_on(id)));
    EXPECT_TRUE(held.hold(client(5), call_on(10 * id)));
  }
  EXPECT_TRUE(held.holds(client(5), 20));
  EXPECT_FALSE(held.holds(client(0), 20));
  kept = 20;
  EXPECT_EQ(settle(client(5)), (std::vector<uint64_t>{10, 20, 30}));
  EXPECT_EQ(settle(client(5)), (std::vector<uint64_t>{20})) << "what could not leave comes again";
  EXPECT_EQ(settle(client(0)), (std::vector<uint64_t>{1, 2, 3}));
  EXPECT_TRUE(settle(client(0)).empty());
}

TEST_F(HeldCallsTest, none_overtakes_a_call_on_its_object_that_stays) {
  for (const uint64_t id : {1u, 2u, 1u, 2u, 3u}) held.hold(client(0), call_on(id));
  kept = 1;
  EXPECT_EQ(settle(client(0)), (std::vector<uint64_t>{1, 2, 2, 3}));
  kept = 0;
  EXPECT_EQ(settle(client(0)), (std::vector<uint64_t>{1, 1}));
}

TEST_F(HeldCallsTest, a_client_with_many_loses_its_oldest) {
  for (uint64_t id = 1; id <= HeldCalls::kMostCalls; ++id) EXPECT_TRUE(held.hold(client(0), call_on(id)));
  EXPECT_TRUE(held.hold(client(1), call_on(7)));
  EXPECT_FALSE(held.hold(client(0), call_on(1000)));
  EXPECT_FALSE(held.holds(client(0), 1));
  const std::vector<uint64_t> settled = settle(client(0));
  EXPECT_EQ(settled.size(), HeldCalls::kMostCalls);
  EXPECT_EQ(settled.front(), 2u);
  EXPECT_EQ(settled.back(), 1000u);
  EXPECT_EQ(settle(client(1)), (std::vector<uint64_t>{7}));
}

TEST_F(HeldCallsTest, end_with_the_client) {
  held.hold(client(2, 1), call_on(1));
  held.forget(client(2, 1));
  EXPECT_TRUE(settle(client(2, 1)).empty());
  held.hold(client(2, 2), call_on(2));
  EXPECT_FALSE(held.holds(client(2, 1), 2));
  held.forget(client(2, 1));  // gone before
  EXPECT_EQ(settle(client(2, 2)), (std::vector<uint64_t>{2}));
}

}  // namespace
}  // namespace lattice::world
