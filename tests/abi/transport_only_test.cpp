// Worlds that are nothing but connections and messages, events as an array, and waiting for the network.
#include <gtest/gtest.h>
#include <poll.h>

#include <map>
#include <string>
#include <vector>

#include "lattice/lattice.h"
#include "support/durations.h"

namespace lattice::test::transport_only_test {
namespace {

constexpr const char* kServer = "10.0.0.1:1000";
using lattice::test::kMs;

struct Event {
  lattice_event head;
  std::string data;
};

/// One world, and what it was told.
struct Side {
  ~Side() { lattice_world_destroy(world); }

  bool create(lattice_role role, const char* address, lattice_netsim* netsim, uint32_t transport_only = 1,
              uint32_t record_events = 1) {
    lattice_world_config config;
    lattice_world_config_init(&config);
    config.bind_address = address;
    config.transport_only = transport_only;
    config.record_events = record_events;
    config.congestion_mode = congestion_mode;
    config.tick_rate_hz = tick_rate_hz;
    config.max_objects = max_objects;
    config.development_tokens = role == LATTICE_ROLE_CLIENT ? 0 : 1;
    if (netsim != nullptr) {
      config.netsim = netsim;
      config.clock = lattice_netsim_clock;
      config.clock_ctx = netsim;
    }
    lattice_role_context context;
    lattice_role_context_init(&context, role);
    world = lattice_world_create(&config, &context);
    return world != nullptr;
  }
  lattice_conn* connect(const char* server) {
    uint8_t token[LATTICE_TOKEN_MAX_BYTES];
    size_t bytes = 0;
    if (lattice_dev_token(world, server, nullptr, token, sizeof token, &bytes) != LATTICE_OK) return nullptr;
    return lattice_connect(world, server, token, bytes);
  }
  /// Takes all events, in bites of two.
  void take() {
    lattice_event events[2];
    for (size_t n; (n = lattice_world_events(world, events, 2)) != 0;) {
      for (size_t i = 0; i < n; ++i) {
        EXPECT_EQ(events[i].data[events[i].bytes], 0) << "a zero follows the data";
        told.push_back({events[i], {reinterpret_cast<const char*>(events[i].data), events[i].bytes}});
      }
    }
    EXPECT_EQ(lattice_last_result(), LATTICE_OK) << lattice_last_error();
  }
  void pump() {
    EXPECT_EQ(lattice_world_pump(world), 0u) << "there are no ticks";
    EXPECT_EQ(lattice_last_result(), LATTICE_OK) << lattice_last_error();
    take();
  }
  size_t count(lattice_event_kind kind) const {
    size_t found = 0;
    for (const Event& event : told) found += event.head.kind == static_cast<uint32_t>(kind) ? 1 : 0;
    return found;
  }
  const Event* last(lattice_event_kind kind) const {
    for (size_t i = told.size(); i-- > 0;) {
      if (told[i].head.kind == static_cast<uint32_t>(kind)) return &told[i];
    }
    return nullptr;
  }

  uint32_t congestion_mode = LATTICE_CONGESTION_DELAY;
  uint32_t tick_rate_hz = 60;
  uint32_t max_objects = 1024;
  lattice_world* world = nullptr;
  std::vector<Event> told;
};

class TransportOnly : public ::testing::Test {
 protected:
  void SetUp() override { netsim = lattice_netsim_create(5); }
  void TearDown() override { lattice_netsim_destroy(netsim); }

  void connect(Side& server, Side& client) {
    ASSERT_TRUE(server.create(LATTICE_ROLE_DEDICATED, kServer, netsim)) << lattice_last_error();
    ASSERT_TRUE(client.create(LATTICE_ROLE_CLIENT, "10.0.0.2:2000", netsim)) << lattice_last_error();
    ASSERT_NE(client.connect(kServer), nullptr) << lattice_last_error();
    run(server, client, 100);
    ASSERT_EQ(server.count(LATTICE_EVENT_CONNECTED), 1u);
    ASSERT_EQ(client.count(LATTICE_EVENT_CONNECTED), 1u);
  }
  void run(Side& server, Side& client, int steps) {
    for (int i = 0; i < steps; ++i) {
      server.pump();
      client.pump();
      lattice_netsim_advance(netsim, 5 * kMs);
    }
  }

  lattice_netsim* netsim = nullptr;
};

TEST_F(TransportOnly, MessagesGoBothWaysAndEventsTellEverything) {
  Side server, client;
  ASSERT_NO_FATAL_FAILURE(connect(server, client));
  lattice_conn* to_server = client.last(LATTICE_EVENT_CONNECTED)->head.conn;
  lattice_conn* to_client = server.last(LATTICE_EVENT_CONNECTED)->head.conn;
  EXPECT_EQ(server.last(LATTICE_EVENT_CONNECTED)->head.peer, client.last(LATTICE_EVENT_CONNECTED)->head.peer);
  EXPECT_EQ(lattice_local_peer(client.world), client.last(LATTICE_EVENT_CONNECTED)->head.peer);
  EXPECT_EQ(lattice_peer_conn(server.world, server.last(LATTICE_EVENT_CONNECTED)->head.peer), to_client);

  const std::string longest(LATTICE_MESSAGE_MAX_BYTES, 'x');
  uint32_t receipt = 0;
  ASSERT_EQ(lattice_send_with_receipt(to_server, LATTICE_CHANNEL_UNRELIABLE, "ping", 4, &receipt),
            LATTICE_OK);
  ASSERT_EQ(lattice_send(to_server, LATTICE_CHANNEL_RELIABLE_ORDERED, nullptr, 0), LATTICE_OK);
  ASSERT_EQ(lattice_send(to_client, LATTICE_CHANNEL_RELIABLE_UNORDERED, longest.data(), longest.size()),
            LATTICE_OK);
  run(server, client, 200);
  ASSERT_EQ(server.count(LATTICE_EVENT_MESSAGE), 2u);
  std::map<uint32_t, std::string> by_channel;
  for (const Event& event : server.told) {
    if (event.head.kind == LATTICE_EVENT_MESSAGE) by_channel[event.head.channel] = event.data;
  }
  EXPECT_EQ(by_channel.at(LATTICE_CHANNEL_UNRELIABLE), "ping");
  EXPECT_EQ(by_channel.at(LATTICE_CHANNEL_RELIABLE_ORDERED), "");
  ASSERT_EQ(client.count(LATTICE_EVENT_MESSAGE), 1u);
  EXPECT_EQ(client.last(LATTICE_EVENT_MESSAGE)->data, longest);
  EXPECT_EQ(client.last(LATTICE_EVENT_MESSAGE)->head.conn, to_server);
  ASSERT_EQ(client.count(LATTICE_EVENT_RECEIPT), 1u);
  EXPECT_EQ(client.last(LATTICE_EVENT_RECEIPT)->head.receipt, receipt);
  EXPECT_EQ(client.last(LATTICE_EVENT_RECEIPT)->head.acked, 1u);

  lattice_world_stats stats;
  lattice_world_stats_init(&stats);
  ASSERT_EQ(lattice_world_get_stats(server.world, &stats), LATTICE_OK);
  EXPECT_EQ(stats.connections, 1u);
  EXPECT_EQ(stats.snapshots_sent, 0u);
  ASSERT_EQ(lattice_world_get_stats(client.world, &stats), LATTICE_OK);
  EXPECT_EQ(stats.connections, 1u);

  ASSERT_EQ(lattice_disconnect_with(to_client, 300, "bye now"), LATTICE_OK);
  run(server, client, 100);
  for (const Side* side : {&server, &client}) {
    ASSERT_EQ(side->count(LATTICE_EVENT_DISCONNECTED), 1u);
    EXPECT_EQ(side->last(LATTICE_EVENT_DISCONNECTED)->head.reason, 300);
  }
  EXPECT_EQ(client.last(LATTICE_EVENT_DISCONNECTED)->data, "bye now");
  EXPECT_EQ(lattice_send(to_server, LATTICE_CHANNEL_UNRELIABLE, "x", 1), LATTICE_ERROR_STALE_HANDLE);
  ASSERT_EQ(lattice_world_get_stats(client.world, &stats), LATTICE_OK);
  EXPECT_EQ(stats.connections, 0u);
  ASSERT_NE(client.connect(kServer), nullptr) << "and again";
  run(server, client, 100);
  EXPECT_EQ(client.count(LATTICE_EVENT_CONNECTED), 2u);
}

TEST_F(TransportOnly, AQuietConnectionCostsNoSnapshots) {
  Side server, client;
  ASSERT_NO_FATAL_FAILURE(connect(server, client));
  run(server, client, 400);  // the search for larger datagrams ends
  lattice_world_stats before, after;
  lattice_world_stats_init(&before);
  lattice_world_stats_init(&after);
  ASSERT_EQ(lattice_world_get_stats(server.world, &before), LATTICE_OK);
  run(server, client, 2000);  // ten seconds
  ASSERT_EQ(lattice_world_get_stats(server.world, &after), LATTICE_OK);
  EXPECT_LE(after.packets_sent - before.packets_sent, 30u) << "keepalives, and what measures the round trip";
  EXPECT_GE(after.packets_sent - before.packets_sent, 5u);
}

TEST_F(TransportOnly, ThereAreNoTypesAndNoTicks) {
  Side server, client;
  ASSERT_NO_FATAL_FAILURE(connect(server, client));
  lattice_type_desc type;
  lattice_type_desc_init(&type);
  lattice_input_desc input;
  lattice_input_desc_init(&input);
  for (const Side* side : {&server, &client}) {
    EXPECT_EQ(lattice_register_type(side->world, &type), LATTICE_ERROR_NOT_ALLOWED);
    EXPECT_EQ(lattice_register_input(side->world, &input), LATTICE_ERROR_NOT_ALLOWED);
    EXPECT_EQ(lattice_world_next_tick(side->world), 0u);
    EXPECT_EQ(lattice_last_result(), LATTICE_ERROR_UNSUPPORTED);
    EXPECT_EQ(lattice_world_ticks_due(side->world), 0u);
    EXPECT_EQ(lattice_world_time_to_tick_ns(side->world), UINT64_MAX);
    EXPECT_EQ(lattice_world_tick(side->world, 1), LATTICE_ERROR_UNSUPPORTED);
    EXPECT_EQ(lattice_objects(side->world, 0, nullptr, 0), 0u);
    EXPECT_EQ(lattice_set_input(side->world, "x", 1), LATTICE_ERROR_NOT_FOUND);
    EXPECT_EQ(lattice_frame_begin(side->world), LATTICE_OK);
  }
  EXPECT_EQ(lattice_spawn(server.world, 1, LATTICE_AUTHORITY_SERVER), 0u);
  lattice_conn_info info;
  lattice_conn_info_init(&info);
  ASSERT_EQ(lattice_conn_get_info(client.last(LATTICE_EVENT_CONNECTED)->head.conn, &info), LATTICE_OK);
  EXPECT_EQ(info.join_objects, 0u);
  run(server, client, 10);
}

TEST_F(TransportOnly, AWorldWithTypesIsAnotherSchema) {
  Side server, client;
  ASSERT_TRUE(server.create(LATTICE_ROLE_DEDICATED, kServer, netsim));
  ASSERT_TRUE(client.create(LATTICE_ROLE_CLIENT, "10.0.0.2:2000", netsim, 0));
  lattice_member_desc member;
  lattice_member_desc_init(&member);
  member.name = "x";
  member.type = LATTICE_WIRE_FLOAT;
  lattice_struct_desc structure;
  lattice_struct_desc_init(&structure);
  structure.name = "Body";
  structure.host_bytes = structure.host_align = sizeof(float);
  structure.members = &member;
  structure.member_count = 1;
  lattice_behaviour_desc behaviour;
  lattice_behaviour_desc_init(&behaviour);
  behaviour.structure = &structure;
  lattice_type_desc type;
  lattice_type_desc_init(&type);
  type.type_id = 1;
  type.name = "Body";
  type.behaviours = &behaviour;
  type.behaviour_count = 1;
  ASSERT_EQ(lattice_register_type(client.world, &type), LATTICE_OK) << lattice_last_error();
  ASSERT_NE(client.connect(kServer), nullptr);
  for (int i = 0; i < 100; ++i) {
    server.pump();
    lattice_world_pump(client.world);
    client.take();
    lattice_netsim_advance(netsim, 5 * kMs);
  }
  ASSERT_EQ(client.count(LATTICE_EVENT_DISCONNECTED), 1u);
  EXPECT_EQ(client.last(LATTICE_EVENT_DISCONNECTED)->head.reason, LATTICE_DISCONNECT_SCHEMA_MISMATCH);
}

// Its server would send snapshots, which nobody here reads.
TEST_F(TransportOnly, AnOrdinaryWorldWithoutTypesIsAnotherSchemaToo) {
  for (const uint32_t server_is_plain : {0u, 1u}) {
    Side server, client;
    ASSERT_TRUE(server.create(LATTICE_ROLE_DEDICATED, kServer, netsim, server_is_plain));
    ASSERT_TRUE(client.create(LATTICE_ROLE_CLIENT, "10.0.0.2:2000", netsim, 1 - server_is_plain));
    EXPECT_NE(lattice_world_schema_id(server.world), lattice_world_schema_id(client.world));
    ASSERT_NE(client.connect(kServer), nullptr);
    for (int i = 0; i < 200; ++i) {
      for (Side* side : {&server, &client}) {
        lattice_world_pump(side->world);
        side->take();
      }
      lattice_netsim_advance(netsim, 5 * kMs);
    }
    ASSERT_EQ(client.count(LATTICE_EVENT_DISCONNECTED), 1u);
    EXPECT_EQ(client.last(LATTICE_EVENT_DISCONNECTED)->head.reason, LATTICE_DISCONNECT_SCHEMA_MISMATCH);
  }
}

TEST_F(TransportOnly, SettingsOfTheGameDecideNothing) {
  Side server, client;
  client.tick_rate_hz = 30;
  client.max_objects = 9000;
  ASSERT_NO_FATAL_FAILURE(connect(server, client));
}

TEST_F(TransportOnly, AConnectionIsKnownUntilItsEndWasSeen) {
  Side server, client;
  ASSERT_NO_FATAL_FAILURE(connect(server, client));
  lattice_conn* to_server = client.last(LATTICE_EVENT_CONNECTED)->head.conn;
  lattice_conn* to_client = server.last(LATTICE_EVENT_CONNECTED)->head.conn;
  ASSERT_EQ(lattice_send(to_server, LATTICE_CHANNEL_RELIABLE_ORDERED, "last", 4), LATTICE_OK);
  lattice_world_pump(client.world);
  for (int i = 0; i < 100; ++i) {
    lattice_netsim_advance(netsim, 5 * kMs);
    lattice_world_pump(server.world);
    if (i == 50) {
      ASSERT_EQ(lattice_disconnect(to_server), LATTICE_OK);
    }
    lattice_world_pump(client.world);
  }
  // Nothing was taken yet: the message first, and then the end.
  lattice_conn_info info;
  lattice_conn_info_init(&info);
  for (const lattice_event_kind kind : {LATTICE_EVENT_MESSAGE, LATTICE_EVENT_DISCONNECTED}) {
    lattice_event event;
    ASSERT_EQ(lattice_world_events(server.world, &event, 1), 1u);
    ASSERT_EQ(event.kind, static_cast<uint32_t>(kind));
    ASSERT_EQ(lattice_conn_get_info(to_client, &info), LATTICE_OK) << lattice_last_error();
    EXPECT_EQ(info.peer_id, event.peer);
    EXPECT_EQ(info.is_connected, 0u);
    lattice_conn_stats stats;
    lattice_conn_stats_init(&stats);
    ASSERT_EQ(lattice_conn_get_stats(to_client, &stats), LATTICE_OK) << lattice_last_error();
    EXPECT_GT(stats.packets_received, 0u) << "what it was at its end";
    EXPECT_EQ(lattice_send(to_client, LATTICE_CHANNEL_UNRELIABLE, "x", 1), LATTICE_ERROR_NOT_CONNECTED);
    lattice_channel_settings settings;
    lattice_channel_settings_init(&settings);
    lattice_conn_set_channel(to_client, LATTICE_CHANNEL_UNRELIABLE, &settings);
    lattice_disconnect(to_client);
  }
  EXPECT_EQ(lattice_world_events(server.world, nullptr, 0), 0u);
  EXPECT_EQ(lattice_conn_get_info(to_client, &info), LATTICE_ERROR_STALE_HANDLE);
}

// A loop that sleeps for as long as it may, in the order of the guide.
TEST_F(TransportOnly, SleepingForAsLongAsAllowedMissesNothing) {
  Side server, client;
  ASSERT_NO_FATAL_FAILURE(connect(server, client));
  lattice_world_destroy(server.world);
  server.world = nullptr;
  uint64_t slept_ns = 0;
  int turns = 0;
  for (; client.count(LATTICE_EVENT_DISCONNECTED) == 0 && turns < 1000; ++turns) {
    uint64_t idle_ns = 0;
    ASSERT_EQ(lattice_world_idle_ns(client.world, &idle_ns), LATTICE_OK);
    ASSERT_LE(idle_ns, 60'000 * kMs) << "for ever, and the end was not seen";
    slept_ns += idle_ns;
    lattice_netsim_advance(netsim, idle_ns);
    ASSERT_EQ(lattice_world_recv(client.world), LATTICE_OK);
    lattice_event event;  // One a turn, as with enet_host_service().
    if (lattice_world_events(client.world, &event, 1) == 1) client.told.push_back({event, ""});
    ASSERT_EQ(lattice_world_send(client.world), LATTICE_OK);
  }
  ASSERT_EQ(client.count(LATTICE_EVENT_DISCONNECTED), 1u);
  EXPECT_LE(slept_ns, 15'000 * kMs);
  EXPECT_LE(turns, 100);
  client.pump();
  for (int i = 0; i < 100; ++i) {
    lattice_netsim_advance(netsim, 100 * kMs);
    client.pump();
  }
  uint64_t idle_ns = 0;
  ASSERT_EQ(lattice_world_idle_ns(client.world, &idle_ns), LATTICE_OK);
  EXPECT_EQ(idle_ns, UINT64_MAX);
}

TEST_F(TransportOnly, WhoConnectsSleepsUntilItsNextAttempt) {
  Side client;
  ASSERT_TRUE(client.create(LATTICE_ROLE_CLIENT, "10.0.0.2:2000", netsim));
  Side server;  // Gives the token, and is gone.
  ASSERT_TRUE(server.create(LATTICE_ROLE_DEDICATED, kServer, netsim));
  ASSERT_NE(client.connect(kServer), nullptr);
  lattice_world_destroy(server.world);
  server.world = nullptr;
  int turns = 0;
  for (; client.count(LATTICE_EVENT_DISCONNECTED) == 0 && turns < 1000; ++turns) {
    uint64_t idle_ns = 0;
    ASSERT_EQ(lattice_world_idle_ns(client.world, &idle_ns), LATTICE_OK);
    lattice_netsim_advance(netsim, idle_ns);
    client.pump();
  }
  ASSERT_EQ(client.count(LATTICE_EVENT_DISCONNECTED), 1u);
  EXPECT_EQ(client.last(LATTICE_EVENT_DISCONNECTED)->head.reason, LATTICE_DISCONNECT_NO_ANSWER);
  EXPECT_LE(turns, 40) << "it looks again and again";
}

TEST_F(TransportOnly, WhatWasQueuedIsDueAtOnceAndWhatWaitsSoon) {
  Side server, client;
  ASSERT_NO_FATAL_FAILURE(connect(server, client));
  run(server, client, 400);
  lattice_conn* conn = client.last(LATTICE_EVENT_CONNECTED)->head.conn;
  const auto idle_ns = [&] {
    uint64_t out = 7;
    EXPECT_EQ(lattice_world_idle_ns(client.world, &out), LATTICE_OK);
    return out;
  };
  EXPECT_GT(idle_ns(), kMs);
  ASSERT_EQ(lattice_send(conn, LATTICE_CHANNEL_UNRELIABLE, "x", 1), LATTICE_OK);
  EXPECT_EQ(idle_ns(), 0u);
  client.pump();
  EXPECT_GT(idle_ns(), kMs) << "it left";
  // More than may leave now.
  const std::vector<uint8_t> body(200'000, 1);
  ASSERT_EQ(lattice_send(conn, LATTICE_CHANNEL_RELIABLE_ORDERED, body.data(), body.size()), LATTICE_OK);
  EXPECT_EQ(idle_ns(), 0u);
  client.pump();
  EXPECT_LE(idle_ns(), kMs);
  EXPECT_GT(idle_ns(), 0u);
  lattice_netsim_advance(netsim, 2 * kMs);
  EXPECT_EQ(idle_ns(), 0u) << "counted from the last pump";
  ASSERT_EQ(lattice_disconnect(conn), LATTICE_OK);
  EXPECT_EQ(idle_ns(), 0u);
}

TEST_F(TransportOnly, CallbacksServeAsWell) {
  struct Calls {
    int connected = 0, messages = 0;
  } calls;
  Side server, client;
  ASSERT_TRUE(server.create(LATTICE_ROLE_DEDICATED, kServer, netsim, 1, 0));
  ASSERT_TRUE(client.create(LATTICE_ROLE_CLIENT, "10.0.0.2:2000", netsim));
  lattice_callbacks callbacks;
  lattice_callbacks_init(&callbacks);
  callbacks.on_connected = [](void* ctx, lattice_conn* conn) {
    ++static_cast<Calls*>(ctx)->connected;
    EXPECT_EQ(lattice_send(conn, LATTICE_CHANNEL_UNRELIABLE, "hi", 2), LATTICE_OK);
  };
  callbacks.on_message = [](void* ctx, lattice_conn*, lattice_channel, const void*, size_t) {
    ++static_cast<Calls*>(ctx)->messages;
  };
  ASSERT_EQ(lattice_set_callbacks(server.world, &callbacks, &calls), LATTICE_OK);
  lattice_conn* conn = client.connect(kServer);
  ASSERT_NE(conn, nullptr);
  for (int i = 0; i < 100; ++i) {
    lattice_world_pump(server.world);
    client.pump();
    if (i == 50) lattice_send(conn, LATTICE_CHANNEL_RELIABLE_ORDERED, "x", 1);
    lattice_netsim_advance(netsim, 5 * kMs);
  }
  EXPECT_EQ(calls.connected, 1);
  EXPECT_EQ(calls.messages, 1);
  EXPECT_EQ(client.last(LATTICE_EVENT_MESSAGE)->data, "hi");
  lattice_event event;
  EXPECT_EQ(lattice_world_events(server.world, &event, 1), 0u);
  EXPECT_EQ(lattice_last_result(), LATTICE_ERROR_NOT_ALLOWED);
}

TEST_F(TransportOnly, EventsThatNobodyTakesHoldUpTheNetworkAndLoseNothing) {
  Side server, client;
  ASSERT_NO_FATAL_FAILURE(connect(server, client));
  lattice_conn* conn = client.last(LATTICE_EVENT_CONNECTED)->head.conn;
  const std::vector<uint8_t> body(60'000, 1);
  uint32_t sent = 0;
  bool was_full = false;
  for (int i = 0; i < 20'000 && !was_full; ++i) {
    while (sent < 1000 &&
           lattice_send(conn, LATTICE_CHANNEL_RELIABLE_ORDERED, body.data(), body.size()) == LATTICE_OK) {
      ++sent;
    }
    lattice_world_pump(server.world);
    was_full = lattice_last_result() == LATTICE_ERROR_WOULD_BLOCK;
    client.pump();
    lattice_netsim_advance(netsim, 5 * kMs);
  }
  ASSERT_TRUE(was_full);
  EXPECT_EQ(lattice_world_recv(server.world), LATTICE_ERROR_WOULD_BLOCK);
  EXPECT_EQ(lattice_world_send(server.world), LATTICE_OK);
  server.take();
  const size_t held = server.count(LATTICE_EVENT_MESSAGE);
  EXPECT_GE(held * body.size(), 16u << 20);
  EXPECT_LE(held * body.size(), 32u << 20) << "a pump takes some more, and then nothing";
  for (int i = 0; i < 20'000 && server.count(LATTICE_EVENT_MESSAGE) < sent; ++i) {
    server.pump();
    client.pump();
    lattice_netsim_advance(netsim, 5 * kMs);
  }
  EXPECT_EQ(server.count(LATTICE_EVENT_MESSAGE), sent);
  EXPECT_EQ(client.count(LATTICE_EVENT_DISCONNECTED), 0u);
}

TEST_F(TransportOnly, OneReceiveTakesNoMoreEventsThanThereMayBe) {
  Side server, client;
  client.congestion_mode = LATTICE_CONGESTION_NONE;
  ASSERT_NO_FATAL_FAILURE(connect(server, client));
  lattice_conn* conn = client.last(LATTICE_EVENT_CONNECTED)->head.conn;
  // A server that stands still, and a client that sends it more than 65,536 small messages meanwhile.
  uint32_t sent = 0;
  for (int i = 0; i < 1900; ++i) {
    while (lattice_send(conn, LATTICE_CHANNEL_UNRELIABLE, nullptr, 0) == LATTICE_OK) ++sent;
    client.pump();
    lattice_netsim_advance(netsim, 5 * kMs);
  }
  ASSERT_GT(sent, 200'000u);
  ASSERT_EQ(lattice_world_recv(server.world), LATTICE_OK);
  size_t taken = 0;
  std::vector<lattice_event> room(1000);
  for (size_t n; (n = lattice_world_events(server.world, room.data(), room.size())) != 0;) taken += n;
  EXPECT_GE(taken, 60'000u) << "a datagram counts as eight messages more";
  EXPECT_LE(taken, 65'536u + 64u * 500u) << "and a batch of datagrams";
}

TEST_F(TransportOnly, OnASimulatedNetworkNobodyWaits) {
  Side server;
  ASSERT_TRUE(server.create(LATTICE_ROLE_DEDICATED, kServer, netsim));
  EXPECT_EQ(lattice_world_wait(server.world, 1), 0u);
  EXPECT_EQ(lattice_last_result(), LATTICE_ERROR_UNSUPPORTED);
  intptr_t descriptor = 7;
  EXPECT_EQ(lattice_world_descriptor(server.world, &descriptor), LATTICE_ERROR_UNSUPPORTED);
  EXPECT_EQ(descriptor, 7);
}

TEST(TransportOnlyUdp, WaitingEndsWithADatagramATimerOrAnEvent) {
  Side server, client;
  ASSERT_TRUE(server.create(LATTICE_ROLE_DEDICATED, "127.0.0.1:0", nullptr)) << lattice_last_error();
  ASSERT_TRUE(client.create(LATTICE_ROLE_CLIENT, "127.0.0.1:0", nullptr)) << lattice_last_error();
  char address[64];
  ASSERT_EQ(lattice_world_address(server.world, address, sizeof address), LATTICE_OK);
  ASSERT_NE(client.connect(address), nullptr) << lattice_last_error();
  // Each side runs only when its wait says so: no other thread and no sleep moves them.
  for (int i = 0;
       i < 1000 && client.count(LATTICE_EVENT_CONNECTED) + server.count(LATTICE_EVENT_CONNECTED) < 2; ++i) {
    if (lattice_world_wait(client.world, 20 * kMs) != 0) client.pump();
    if (lattice_world_wait(server.world, 20 * kMs) != 0) server.pump();
  }
  ASSERT_EQ(client.count(LATTICE_EVENT_CONNECTED), 1u);
  ASSERT_EQ(server.count(LATTICE_EVENT_CONNECTED), 1u);

  // A timeout of 0 only asks. What was sent is something to do.
  lattice_send(client.last(LATTICE_EVENT_CONNECTED)->head.conn, LATTICE_CHANNEL_RELIABLE_ORDERED, "a", 1);
  EXPECT_EQ(lattice_world_wait(client.world, 0), 1u);
  for (int i = 0; i < 100'000 && server.count(LATTICE_EVENT_MESSAGE) == 0; ++i) {
    if (lattice_world_wait(client.world, 0) != 0) client.pump();
    if (lattice_world_wait(server.world, kMs) != 0) server.pump();
  }
  ASSERT_EQ(server.count(LATTICE_EVENT_MESSAGE), 1u);

  intptr_t descriptor = -1;
  ASSERT_EQ(lattice_world_descriptor(server.world, &descriptor), LATTICE_OK);
  ASSERT_EQ(
      lattice_send(client.last(LATTICE_EVENT_CONNECTED)->head.conn, LATTICE_CHANNEL_UNRELIABLE, "hey", 3),
      LATTICE_OK);
  client.pump();
  pollfd readable{static_cast<int>(descriptor), POLLIN, 0};
  EXPECT_EQ(::poll(&readable, 1, 10'000), 1) << "the datagram is there";
  EXPECT_EQ(lattice_world_wait(server.world, 60'000 * kMs), 1u);
  ASSERT_EQ(lattice_world_recv(server.world), LATTICE_OK);
  EXPECT_EQ(lattice_world_wait(server.world, 60'000 * kMs), 1u) << "an event waits";
  server.take();
  EXPECT_EQ(server.last(LATTICE_EVENT_MESSAGE)->data, "hey");
}

}  // namespace
}  // namespace lattice::test::transport_only_test
