#include "transport/socket/impairment_queue.h"

#include <gtest/gtest.h>

#include "unit/transport/socket/datagram_buffers.h"

namespace lattice::socket {
namespace {

constexpr uint8_t kBytes[4] = {1, 2, 3, 4};

TEST(ImpairmentQueue, HoldsForTheDelayAndCountsDeliveries) {
  base::BufferPool pool(1u << 20);
  ImpairmentQueue queue(pool, 16, 1);
  queue.configure({.delay_ms = 5, .duplicate = 1});
  queue.offer(kPeer, kBytes, 0);
  EXPECT_EQ(queue.size(), 2u);
  EXPECT_EQ(queue.next_event_ns(), 5 * kMs);
  DatagramBuffers out(4);
  EXPECT_EQ(queue.take(out.views, 5 * kMs - 1), 0u);
  EXPECT_EQ(queue.take(out.views, 5 * kMs), 2u);
  EXPECT_EQ(queue.stats().delivered, 2u);
  EXPECT_EQ(queue.stats().delivered_bytes, 8u);
  EXPECT_EQ(queue.stats().duplicated, 1u);
  EXPECT_EQ(queue.next_event_ns(), kNoEvent);
}

TEST(ImpairmentQueue, OverflowIsACountedDrop) {
  base::BufferPool pool(1u << 20);
  ImpairmentQueue queue(pool, 3, 1);
  queue.configure({.delay_ms = 5});
  for (int i = 0; i < 10; ++i) queue.offer(kPeer, kBytes, 0);
  EXPECT_EQ(queue.size(), 3u);
  EXPECT_EQ(queue.stats().dropped_overflow, 7u);
  DatagramBuffers out(2);
  EXPECT_EQ(queue.take(out.views, 5 * kMs), 2u);
  EXPECT_EQ(queue.take(out.views, 5 * kMs), 1u);
}

}  // namespace
}  // namespace lattice::socket
