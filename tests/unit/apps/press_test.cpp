// The way of a key press through the demo's processes: the marker on the wire and the joining of the stamps.
#include <gtest/gtest.h>

#include <vector>

#include "press_join.h"
#include "press_marker.h"

namespace app {
namespace {

constexpr double kTickMs = 1000.0 / 60;

TEST(PressMarker, IsTwelveBytesLittleEndian) {
  const PressMarkerBytes bytes = encode_press_marker({.press_id = 0x01020304, .tick = 0xa0b0c0d0});
  const uint8_t expected[] = {'k', 'e', 'y', '1', 4, 3, 2, 1, 0xd0, 0xc0, 0xb0, 0xa0};
  for (size_t i = 0; i < bytes.size(); ++i) EXPECT_EQ(static_cast<uint8_t>(bytes[i]), expected[i]) << i;
  const auto marker = decode_press_marker(bytes);
  ASSERT_TRUE(marker);
  EXPECT_EQ(marker->press_id, 0x01020304u);
  EXPECT_EQ(marker->tick, 0xa0b0c0d0u);
}

TEST(PressMarker, RefusesWhatIsNotOne) {
  const PressMarkerBytes good = encode_press_marker({.press_id = 1, .tick = 2});
  std::vector<std::byte> bytes(good.begin(), good.end());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(decode_press_marker(std::span(bytes).first(size))) << size;
  }
  for (size_t i = 0; i < 4; ++i) {
    bytes[i] ^= std::byte{1};
    EXPECT_FALSE(decode_press_marker(bytes)) << i;
    bytes[i] ^= std::byte{1};
  }
  bytes.push_back(std::byte{0});
  EXPECT_FALSE(decode_press_marker(bytes));
}

PressJoin with_press() {
  PressJoin join(kTickMs);
  for (uint32_t tick = 100; tick < 140; ++tick) join.server_tick(tick, 5000 + (tick - 100) * kTickMs);
  join.client_press(0, 7, {.id = 3, .tick = 110, .pressed_ms = 4990, .heard_ms = 4992, .sampled_ms = 5000});
  return join;
}

TEST(PressJoin, SaysNothingBeforeTheFirstPress) {
  EXPECT_FALSE(PressJoin(kTickMs).last());
}

TEST(PressJoin, JoinsTheStampsOfOnePress) {
  PressJoin join = with_press();
  join.server_press(0, {.id = 3, .arrived_ms = 5100, .applied_tick = 111, .applied_ms = 5183});
  join.seen(1, {.pawn = 7, .tick = 110, .heard_ms = 5240, .drawn_ms = 5300});
  join.seen(1, {.pawn = 8, .tick = 111, .heard_ms = 5241, .drawn_ms = 5301});
  join.seen(1, {.pawn = 7, .tick = 112, .heard_ms = 5280, .drawn_ms = 5380});
  join.seen(1, {.pawn = 7, .tick = 114, .heard_ms = 5310, .drawn_ms = 5410});
  const auto joined = join.last();
  ASSERT_TRUE(joined);
  EXPECT_EQ(joined->client, 0u);
  EXPECT_EQ(joined->server.applied_ms, 5183);
  // The first state of that pawn with the press in it is tick 112's; tick 111 is drawn one tick before it.
  EXPECT_NEAR(joined->views[1].sent_ms, 5000 + 12 * kTickMs, 1e-9);
  EXPECT_EQ(joined->views[1].heard_ms, 5280);
  EXPECT_NEAR(joined->views[1].drawn_ms, 5380 - kTickMs, 1e-9);
  EXPECT_EQ(joined->views[0].heard_ms, 0);
}

TEST(PressJoin, AStateIsNotDrawnBeforeItCame) {
  PressJoin join = with_press();
  join.server_press(0, {.id = 3, .arrived_ms = 5100, .applied_tick = 111, .applied_ms = 5183});
  join.seen(0, {.pawn = 7, .tick = 112, .heard_ms = 5280, .drawn_ms = 5281});
  EXPECT_EQ(join.last()->views[0].drawn_ms, 5280);
}

TEST(PressJoin, DoesNotMixTwoPresses) {
  PressJoin join = with_press();
  join.server_press(0, {.id = 2, .arrived_ms = 4000, .applied_tick = 60, .applied_ms = 4010});
  join.seen(1, {.pawn = 7, .tick = 112, .heard_ms = 5280, .drawn_ms = 5380});
  EXPECT_EQ(join.last()->server.applied_ms, 0);
  EXPECT_EQ(join.last()->views[1].heard_ms, 0);
  join.client_press(1, 9, {.id = 4, .tick = 120, .pressed_ms = 5200, .heard_ms = 5201, .sampled_ms = 5210});
  EXPECT_EQ(join.last()->client, 1u);
}

TEST(PressJoin, ReckonsTheServersTimeOfATick) {
  const PressJoin join = with_press();
  EXPECT_EQ(PressJoin(kTickMs).server_time_ms(5), 0);
  EXPECT_NEAR(join.server_time_ms(110.5), 5000 + 10.5 * kTickMs, 1e-9);
  EXPECT_NEAR(join.server_time_ms(142), 5000 + 42 * kTickMs, 1e-9);
  EXPECT_NEAR(join.server_time_ms(90), 5000 - 10 * kTickMs, 1e-9);
}

}  // namespace
}  // namespace app
