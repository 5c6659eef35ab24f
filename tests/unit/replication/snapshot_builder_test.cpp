#include "replication/snapshot_builder.h"

#include <gtest/gtest.h>

#include <set>

#include "unit/replication/replication_fixture.h"

namespace lattice::replication::test {
namespace {

using Bytes = std::vector<uint8_t>;

TEST(SnapshotBuilder, golden_bytes) {
  Types types;
  Authority authority(types);
  RecipientState recipient{RecipientState::Config{}};
  authority.recipients.push_back(&recipient);
  authority.tick = 900;
  const uint32_t lamp = authority.table.spawn(types.lamp(), 5, LATTICE_AUTHORITY_SHARED, 9, 900);
  authority.history.begin(lamp, types.lamp());
  recipient.object_added(lamp);
  authority.state<Lamp>(lamp) = Lamp{1, 10};
  ObjectInfo info;
  info.network_id = 300;
  info.type = &types.lamp();
  const uint32_t other = authority.table.mirror(info);
  authority.history.begin(other, types.lamp());
  recipient.object_added(other);
  authority.record();
  authority.send(recipient);
  for (int i = 0; i < 130; ++i) recipient.count_reliable_rpc(other);
  authority.despawn(other);

  SnapshotHeader header;
  header.last_input_tick = 998;
  header.input_margin = -3;
  // One full entry and one removal of id 300 after 130 reliable RPCs, worked out by hand from X-03 and D-35.
  authority.tick = 1000;
  authority.record();
  authority.builder.begin_send(1000);
  auto parts = authority.builder.build(recipient, header, 0);
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(copy(parts[0].bytes),
            (Bytes{0xE8, 0x03, 0x00, 0x00, 0xE6, 0x03, 0x00, 0x00, 0xFD, 0x01, 0x80, 0xA0,
                   0xE0, 0xA8, 0x48, 0x00, 0x00, 0x07, 0xAD, 0x58, 0x15, 0x82, 0x01, 0x40}));
  recipient.on_receipt(parts[0].receipt, true);
  authority.state<Lamp>(lamp).level = 11;
  authority.tick = 1002;
  authority.record();
  authority.builder.begin_send(1002);
  parts = authority.builder.build(recipient, header, 0);
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(copy(parts[0].bytes),
            (Bytes{0xEA, 0x03, 0x00, 0x00, 0xE6, 0x03, 0x00, 0x00, 0xFD, 0x01, 0x80, 0x80, 0x56, 0xD0}));
  recipient.on_receipt(parts[0].receipt, true);
  authority.tick = 1004;
  authority.record();
  authority.builder.begin_send(1004);
  parts = authority.builder.build(recipient, header, 0);
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(copy(parts[0].bytes), (Bytes{0xEC, 0x03, 0x00, 0x00, 0xE6, 0x03, 0x00, 0x00, 0xFD, 0x01, 0x40}));
}

TEST(SnapshotBuilder, late_join_of_2000_objects_spreads_over_parts_and_snapshots) {
  Types types;
  Authority authority(types);
  base::Random random(9);
  for (int i = 0; i < 2000; ++i) {
    const uint32_t slot = authority.spawn(types.actor());
    authority.state<Soul>(slot, 1).health = static_cast<int32_t>(random.next_below(101));
    authority.state<Soul>(slot, 1).target = random.next_u64();
    authority.state<Body>(slot).position[0] = static_cast<float>(random.next_unit() * 100);
    std::strcpy(authority.state<Soul>(slot, 1).name, "abcdefghijkl");
  }
  authority.record();
  RecipientState recipient{RecipientState::Config{}};
  recipient.join(authority.table);
  authority.recipients.push_back(&recipient);
  Client client(types);
  uint32_t snapshots = 0;
  uint32_t most_parts = 0;
  while (!recipient.loaded()) {
    ASSERT_LT(++snapshots, 12u);
    std::vector<uint32_t> receipts;
    const auto parts = authority.send(recipient);
    most_parts = std::max(most_parts, static_cast<uint32_t>(parts.size()));
    for (const SnapshotPart& part : parts) {
      ASSERT_LE(part.bytes.size(), 1100u);
      ASSERT_EQ(client.apply(part.bytes), SnapshotApplier::Result::kApplied);
      receipts.push_back(part.receipt);
    }
    for (const uint32_t receipt : receipts) recipient.on_receipt(receipt, true);
    authority.tick += 2;
    authority.record();
  }
  EXPECT_EQ(most_parts, kMaxParts);
  EXPECT_GT(snapshots, 1u);
  EXPECT_EQ(client.mirror.size(), 2000u);
  for (const uint32_t slot : authority.table.ascending()) {
    ASSERT_EQ(client.words(authority.table.network_id(slot)), authority.words(slot));
  }
}

TEST(SnapshotBuilder, a_budget_bounds_the_bytes_and_starves_nobody) {
  Types types;
  Authority authority(types);
  RecipientState recipient{RecipientState::Config{}};
  authority.recipients.push_back(&recipient);
  for (int i = 0; i < 300; ++i) authority.spawn(types.actor());
  Client client(types);
  base::Random random(3);
  std::map<uint64_t, Tick> last_seen;
  for (int send = 0; send < 200; ++send) {
    for (const uint32_t slot : authority.table.ascending()) {
      authority.state<Body>(slot).position[0] = static_cast<float>(random.next_unit() * 100);
    }
    authority.record();
    size_t bytes = 0;
    std::vector<uint32_t> receipts;
    const auto parts = authority.send(recipient, 700);
    for (const SnapshotPart& part : parts) {
      bytes += part.bytes.size();
      // Something is always left out here, so a part is announced that never comes.
      ASSERT_EQ(part.bytes[9] & 0x0F, static_cast<int>(parts.size()) + 1);
      ASSERT_EQ(client.apply(part.bytes), SnapshotApplier::Result::kApplied);
      receipts.push_back(part.receipt);
    }
    EXPECT_LE(bytes, 700u);
    EXPECT_GT(bytes, 600u);
    for (const uint32_t receipt : receipts) recipient.on_receipt(receipt, true);
    for (const std::string& line : client.log.take()) {
      const size_t at = line.find('@');
      if (at != std::string::npos) last_seen[std::stoull(line.substr(line.find(' ') + 1))] = authority.tick;
    }
    authority.tick += 2;
  }
  ASSERT_EQ(last_seen.size(), 300u);
  for (const auto& [id, tick] : last_seen) EXPECT_LT(authority.tick - tick, 60u) << id;
  EXPECT_GT(authority.builder.stats().postponed, 0u);
}

TEST(SnapshotBuilder, the_owner_hears_of_its_own_objects_first) {
  Types types;
  Authority authority(types);
  RecipientState::Config config;
  config.peer_id = 42;
  RecipientState recipient(config);
  authority.recipients.push_back(&recipient);
  for (int i = 0; i < 100; ++i) authority.spawn(types.actor(), i == 90 ? 42 : 0);
  authority.record();
  Client client(types);
  client.apply(authority.send(recipient, 100)[0].bytes);
  EXPECT_NE(client.mirror.find(91), kNoSlot);
}

TEST(SnapshotBuilder, one_that_is_longer_than_the_budget_holds_nothing_up) {
  Types types;
  SnapshotBuilder::Config config;
  config.part_capacity_bytes = 400;
  Authority authority(types, config);
  RecipientState recipient{RecipientState::Config{}};
  authority.recipients.push_back(&recipient);
  const uint32_t big = authority.spawn(types.scroll());
  std::memset(authority.state<Scroll>(big).text, 'x', 300);
  for (int i = 0; i < 20; ++i) authority.spawn(types.lamp());
  authority.record();
  Client client(types);
  const auto parts = authority.send(recipient, 120);  // the first in line needs more than all of it
  ASSERT_EQ(parts.size(), 1u);
  client.apply(parts[0].bytes);
  EXPECT_EQ(client.mirror.find(1), kNoSlot);
  EXPECT_EQ(client.mirror.size(), 14u);  // the whole budget serves those that fit
  EXPECT_EQ(authority.builder.stats().over_budget, 1u);
  EXPECT_GT(recipient.knowledge(big).accumulator, 0.0f);
}

TEST(SnapshotBuilder, an_object_that_fits_no_part_is_left_out_and_counted) {
  Types types;
  SnapshotBuilder::Config config;
  config.part_capacity_bytes = 200;
  Authority authority(types, config);
  RecipientState recipient{RecipientState::Config{}};
  authority.recipients.push_back(&recipient);
  const uint32_t big = authority.spawn(types.scroll());
  std::memset(authority.state<Scroll>(big).text, 'x', 300);
  authority.spawn(types.lamp());
  authority.record();
  Client client(types);
  client.apply(authority.send(recipient)[0].bytes);
  EXPECT_EQ(client.mirror.find(1), kNoSlot);
  EXPECT_NE(client.mirror.find(2), kNoSlot);
  EXPECT_EQ(authority.builder.stats().oversized, 1u);
}

TEST(SnapshotBuilder, moving_objects_that_stand_still_are_marked_unchanged) {
  Types types;
  Authority authority(types);
  RecipientState recipient{RecipientState::Config{}};
  authority.recipients.push_back(&recipient);
  const uint32_t slot = authority.spawn(types.actor());
  authority.spawn(types.actor());               // does not move: never marked
  authority.state<Body>(slot).velocity[0] = 3;  // pressed against a wall
  Client client(types);
  std::vector<Tick> marked;
  for (; authority.tick < 120; authority.tick += 2) {
    authority.record();
    for (const SnapshotPart& part : authority.send(recipient)) {
      client.apply(part.bytes);
      recipient.on_receipt(part.receipt, true);
    }
    for (const std::string& line : client.log.take()) {
      EXPECT_EQ(line.find("unchanged 2"), std::string::npos);
      if (line.rfind("unchanged 1@", 0) == 0)
        marked.push_back(static_cast<Tick>(std::stoul(line.substr(12))));
    }
  }
  ASSERT_GT(marked.size(), 5u);
  EXPECT_EQ(marked[0], 3u);  // at once after the last change
  for (size_t i = 1; i < marked.size(); ++i) EXPECT_EQ(marked[i] - marked[i - 1], 12u);  // 200 ms at 60 Hz
  EXPECT_EQ(client.applier.last_heard(client.mirror.find(1)), marked.back());
}

TEST(SnapshotBuilder, many_clients_share_the_encoded_entries) {
  Types types;
  Authority authority(types);
  std::vector<std::unique_ptr<RecipientState>> recipients;
  for (int i = 0; i < 50; ++i) {
    recipients.push_back(std::make_unique<RecipientState>(RecipientState::Config{}));
    authority.recipients.push_back(recipients.back().get());
  }
  for (int i = 0; i < 40; ++i) authority.spawn(types.actor());
  authority.record();
  authority.builder.begin_send(authority.tick);
  std::vector<uint8_t> first;
  for (auto& recipient : recipients) {
    const auto parts = authority.builder.build(*recipient, SnapshotHeader{}, 0);
    if (first.empty()) first = copy(parts[0].bytes);
    EXPECT_EQ(copy(parts[0].bytes), first);
  }
  EXPECT_EQ(authority.builder.cache().encoded(), 40u);
  EXPECT_EQ(authority.builder.cache().shared(), 40u * 49u);
}

}  // namespace
}  // namespace lattice::replication::test
