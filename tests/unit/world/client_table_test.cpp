#include "world/client_table.h"

#include <gtest/gtest.h>

namespace lattice::world {
namespace {

TEST(ClientTable, finds_a_client_by_connection_and_by_peer) {
  ClientTable table(4);
  const ConnectionHandle connection{2, 7};
  const uint64_t peer = table.next_peer();
  table.add(connection, peer);
  ASSERT_NE(table.find(connection), nullptr);
  EXPECT_EQ(table.find(connection), table.find_peer(peer));
  EXPECT_EQ(table.peer_of(connection), peer);
  EXPECT_EQ(table.connection_of(peer), connection);
  EXPECT_EQ(table.size(), 1u);
}

TEST(ClientTable, a_stale_handle_and_an_unknown_peer_are_nobody) {
  ClientTable table(4);
  table.add({2, 7}, table.next_peer());
  EXPECT_EQ(table.find({2, 6}), nullptr);
  EXPECT_EQ(table.find({9, 7}), nullptr);
  EXPECT_EQ(table.find_peer(99), nullptr);
  EXPECT_EQ(table.peer_of({2, 6}), 0u);
  EXPECT_EQ(table.connection_of(99), ConnectionHandle{});
  table.remove({2, 6});
  EXPECT_EQ(table.size(), 1u) << "another connection had the slot before";
}

TEST(ClientTable, no_peer_id_comes_twice) {
  ClientTable table(1);
  const uint64_t first = table.next_peer();
  table.add({0, 1}, first);
  table.remove({0, 1});
  EXPECT_EQ(table.size(), 0u);
  EXPECT_EQ(table.find_peer(first), nullptr);
  EXPECT_NE(table.next_peer(), first);
}

}  // namespace
}  // namespace lattice::world
