#include "platform/wait.h"

#include <gtest/gtest.h>

#include <array>

#include "platform/clock.h"
#include "platform/udp_socket.h"
#include "support/durations.h"

namespace lattice::platform {
namespace {

using test::kMs;

class Wait : public testing::Test {
 protected:
  void SetUp() override {
    for (UdpSocket& socket : sockets_) ASSERT_TRUE(socket.open(make_ipv4(127, 0, 0, 1, 0)).ok());
    for (size_t i = 0; i < sockets_.size(); ++i) descriptors_[i] = sockets_[i].descriptor();
  }
  std::array<UdpSocket, 3> sockets_;
  std::array<intptr_t, 3> descriptors_{};
};

TEST_F(Wait, EndsWhenAnyOfThemIsReadable) {
  EXPECT_FALSE(wait_readable(descriptors_, 0));
  uint8_t byte = 7;
  const UdpDatagram datagram{sockets_[2].local_address(), 1, &byte};
  ASSERT_EQ(sockets_[0].send(std::span(&datagram, 1)).sent, 1u);
  EXPECT_TRUE(wait_readable(descriptors_, 5000 * kMs));
  EXPECT_FALSE(wait_readable(std::span(descriptors_).first(2), kMs)) << "not one of these";
}

TEST_F(Wait, SleepsForTheTimeWhenNothingComes) {
  for (const size_t count : {size_t{0}, size_t{3}}) {
    const uint64_t begun_ns = monotonic_ns();
    EXPECT_FALSE(wait_readable(std::span(descriptors_).first(count), 20 * kMs));
    EXPECT_GE(monotonic_ns() - begun_ns, 20 * kMs);
  }
}

}  // namespace
}  // namespace lattice::platform
