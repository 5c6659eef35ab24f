#include "replication/part_ledger.h"

#include <gtest/gtest.h>

#include <deque>

#include "allocation_counter.h"
#include "base/random.h"

namespace lattice::replication {
namespace {

SentEntry sent(uint32_t index) {
  return SentEntry::of(EntryKind::kDelta, index, 0);
}

std::vector<uint32_t> indexes(const PartLedger::Record& record) {
  std::vector<uint32_t> all;
  for (const auto& run : {record.first, record.second}) {
    for (const SentEntry& entry : run) all.push_back(entry.index());
  }
  return all;
}

TEST(PartLedger, gives_back_what_a_part_carried_once) {
  PartLedger ledger(0);
  const uint32_t a = ledger.open(5);
  ledger.add(sent(1));
  ledger.add(sent(2));
  const uint32_t b = ledger.open(5);
  EXPECT_NE(a, 0u);
  EXPECT_NE(a, b);
  const PartLedger::Record record = ledger.resolve(a);
  ASSERT_TRUE(record.found);
  EXPECT_EQ(record.tick, 5u);
  EXPECT_EQ(indexes(record), (std::vector<uint32_t>{1, 2}));
  EXPECT_FALSE(ledger.resolve(a).found);
  EXPECT_TRUE(ledger.resolve(b).found);
  EXPECT_FALSE(ledger.resolve(b + 1).found);
  EXPECT_FALSE(ledger.resolve(0).found);
}

TEST(PartLedger, keeps_what_is_open_when_it_gives_memory_back) {
  PartLedger ledger(0);
  const uint32_t large = ledger.open(1);
  for (uint32_t i = 0; i < 1000; ++i) ledger.add(sent(i));
  const uint32_t open = ledger.open(2);
  for (uint32_t i = 0; i < 50; ++i) ledger.add(sent(7000 + i));
  EXPECT_EQ(indexes(ledger.resolve(large)).size(), 1000u);
  const int64_t before = lattice::test::live_bytes();
  ledger.fit();
  EXPECT_LE(lattice::test::live_bytes(), before - 800 * static_cast<int64_t>(sizeof(SentEntry)));
  for (uint32_t i = 50; i < 300; ++i) ledger.add(sent(7000 + i));
  const std::vector<uint32_t> kept = indexes(ledger.resolve(open));
  ASSERT_EQ(kept.size(), 300u);
  for (uint32_t i = 0; i < 300; ++i) EXPECT_EQ(kept[i], 7000 + i);
}

TEST(PartLedger, takes_many_at_once_and_forgets_the_oldest_for_them) {
  PartLedger ledger(0);
  const auto add = [&](uint32_t first, uint32_t count) {
    ledger.add(count, [&](size_t i) { return sent(first + static_cast<uint32_t>(i)); });
  };
  ledger.open(1);
  add(0, 1200);
  const uint32_t second = ledger.open(2);
  add(2000, 300);
  add(2300, 0);
  add(2300, 200);
  const uint32_t third = ledger.open(3);
  add(4000, 900);  // of 2048 places, 1700 are taken
  EXPECT_EQ(ledger.forgotten_entries().size(), 1200u);
  const std::vector<uint32_t> of_second = indexes(ledger.resolve(second));
  ASSERT_EQ(of_second.size(), 500u);
  for (uint32_t i = 0; i < 500; ++i) EXPECT_EQ(of_second[i], 2000 + i);
  const std::vector<uint32_t> of_third = indexes(ledger.resolve(third));
  ASSERT_EQ(of_third.size(), 900u);
  for (uint32_t i = 0; i < 900; ++i) EXPECT_EQ(of_third[i], 4000 + i);
}

TEST(PartLedger, forgets_the_oldest_at_its_bounds) {
  PartLedger ledger(0);
  const uint32_t first = ledger.open(1);
  for (uint32_t i = 0; i < PartLedger::kMaxOpenParts; ++i) ledger.open(2 + i);
  EXPECT_EQ(ledger.forgotten(), 1u);
  EXPECT_FALSE(ledger.resolve(first).found);

  PartLedger narrow(PartLedger::kMinEntries);
  const uint32_t a = narrow.open(1);
  for (uint32_t i = 0; i < 1000; ++i) narrow.add(sent(i));
  const uint32_t b = narrow.open(2);
  for (uint32_t i = 0; i < 1500; ++i) narrow.add(sent(i));
  EXPECT_FALSE(narrow.resolve(a).found);
  EXPECT_EQ(indexes(narrow.resolve(b)).size(), 1500u);
}

TEST(PartLedger, receipts_go_around_below_their_upper_bits) {
  PartLedger ledger(0, PartLedger::kMaxReceipt - 1);
  std::vector<uint32_t> receipts;
  for (Tick tick = 1; tick <= 5; ++tick) {
    receipts.push_back(ledger.open(tick));
    ledger.add(sent(tick));
  }
  constexpr uint32_t kMax = PartLedger::kMaxReceipt;
  EXPECT_EQ(receipts, (std::vector<uint32_t>{kMax - 1, kMax, 1, 2, 3}));  // 0 means none.
  for (Tick tick = 5; tick >= 1; --tick) {
    const PartLedger::Record record = ledger.resolve(receipts[tick - 1]);
    ASSERT_TRUE(record.found);
    EXPECT_EQ(indexes(record), std::vector<uint32_t>{tick});
  }
  EXPECT_EQ(ledger.forgotten(), 0u);
}

TEST(PartLedger, agrees_with_a_list_over_growth_and_wrapping) {
  const uint64_t seed = 77;
  SCOPED_TRACE(seed);
  base::Random random(seed);
  PartLedger ledger(8192);
  struct Open {
    uint32_t receipt;
    Tick tick;
    std::vector<uint32_t> entries;
  };
  std::deque<Open> model;
  uint32_t value = 0;
  for (Tick tick = 1; tick < 4000; ++tick) {
    Open open{ledger.open(tick), tick, {}};
    const uint64_t count = random.next_below(40);
    for (uint64_t i = 0; i < count; ++i) {
      ledger.add(sent(++value));
      open.entries.push_back(value);
    }
    model.push_back(open);
    while (model.size() > 20 + random.next_below(100)) {
      const size_t at = random.next_below(20);
      const PartLedger::Record record = ledger.resolve(model[at].receipt);
      ASSERT_TRUE(record.found);
      ASSERT_EQ(record.tick, model[at].tick);
      ASSERT_EQ(indexes(record), model[at].entries);
      model.erase(model.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }
  EXPECT_EQ(ledger.forgotten(), 0u);
}

}  // namespace
}  // namespace lattice::replication
