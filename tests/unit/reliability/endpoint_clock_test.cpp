// The times between readings and between updates.
#include "reliability/endpoint/endpoint_clock.h"

#include <gtest/gtest.h>

#include "support/durations.h"

namespace lattice::reliability {
namespace {

using test::kMs;
using test::kSecond;

/// The socket is read until it is empty, at `now_ns`.
void read(EndpointClock& clock, uint64_t now_ns) {
  clock.enter(now_ns, 0);
  clock.begin_reading();
  clock.note_empty();
}

/// An update at `now_ns`: whether it plans acks earlier.
bool update(EndpointClock& clock, uint64_t now_ns) {
  clock.enter(now_ns, 0);
  const bool has_grown = clock.begin_update();
  clock.end_update();
  return has_grown;
}

TEST(EndpointClock, ADatagramMayHaveWaitedSinceTheSocketWasEmpty) {
  EndpointClock clock;
  read(clock, 100 * kMs);
  EXPECT_EQ(clock.unread_ns(), 0u) << "nothing is known of the time before the first reading";
  read(clock, 107 * kMs);
  EXPECT_EQ(clock.unread_ns(), 7 * kMs);
  clock.enter(110 * kMs, 0);
  clock.begin_reading();  // It leaves something in the socket.
  clock.enter(115 * kMs, 0);
  clock.begin_reading();
  EXPECT_EQ(clock.unread_ns(), 8 * kMs) << "since it was last empty, at 107 ms";
  read(clock, 10 * kSecond);
  EXPECT_EQ(clock.unread_ns(), kMaxOwnUnreadNs);
}

// The socket measures with the clock of the day, which somebody may set.
TEST(EndpointClock, ADatagramCameAfterTheSocketWasEmpty) {
  EndpointClock clock;
  clock.enter(100 * kMs, 0);
  clock.begin_reading();
  clock.take(3 * kMs);
  EXPECT_EQ(clock.arrived_ns(), 100 * kMs) << "nothing is known of the time before the first reading";
  clock.note_empty();
  clock.enter(110 * kMs, 0);
  clock.begin_reading();
  EXPECT_EQ(clock.arrived_ns(), 110 * kMs);
  clock.take(3 * kMs);
  EXPECT_EQ(clock.arrived_ns(), 107 * kMs);
  clock.take(UINT64_MAX);
  EXPECT_EQ(clock.arrived_ns(), 100 * kMs);
  clock.take(0);
  EXPECT_EQ(clock.arrived_ns(), 110 * kMs);
}

TEST(EndpointClock, TheTimeBetweenReadingsRisesAtOnceAndFallsSlowly) {
  EndpointClock clock;
  read(clock, 100 * kMs);
  read(clock, 180 * kMs);
  EXPECT_EQ(clock.reading_every_ns(), 80 * kMs);
  read(clock, 181 * kMs);
  EXPECT_EQ(clock.reading_every_ns(), 70 * kMs);
  read(clock, 271 * kMs);
  EXPECT_EQ(clock.reading_every_ns(), 90 * kMs);
}

TEST(EndpointClock, UpdatesAreExpectedAsFarApartAsTheLastTwo) {
  EndpointClock clock;
  EXPECT_FALSE(clock.has_updated());
  update(clock, 100 * kMs);
  EXPECT_TRUE(clock.has_updated());
  update(clock, 116 * kMs);
  EXPECT_EQ(clock.until_next_update_ns(), 16 * kMs);
  EXPECT_EQ(clock.last_update_ns(), 116 * kMs);
  EXPECT_EQ(clock.previous_update_ns(), 100 * kMs);
  update(clock, 216 * kMs);
  EXPECT_EQ(clock.until_next_update_ns(), kMaxAckDelayNs) << "no ack waits longer";
}

TEST(EndpointClock, TheLeadOfAcksGrowsInStepsAndShrinksOnceASecond) {
  EndpointClock clock;
  EXPECT_FALSE(update(clock, 100 * kMs)) << "there is no interval yet";
  EXPECT_TRUE(update(clock, 105 * kMs));
  EXPECT_EQ(clock.ack_lead_ns(), 8 * kMs);
  EXPECT_FALSE(update(clock, 112 * kMs)) << "7 ms are within 8";
  EXPECT_TRUE(update(clock, 122 * kMs));
  EXPECT_EQ(clock.ack_lead_ns(), 12 * kMs);
  uint64_t now_ns = 122 * kMs;
  while (now_ns < 999 * kMs) {
    now_ns += kMs;
    EXPECT_FALSE(update(clock, now_ns));
  }
  EXPECT_EQ(clock.ack_lead_ns(), 12 * kMs) << "in this second an interval took 10 ms";
  while (now_ns < 2 * kSecond) update(clock, now_ns += kMs);
  EXPECT_EQ(clock.ack_lead_ns(), 4 * kMs) << "in the last second every interval took 1 ms";
}

TEST(EndpointClock, TheSecondIsThatOfTheLastFinishedUpdate) {
  EndpointClock clock;
  update(clock, 1'999 * kMs);
  clock.enter(2'001 * kMs, 0);
  clock.begin_update();
  EXPECT_EQ(clock.last_update_second(), 1u);
  clock.end_update();
  EXPECT_EQ(clock.last_update_second(), 2u);
}

}  // namespace
}  // namespace lattice::reliability
