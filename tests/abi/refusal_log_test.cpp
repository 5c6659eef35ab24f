// Whom the log of refused clients names, and how many lines it has.
#include "abi/refusal_log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace lattice {
namespace {

// Who tries again and again, and who makes up a name each time, does not keep the log from naming others.
TEST(RefusalLog, NamesWhoTriesOnceBesideThoseWhoTryAllTheTime) {
  abi::RefusalLog log;
  std::vector<std::string> lines;
  const auto write = [](void* ctx, const char* line) {
    static_cast<std::vector<std::string>*>(ctx)->emplace_back(line);
  };
  const auto refused = [&](uint8_t prefix, uint8_t player, uint64_t ms) {
    connection::RefusedClient client;
    client.from = base::ipv4_path(10, 0, prefix, 1, 7);
    client.refusal = connection::ServerRefusal::kUnknownIssuer;
    client.who.player[0] = player;
    log.note(client, ms * 1'000'000, write, &lines);
    log.flush(ms * 1'000'000, write, &lines);
  };
  const auto named = [&](const char* player) {
    return std::ranges::count_if(
        lines, [&](const std::string& line) { return line.find(player) != std::string::npos; });
  };
  for (uint64_t ms = 1; ms <= 30'000; ms += 100) {
    refused(1, 0xaa, ms);                                      // the same player from one place
    refused(2, static_cast<uint8_t>(1 + ms / 100 % 100), ms);  // another player each time from one place
    if (ms == 15'001) refused(1, 0xbb, ms + 1);
    if (ms == 16'001) refused(3, 0xcc, ms + 1);
  }
  EXPECT_EQ(named("player bb"), 1);
  EXPECT_EQ(named("player cc"), 1);
  EXPECT_EQ(named("player aa"), 3) << "each ten seconds";
  EXPECT_LE(lines.size(), 30u * 2 + 5);
  // However many places there are, there are 8 names and one count a second.
  lines.clear();
  for (uint64_t ms = 40'000; ms < 50'000; ++ms)
    refused(static_cast<uint8_t>(ms % 200), static_cast<uint8_t>(ms % 199 + 1), ms);
  EXPECT_LE(lines.size(), 10u * 9 + 9);
  EXPECT_GE(lines.size(), 9u * 8);
}

// What clients tell of their schemas: one player each ten seconds, one address range a second, two in all.
TEST(RefusalLog, HasRoomForFewWhoTellOfTheirSchema) {
  abi::RefusalLog log;
  const auto takes = [&](uint8_t prefix, uint8_t player, uint64_t ms) {
    connection::RefusedClient client;
    client.from = base::ipv4_path(10, 0, prefix, 1, 7);
    client.who.player[0] = player;
    return log.takes_difference(client, ms * 1'000'000);
  };
  int taken = 0;
  for (uint64_t ms = 1; ms <= 30'000; ++ms) taken += takes(static_cast<uint8_t>(ms % 100), 0xaa, ms) ? 1 : 0;
  EXPECT_EQ(taken, 3) << "one player from everywhere";
  taken = 0;
  for (uint64_t ms = 40'001; ms <= 50'000; ++ms)
    taken += takes(1, static_cast<uint8_t>(ms % 200), ms) ? 1 : 0;
  EXPECT_LE(taken, 10) << "one address range with many players";
  EXPECT_GE(taken, 9);
  taken = 0;
  for (uint64_t ms = 60'001; ms <= 70'000; ++ms) {
    taken += takes(static_cast<uint8_t>(ms % 200), static_cast<uint8_t>(ms % 199 + 1), ms) ? 1 : 0;
  }
  EXPECT_LE(taken, 20) << "everybody";
  EXPECT_GE(taken, 15);
}

}  // namespace
}  // namespace lattice
