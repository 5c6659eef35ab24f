// Members that do not travel to everyone, or not always: what clients know of them, and what their packets
// hold.
#include "support/seed_share.h"
#include "unit/replication/snapshot_soak.h"

namespace lattice::replication::test {
namespace {

void soak(uint64_t seed, const SoakOptions& options) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Soak run(seed, options);
  run.run(1200);
  run.settle(600);
  if (testing::Test::HasFatalFailure()) return;
  run.expect_equal();
}

SoakOptions with_conditions() {
  SoakOptions options;
  options.conditions = true;
  options.panels = Types::kPanels;
  options.scrolls = 0.15;
  options.churn = 0.3;
  return options;
}

TEST(SendConditions, clients_know_what_is_for_them_and_nothing_else) {
  for (uint64_t seed = 1; seed <= lattice::test::share_of_seeds(3); ++seed) soak(seed, with_conditions());
}

TEST(SendConditions, with_loss_reordering_and_duplicates) {
  SoakOptions options = with_conditions();
  options.link.loss = 0.2, options.link.ack_loss = 0.1, options.link.duplicate = 0.1;
  options.link.max_delay = 12;
  for (uint64_t seed = 10; seed < 10 + lattice::test::share_of_seeds(3); ++seed) soak(seed, options);
}

TEST(SendConditions, in_step_in_groups_and_without_acks) {
  SoakOptions options = with_conditions();
  options.streams = 0.95;
  options.silence_from = 400;
  for (uint64_t seed = 20; seed < 20 + lattice::test::share_of_seeds(2); ++seed) soak(seed, options);
  options.attach = 0.2;
  soak(22, options);
}

TEST(SendConditions, in_small_parts_under_a_tight_budget) {
  SoakOptions options = with_conditions();
  options.link.loss = 0.1, options.link.max_delay = 8;
  options.builder.part_capacity_bytes = 256;
  options.budget_bytes = 600;
  for (uint64_t seed = 30; seed < 30 + lattice::test::share_of_seeds(2); ++seed) soak(seed, options);
}

/// Whether the bits of `secret` are in `bytes`, at any place.
bool has_bits(std::span<const uint8_t> bytes, uint64_t secret) {
  uint64_t window = 0;
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    window = window << 1 | (bytes[bit / 8] >> (7 - bit % 8) & 1u);
    if (bit >= 63 && window == secret) return true;
  }
  return false;
}

class Secrets : public ::testing::Test {
 protected:
  static constexpr uint64_t kOwner = 10, kOther = 11;

  Secrets() {
    for (Side* side : {&owner_, &other_}) {
      side->recipient.join(authority_.table, authority_.store);
      authority_.recipients.push_back(&side->recipient);
    }
  }
  struct Side {
    Side(const Types& types, uint64_t peer)
        : recipient(ReplicaList::Config{.peer_id = peer}), client(types) {}
    ReplicaList recipient;
    Client client;
    std::vector<uint8_t> heard;  // all parts, one behind another
  };
  // Sends to both; everything arrives.
  void send() {
    authority_.record();
    for (Side* side : {&owner_, &other_}) {
      for (const SnapshotPart& part : authority_.send(side->recipient)) {
        side->heard.insert(side->heard.end(), part.bytes.begin(), part.bytes.end());
        EXPECT_EQ(side->client.apply(part.bytes), SnapshotApplier::Result::kApplied);
        side->recipient.on_receipt(part.receipt, true);
      }
    }
    authority_.tick += 2;
  }
  // The text of a scroll is for its owner alone.
  void write(uint32_t slot, const char* text) {
    std::snprintf(authority_.state<Scroll>(slot).text, sizeof Scroll::text, "%s", text);
  }
  static uint64_t bits_of(const char* text) {
    uint64_t bits = 0;
    for (size_t i = 0; i < 8; ++i) bits = bits << 8 | static_cast<uint8_t>(text[i]);
    return bits;
  }

  Types types_{true};
  Authority authority_{types_};
  Side owner_{types_, kOwner};
  Side other_{types_, kOther};
};

TEST_F(Secrets, reach_their_owner_only_in_first_states_changes_and_late_joins) {
  const uint32_t slot = authority_.spawn(types_.scroll(), kOwner);
  write(slot, "treasure");
  send();
  write(slot, "emeralds");
  send();
  send();
  for (const char* secret : {"treasure", "emeralds"}) {
    EXPECT_TRUE(has_bits(owner_.heard, bits_of(secret)));
    EXPECT_FALSE(has_bits(other_.heard, bits_of(secret)));
  }
  other_.recipient.leave(slot, authority_.table.network_id(slot));
  send();
  other_.recipient.enter(slot, authority_.table.network_id(slot));
  for (int i = 0; i < 5; ++i) send();
  EXPECT_FALSE(has_bits(other_.heard, bits_of("emeralds")));
  EXPECT_EQ(other_.client.words(authority_.table.network_id(slot))[0], 0u);  // the length of the text
}

TEST_F(Secrets, go_to_the_new_owner_and_are_gone_at_the_old_one) {
  const uint32_t slot = authority_.spawn(types_.scroll(), kOwner);
  const uint64_t id = authority_.table.network_id(slot);
  write(slot, "treasure");
  send();
  EXPECT_EQ(owner_.client.words(id), authority_.words(slot));
  authority_.table.set_authority(slot, kOther, LATTICE_AUTHORITY_SERVER, authority_.tick);
  authority_.store.announce(slot);
  send();
  send();
  EXPECT_EQ(other_.client.words(id), authority_.words(slot));
  EXPECT_EQ(owner_.client.words(id)[0], 0u);
  owner_.heard.clear();
  write(slot, "emeralds");
  send();
  EXPECT_TRUE(has_bits(other_.heard, bits_of("emeralds")));
  EXPECT_FALSE(has_bits(owner_.heard, bits_of("emeralds")));
}

TEST_F(Secrets, that_are_longer_than_a_part_go_to_their_owner_only) {
  const uint32_t slot = authority_.spawn(types_.scroll(), kOwner);
  std::string text(1290, 'x');
  text.replace(1200, 8, "treasure");
  write(slot, text.c_str());
  for (int i = 0; i < 4; ++i) send();
  EXPECT_EQ(owner_.client.words(authority_.table.network_id(slot)), authority_.words(slot));
  EXPECT_TRUE(has_bits(owner_.heard, bits_of("treasure")));
  EXPECT_FALSE(has_bits(other_.heard, bits_of("treasure")));
  EXPECT_FALSE(has_bits(other_.heard, bits_of("xxxxxxxx")));
}

TEST_F(Secrets, what_travels_once_does_not_follow_changes) {
  const uint32_t slot = authority_.spawn(types_.actor(), kOwner);
  const uint64_t id = authority_.table.network_id(slot);
  std::snprintf(authority_.state<Soul>(slot, 1).name, sizeof Soul::name, "treasure");
  send();
  const std::vector<serialization::Word> first = other_.client.words(id);
  EXPECT_TRUE(has_bits(other_.heard, bits_of("treasure")));
  std::snprintf(authority_.state<Soul>(slot, 1).name, sizeof Soul::name, "emeralds");
  authority_.state<Soul>(slot, 1).health = 50;
  send();
  EXPECT_FALSE(has_bits(other_.heard, bits_of("emeralds")));
  EXPECT_NE(other_.client.words(id), first);  // the health came
  const size_t before = other_.heard.size();
  for (int i = 0; i < 20; ++i) send();
  EXPECT_LE(other_.heard.size() - before, 20 * (kSnapshotHeaderBytes + 12)) << "nothing is sent again for it";
}

}  // namespace
}  // namespace lattice::replication::test
