// In steady state no socket allocates: the global allocation functions of this test program count.
#include <gtest/gtest.h>

#include "allocation_counter.h"
#include "transport/socket/impaired_socket.h"
#include "transport/socket/loopback_socket.h"
#include "transport/socket/simulated_network.h"
#include "transport/socket/udp_socket.h"
#include "unit/transport/socket/datagram_buffers.h"

namespace lattice::socket {
namespace {

constexpr Impairment kBusy{.delay_ms = 20,
                           .jitter_ms = 10,
                           .jitter_reorders = true,
                           .loss = 0.05,
                           .burst_enter = 0.01,
                           .burst_leave = 0.2,
                           .duplicate = 0.05,
                           .reorder = 0.05,
                           .reorder_delay_ms = 15,
                           .rate_bits_per_s = 100'000'000};

/// Exchanges eight datagrams per virtual millisecond each way and counts allocations after a warm-up
/// long enough to see the peak of what is under way.
uint64_t allocations_of(DatagramSocket& a, DatagramSocket& b) {
  DatagramBuffers out(8);
  DatagramBuffers in(32);
  uint64_t before = 0;
  for (uint64_t ms = 0; ms < 4000; ++ms) {
    if (ms == 2000) before = test::allocation_count();
    const uint64_t now_ns = ms * kMs;
    for (DatagramSocket* socket : {&a, &b}) {
      const base::PathId to = socket == &a ? b.local_path() : a.local_path();
      for (size_t i = 0; i < out.views.size(); ++i) {
        out.views[i].peer = to;
        out.views[i].size = static_cast<uint32_t>((ms * 131 + i * 257) % kMaxDatagramBytes);
      }
      socket->send(out.views, now_ns);
      while (socket->receive(in.views, now_ns).count > 0) {
      }
    }
  }
  return test::allocation_count() - before;
}

TEST(SteadyState, LoopbackDoesNotAllocate) {
  LoopbackHub hub;
  const auto a = hub.attach(kA);
  const auto b = hub.attach(kB);
  EXPECT_EQ(allocations_of(*a, *b), 0u);
}

TEST(SteadyState, SimulatedNetworkDoesNotAllocate) {
  SimulatedNetwork network(SimulatedNetworkConfig{.seed = 3});
  network.set_default(kBusy);
  const auto a = network.attach(kA);
  const auto b = network.attach(kB);
  EXPECT_EQ(allocations_of(*a, *b), 0u);
  EXPECT_GT(b->stats().datagrams_received, 20'000u);
}

TEST(SteadyState, ImpairedSocketDoesNotAllocate) {
  LoopbackHub hub;
  ImpairedSocket a(hub.attach(kA), {.send = kBusy, .receive = kBusy});
  const auto b = hub.attach(kB);
  EXPECT_EQ(allocations_of(a, *b), 0u);
  EXPECT_GT(a.stats().datagrams_received, 20'000u);
}

TEST(SteadyState, UdpDoesNotAllocate) {
  const auto a = UdpSocket::open(platform::make_ipv4(127, 0, 0, 1, 0));
  const auto b = UdpSocket::open(platform::make_ipv4(127, 0, 0, 1, 0));
  if (a == nullptr || b == nullptr) GTEST_SKIP() << "no UDP on 127.0.0.1";
  EXPECT_EQ(allocations_of(*a, *b), 0u);
}

}  // namespace
}  // namespace lattice::socket
