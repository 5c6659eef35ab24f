// ResponseQueue: prefixes in turn, one message for each address, room from the prefix that has most.
#include "transport/connection/response_queue.h"

#include <gtest/gtest.h>

#include <map>

#include "unit/transport/connection/handshake_rig.h"

namespace lattice::connection {
namespace {

using Push = ResponseQueue::Push;

base::PathId at(uint8_t prefix, uint16_t port) {
  return base::ipv4_path(10, 0, prefix, 1, port);
}
RateSubject subject_of(const base::PathId& path) {
  test::ScriptedEntropy entropy(1);
  return RateSubjects(nullptr, entropy).of(path);
}
ResponseQueue::Push push(ResponseQueue& queue, const base::PathId& from) {
  base::PathId displaced;
  return queue.push(from, subject_of(from), std::array<uint8_t, 1>{7}, &displaced);
}

TEST(ResponseQueue, PrefixesInTurnAndEachInOrder) {
  ResponseQueue queue;
  for (uint16_t port = 1; port <= 3; ++port) push(queue, at(9, port));
  push(queue, at(4, 1));
  push(queue, at(200, 1));
  const base::PathId expected[] = {at(4, 1), at(9, 1), at(200, 1), at(9, 2), at(9, 3)};
  for (const base::PathId& from : expected) EXPECT_EQ(queue.pop().from, from);
  EXPECT_TRUE(queue.empty());
}

TEST(ResponseQueue, KeepsTheBytes) {
  ResponseQueue queue;
  std::vector<uint8_t> bytes(wire::kMaxSchemaDifferenceBytes);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i);
  base::PathId displaced;
  EXPECT_EQ(queue.push(at(1, 1), subject_of(at(1, 1)), bytes, &displaced), Push::kWaits);
  const ResponseQueue::Response kept = queue.pop();
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), kept.datagram.begin(), kept.datagram.end()));
}

TEST(ResponseQueue, ARepetitionWaitsOnce) {
  ResponseQueue queue;
  EXPECT_EQ(push(queue, at(1, 1)), Push::kWaits);
  EXPECT_EQ(push(queue, at(1, 1)), Push::kAlreadyWaits);
  queue.pop();
  EXPECT_TRUE(queue.empty());
}

TEST(ResponseQueue, ThePrefixWithTheMostGivesWay) {
  ResponseQueue queue;
  for (uint16_t port = 0; port < ResponseQueue::kMaxResponses - 2; ++port)
    EXPECT_EQ(push(queue, at(1, port)), Push::kWaits);
  EXPECT_EQ(push(queue, at(2, 1)), Push::kWaits);
  EXPECT_EQ(push(queue, at(2, 2)), Push::kWaits);
  EXPECT_EQ(push(queue, at(1, 5000)), Push::kLost) << "its own prefix has the most";
  base::PathId displaced;
  EXPECT_EQ(queue.push(at(3, 1), subject_of(at(3, 1)), std::array<uint8_t, 1>{7}, &displaced),
            Push::kWaitsAnotherLost);
  EXPECT_EQ(displaced, at(1, ResponseQueue::kMaxResponses - 3)) << "the newest of the prefix with the most";
  std::map<uint64_t, int> kept;
  int newest_port = 0;
  while (!queue.empty()) {
    const ResponseQueue::Response next = queue.pop();
    ++kept[next.from.bytes[14]];
    if (next.from.bytes[14] == 1) newest_port = next.from.number;
  }
  EXPECT_EQ(kept[1], static_cast<int>(ResponseQueue::kMaxResponses) - 3);
  EXPECT_EQ(kept[2], 2);
  EXPECT_EQ(kept[3], 1);
  EXPECT_EQ(newest_port, static_cast<int>(ResponseQueue::kMaxResponses) - 4) << "the newest went";
}

TEST(ResponseQueue, ANetworkOfManyPrefixesGivesWay) {
  ResponseQueue queue;
  const auto from = [](uint8_t network, uint8_t prefix) {
    base::PathId address{
        .form = base::PathForm::kIpv6, .number = 1, .bytes = {0x20, 1, 0x0d, network, 0, 0, prefix}};
    return address;
  };
  for (uint8_t prefix = 0; prefix < ResponseQueue::kMaxResponses; ++prefix)
    ASSERT_EQ(push(queue, from(1, prefix)), Push::kWaits);
  EXPECT_EQ(push(queue, from(1, 200)), Push::kLost) << "its own network has the most";
  base::PathId displaced;
  EXPECT_EQ(queue.push(from(2, 1), subject_of(from(2, 1)), std::array<uint8_t, 1>{7}, &displaced),
            Push::kWaitsAnotherLost);
  EXPECT_EQ(displaced, from(1, ResponseQueue::kMaxResponses - 1));
  EXPECT_EQ(queue.push(at(9, 1), subject_of(at(9, 1)), std::array<uint8_t, 1>{7}, &displaced),
            Push::kWaitsAnotherLost);
  EXPECT_EQ(displaced, from(1, ResponseQueue::kMaxResponses - 2)) << "IPv4 and IPv6 are apart";
}

TEST(ResponseQueue, AStrangerFindsNoRoomAmongEquals) {
  ResponseQueue queue;
  for (uint8_t prefix = 0; prefix < ResponseQueue::kMaxResponses; ++prefix)
    EXPECT_EQ(push(queue, at(prefix, 1)), Push::kWaits);
  EXPECT_EQ(push(queue, at(250, 1)), Push::kLost);
  EXPECT_EQ(queue.pop().from, at(0, 1)) << "all that waited still wait";
}

}  // namespace
}  // namespace lattice::connection
