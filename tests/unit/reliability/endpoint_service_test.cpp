// Updates look only at connections that have something to do. That must be invisible: the same seeded session
// is run with and without it, and every datagram, report and statistic compared.
#include <gtest/gtest.h>

#include "base/random.h"
#include "traffic_record.h"

namespace lattice::reliability {
namespace {

using test::Bytes;
using test::EndpointRig;
using test::kMs;
using test::kSecond;
using test::Node;

constexpr size_t kClients = 6;

/// All a session shows of itself.
struct Session {
  std::vector<test::RecordedDatagram> datagrams;
  std::vector<double> statistics;
  std::vector<std::pair<connection::DisconnectReason, std::string>> ends;
  uint64_t messages = 0;
  uint64_t visits = 0;
  /// What it was about, so that a quiet one is seen.
  uint64_t moves = 0, resent = 0, mtu_probes = 0, timeouts = 0;
  uint32_t newest_epoch = 0;
};

test::RigOptions session_options(uint64_t seed, bool service_all) {
  test::RigOptions options;
  options.seed = seed;
  options.client_count = kClients;
  options.path.delay_ms = 20;
  options.path.jitter_ms = 8;
  options.path.jitter_reorders = true;
  options.path.loss = 0.05;
  constexpr std::array<uint64_t, 3> kSteps = {2 * kMs, 16 * kMs, 100 * kMs};
  options.step_ns = kSteps[seed % kSteps.size()];
  for (EndpointConfig* config : {&options.server, &options.client}) {
    config->service_all = service_all;
    config->rotation = {.period_ns = 4 * kSecond, .min_interval_ns = 2 * kSecond};
    config->congestion.mode = seed % 2 == 0 ? CongestionMode::kGoodBad : CongestionMode::kDelay;
  }
  return options;
}

void note_statistics(const Node& node, ConnectionHandle connection, Session* session) {
  const ConnectionStats* stats = node.endpoint->stats(connection);
  if (stats == nullptr) return;
  session->statistics.insert(session->statistics.end(),
                             {stats->loss_in, stats->loss_out, static_cast<double>(stats->srtt_ns),
                              static_cast<double>(stats->quality), static_cast<double>(stats->packets_lost),
                              static_cast<double>(stats->rate_bytes_per_s)});
  session->moves = std::max<uint64_t>(session->moves, stats->path_moves);
  session->newest_epoch = std::max(session->newest_epoch, stats->key_epoch);
  session->mtu_probes = std::max<uint64_t>(session->mtu_probes, stats->mtu_probes_sent);
}

/// Somebody says something, or nobody does for seconds.
void talk(EndpointRig& rig, base::Random& random) {
  constexpr std::array kChannels = {Channel::kUnreliable, Channel::kReliableUnordered,
                                    Channel::kReliableOrdered};
  for (size_t i = 0; i < kClients; ++i) {
    if (!random.chance(0.02)) continue;
    const bool from_server = random.chance(0.5) && i < rig.server.handler.connected.size();
    Node& node = from_server ? rig.server : *rig.clients[i];
    const ConnectionHandle to = from_server ? rig.server.handler.connected[i] : node.connection;
    for (uint64_t count = 1 + random.next_below(12); count > 0; --count) {
      const auto receipt = static_cast<uint32_t>(random.next_below(2) * (1 + random.next_below(1000)));
      node.endpoint->send(to, kChannels[random.next_below(kChannels.size())], {},
                          Bytes(8 + random.next_below(1000), 0x5A), receipt);
    }
  }
}

/// What befalls connections at fixed times: another address, a dead path, an end from either side, a
/// beginning.
void befall(EndpointRig& rig, uint64_t step) {
  const uint64_t at_ms = step * rig.options.step_ns / kMs;
  const auto is_first_at = [&](uint64_t ms) { return at_ms >= ms && at_ms - rig.options.step_ns / kMs < ms; };
  if (is_first_at(3000)) {
    const base::PathId moved = base::ipv4_path(192, 0, 2, 77, 5000);
    rig.network.rebind(rig.clients[1]->address, moved);
  }
  if (is_first_at(4000)) {
    socket::Impairment dead;
    dead.blackout = true;
    rig.network.set_path(rig.clients[2]->address, rig.server.address, dead, dead);
  }
  if (is_first_at(5000)) {
    rig.clients[3]->endpoint->disconnect(rig.clients[3]->connection,
                                         connection::DisconnectReason::kRequested);
  }
  if (is_first_at(6000) && rig.server.handler.connected.size() > 4) {
    rig.server.endpoint->disconnect(rig.server.handler.connected[4], connection::DisconnectReason::kKicked,
                                    "off");
  }
  if (is_first_at(9000)) rig.connect(*rig.clients[3]);
}

Session run_session(uint64_t seed, bool service_all) {
  EndpointRig rig(session_options(seed, service_all));
  test::TrafficRecord record(rig.network);
  base::Random random(seed);
  Session session;
  EXPECT_TRUE(rig.connect_all());
  const uint64_t steps = 20 * kSecond / rig.options.step_ns;
  for (uint64_t step = 0; step < steps; ++step) {
    if (step * rig.options.step_ns / (2 * kSecond) % 2 == 0) talk(rig, random);
    befall(rig, step);
    rig.step();
    if (step % 7 != 0) continue;
    for (const auto& client : rig.clients) note_statistics(*client, client->connection, &session);
    for (const ConnectionHandle each : rig.server.handler.connected)
      note_statistics(rig.server, each, &session);
  }
  std::vector<Node*> nodes = {&rig.server};
  for (const auto& client : rig.clients) nodes.push_back(client.get());
  for (const Node* node : nodes) {
    const EndpointStats& stats = node->endpoint->stats();
    session.messages += node->handler.message_count;
    session.visits += stats.connections_serviced;
    session.resent += stats.traffic.messages_resent;
    for (const test::Ended& end : node->handler.ended) {
      session.ends.emplace_back(end.reason, end.text);
      session.timeouts += end.reason == connection::DisconnectReason::kTimeout;
    }
  }
  session.datagrams = record.all();
  return session;
}

/// Packets that the server sends in 10 s to a client whose inputs come every 30 ms, if it sends a snapshot
/// every `snapshot_ms`; 0: none.
uint64_t packets_to_one_who_sends_inputs(uint64_t snapshot_ms, MessageFlags flags) {
  EndpointRig rig;
  EXPECT_TRUE(rig.connect_all());
  rig.run(kSecond);
  const uint64_t before = rig.server.endpoint->stats().traffic.packets_sent;
  for (uint64_t ms = 0; ms < 10'000; ms += 5) {
    if (ms % 30 == 0) {
      rig.clients[0]->endpoint->send(rig.clients[0]->connection, Channel::kUnreliableSequenced, flags,
                                     Bytes(20));
    }
    if (snapshot_ms != 0 && ms % snapshot_ms == 0) {
      rig.server.endpoint->send(rig.server.connection, Channel::kUnreliableSequenced, test::kSnapshot,
                                Bytes(200));
    }
    rig.step();
  }
  return rig.server.endpoint->stats().traffic.packets_sent - before;
}

TEST(EndpointService, AcksOfInputsTravelWithSnapshots) {
  EXPECT_LE(packets_to_one_who_sends_inputs(50, test::kSnapshot), 200u + 5);
  const uint64_t alone = packets_to_one_who_sends_inputs(0, test::kSnapshot);
  EXPECT_GE(alone, 10'000u / 90) << "an ack within 60 ms of the first input that it is for";
  EXPECT_LE(alone, 10'000u / 60 + 5);
  EXPECT_GE(packets_to_one_who_sends_inputs(50, {}), 300u) << "other messages do not wait so long";
}

TEST(EndpointService, WhoIsDueAndEverybodySendTheSameDatagrams) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Session due = run_session(seed, false);
    const Session all = run_session(seed, true);
    ASSERT_EQ(due.datagrams.size(), all.datagrams.size());
    for (size_t i = 0; i < due.datagrams.size(); ++i) {
      ASSERT_EQ(due.datagrams[i].from, all.datagrams[i].from) << "datagram " << i;
      ASSERT_EQ(due.datagrams[i].to, all.datagrams[i].to) << "datagram " << i;
      ASSERT_EQ(due.datagrams[i].bytes, all.datagrams[i].bytes) << "datagram " << i;
    }
    EXPECT_EQ(due.statistics, all.statistics);
    EXPECT_EQ(due.ends, all.ends);
    EXPECT_EQ(due.messages, all.messages);
    EXPECT_LT(due.visits, all.visits);
    // It was about something.
    EXPECT_GT(due.messages, 20u);
    EXPECT_GT(due.resent, 0u);
    EXPECT_EQ(due.moves, 1u);
    EXPECT_GE(due.newest_epoch, 3u);
    EXPECT_GE(due.mtu_probes, 5u);
    EXPECT_EQ(due.timeouts, 2u);
  }
}

TEST(EndpointService, AnIdleConnectionIsServicedAFewTimesASecond) {
  test::RigOptions options;
  options.client_count = 40;
  options.server.max_connections = 64;
  options.path.delay_ms = 10;
  options.step_ns = kMs;
  EndpointRig rig(std::move(options));
  ASSERT_TRUE(rig.connect_all());
  rig.run(12 * kSecond);  // Past every search for a larger datagram.
  const uint64_t before = rig.server.endpoint->stats().connections_serviced;
  constexpr uint64_t kSeconds = 10;
  rig.run(kSeconds * kSecond);
  const uint64_t visits = rig.server.endpoint->stats().connections_serviced - before;
  EXPECT_EQ(rig.server.endpoint->connection_count(), 40u);
  EXPECT_GE(visits, 40 * kSeconds) << "a keepalive a second is answered";
  EXPECT_LE(visits, 40 * kSeconds * 4) << "and 1000 updates a second pass it by";
}

TEST(EndpointService, AMessageLeavesWithTheNextUpdate) {
  EndpointRig rig;
  ASSERT_TRUE(rig.connect_all());
  rig.run(5 * kSecond + 300 * kMs);
  const uint64_t sent_before = rig.client_stats().traffic.messages_sent;
  rig.client().endpoint->send(rig.client().connection, Channel::kUnreliable, {}, Bytes(10));
  rig.client().endpoint->update_and_send(rig.now_ns, rig.unix_s());
  EXPECT_EQ(rig.client_stats().traffic.messages_sent, sent_before + 1);
}

TEST(EndpointService, AMessageLeavesWithinAnUpdateWhenAsked) {
  test::RigOptions options;
  options.client_count = 2;
  EndpointRig rig(std::move(options));
  ASSERT_TRUE(rig.connect_all());
  rig.run(kSecond);
  Node& server = rig.server;
  const auto packets = [&server](size_t i) {
    return server.endpoint->stats(server.handler.connected[i])->traffic.packets_sent;
  };
  const auto [first, second] = std::pair(packets(0), packets(1));
  for (const ConnectionHandle to : server.handler.connected) {
    ASSERT_EQ(server.endpoint->send(to, Channel::kUnreliable, {}, Bytes(10)), SendResult::kOk);
  }
  server.endpoint->begin_update(rig.now_ns, rig.unix_s());
  server.endpoint->prefetch(server.handler.connected[0]);
  server.endpoint->send_now(server.handler.connected[0]);
  EXPECT_EQ(packets(0), first + 1);
  EXPECT_EQ(packets(1), second);
  server.endpoint->send_now({});  // nobody
  server.endpoint->prefetch({});
  server.endpoint->update_and_send(rig.now_ns, rig.unix_s());
  EXPECT_EQ(packets(0), first + 1);
  EXPECT_EQ(packets(1), second + 1);
}

// The kernel sends datagrams of one length as one. Parts of a snapshot are nearly that.
TEST(EndpointService, PartsOfASnapshotHaveOneLength) {
  test::RigOptions options;
  options.equal_lengths = true;
  options.server.max_datagram_bytes = wire::kFloorDatagramBytes;
  EndpointRig rig(std::move(options));
  ASSERT_TRUE(rig.connect_all());
  rig.run(kSecond);
  Node& server = rig.server;
  auto& socket = static_cast<test::EqualLengthsSocket&>(*server.socket);
  const auto send = [&](std::initializer_list<size_t> bodies) {
    rig.run(kSecond);
    for (const size_t bytes : bodies) {
      EXPECT_EQ(server.endpoint->send(server.connection, Channel::kUnreliableSequenced, test::kSnapshot,
                                      Bytes(bytes)),
                SendResult::kOk);
    }
    socket.lengths.clear();
    const size_t received = rig.client().handler.received.size();
    rig.run(100 * kMs);
    EXPECT_EQ(rig.client().handler.received.size(), received + bodies.size());
    std::vector<uint32_t> lengths = socket.lengths;
    lengths.resize(std::min(lengths.size(), bodies.size()));
    return lengths;
  };
  const std::vector<uint32_t> run = send({1100, 1120, 1093, 600});
  ASSERT_EQ(run.size(), 4u);
  EXPECT_EQ(run[0], run[1]);
  EXPECT_EQ(run[1], run[2]);
  EXPECT_EQ(run[3] + 520, run[0]) << "the last may be shorter";
  const std::vector<uint32_t> uneven = send({1000, 1140, 600});
  EXPECT_EQ(uneven[1] - uneven[0], 140u) << "so much is not padded";
  EXPECT_TRUE(rig.client().handler.ended.empty());
}

TEST(EndpointService, TheFirstSecondOfACappedConnectionKeepsTheCap) {
  test::RigOptions options;
  options.path.delay_ms = 10;
  options.server.congestion.max_rate_bytes_per_s = 6'000;
  EndpointRig rig(std::move(options));
  ASSERT_TRUE(rig.connect_all());
  const auto sent = [&rig] { return rig.server_stats().traffic.bytes_sent; };
  for (uint64_t ms = 0; ms < 1000; ms += 5) {
    rig.server.endpoint->send(rig.server.connection, Channel::kUnreliable, {}, Bytes(500));
    rig.step();
  }
  EXPECT_LE(sent(), 6'000u + 2'400 + 1'200) << "MTU probes are paid for";
  rig.run(30 * kSecond);
  EXPECT_GE(rig.server_stats().mtu_probes_sent, 5u) << "and leave all the same";
}

// At 64 kB/s a snapshot of 30 Hz is one datagram and a half. The half used to wait for the budget of a whole
// one.
TEST(EndpointService, ASnapshotThatTheBudgetCoversLeavesAtOnce) {
  test::RigOptions options;
  options.server.congestion.max_rate_bytes_per_s = 64'000;
  EndpointRig rig(std::move(options));
  ASSERT_TRUE(rig.connect_all());
  rig.run(6 * kSecond);
  Node& server = rig.server;
  for (const size_t bytes : {200u, 1100u, 800u}) {
    ASSERT_EQ(server.endpoint->send(server.connection, Channel::kUnreliableSequenced, test::kSnapshot,
                                    Bytes(bytes)),
              SendResult::kOk);
    server.endpoint->begin_update(rig.now_ns, rig.unix_s());
    server.endpoint->send_now(server.connection);
    EXPECT_EQ(rig.server_stats().waiting_bytes, 0u) << bytes;
  }
}

}  // namespace
}  // namespace lattice::reliability
