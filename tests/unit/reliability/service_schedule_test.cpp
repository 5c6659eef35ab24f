// Which connections are due, and which are ending.
#include "reliability/endpoint/service_schedule.h"

#include <gtest/gtest.h>

#include <vector>

namespace lattice::reliability {
namespace {

std::vector<size_t> due(ServiceSchedule& schedule, uint64_t now_ns) {
  std::vector<size_t> out;
  for (size_t slot = schedule.next_due(0, now_ns); slot != ServiceSchedule::kNone;
       slot = schedule.next_due(slot + 1, now_ns)) {
    out.push_back(slot);
  }
  return out;
}

TEST(ServiceSchedule, NobodyIsDueBeforeItsTime) {
  ServiceSchedule schedule(8);
  EXPECT_EQ(schedule.earliest_ns(), ServiceSchedule::kNever);
  schedule.set(5, 300);
  schedule.set(2, 200);
  EXPECT_EQ(schedule.earliest_ns(), 200u);
  EXPECT_TRUE(due(schedule, 199).empty());
  EXPECT_EQ(due(schedule, 200), (std::vector<size_t>{2}));
  EXPECT_EQ(due(schedule, 300), (std::vector<size_t>{2, 5}));
}

TEST(ServiceSchedule, LowerOnlyBringsForward) {
  ServiceSchedule schedule(8);
  schedule.set(3, 200);
  schedule.lower(3, 250);
  EXPECT_EQ(schedule.at(3), 200u);
  schedule.lower(3, 150);
  EXPECT_EQ(schedule.at(3), 150u);
}

TEST(ServiceSchedule, WhoIsWokenIsDueAtOnce) {
  ServiceSchedule schedule(8);
  schedule.set(1, 1000);
  EXPECT_FALSE(schedule.is_woken());
  schedule.wake(1);
  EXPECT_TRUE(schedule.is_woken());
  EXPECT_EQ(due(schedule, 1), (std::vector<size_t>{1}));
  schedule.begin_update();
  EXPECT_FALSE(schedule.is_woken());
  EXPECT_EQ(due(schedule, 1), (std::vector<size_t>{1})) << "it stays due until it is serviced";
}

TEST(ServiceSchedule, EndsAreVisitedInTheirOrderWithThoseThatComeMeanwhile) {
  ServiceSchedule schedule(8);
  schedule.list_ending(4);
  schedule.list_ending(1);
  schedule.list_ending(6);
  schedule.forget_ending(1);
  std::vector<uint32_t> visited;
  schedule.finish_ending([&](uint32_t slot) {
    visited.push_back(slot);
    if (slot == 4) schedule.list_ending(2);
  });
  EXPECT_EQ(visited, (std::vector<uint32_t>{4, 6, 2}));
  EXPECT_FALSE(schedule.has_ending());
}

}  // namespace
}  // namespace lattice::reliability
