#include "transport/socket/delivery_queue.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>
#include <utility>

#include "unit/transport/socket/datagram_buffers.h"

namespace lattice::socket {
namespace {

std::span<const uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

TEST(DeliveryQueue, BoundsAreRefusals) {
  base::BufferPool pool(1u << 20);
  DeliveryQueue queue(pool, 2);
  EXPECT_TRUE(queue.push(1, kPeer, bytes_of("a")));
  EXPECT_TRUE(queue.push(1, kPeer, bytes_of(std::string(kMaxDatagramBytes, 'b'))));
  EXPECT_FALSE(queue.push(1, kPeer, bytes_of("c")));
  EXPECT_EQ(queue.size(), 2u);
  queue.clear();
  EXPECT_FALSE(queue.push(1, kPeer, bytes_of(std::string(kMaxDatagramBytes + 1, 'd'))));
  EXPECT_EQ(pool.stats().buffers_live, 0u);

  base::BufferPool empty_pool(0);
  DeliveryQueue starved(empty_pool, 2);
  EXPECT_FALSE(starved.push(1, kPeer, bytes_of("a")));
}

TEST(DeliveryQueue, NothingComesBeforeItsTime) {
  base::BufferPool pool(1u << 20);
  DeliveryQueue queue(pool, 8);
  DatagramBuffers out(1);
  EXPECT_EQ(queue.next_event_ns(), kNoEvent);
  ASSERT_TRUE(queue.push(100, kPeer, bytes_of("late"), 77));
  EXPECT_EQ(queue.next_event_ns(), 100u);
  EXPECT_FALSE(queue.pop(99, out.views[0]));
  uint64_t tag = 0;
  ASSERT_TRUE(queue.pop(100, out.views[0], &tag));
  EXPECT_EQ(tag, 77u);
  EXPECT_EQ(out.views[0].peer, kPeer);
  EXPECT_EQ(out.views[0].size, 4u);
  EXPECT_FALSE(queue.pop(1000, out.views[0]));
}

TEST(DeliveryQueue, BlocksGoBackWhenTheQueueDies) {
  base::BufferPool pool(1u << 20);
  {
    DeliveryQueue queue(pool, 8);
    ASSERT_TRUE(queue.push(1, kPeer, bytes_of("a")));
    DeliveryQueue moved(std::move(queue));
    EXPECT_EQ(moved.size(), 1u);
    EXPECT_EQ(pool.stats().buffers_live, 1u);
  }
  EXPECT_EQ(pool.stats().buffers_live, 0u);
}

TEST(DeliveryQueue, ComesOutByTimeThenByOrderOfOffering) {
  EXPECT_TRUE(rc::check("against std::multimap", [] {
    // Few distinct times, so that ties are common.
    const auto operations = *rc::gen::container<std::vector<std::pair<bool, uint64_t>>>(
        rc::gen::pair(rc::gen::arbitrary<bool>(), rc::gen::inRange<uint64_t>(0, 10)));
    base::BufferPool pool(1u << 20);
    DeliveryQueue queue(pool, 16);
    std::multimap<uint64_t, std::string> model;  // Keeps insertion order among equal keys.
    DatagramBuffers out(1);
    int next = 0;
    for (const auto& [push, time] : operations) {
      if (push) {
        const std::string text = std::to_string(next++);
        const bool room = model.size() < 16;
        RC_ASSERT(queue.push(time, kPeer, bytes_of(text)) == room);
        if (room) model.emplace(time, text);
      } else {
        const bool due = !model.empty() && model.begin()->first <= time;
        RC_ASSERT(queue.pop(time, out.views[0]) == due);
        if (due) {
          RC_ASSERT(std::string(reinterpret_cast<char*>(out.views[0].data), out.views[0].size) ==
                    model.begin()->second);
          model.erase(model.begin());
        }
      }
      RC_ASSERT(queue.validate());
      RC_ASSERT(queue.size() == model.size());
      RC_ASSERT(queue.next_event_ns() == (model.empty() ? kNoEvent : model.begin()->first));
    }
  }));
}

}  // namespace
}  // namespace lattice::socket
