// Back ends of the application: worlds that speak over a pipe in this process, beside UDP and instead of it,
// back ends that break every rule, and a flood on one route while a player joins on another.
#include "lattice/backend.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lattice/lattice.hpp"
#include "message_side.h"
#include "support/durations.h"

namespace lattice::test::backend_test {
namespace {

using lattice::test::kMs;
using lattice::test::Side;

/// A pipe with many ends in one process. Each end has a number, which is its path.
struct Pipe {
  struct Datagram {
    lattice_path from;
    std::vector<uint8_t> bytes;
  };
  struct End {
    Pipe* pipe = nullptr;
    uint16_t number = 0;
    std::deque<Datagram> waiting;
    uint32_t largest = 1472;
    uint32_t closed = 0;
    lattice_path last_to{};

    lattice_datagram_backend backend() {
      lattice_datagram_backend out;
      lattice_datagram_backend_init(&out);
      out.ctx = this;
      out.receive = receive;
      out.send = send;
      out.largest_datagram = [](void* ctx, const lattice_path*) { return static_cast<End*>(ctx)->largest; };
      out.close = [](void* ctx) { ++static_cast<End*>(ctx)->closed; };
      return out;
    }
    static uint32_t receive(void* ctx, lattice_backend_datagram* out, uint32_t capacity) {
      End& end = *static_cast<End*>(ctx);
      uint32_t count = 0;
      for (; count < capacity && !end.waiting.empty(); ++count) {
        const Datagram& datagram = end.waiting.front();
        out[count].path = datagram.from;
        out[count].bytes = static_cast<uint32_t>(datagram.bytes.size());
        const size_t room = LATTICE_BACKEND_BUFFER_BYTES;
        std::memcpy(out[count].data, datagram.bytes.data(), std::min(datagram.bytes.size(), room));
        end.waiting.pop_front();
      }
      return count;
    }
    static uint32_t send(void* ctx, const lattice_backend_datagram* datagrams, uint32_t count) {
      End& end = *static_cast<End*>(ctx);
      for (uint32_t i = 0; i < count; ++i) {
        end.last_to = datagrams[i].path;
        const auto to = end.pipe->ends.find(datagrams[i].path.number);
        if (to == end.pipe->ends.end()) continue;
        to->second->waiting.push_back(
            {opaque(end.number), {datagrams[i].data, datagrams[i].data + datagrams[i].bytes}});
      }
      return count;
    }
  };

  static lattice_path opaque(uint16_t number, uint8_t route = 0) {
    lattice_path path{};
    path.route = route;
    path.form = LATTICE_PATH_OPAQUE;
    path.number = number;
    return path;
  }
  End& end(uint16_t number) {
    auto& slot = ends[number];
    if (slot == nullptr) slot = std::make_unique<End>();
    slot->pipe = this;
    slot->number = number;
    return *slot;
  }

  std::map<uint16_t, std::unique_ptr<End>> ends;
};

/// A server with UDP and a pipe, and clients of both.
struct BackendAbi : testing::Test {
  void make_server(bool without_udp) {
    server.prepare(LATTICE_ROLE_DEDICATED);
    ASSERT_TRUE(server.create({pipe.end(1).backend()}, without_udp)) << lattice_last_error();
  }
  void make_pipe_client(uint16_t number) {
    on_pipe.prepare(LATTICE_ROLE_CLIENT);
    ASSERT_TRUE(on_pipe.create({pipe.end(number).backend()}, true)) << lattice_last_error();
  }
  void run(uint64_t ms, std::initializer_list<Side*> sides) {
    for (uint64_t i = 0; i < ms; ++i) {
      now_ns += kMs;
      for (Side* side : sides) side->pump(now_ns);
    }
  }
  /// Runs until `done`, and in real time where UDP takes part.
  template <class Done>
  bool run_until(Done done, std::initializer_list<Side*> sides, uint64_t most_ms = 5000) {
    for (uint64_t i = 0; i < most_ms && !done(); ++i) {
      run(1, sides);
      for (Side* side : sides) {
        if (side->config.without_udp == 0) lattice_world_wait(side->world, kMs / 4);
      }
    }
    return done();
  }

  Pipe pipe;  // before the worlds, which call its ends until they are destroyed
  Side server, on_pipe, on_udp;
  uint64_t now_ns = 1'000'000'000;
};

TEST_F(BackendAbi, JoinsAndSpeaksBothWays) {
  make_server(true);
  make_pipe_client(2);
  lattice_conn* conn = on_pipe.connect(server, Pipe::opaque(1, 1));
  ASSERT_NE(conn, nullptr) << lattice_last_error();
  ASSERT_TRUE(
      run_until([&] { return server.conns.size() == 1 && on_pipe.conns.size() == 1; }, {&server, &on_pipe}));
  ASSERT_EQ(lattice_send(on_pipe.conns[0], LATTICE_CHANNEL_RELIABLE_ORDERED, "up", 2), LATTICE_OK);
  const std::string large(60'000, 'x');
  ASSERT_EQ(lattice_send(server.conns[0], LATTICE_CHANNEL_RELIABLE_ORDERED, large.data(), large.size()),
            LATTICE_OK);
  ASSERT_TRUE(run_until([&] { return server.messages.size() == 1 && on_pipe.messages.size() == 1; },
                        {&server, &on_pipe}));
  EXPECT_EQ(server.messages[0], "up");
  EXPECT_EQ(on_pipe.messages[0], large);

  lattice_conn_info info;
  lattice_conn_info_init(&info);
  ASSERT_EQ(lattice_conn_get_info(server.conns[0], &info), LATTICE_OK);
  EXPECT_STREQ(info.remote_address, "route1/2");
  lattice_path path{};
  ASSERT_EQ(lattice_conn_get_path(server.conns[0], &path), LATTICE_OK);
  EXPECT_EQ(path.route, 1);
  EXPECT_EQ(path.form, LATTICE_PATH_OPAQUE);
  EXPECT_EQ(path.number, 2);
  EXPECT_EQ(pipe.end(1).last_to.route, 1) << "a back end is told its route";

  char text[64];
  EXPECT_EQ(lattice_world_address(server.world, text, sizeof text), LATTICE_ERROR_UNSUPPORTED);
  EXPECT_EQ(lattice_disconnect(on_pipe.conns[0]), LATTICE_OK);
  EXPECT_TRUE(run_until([&] { return server.ended == 1 && on_pipe.ended == 1; }, {&server, &on_pipe}));
}

TEST_F(BackendAbi, LargerDatagramsAreTriedUpToTheLimitOfTheBackEnd) {
  for (const uint32_t largest : {1200u, 1400u}) {
    Pipe own;
    Side host, guest;
    host.prepare(LATTICE_ROLE_DEDICATED);
    own.end(1).largest = largest;
    ASSERT_TRUE(host.create({own.end(1).backend()}, true));
    guest.prepare(LATTICE_ROLE_CLIENT);
    ASSERT_TRUE(guest.create({own.end(2).backend()}, true));
    ASSERT_NE(guest.connect(host, Pipe::opaque(1, 1)), nullptr);
    run(3000, {&host, &guest});
    ASSERT_EQ(host.conns.size(), 1u);
    lattice_conn_stats stats;
    lattice_conn_stats_init(&stats);
    ASSERT_EQ(lattice_conn_get_stats(host.conns[0], &stats), LATTICE_OK);
    EXPECT_EQ(stats.datagram_bytes, largest);
  }
}

TEST_F(BackendAbi, UdpAndABackEndServeOneServer) {
  make_server(false);
  make_pipe_client(2);
  on_udp.prepare(LATTICE_ROLE_CLIENT);
  ASSERT_TRUE(on_udp.create({}, false)) << lattice_last_error();
  ASSERT_NE(on_pipe.connect(server, Pipe::opaque(1, 1)), nullptr);
  ASSERT_NE(on_udp.connect(server, server.address().c_str()), nullptr) << lattice_last_error();
  ASSERT_TRUE(run_until([&] { return server.conns.size() == 2 && on_udp.conns.size() == 1; },
                        {&server, &on_pipe, &on_udp}));
  lattice_send(on_pipe.conns.at(0), LATTICE_CHANNEL_RELIABLE_ORDERED, "pipe", 4);
  lattice_send(on_udp.conns.at(0), LATTICE_CHANNEL_RELIABLE_ORDERED, "udp", 3);
  ASSERT_TRUE(run_until([&] { return server.messages.size() == 2; }, {&server, &on_pipe, &on_udp}));
  // Each answer leaves where the question came in.
  for (size_t i = 0; i < 2; ++i) {
    lattice_path path{};
    ASSERT_EQ(lattice_conn_get_path(server.message_conns[i], &path), LATTICE_OK);
    EXPECT_EQ(path.route, server.messages[i] == "pipe" ? 1 : 0);
    lattice_send(server.message_conns[i], LATTICE_CHANNEL_RELIABLE_ORDERED, server.messages[i].data(),
                 server.messages[i].size());
  }
  ASSERT_TRUE(run_until([&] { return on_pipe.messages.size() == 1 && on_udp.messages.size() == 1; },
                        {&server, &on_pipe, &on_udp}));
  EXPECT_EQ(on_pipe.messages[0], "pipe");
  EXPECT_EQ(on_udp.messages[0], "udp");
  intptr_t descriptor = 0;
  EXPECT_EQ(lattice_world_descriptor(on_pipe.world, &descriptor), LATTICE_ERROR_UNSUPPORTED);
  EXPECT_EQ(lattice_world_descriptor(server.world, &descriptor), LATTICE_OK) << "that of UDP";
  EXPECT_EQ(lattice_world_descriptor(on_udp.world, &descriptor), LATTICE_OK);
}

/// A pipe of the system, as the descriptor of a back end whose datagrams come on another thread.
struct Descriptor {
  Descriptor() { EXPECT_EQ(::pipe(ends), 0); }
  ~Descriptor() {
    close(ends[0]);
    close(ends[1]);
  }
  int ends[2] = {-1, -1};
};

TEST_F(BackendAbi, WaitsForUdpAndTheDescriptorOfABackEnd) {
  static const Descriptor descriptor;
  for (const bool without_udp : {true, false}) {
    Side side;
    side.prepare(LATTICE_ROLE_DEDICATED);
    lattice_datagram_backend backend = pipe.end(1).backend();
    backend.descriptor = [](void*) { return intptr_t{descriptor.ends[0]}; };
    ASSERT_TRUE(side.create({backend}, without_udp)) << lattice_last_error();
    side.pump(now_ns);
    const auto begun = std::chrono::steady_clock::now();
    EXPECT_EQ(lattice_world_wait(side.world, 20 * kMs), 0u);
    EXPECT_GE(std::chrono::steady_clock::now() - begun, std::chrono::milliseconds(20)) << "it sleeps";
    ASSERT_EQ(write(descriptor.ends[1], "x", 1), 1);
    EXPECT_EQ(lattice_world_wait(side.world, 60'000 * kMs), 1u);
    char byte;
    ASSERT_EQ(read(descriptor.ends[0], &byte, 1), 1);
  }
}

TEST_F(BackendAbi, ADescriptorThatStaysReadableForNothingIsLeftAlone) {
  static const Descriptor descriptor;
  ASSERT_EQ(write(descriptor.ends[1], "x", 1), 1);  // nobody reads it
  for (const bool without_udp : {true, false}) {
    Side side;
    side.prepare(LATTICE_ROLE_DEDICATED);
    lattice_datagram_backend backend = pipe.end(1).backend();
    backend.descriptor = [](void*) { return intptr_t{descriptor.ends[0]}; };
    ASSERT_TRUE(side.create({backend}, without_udp)) << lattice_last_error();
    for (int i = 0; i < 16; ++i) {
      EXPECT_EQ(side.refusals("backend_bad_descriptor"), 0u);
      EXPECT_EQ(lattice_world_wait(side.world, 60'000 * kMs), 1u);
      side.pump(now_ns += kMs / 100);
    }
    EXPECT_EQ(side.refusals("backend_bad_descriptor"), 1u);
    const auto begun = std::chrono::steady_clock::now();
    for (int i = 0; i < 5; ++i) lattice_world_wait(side.world, 60'000 * kMs);
    EXPECT_GE(std::chrono::steady_clock::now() - begun, std::chrono::milliseconds(5)) << "it sleeps";
    Pipe::End& end = pipe.end(1);
    end.waiting.push_back({Pipe::opaque(2), {1, 2, 3}});
    side.pump(now_ns += kMs);
    for (int i = 0; i < 16; ++i) {  // it is waited on again
      EXPECT_EQ(lattice_world_wait(side.world, 60'000 * kMs), 1u);
      side.pump(now_ns += kMs / 100);
    }
    EXPECT_EQ(side.refusals("backend_bad_descriptor"), 2u);
  }
  char byte;
  ASSERT_EQ(read(descriptor.ends[0], &byte, 1), 1);
}

TEST_F(BackendAbi, AFullQueueOfOneClientCostsTheOthersNothing) {
  // The back end stops where it cannot send, as one that returns on the first error.
  static uint16_t full = 0;
  full = 0;
  server.prepare(LATTICE_ROLE_DEDICATED);
  lattice_datagram_backend backend = pipe.end(1).backend();
  backend.send = [](void* ctx, const lattice_backend_datagram* datagrams, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
      if (datagrams[i].path.number == full) return i;
      Pipe::End::send(ctx, datagrams + i, 1);
    }
    return count;
  };
  ASSERT_TRUE(server.create({backend}, true)) << lattice_last_error();
  constexpr uint16_t kClients = 6;
  std::vector<std::unique_ptr<Side>> clients;
  const auto run_all = [&](uint64_t ms) {
    for (uint64_t i = 0; i < ms; ++i) {
      now_ns += kMs;
      server.pump(now_ns);
      for (const auto& client : clients) client->pump(now_ns);
    }
  };
  for (uint16_t i = 0; i < kClients; ++i) {
    Side& client = *clients.emplace_back(std::make_unique<Side>());
    client.prepare(LATTICE_ROLE_CLIENT);
    ASSERT_TRUE(client.create({pipe.end(static_cast<uint16_t>(10 + i)).backend()}, true))
        << lattice_last_error();
    ASSERT_NE(client.connect(server, Pipe::opaque(1, 1)), nullptr) << lattice_last_error();
    run_all(200);
    ASSERT_EQ(server.conns.size(), i + 1u);
  }
  full = 10;  // the first of each batch
  run_all(30'000);
  EXPECT_EQ(clients[0]->ended, 1);
  for (uint16_t i = 1; i < kClients; ++i) EXPECT_EQ(clients[i]->ended, 0) << i;
  EXPECT_GT(server.refusals("socket_send_full"), 0u);
}

TEST_F(BackendAbi, AServerUnderAnotherPathIsNamedWhileConnecting) {
  make_server(true);
  on_pipe.prepare(LATTICE_ROLE_CLIENT);
  lattice_datagram_backend backend = pipe.end(2).backend();
  backend.receive = [](void* ctx, lattice_backend_datagram* out, uint32_t capacity) {
    const uint32_t count = Pipe::End::receive(ctx, out, capacity);
    for (uint32_t i = 0; i < count; ++i) out[i].path.number = 77;
    return count;
  };
  ASSERT_TRUE(on_pipe.create({backend}, true)) << lattice_last_error();
  ASSERT_NE(on_pipe.connect(server, Pipe::opaque(1, 1)), nullptr) << lattice_last_error();
  run(500, {&server, &on_pipe});
  EXPECT_GT(on_pipe.refusals("client_foreign_address"), 0u);
  EXPECT_EQ(on_pipe.refusals("not_ready"), 0u);
  EXPECT_TRUE(server.conns.empty());
}

TEST_F(BackendAbi, WithoutADescriptorItLooksEachMillisecond) {
  make_server(false);
  server.pump(now_ns);
  EXPECT_EQ(lattice_world_wait(server.world, 60'000 * kMs), 1u);
}

TEST_F(BackendAbi, AClientMovesOnItsRoute) {
  make_server(true);
  make_pipe_client(2);
  ASSERT_NE(on_pipe.connect(server, Pipe::opaque(1, 1)), nullptr);
  ASSERT_TRUE(
      run_until([&] { return server.conns.size() == 1 && on_pipe.conns.size() == 1; }, {&server, &on_pipe}));
  // The end gets another number, as a client of a NAT or of a relay that reconnects.
  pipe.ends[9] = std::move(pipe.ends[2]);
  pipe.ends.erase(2);
  pipe.ends[9]->number = 9;
  run(3000, {&server, &on_pipe});
  lattice_path path{};
  ASSERT_EQ(lattice_conn_get_path(server.conns[0], &path), LATTICE_OK);
  EXPECT_EQ(path.number, 9);
}

TEST_F(BackendAbi, AConnectionDoesNotChangeItsRoute) {
  // A server with two pipes. The client's packets begin to come through the second one.
  server.prepare(LATTICE_ROLE_DEDICATED);
  ASSERT_TRUE(server.create({pipe.end(1).backend(), pipe.end(3).backend()}, true)) << lattice_last_error();
  make_pipe_client(2);
  ASSERT_NE(on_pipe.connect(server, Pipe::opaque(1, 1)), nullptr);
  ASSERT_TRUE(
      run_until([&] { return server.conns.size() == 1 && on_pipe.conns.size() == 1; }, {&server, &on_pipe}));
  for (int i = 0; i < 2000; ++i) {
    run(1, {&server, &on_pipe});
    auto& first = pipe.end(1).waiting;
    auto& second = pipe.end(3).waiting;
    second.insert(second.end(), first.begin(), first.end());
    first.clear();
  }
  EXPECT_GT(server.refusals("foreign_route"), 0u);
  lattice_path path{};
  ASSERT_EQ(lattice_conn_get_path(server.conns[0], &path), LATTICE_OK);
  EXPECT_EQ(path.route, 1);
}

/// What a back end does wrong.
struct Liar {
  enum Lie { kOverrun, kOversize, kNoForm, kStrangeForm, kForeignRoute, kUnmappedV4, kSendOverrun, kCount };
  Lie lie = kOverrun;
  uint32_t calls = 0;

  lattice_datagram_backend backend() {
    lattice_datagram_backend out;
    lattice_datagram_backend_init(&out);
    out.ctx = this;
    out.receive = [](void* ctx, lattice_backend_datagram* entries, uint32_t capacity) {
      Liar& self = *static_cast<Liar*>(ctx);
      if (++self.calls % 3 == 0 || self.lie == kSendOverrun) return 0u;
      for (uint32_t i = 0; i < capacity; ++i) self.spoil(entries[i]);
      return self.lie == kOverrun ? UINT32_MAX : capacity;
    };
    out.send = [](void* ctx, const lattice_backend_datagram*, uint32_t count) {
      return static_cast<Liar*>(ctx)->lie == kSendOverrun ? count + 1000 : count;
    };
    out.largest_datagram = [](void*, const lattice_path*) { return 65'535u; };
    return out;
  }
  void spoil(lattice_backend_datagram& entry) const {
    entry.path = Pipe::opaque(7);
    entry.bytes = 20;
    if (lie == kOversize) entry.bytes = 1501 + calls * 100'000'000;
    if (lie == kNoForm) entry.path.form = LATTICE_PATH_NONE;
    if (lie == kStrangeForm) entry.path.form = 77;
    if (lie == kForeignRoute) entry.path.route = 5;
    if (lie == kUnmappedV4) entry.path.form = LATTICE_PATH_IPV4;
    entry.data = nullptr;  // the library must not believe the pointer
  }
};

TEST(HostileBackendAbi, EachLieIsCountedUnderItsName) {
  const std::map<Liar::Lie, const char*> names = {
      {Liar::kOverrun, "backend_overrun"},       {Liar::kOversize, "backend_oversize"},
      {Liar::kNoForm, "backend_bad_path"},       {Liar::kStrangeForm, "backend_bad_path"},
      {Liar::kForeignRoute, "backend_bad_path"}, {Liar::kUnmappedV4, "backend_bad_path"},
      {Liar::kSendOverrun, "backend_overrun"}};
  ASSERT_EQ(names.size(), static_cast<size_t>(Liar::kCount));
  for (const auto& [lie, name] : names) {
    Liar liar{lie};
    Pipe pipe;
    Side issuer, client;
    issuer.prepare(LATTICE_ROLE_DEDICATED);
    ASSERT_TRUE(issuer.create({pipe.end(1).backend()}, true));
    client.prepare(LATTICE_ROLE_CLIENT);
    ASSERT_TRUE(client.create({liar.backend()}, true)) << lattice_last_error();
    ASSERT_NE(client.connect(issuer, Pipe::opaque(1, 1)), nullptr) << lattice_last_error();
    for (uint64_t ms = 1; ms < 100; ++ms) client.pump(ms * kMs + 1'000'000'000);
    EXPECT_GT(client.refusals(name), 0u) << name;
    EXPECT_EQ(client.ended, 0) << "a lie ends nothing";
    EXPECT_GT(client.refusals("backend_bad_limit"), 0u);
  }
}

TEST(HostileBackendAbi, AConfigurationThatCannotWorkIsRefused) {
  Pipe pipe;
  const auto refused = [&](auto change, const char* expected) {
    Side side;
    side.prepare(LATTICE_ROLE_DEDICATED);
    lattice_datagram_backend backend = pipe.end(1).backend();
    const lattice_datagram_backend* pointers[] = {&backend, &backend, &backend, &backend,
                                                  &backend, &backend, &backend, &backend};
    side.config.backends = pointers;
    side.config.backend_count = 1;
    side.config.bind_address = "127.0.0.1:0";
    change(side.config, backend, pointers);
    lattice_world* made = lattice_world_create(&side.config, &side.role);
    EXPECT_EQ(made, nullptr);
    EXPECT_NE(std::string(lattice_last_error()).find(expected), std::string::npos) << lattice_last_error();
    lattice_world_destroy(made);
    return lattice_last_result();
  };
  using Config = lattice_world_config;
  using Backend = lattice_datagram_backend;
  using Pointers = const lattice_datagram_backend*(&)[8];
  refused([](Config&, Backend& b, Pointers) { b.receive = nullptr; }, "backends[0].receive is NULL");
  refused([](Config&, Backend& b, Pointers) { b.send = nullptr; }, "backends[0].send is NULL");
  refused([](Config&, Backend& b, Pointers) { b.struct_size = 0; }, "backends[0].struct_size");
  refused([](Config&, Backend& b, Pointers) { b.struct_size = 28; }, "which no version of it has");
  refused([](Config& c, Backend&, Pointers) { c.backend_count = 2; }, "the same back end as backends[0]");
  refused([](Config&, Backend& b, Pointers) { b.reserved = 1; }, "backends[0].reserved");
  refused([](Config& c, Backend&, Pointers p) { c.backend_count = 2, p[1] = nullptr; },
          "backends[1] is NULL");
  refused([](Config& c, Backend&, Pointers) { c.backends = nullptr; }, "backends is NULL");
  refused([](Config& c, Backend&, Pointers) { c.backend_count = 8; }, "backend_count is 8");
  refused([](Config& c, Backend&, Pointers) { c.without_udp = 2; }, "without_udp is 2");
  refused(
      [](Config& c, Backend&, Pointers) { c.without_udp = 1, c.backend_count = 0, c.bind_address = nullptr; },
      "without_udp");
  refused([](Config& c, Backend&, Pointers) { c.without_udp = 1; }, "bind_address");
  refused([](Config& c, Backend&, Pointers) { c.development_tokens = 1; }, "development_tokens");
  EXPECT_EQ(pipe.end(1).closed, 0u) << "a world that was refused closes nothing";
}

TEST(HostileBackendAbi, CloseIsCalledOnceAndLast) {
  Pipe pipe;
  {
    Side side;
    side.prepare(LATTICE_ROLE_DEDICATED);
    ASSERT_TRUE(side.create({pipe.end(1).backend()}, true));
    EXPECT_EQ(pipe.end(1).closed, 0u);
  }
  EXPECT_EQ(pipe.end(1).closed, 1u);
}

TEST_F(BackendAbi, PathsThatNoRouteHasAreRefused) {
  make_server(true);
  make_pipe_client(2);
  const std::vector<uint8_t> token = on_pipe.token_from(server);
  lattice_path v4 = Pipe::opaque(7, 1);
  v4.form = LATTICE_PATH_IPV4;
  for (const lattice_path& path :
       {Pipe::opaque(1, 0), Pipe::opaque(1, 2), Pipe::opaque(1, 255), lattice_path{1, 0, 7, {}}, v4}) {
    EXPECT_EQ(lattice_connect_path(on_pipe.world, &path, token.data(), token.size()), nullptr);
    EXPECT_EQ(lattice_last_result(), LATTICE_ERROR_ADDRESS) << lattice_last_error();
  }
  const auto text_of = [&](const lattice_path& path) -> std::string {
    EXPECT_EQ(lattice_connect_path(on_pipe.world, &path, token.data(), token.size()), nullptr);
    return lattice_last_error();
  };
  EXPECT_EQ(text_of(Pipe::opaque(1, 9)),
            "path.form is 1, path.route 9, path.number 1. No route of this world leads there: give the place "
            "of a back "
            "end, from 1 on.");
  EXPECT_NE(text_of(Pipe::opaque(1, 0)).find("Route 0 is UDP"), std::string::npos);
  EXPECT_NE(text_of({1, 0, 7, {}}).find("There is no such form"), std::string::npos);
  EXPECT_NE(text_of(v4).find("no IPv4-mapped address"), std::string::npos);
  v4.bytes[10] = v4.bytes[11] = 255;
  v4.number = 0;
  EXPECT_NE(text_of(v4).find("there is no port 0"), std::string::npos);
  v4.form = LATTICE_PATH_IPV6;
  EXPECT_NE(text_of(v4).find("its form is LATTICE_PATH_IPV4"), std::string::npos);
  EXPECT_EQ(lattice_connect(on_pipe.world, "127.0.0.1:7", token.data(), token.size()), nullptr);
  EXPECT_EQ(lattice_last_result(), LATTICE_ERROR_ADDRESS) << "there is no UDP";
}

/// Records a client's two handshake messages as a stranger would make them, and sends them from many paths.
TEST_F(BackendAbi, AFloodOnOneRouteKeepsNobodyOutOnTheOther) {
  make_server(false);
  on_udp.prepare(LATTICE_ROLE_CLIENT);
  ASSERT_TRUE(on_udp.create({}, false));
  make_pipe_client(2);
  ASSERT_NE(on_pipe.connect(server, Pipe::opaque(1, 1)), nullptr);
  on_pipe.pump(now_ns);
  ASSERT_FALSE(pipe.end(1).waiting.empty());
  const Pipe::Datagram request = pipe.end(1).waiting.front();
  pipe.end(1).waiting.clear();
  // More requests than the server's whole budget, from paths without end, in front of every pump.
  uint16_t from = 100;
  uint64_t answered = 0;
  const auto flood = [&] {
    for (int i = 0; i < 2500; ++i) {
      from = static_cast<uint16_t>(from == UINT16_MAX ? 100 : from + 1);
      Pipe::Datagram forged = request;
      forged.from.number = from;
      pipe.end(1).waiting.push_back(std::move(forged));
    }
  };
  for (int i = 0; i < 20; ++i) {
    flood();
    run(1, {&server});
  }
  answered = server.refusals("server_request_budget");
  EXPECT_GT(answered, 1000u) << "the flood must use up its own route's budget";
  ASSERT_NE(on_udp.connect(server, server.address().c_str()), nullptr);
  const uint64_t begun_ns = now_ns;
  while (on_udp.conns.empty() && now_ns - begun_ns < 1000 * kMs) {
    flood();
    if (pipe.end(1).waiting.size() > 20'000) pipe.end(1).waiting.resize(20'000);
    run(1, {&server, &on_udp});
    lattice_world_wait(on_udp.world, kMs / 4);
  }
  EXPECT_EQ(on_udp.conns.size(), 1u);
  EXPECT_LT(now_ns - begun_ns, 200 * kMs) << "the first request was answered";
}

TEST_F(BackendAbi, RefusedDatagramsDoNotHideThoseBehindThem) {
  make_server(false);
  make_pipe_client(2);
  ASSERT_NE(on_pipe.connect(server, Pipe::opaque(1, 1)), nullptr);
  ASSERT_TRUE(run_until([&] { return !on_pipe.conns.empty(); }, {&server, &on_pipe}));
  run(1, {&server});
  constexpr int kRefused = 2000;
  const Pipe::Datagram large{Pipe::opaque(77), std::vector<uint8_t>(LATTICE_BACKEND_BUFFER_BYTES + 1)};
  for (int i = 0; i < kRefused; ++i) pipe.end(1).waiting.push_back(large);
  lattice_send(on_pipe.conns.at(0), LATTICE_CHANNEL_UNRELIABLE, "behind", 6);
  run(1, {&on_pipe});
  ASSERT_GT(pipe.end(1).waiting.size(), size_t{kRefused});
  run(1, {&server});
  EXPECT_EQ(server.refusals("backend_oversize"), uint64_t{kRefused});
  EXPECT_EQ(server.messages, std::vector<std::string>{"behind"}) << "one pump reads all of them";
  EXPECT_TRUE(pipe.end(1).waiting.empty());
}

// ---- lattice.hpp ----------------------------------------------------------------------------------------

/// Has what a back end needs, and no more.
struct Bare {
  uint32_t receive(std::span<lattice_backend_datagram>) { return 0; }
  uint32_t send(std::span<const lattice_backend_datagram> datagrams) {
    sent += datagrams.size();
    return static_cast<uint32_t>(datagrams.size());
  }
  size_t sent = 0;
};
struct Whole : Bare {
  uint32_t largest_datagram(const lattice_path& path) { return path.number; }
  uint64_t rate_subject(const lattice_path& path) { return path.number / 2u; }
  intptr_t descriptor() { return 7; }
  void close() { ++closed; }
  int closed = 0;
};

TEST(BackendFace, HasTheFunctionsThatTheObjectHas) {
  Bare bare;
  const lattice_datagram_backend small = lattice::backend_of(bare);
  EXPECT_EQ(small.struct_size, sizeof small);
  EXPECT_NE(small.receive, nullptr);
  EXPECT_NE(small.send, nullptr);
  EXPECT_EQ(small.largest_datagram, nullptr);
  EXPECT_EQ(small.rate_subject, nullptr);
  EXPECT_EQ(small.descriptor, nullptr);
  EXPECT_EQ(small.close, nullptr);

  Whole whole;
  const lattice_datagram_backend large = lattice::backend_of(whole);
  const lattice_path path = Pipe::opaque(1300);
  EXPECT_EQ(large.largest_datagram(large.ctx, &path), 1300u);
  EXPECT_EQ(large.rate_subject(large.ctx, &path), 650u);
  EXPECT_EQ(large.descriptor(large.ctx), 7);
  large.close(large.ctx);
  EXPECT_EQ(whole.closed, 1);
}

TEST(BackendFace, AWorldSpeaksThroughAnObject) {
  Bare bare;
  const lattice_datagram_backend backend = lattice::backend_of(bare);
  const lattice_datagram_backend* backends[] = {&backend};
  lattice::WorldConfig config;
  config.backends = backends;
  config.backend_count = 1;
  config.without_udp = 1;
  const lattice::World world = lattice::World::create(config, LATTICE_ROLE_CLIENT);
  ASSERT_TRUE(world) << lattice_last_error();
  Pipe pipe;
  Side server;
  server.prepare(LATTICE_ROLE_DEDICATED);
  ASSERT_TRUE(server.create({pipe.end(1).backend()}, true));
  lattice_token_request request;
  lattice_token_request_init(&request);
  lattice_world_public_key(server.world, request.server_public_key);
  lattice_world_new_client_key(world.get(), request.client_public_key);
  uint8_t token[LATTICE_TOKEN_MAX_BYTES];
  size_t bytes = 0;
  ASSERT_EQ(lattice_token_issue(server.issuer_seed.data(), &request, token, sizeof token, &bytes),
            LATTICE_OK);
  const lattice::Connection conn = world.connect(Pipe::opaque(1, 1), std::span(token, bytes));
  ASSERT_TRUE(conn) << lattice_last_error();
  EXPECT_EQ(conn.path().number, 1);
  world.pump();
  EXPECT_GT(bare.sent, 0u) << "the connection request left";
}

#if GTEST_HAS_DEATH_TEST
struct Thrower : Bare {
  uint32_t receive(std::span<lattice_backend_datagram>) { throw 1; }
};
TEST(BackendFaceDeathTest, AnExceptionEndsTheProgram) {
  Thrower thrower;
  const lattice_datagram_backend backend = lattice::backend_of(thrower);
  lattice_backend_datagram entry{};
  EXPECT_DEATH(backend.receive(backend.ctx, &entry, 1), "");
}
#endif

}  // namespace
}  // namespace lattice::test::backend_test
