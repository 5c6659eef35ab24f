// Threads that seal and open change nothing: sessions with 1, 2 and 4 workers, and with tasks run in an order
// no scheduler would choose, are the same to the bit. Every datagram, every message, every refusal counted.
// The pool is the one of examples/, so the thread sanitizer looks at it too.
#include <gtest/gtest.h>

#include "system/task_workers.h"
#include "unit/reliability/traffic_record.h"

namespace lattice::test::threads_test {
namespace {

using reliability::Refusal;

/// All that can be seen of a session.
struct Transcript {
  std::vector<RecordedDatagram> datagrams;
  std::vector<std::vector<Received>> received;  ///< By node, the server first.
  std::vector<reliability::EndpointStats> stats;
  std::vector<size_t> ended;
  uint32_t highest_epoch = 0;
  uint64_t path_trials = 0;
};

void expect_equal(const Transcript& expected, const Transcript& actual) {
  ASSERT_EQ(actual.datagrams.size(), expected.datagrams.size());
  for (size_t i = 0; i < expected.datagrams.size(); ++i) {
    const RecordedDatagram& a = actual.datagrams[i];
    const RecordedDatagram& e = expected.datagrams[i];
    ASSERT_TRUE(a.from == e.from && a.to == e.to && a.bytes == e.bytes) << "datagram " << i;
  }
  ASSERT_EQ(actual.received.size(), expected.received.size());
  for (size_t node = 0; node < expected.received.size(); ++node) {
    ASSERT_EQ(actual.received[node].size(), expected.received[node].size()) << "node " << node;
    for (size_t i = 0; i < expected.received[node].size(); ++i) {
      const Received& a = actual.received[node][i];
      const Received& e = expected.received[node][i];
      ASSERT_TRUE(a.connection == e.connection && a.channel == e.channel && a.flags == e.flags &&
                  a.body == e.body)
          << "node " << node << ", message " << i;
    }
    for (size_t r = 0; r < reliability::kRefusalCount; ++r) {
      const auto refusal = static_cast<Refusal>(r);
      ASSERT_EQ(actual.stats[node].refusals.get(refusal), expected.stats[node].refusals.get(refusal))
          << "node " << node << ", " << reliability::refusal_name(refusal);
    }
    ASSERT_EQ(actual.stats[node].traffic.bytes_received, expected.stats[node].traffic.bytes_received);
    ASSERT_EQ(actual.ended[node], expected.ended[node]);
  }
  ASSERT_EQ(actual.highest_epoch, expected.highest_epoch);
  ASSERT_EQ(actual.path_trials, expected.path_trials);
}

/// Makes batches hostile: beside packets to the server it puts copies, forgeries, other contents under the
/// same number, other epochs, cut ones and known ones from elsewhere, all arriving together. What travels is
/// recorded.
class HostilePath {
 public:
  HostilePath(EndpointRig& rig, uint64_t seed, bool hostile) : rig_(rig), random_(seed), hostile_(hostile) {
    rig.network.set_tap(&HostilePath::see, this);
  }
  ~HostilePath() { rig_.network.set_tap(nullptr, nullptr); }
  HostilePath(const HostilePath&) = delete;
  HostilePath& operator=(const HostilePath&) = delete;

  std::vector<RecordedDatagram> datagrams;

 private:
  static socket::TapVerdict see(void* context, socket::TappedDatagram& datagram) {
    static_cast<HostilePath*>(context)->note(datagram);
    return socket::TapVerdict::kPass;
  }
  void note(const socket::TappedDatagram& datagram) {
    datagrams.push_back({datagram.from, datagram.to, Bytes(datagram.data, datagram.data + datagram.size)});
    if (!hostile_ || !(datagram.to == rig_.server.address) || !datagrams.back().is_session_packet()) return;
    Bytes bytes = datagrams.back().bytes;
    base::PathId from = datagram.from;
    constexpr size_t kEpochAt = 13;  // Behind magic, version, type and connection_id (docs/spec/wire.md).
    switch (random_.next_below(12)) {
      case 0:
      case 1:
        break;  // A copy.
      case 2:
        bytes.back() ^= 1;
        break;
      case 3:
        bytes[bytes.size() / 2] ^= 0x80;
        break;
      case 4:
        ++bytes[kEpochAt];
        break;
      case 5:
        bytes.resize(bytes.size() - 1);
        break;
      case 6:
        from.number = 1;
        break;
      case 7:
        bytes[kEpochAt + 1] ^= 1;  // The number.
        break;
      default:
        return;
    }
    rig_.network.inject(from, rig_.server.address, bytes, datagram.now_ns + 20 * kMs);
  }

  EndpointRig& rig_;
  base::Random random_;
  bool hostile_;
};

constexpr size_t kClients = 12;
constexpr uint64_t kSteps = 60;
constexpr size_t kBurst = 5;  // Packets of each connection in one pump.

RigOptions crowded_options(uint64_t seed, const CallerTasks& tasks) {
  RigOptions options;
  options.seed = seed;
  options.client_count = kClients;
  options.step_ns = 50 * kMs;
  options.path.delay_ms = 20;
  options.path.jitter_ms = 10;
  options.path.jitter_reorders = true;
  options.path.loss = 0.05;
  options.path.duplicate = 0.02;
  options.server.max_connections = kClients + 1;
  options.server.max_half_open = kClients;
  for (reliability::EndpointConfig* config : {&options.server, &options.client}) {
    config->congestion.mode = reliability::CongestionMode::kNone;
    // New keys as fast as the exchange allows, so that they begin and end within batches.
    config->rotation = {
        .packets = 10, .min_interval_ns = 0, .min_overlap_ns = 0, .max_overlap_ns = 5 * kSecond};
  }
  options.server.tasks = tasks;
  return options;
}

void send_bursts(EndpointRig& rig, uint64_t step) {
  for (size_t i = 0; i < kBurst; ++i) {
    const Bytes body = number_body(step * kBurst + i, 800 + 10 * i);
    for (size_t c = 0; c < kClients; ++c) {
      Node& client = *rig.clients[c];
      client.endpoint->send(client.connection, Channel::kUnreliable, {}, body);
      rig.server.endpoint->send(rig.server.handler.connected[c], Channel::kUnreliable, {}, body);
    }
  }
  for (size_t c = 0; c < kClients; ++c) {
    Node& client = *rig.clients[c];
    client.endpoint->send(client.connection, Channel::kReliableOrdered, {}, number_body(step));
    rig.server.endpoint->send(rig.server.handler.connected[c], Channel::kReliableOrdered, {},
                              number_body(step));
  }
}

Transcript run_session(uint64_t seed, bool hostile, Workers& workers) {
  EndpointRig rig(crowded_options(seed, workers.tasks()));
  Transcript out;
  {
    HostilePath path(rig, seed, hostile);
    EXPECT_TRUE(rig.connect_all());
    for (uint64_t step = 0; step < kSteps; ++step) {
      send_bursts(rig, step);
      rig.step();
    }
    // Half of them leave within one pump, their goodbyes waiting in the batch their keys end in.
    for (size_t c = 0; c < kClients / 2; ++c) {
      rig.server.endpoint->disconnect(rig.server.handler.connected[c], connection::DisconnectReason::kKicked);
    }
    for (size_t c = 0; c < kClients; ++c) {
      if (const auto* stats = rig.server.endpoint->stats(rig.server.handler.connected[c])) {
        out.highest_epoch = std::max(out.highest_epoch, stats->key_epoch);
        out.path_trials += stats->path_trials;
      }
    }
    rig.run(kSecond);
    out.datagrams = std::move(path.datagrams);
  }
  out.received.push_back(std::move(rig.server.handler.received));
  out.stats.push_back(rig.server.endpoint->stats());
  out.ended.push_back(rig.server.handler.ended.size());
  for (const auto& client : rig.clients) {
    out.received.push_back(std::move(client->handler.received));
    out.stats.push_back(client->endpoint->stats());
    out.ended.push_back(client->handler.ended.size());
  }
  return out;
}

void compare_worker_counts(uint64_t seed, bool hostile, Transcript* expected) {
  NoWorkers none;
  *expected = run_session(seed, hostile, none);
  PoolWorkers two(2), four(4);
  CarelessWorkers careless;
  for (Workers* workers :
       {static_cast<Workers*>(&two), static_cast<Workers*>(&four), static_cast<Workers*>(&careless)}) {
    const Transcript actual = run_session(seed, hostile, *workers);
    expect_equal(*expected, actual);
    EXPECT_GT(workers->batches, kSteps * 2) << "pumps both ways were shared out";
    EXPECT_GT(workers->shares, 2 * workers->batches);
  }
}

TEST(Threads, AnyNumberOfWorkersGivesTheSameDatagramsAndMessages) {
  for (uint64_t seed = 1; seed <= 2; ++seed) {
    SCOPED_TRACE(seed);
    Transcript expected;
    compare_worker_counts(seed, false, &expected);
    ASSERT_FALSE(expected.received.empty());
    EXPECT_GT(expected.received[0].size(), kClients * kBurst * (kSteps - 10));
    EXPECT_EQ(expected.stats[0].refusals.get(Refusal::kNotAuthentic), 0u);
    EXPECT_GE(expected.highest_epoch, 4u) << "keys were to change within batches";
    EXPECT_EQ(expected.ended[0], kClients / 2);
  }
}

TEST(Threads, AHostileBatchIsRefusedAsOneByOne) {
  Transcript expected;
  compare_worker_counts(3, true, &expected);
  ASSERT_FALSE(expected.stats.empty());
  const reliability::RefusalCounters& refused = expected.stats[0].refusals;
  EXPECT_GT(refused.get(Refusal::kDuplicate), 100u);
  EXPECT_GT(refused.get(Refusal::kNotAuthentic), 100u);
  EXPECT_GT(refused.get(Refusal::kUnknownEpoch), 20u);
  EXPECT_GT(expected.path_trials, 10u) << "copies from elsewhere were to come first";
  EXPECT_GE(expected.highest_epoch, 4u);
  // Nothing forged came through: what the clients numbered arrives in order and without gaps.
  std::map<uint32_t, uint64_t> next;
  for (const Received& each : expected.received[0]) {
    if (each.channel == Channel::kReliableOrdered) {
      EXPECT_EQ(number_of(each.body), next[each.connection.slot]++);
    }
  }
}

}  // namespace
}  // namespace lattice::test::threads_test
