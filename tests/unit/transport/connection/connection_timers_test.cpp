#include "transport/connection/connection_timers.h"

#include <gtest/gtest.h>

#include "support/durations.h"

namespace lattice::connection {
namespace {

using test::kMs;
constexpr uint64_t kStart = 500 * kMs;

TEST(ConnectionTimers, KeepaliveAfterOneSecondWithoutSending) {
  ConnectionTimers timers({}, kStart, false);
  EXPECT_FALSE(timers.keepalive_due(kStart + 999 * kMs));
  EXPECT_TRUE(timers.keepalive_due(kStart + 1000 * kMs));
  timers.on_sent(kStart + 1000 * kMs);
  EXPECT_FALSE(timers.keepalive_due(kStart + 1999 * kMs));
  // Receiving does not count as sending.
  timers.on_authenticated(kStart + 1999 * kMs);
  EXPECT_TRUE(timers.keepalive_due(kStart + 2000 * kMs));
}

TEST(ConnectionTimers, TimeoutAfterTenSecondsWithoutAnAuthenticatedPacket) {
  ConnectionTimers timers({}, kStart, false);
  timers.on_authenticated(kStart + 3000 * kMs);
  timers.on_sent(kStart + 12'000 * kMs);
  EXPECT_FALSE(timers.timed_out(kStart + 12'999 * kMs));
  EXPECT_TRUE(timers.timed_out(kStart + 13'000 * kMs));
}

TEST(ConnectionTimers, HalfOpenEntriesLiveTenSecondsAndStayQuiet) {
  ConnectionTimers timers({.timeout_ns = 3000 * kMs}, kStart, true);
  EXPECT_FALSE(timers.keepalive_due(kStart + 4000 * kMs));
  EXPECT_FALSE(timers.timed_out(kStart + 9999 * kMs));
  EXPECT_TRUE(timers.timed_out(kStart + 10'000 * kMs));
  timers.on_authenticated(kStart + 9999 * kMs);
  EXPECT_FALSE(timers.half_open());
  EXPECT_FALSE(timers.timed_out(kStart + 12'998 * kMs));
  EXPECT_TRUE(timers.timed_out(kStart + 12'999 * kMs));
  EXPECT_TRUE(timers.keepalive_due(kStart + 5000 * kMs));
}

TEST(ConnectionTimers, DisconnectsFiftyMillisecondsApartUntilTheGraceIsOver) {
  ConnectionTimers timers({}, kStart, false);
  EXPECT_FALSE(timers.take_disconnect_send(kStart));
  timers.begin_disconnect(kStart);
  EXPECT_TRUE(timers.take_disconnect_send(kStart));
  EXPECT_FALSE(timers.take_disconnect_send(kStart + 49 * kMs));
  EXPECT_TRUE(timers.take_disconnect_send(kStart + 50 * kMs));
  // One that leaves late is no reason for two at once.
  EXPECT_TRUE(timers.take_disconnect_send(kStart + 220 * kMs));
  EXPECT_FALSE(timers.take_disconnect_send(kStart + 269 * kMs));
  EXPECT_TRUE(timers.take_disconnect_send(kStart + 999 * kMs));
  EXPECT_FALSE(timers.take_disconnect_send(kStart + 1000 * kMs));
  EXPECT_FALSE(timers.keepalive_due(kStart + 60'000 * kMs));
  EXPECT_FALSE(timers.timed_out(kStart + 60'000 * kMs));
  EXPECT_FALSE(timers.disconnect_finished(kStart + 999 * kMs));
  EXPECT_TRUE(timers.disconnect_finished(kStart + 1000 * kMs));
}

TEST(ConnectionTimers, NextDeadlineIsWhenTheNextAnswerChanges) {
  ConnectionTimers timers({}, kStart, true);
  EXPECT_EQ(timers.next_deadline_ns(), kStart + 10'000 * kMs);
  EXPECT_EQ(timers.timeout_at_ns(), kStart + 10'000 * kMs);
  EXPECT_EQ(timers.keepalive_at_ns(), ConnectionTimers::kNever);
  timers.on_authenticated(kStart);
  EXPECT_EQ(timers.next_deadline_ns(), kStart + 1000 * kMs);
  EXPECT_EQ(timers.timeout_at_ns(), kStart + 10'000 * kMs);
  timers.on_sent(kStart + 9500 * kMs);
  EXPECT_EQ(timers.next_deadline_ns(), kStart + 10'000 * kMs);
  timers.begin_disconnect(kStart);
  EXPECT_EQ(timers.timeout_at_ns(), ConnectionTimers::kNever);
  EXPECT_EQ(timers.next_deadline_ns(), kStart);
  for (const uint64_t at : {0u, 50u, 980u}) EXPECT_TRUE(timers.take_disconnect_send(kStart + at * kMs));
  EXPECT_EQ(timers.next_deadline_ns(), kStart + 1000 * kMs);
}

}  // namespace
}  // namespace lattice::connection
