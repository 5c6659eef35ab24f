#include "transport/socket/impaired_socket.h"

#include <gtest/gtest.h>

#include "transport/socket/loopback_socket.h"
#include "unit/transport/socket/datagram_buffers.h"

namespace lattice::socket {
namespace {

class ImpairedSocketTest : public testing::Test {
 protected:
  std::unique_ptr<ImpairedSocket> impaired(const ImpairedSocketConfig& config) {
    return std::make_unique<ImpairedSocket>(hub_.attach(kA), config);
  }
  LoopbackHub hub_;
  std::unique_ptr<LoopbackSocket> b_ = hub_.attach(kB);
};

TEST_F(ImpairedSocketTest, WithoutImpairmentIsTransparent) {
  const auto a = impaired({});
  EXPECT_EQ(a->local_path(), kA);
  EXPECT_TRUE(send_text(*a, kB, "out", 0));
  EXPECT_TRUE(send_text(*b_, kA, "in", 0));
  EXPECT_EQ(receive_all(*b_, 0), (std::vector<Received>{{kA, "out"}}));
  EXPECT_EQ(receive_all(*a, 0), (std::vector<Received>{{kB, "in"}}));
  EXPECT_EQ(a->stats().datagrams_sent, 1u);
  EXPECT_EQ(a->stats().bytes_received, 2u);
}

TEST_F(ImpairedSocketTest, WhatIsTooLargeIsCountedAndNotSent) {
  for (const double delay_ms : {0.0, 10.0}) {
    const auto a = impaired({.send = {.delay_ms = delay_ms}, .receive = {}});
    EXPECT_FALSE(send_text(*a, kB, std::string(kMaxDatagramBytes + 1, 'x'), 0));
    EXPECT_TRUE(send_text(*a, kB, "fits", 0));
    EXPECT_EQ(a->stats().send_oversize, 1u);
    EXPECT_EQ(a->stats().datagrams_sent, 1u);
    EXPECT_EQ(a->stats().bytes_sent, 4u);
    a->flush(10 * kMs);
    EXPECT_EQ(receive_all(*b_, 0), (std::vector<Received>{{kA, "fits"}}));
  }
}

TEST_F(ImpairedSocketTest, DelaysEachDirectionByItsOwn) {
  const auto a = impaired({.send = {.delay_ms = 10}, .receive = {.delay_ms = 20}});
  EXPECT_TRUE(send_text(*a, kB, "out", 0));
  EXPECT_TRUE(send_text(*b_, kA, "in", 0));
  EXPECT_TRUE(receive_all(*a, 0).empty());
  EXPECT_EQ(a->next_event_ns(), 10 * kMs);
  a->flush(10 * kMs - 1);
  EXPECT_TRUE(receive_all(*b_, 0).empty());
  a->flush(10 * kMs);
  EXPECT_EQ(receive_all(*b_, 0).size(), 1u);
  EXPECT_EQ(a->next_event_ns(), 20 * kMs);
  EXPECT_TRUE(receive_all(*a, 20 * kMs - 1).empty());
  EXPECT_EQ(receive_all(*a, 20 * kMs).size(), 1u);
  EXPECT_EQ(a->next_event_ns(), kNoEvent);
}

TEST_F(ImpairedSocketTest, ReceivingAlsoForwardsDueSends) {
  const auto a = impaired({.send = {.delay_ms = 10}});
  EXPECT_TRUE(send_text(*a, kB, "out", 0));
  EXPECT_TRUE(receive_all(*a, 10 * kMs).empty());
  EXPECT_EQ(receive_all(*b_, 0).size(), 1u);
}

TEST_F(ImpairedSocketTest, CanBeChangedWhileRunning) {
  const auto a = impaired({});
  EXPECT_TRUE(send_text(*a, kB, "before", 0));
  a->configure_send({.blackout = true});
  EXPECT_TRUE(a->send_impairment().blackout);
  EXPECT_TRUE(send_text(*a, kB, "during", 1));
  a->configure_send({});
  a->configure_receive({.loss = 1});
  EXPECT_TRUE(send_text(*a, kB, "after", 2));
  EXPECT_TRUE(send_text(*b_, kA, "in", 2));
  EXPECT_EQ(receive_all(*b_, 0), (std::vector<Received>{{kA, "before"}, {kA, "after"}}));
  EXPECT_TRUE(receive_all(*a, 3).empty());
  EXPECT_EQ(a->send_faults().lost_blackout, 1u);
  EXPECT_EQ(a->receive_faults().lost_random, 1u);
}

TEST_F(ImpairedSocketTest, ExposesTheFaultsItInjects) {
  constexpr int kCount = 2000;
  const auto a =
      impaired({.send = {.loss = 0.1, .duplicate = 0.2, .reorder = 0.1, .reorder_delay_ms = 3}, .seed = 5});
  size_t arrived = 0;
  for (uint64_t i = 0; i < kCount; ++i) {
    EXPECT_TRUE(send_text(*a, kB, "x", i * kMs));
    arrived += receive_all(*b_, 0).size();
  }
  a->flush(kCount * kMs + 10 * kMs);
  arrived += receive_all(*b_, 0).size();
  const ImpairmentStats& faults = a->send_faults();
  EXPECT_EQ(faults.offered, static_cast<uint64_t>(kCount));
  EXPECT_EQ(arrived, faults.offered - faults.lost() + faults.duplicated);
  EXPECT_EQ(arrived, faults.delivered);
  const double survivors = static_cast<double>(faults.offered - faults.lost());
  EXPECT_NEAR(static_cast<double>(faults.lost_random), kCount * 0.1, five_sigma(kCount, 0.1));
  EXPECT_NEAR(static_cast<double>(faults.duplicated), survivors * 0.2, five_sigma(survivors, 0.2));
  EXPECT_NEAR(static_cast<double>(faults.reordered), survivors * 0.1, five_sigma(survivors, 0.1));
}

TEST_F(ImpairedSocketTest, DirectionsAreDrawnIndependently) {
  const auto a = impaired({.send = {.loss = 0.5}, .receive = {.loss = 0.5}, .seed = 6});
  std::string sent;
  std::string received;
  for (uint64_t i = 0; i < 64; ++i) {
    EXPECT_TRUE(send_text(*a, kB, "x", i));
    sent += receive_all(*b_, 0).empty() ? '.' : 'x';
    EXPECT_TRUE(send_text(*b_, kA, "x", i));
    received += receive_all(*a, i).empty() ? '.' : 'x';
  }
  EXPECT_NE(sent, received);
}

TEST_F(ImpairedSocketTest, OversizeIsRefused) {
  const auto a = impaired({});
  EXPECT_FALSE(send_text(*a, kB, std::string(kMaxDatagramBytes + 1, 'x'), 0));
  EXPECT_EQ(a->stats().send_oversize, 1u);
  EXPECT_EQ(a->send_faults().offered, 0u);
}

}  // namespace
}  // namespace lattice::socket
