#include "reliability/path/mtu_search.h"

#include <gtest/gtest.h>

#include "support/durations.h"

namespace lattice::reliability {
namespace {

using test::kMs;
constexpr uint64_t kPatienceNs = 100 * kMs;
constexpr uint64_t kRetryNs = MtuSearch::kRetryNs;

struct Search {
  explicit Search(uint32_t limit_bytes) { search.set_limit(limit_bytes); }

  /// Probes over a path that carries `path_bytes`, until nothing is due.
  void run(uint32_t path_bytes) {
    for (uint32_t bytes = search.probe_due(now_ns); bytes != 0; bytes = search.probe_due(now_ns)) {
      ++probes;
      search.on_probe_sent(++seq, now_ns, kPatienceNs);
      EXPECT_EQ(search.probe_due(now_ns), 0u) << "one at a time";
      if (bytes <= path_bytes) {
        now_ns += 10 * kMs;
        search.update(now_ns);
        EXPECT_EQ(search.probe_in_flight(), seq);
        search.on_probe_acked();
      } else {
        now_ns += kPatienceNs;
        search.update(now_ns);
        EXPECT_EQ(search.probe_in_flight(), 0u);
      }
    }
  }

  MtuSearch search;
  uint64_t now_ns = 0;
  uint64_t seq = 0;
  int probes = 0;
};

TEST(MtuSearch, FindsTheLargestSizeThatArrives) {
  for (size_t i = 0; i < MtuSearch::kSizes.size(); ++i) {
    Search s(1472);
    s.run(MtuSearch::kSizes[i]);
    EXPECT_EQ(s.search.datagram_bytes(), MtuSearch::kSizes[i]);
    const bool stopped = i + 1 < MtuSearch::kSizes.size();
    EXPECT_EQ(s.probes, static_cast<int>(i) + (stopped ? 3 : 0));
  }
}

TEST(MtuSearch, TakesATenthOfASmallRate) {
  constexpr uint64_t kBytesPerS = 6000;
  MtuSearch search;
  search.set_limit(1472);
  search.bound_rate(kBytesPerS);
  uint64_t seq = 0, bytes = 0;
  for (uint64_t path = 0; path < 2; ++path) {
    uint64_t now_ns = (1 + path) * 3600 * 1000 * kMs;
    const uint64_t start_ns = now_ns;
    search.update(now_ns);
    EXPECT_EQ(search.probe_due(now_ns), 0u) << "first come the first states";
    while (search.next_deadline_ns() != MtuSearch::kNever) {
      EXPECT_GT(search.next_deadline_ns(), now_ns);
      now_ns = search.next_deadline_ns();
      search.update(now_ns);
      bytes += search.probe_due(now_ns);
      EXPECT_LE(bytes * 10 * 1000 * kMs, kBytesPerS * (now_ns - start_ns));
      search.on_probe_sent(++seq, now_ns, kPatienceNs);
      search.on_probe_acked();
    }
    EXPECT_EQ(search.datagram_bytes(), 1472u);
    EXPECT_LT(now_ns - start_ns, 15 * 1000 * kMs);
    search.restart();
    bytes = 0;
  }
}

TEST(MtuSearch, KeepsToTheLimit) {
  Search floor(1200);
  floor.run(1500);
  EXPECT_EQ(floor.probes, 0);
  EXPECT_EQ(floor.search.datagram_bytes(), 1200u);
  Search ipv6(1452);
  ipv6.run(1500);
  EXPECT_EQ(ipv6.search.datagram_bytes(), 1452u);
  Search between(1399);
  between.run(1500);
  EXPECT_EQ(between.search.datagram_bytes(), 1350u);
}

TEST(MtuSearch, TwoLostProbesDoNotStopIt) {
  Search s(1472);
  for (int i = 0; i < 2; ++i) {
    s.search.on_probe_sent(++s.seq, s.now_ns, kPatienceNs);
    s.now_ns += kPatienceNs;
    s.search.update(s.now_ns);
  }
  s.run(1500);
  EXPECT_EQ(s.search.datagram_bytes(), 1472u);
}

TEST(MtuSearch, ALateAcknowledgementProvesTheSizeAsWell) {
  Search s(1472);
  for (uint32_t lost = 1; lost <= MtuSearch::kLossesPerSize; ++lost) {
    s.search.on_probe_sent(++s.seq, s.now_ns, kPatienceNs);
    s.now_ns += kPatienceNs;
    s.search.update(s.now_ns);
    EXPECT_EQ(s.search.probe_given_up(), s.seq);
  }
  EXPECT_EQ(s.search.probe_due(s.now_ns), 0u) << "the search has ended";
  s.search.on_probe_acked();
  EXPECT_EQ(s.search.datagram_bytes(), 1280u);
  EXPECT_EQ(s.search.probe_given_up(), 0u);
  s.run(1500);
  EXPECT_EQ(s.search.datagram_bytes(), 1472u) << "and goes on at once";
}

TEST(MtuSearch, TheNextProbeOfASizeIsOverWhenTheLateOneProvesIt) {
  Search s(1472);
  s.search.on_probe_sent(1, 0, kPatienceNs);
  s.search.update(kPatienceNs);
  s.search.on_probe_sent(2, kPatienceNs, kPatienceNs);
  s.search.on_probe_acked();  // Of the first.
  EXPECT_EQ(s.search.probe_in_flight(), 0u) << "its acknowledgement would prove a size it did not have";
  EXPECT_EQ(s.search.probe_due(kPatienceNs), 1350u);
}

TEST(MtuSearch, NothingLateProvesAnythingAboutAnotherPathOrABlackHole) {
  for (const bool is_black_hole : {false, true}) {
    Search s(1472);
    s.search.on_probe_sent(1, 0, kPatienceNs);
    s.search.update(kPatienceNs);
    if (is_black_hole) {
      s.search.on_black_hole(kPatienceNs);
    } else {
      s.search.restart();
    }
    EXPECT_EQ(s.search.probe_given_up(), 0u);
  }
}

TEST(MtuSearch, TriesAgainAfterTenMinutes) {
  Search s(1472);
  s.run(1300);
  EXPECT_EQ(s.search.datagram_bytes(), 1280u);
  const uint64_t stopped_ns = s.now_ns;
  EXPECT_EQ(s.search.probe_due(stopped_ns + kRetryNs - 1), 0u);
  s.now_ns = stopped_ns + kRetryNs;
  s.run(1500);
  EXPECT_EQ(s.search.datagram_bytes(), 1472u);
}

TEST(MtuSearch, ABlackHoleSendsItBackToTheFloor) {
  Search s(1472);
  s.run(1500);
  s.search.on_black_hole(s.now_ns);
  EXPECT_EQ(s.search.datagram_bytes(), 1200u);
  EXPECT_EQ(s.search.probe_due(s.now_ns + kRetryNs - 1), 0u);
  s.now_ns += kRetryNs;
  s.run(1500);
  EXPECT_EQ(s.search.datagram_bytes(), 1472u);
}

TEST(MtuSearch, AnotherPathIsSearchedAtOnce) {
  Search s(1472);
  s.search.on_black_hole(0);
  s.search.restart();
  s.run(1400);
  EXPECT_EQ(s.search.datagram_bytes(), 1400u);
}

TEST(MtuSearch, BeginsWithTheSizeThatIsAssumed) {
  struct Case {
    uint32_t limit, assumed, first;
  };
  for (const Case c : {Case{1472, 1200, 1200}, Case{1472, 1279, 1200}, Case{1472, 1400, 1400},
                       Case{1472, 1472, 1472}, Case{1452, 1472, 1452}, Case{1200, 1472, 1200}}) {
    Search s(c.limit);
    s.search.assume(c.assumed);
    EXPECT_EQ(s.search.datagram_bytes(), c.first);
    s.run(1500);
    EXPECT_EQ(s.search.datagram_bytes(), c.limit) << "and the search goes on from there";
  }
}

TEST(MtuSearch, AWrongAssumptionEndsInABlackHole) {
  Search s(1472);
  s.search.assume(1472);
  s.search.on_black_hole(0);
  EXPECT_EQ(s.search.datagram_bytes(), 1200u);
  EXPECT_EQ(s.search.probe_due(0), 0u);
  s.now_ns = kRetryNs;
  s.run(1350);
  EXPECT_EQ(s.search.datagram_bytes(), 1350u);
}

TEST(MtuSearch, AnAssumptionIsAboutThePathItWasMadeFor) {
  Search s(1472);
  s.search.assume(1400);
  s.search.restart();
  EXPECT_EQ(s.search.datagram_bytes(), 1200u);
}

}  // namespace
}  // namespace lattice::reliability
