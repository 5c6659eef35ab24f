#include "transport/connection/connection_table.h"

#include <gtest/gtest.h>

#include <map>

#include "base/random.h"

namespace lattice::connection {
namespace {

base::PathId address(uint16_t n) {
  return base::ipv4_path(10, 0, 0, 1, n);
}

TEST(ConnectionTable, RoutesByIdAndRefusesStaleHandles) {
  ConnectionTable table(2);
  const auto a = table.insert(77);
  ASSERT_TRUE(a);
  EXPECT_EQ(table.find(77), a);
  EXPECT_FALSE(table.find(78));
  EXPECT_FALSE(table.find(0));
  EXPECT_FALSE(table.insert(77)) << "ids are unique";
  table.erase(*a);
  EXPECT_FALSE(table.live(*a));
  EXPECT_FALSE(table.find(77));
  const auto b = table.insert(77);
  ASSERT_TRUE(b);
  EXPECT_EQ(b->slot, a->slot);
  EXPECT_NE(b->generation, a->generation);
  EXPECT_FALSE(table.live(*a));
  table.erase(*a);  // Stale: must not touch the new one.
  EXPECT_TRUE(table.live(*b));
  EXPECT_FALSE(table.live(ConnectionHandle{}));
  EXPECT_FALSE(table.live(ConnectionHandle{9999, 1}));
}

TEST(ConnectionTable, AFullTableRefuses) {
  ConnectionTable table(3);
  EXPECT_TRUE(table.insert(1));
  EXPECT_TRUE(table.insert(2));
  EXPECT_TRUE(table.insert_pending(address(3)));
  EXPECT_FALSE(table.insert(4));
  EXPECT_FALSE(table.insert_pending(address(4)));
  EXPECT_EQ(table.size(), 3u);
}

TEST(ConnectionTable, PendingByAddressUntilTheIdIsKnown) {
  ConnectionTable table(4);
  const auto a = table.insert_pending(address(1));
  ASSERT_TRUE(a);
  EXPECT_FALSE(table.insert_pending(address(1))) << "one handshake per address at a time";
  EXPECT_EQ(table.find_pending(address(1)), a);
  EXPECT_TRUE(table.assign_id(*a, 5));
  EXPECT_FALSE(table.find_pending(address(1)));
  EXPECT_EQ(table.find(5), a);
  EXPECT_FALSE(table.assign_id(*a, 6)) << "no longer pending";
  const auto b = table.insert_pending(address(1));
  ASSERT_TRUE(b);
  EXPECT_FALSE(table.assign_id(*b, 5)) << "taken";
  EXPECT_TRUE(table.live(*b));
}

TEST(ConnectionTable, EqualsAMapUnderRandomUse) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    base::Random random(seed);
    ConnectionTable table(48);
    std::map<uint64_t, ConnectionHandle> ids;
    std::map<uint16_t, ConnectionHandle> pending;
    for (int step = 0; step < 4000; ++step) {
      const uint64_t id = 1 + random.next_below(80);
      const uint16_t port = static_cast<uint16_t>(1 + random.next_below(40));
      const size_t used = ids.size() + pending.size();
      switch (random.next_below(5)) {
        case 0: {
          const auto handle = table.insert(id);
          ASSERT_EQ(handle.has_value(), used < 48 && ids.count(id) == 0) << "seed " << seed;
          if (handle) ids[id] = *handle;
          break;
        }
        case 1: {
          const auto handle = table.insert_pending(address(port));
          ASSERT_EQ(handle.has_value(), used < 48 && pending.count(port) == 0) << "seed " << seed;
          if (handle) pending[port] = *handle;
          break;
        }
        case 2:
          if (const auto it = pending.find(port); it != pending.end()) {
            const bool moved = table.assign_id(it->second, id);
            ASSERT_EQ(moved, ids.count(id) == 0) << "seed " << seed;
            if (moved) {
              ids[id] = it->second;
              pending.erase(it);
            }
          }
          break;
        case 3:
          if (const auto it = ids.find(id); it != ids.end()) {
            table.erase(it->second);
            ids.erase(it);
          }
          break;
        default:
          if (const auto it = pending.find(port); it != pending.end()) {
            table.erase(it->second);
            pending.erase(it);
          }
      }
      ASSERT_TRUE(table.validate()) << "seed " << seed << " step " << step;
      ASSERT_EQ(table.size(), ids.size() + pending.size());
    }
    for (const auto& [id, handle] : ids) EXPECT_EQ(table.find(id), handle);
    for (const auto& [port, handle] : pending) EXPECT_EQ(table.find_pending(address(port)), handle);
    uint32_t seen = 0;
    for (uint32_t slot = 0; slot < table.capacity(); ++slot) seen += table.at(slot).has_value();
    EXPECT_EQ(seen, table.size());
  }
}

}  // namespace
}  // namespace lattice::connection
