// A server and one client with pawns that move, crates that move, and crates that come and go. For tests of
// what replication promises: the caller says what the server does with them in a tick.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "message_pair.h"
#include "plain_type.h"

namespace lattice::test {

inline constexpr uint32_t kPawnType = 1;
inline constexpr uint32_t kCrateType = 2;
inline constexpr uint32_t kNoteType = 3;  // a body and a long text
inline constexpr uint16_t kKnock = 1;
inline constexpr uint16_t kKnockAligned = 2;
inline constexpr lattice_peer_id kFirstClientPeer = 2;

struct Body {
  float x, y;
};
struct Note {
  Body body;
  char text[256];
};

inline void register_bodies(lattice_world* world) {
  for (const uint32_t type_id : {kPawnType, kCrateType, kNoteType}) {
    lattice_member_desc members[3];
    for (size_t i = 0; i < 3; ++i) {
      lattice_member_desc_init(&members[i]);
      members[i].type = LATTICE_WIRE_FLOAT;
      members[i].quant[0] = {-1000, 1000, 1.0 / 256};
    }
    members[0].name = "x";
    members[1].name = "y";
    members[1].offset = offsetof(Body, y);
    members[2].name = "text";
    members[2].type = LATTICE_WIRE_FIXED_STRING;
    members[2].offset = offsetof(Note, text);
    members[2].quant[0] = {};
    members[2].capacity = sizeof(Note::text);
    lattice_rpc_desc rpcs[2];
    for (lattice_rpc_desc& rpc : rpcs) {
      lattice_rpc_desc_init(&rpc);
      rpc.target = LATTICE_RPC_TO_ALL;
    }
    rpcs[0].rpc_id = kKnock;
    rpcs[0].name = "knock";
    rpcs[0].channel = LATTICE_CHANNEL_RELIABLE_ORDERED;
    rpcs[1].rpc_id = kKnockAligned;
    rpcs[1].name = "knock_aligned";
    rpcs[1].channel = LATTICE_CHANNEL_RELIABLE_UNORDERED;
    rpcs[1].delivery = LATTICE_RPC_TICK_ALIGNED;
    PlainType plain{
        .type_id = type_id, .name = "Crate", .members = std::span(members).first(2), .rpcs = rpcs};
    if (type_id == kNoteType) {
      plain.name = "Note";
      plain.members = members;
      register_plain_type<Note>(world, plain);
      continue;
    }
    if (type_id == kPawnType) {
      plain.name = "Pawn";
      plain.flags = LATTICE_TYPE_PREDICTED;
    }
    register_plain_type<Body>(world, plain);
  }
}

class PlayPair {
 public:
  using Tick = std::function<void(lattice_world*, uint32_t tick)>;

  explicit PlayPair(MessagePairOptions options = {}, uint32_t tick_rate_hz = 60)
      : pair(with_rate(std::move(options), tick_rate_hz)), tick_ns_(1'000'000'000 / tick_rate_hz) {
    register_bodies(pair.server.world);
    register_bodies(pair.client.world);
  }

  /// Connects; then `on_server` and `on_client` are called in every tick of the side.
  bool connect(Tick on_server, Tick on_client = {}) {
    if (!pair.connect()) return false;
    server_.step = std::move(on_server);
    client_.step = std::move(on_client);
    server_.listen(pair.server.world);
    client_.listen(pair.client.world);
    return true;
  }
  void run(double seconds) {
    const auto steps = static_cast<uint64_t>(seconds * 4e9 / static_cast<double>(tick_ns_));
    for (uint64_t i = 0; i < steps; ++i) {
      pair.now_ns += tick_ns_ / 4;
      lattice_netsim_advance(pair.net, tick_ns_ / 4);
      lattice_world_pump(pair.server.world);
      lattice_world_pump(pair.client.world);
      if (each_step) each_step();
    }
  }
  /// Time passes for the server alone: the client's process does not run.
  void pause_client(double seconds) {
    const auto steps = static_cast<uint64_t>(seconds * 4e9 / static_cast<double>(tick_ns_));
    for (uint64_t i = 0; i < steps; ++i) {
      pair.now_ns += tick_ns_ / 4;
      lattice_netsim_advance(pair.net, tick_ns_ / 4);
      lattice_world_pump(pair.server.world);
    }
  }
  lattice_netid spawn(uint32_t type, lattice_peer_id owner = 0) {
    return owner == 0 ? lattice_spawn(pair.server.world, type, LATTICE_AUTHORITY_SERVER)
                      : lattice_spawn_for(pair.server.world, type, LATTICE_AUTHORITY_SERVER, owner);
  }
  static Body* body(lattice_world* world, lattice_netid id) {
    return static_cast<Body*>(lattice_object_state(world, id, 0));
  }
  static lattice_world_stats stats(lattice_world* world) {
    lattice_world_stats out;
    lattice_world_stats_init(&out);
    EXPECT_EQ(lattice_world_get_stats(world, &out), LATTICE_OK);
    return out;
  }
  /// How many calls on the object the client heard.
  uint32_t client_heard(lattice_netid id) { return client_.heard[id]; }
  /// Why the connection ended at either side; LATTICE_DISCONNECT_NONE: it lives.
  int ended() const { return std::max(server_.ended, client_.ended); }
  const std::string& ended_text() const { return client_.ended != 0 ? client_.text : server_.text; }

  MessagePair pair;
  std::function<void()> each_step;

 private:
  struct Game {
    Tick step;
    int ended = 0;
    std::string text;
    std::map<lattice_netid, uint32_t> heard;

    void listen(lattice_world* world) {
      lattice_callbacks callbacks;
      lattice_callbacks_init(&callbacks);
      callbacks.on_tick = [](void* ctx, lattice_world* of, const lattice_tick_context* tick) {
        const auto& self = *static_cast<Game*>(ctx);
        if (self.step) self.step(of, tick->tick);
      };
      callbacks.on_rpc = [](void* ctx, lattice_netid id, uint16_t, const void*, size_t) {
        ++static_cast<Game*>(ctx)->heard[id];
      };
      callbacks.on_disconnected = [](void* ctx, lattice_conn* conn, int reason) {
        auto& self = *static_cast<Game*>(ctx);
        self.ended = reason;
        lattice_conn_info info;
        lattice_conn_info_init(&info);
        if (lattice_conn_get_info(conn, &info) == LATTICE_OK) self.text = info.disconnect_text;
      };
      ASSERT_EQ(lattice_set_callbacks(world, &callbacks, this), LATTICE_OK);
    }
  };
  static MessagePairOptions with_rate(MessagePairOptions options, uint32_t tick_rate_hz) {
    options.adjust = [adjust = std::move(options.adjust), tick_rate_hz](lattice_world_config* config) {
      config->tick_rate_hz = tick_rate_hz;
      if (adjust) adjust(config);
    };
    return options;
  }

  Game server_;
  Game client_;
  uint64_t tick_ns_;
};

}  // namespace lattice::test
