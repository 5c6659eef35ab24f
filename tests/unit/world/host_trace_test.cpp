// A listen-server whose player does nothing is a dedicated server: the same session, played on both, gives
// the same datagrams to the last bit, at the same times, and the same states on every side in every tick.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/world/session_rig.h"

namespace lattice::world::test {
namespace {

constexpr int kPumps = 400;

/// What happened in a session, as far as anybody but the authority's own player can tell.
struct Trace {
  struct Datagram {
    uint64_t time_ns;
    uint16_t to;
    std::vector<uint8_t> bytes;
    bool operator==(const Datagram&) const = default;
  };
  std::vector<Datagram> datagrams;
  std::vector<uint64_t> hashes;  // of the authority and of each client, after each pump
  std::vector<std::string> calls;
  uint64_t rollbacks = 0;
};

/// The script: every client pushes a ball of its own and kicks it; crates come, move, hide and go.
class Script {
 public:
  Script(const SessionRig::Options& options, int32_t host_push) : rig_(options) {
    socket::Impairment path;
    path.delay_ms = 35;
    path.jitter_ms = 10;
    path.loss = 0.02;
    rig_.network.set_default(path);
    rig_.network.set_tap(
        [](void* context, socket::TappedDatagram& datagram) {
          static_cast<Script*>(context)->note(datagram);
          return socket::TapVerdict::kPass;
        },
        this);
    rig_.game.push = [host_push](Tick) { return host_push; };
    rig_.game.step = [this](Tick tick, bool) { play_authority(tick); };
    rig_.game.relevant = [this](uint64_t id) { return (id + rig_.authority->current_tick() / 40) % 3 != 0; };
    // The player of a listen-server hears the calls to all as well. Nobody else can tell.
    rig_.game.called = [this](uint64_t id, uint16_t rpc) {
      if (rpc == kKick) note_call("authority", id, rpc);
    };
  }

  Trace play() {
    EXPECT_TRUE(rig_.connect());
    for (size_t i = 0; i < rig_.clients.size(); ++i) begin_client(i);
    for (int pump = 0; pump < kPumps; ++pump) {
      rig_.pump();
      trace_.hashes.push_back(rig_.authority->state_hash());
      for (const auto& client : rig_.clients) trace_.hashes.push_back(client->world->state_hash());
    }
    for (const auto& client : rig_.clients) trace_.rollbacks += client->world->stats().rollbacks;
    return std::move(trace_);
  }

 private:
  void begin_client(size_t index) {
    SessionRig::Client& client = *rig_.clients[index];
    const uint64_t peer = client.world->local_peer();
    owners_.push_back(peer);
    balls_.push_back(rig_.authority->spawn(kBallType, LATTICE_AUTHORITY_SERVER, peer));
    client.game.push = [index](Tick tick) { return static_cast<int32_t>((tick / 7 + index) % 5); };
    client.game.called = [this, index](uint64_t id, uint16_t rpc) {
      note_call("client " + std::to_string(index), id, rpc);
    };
    client.game.step = [this, &client, index](Tick tick, bool) {
      push(*client.world, index);
      if (tick % 31 == index) static_cast<void>(client.world->call(rpc_of(balls_[index], kKick), rig_.now()));
    };
  }

  void play_authority(Tick tick) {
    Session& world = *rig_.authority;
    for (size_t i = 0; i < balls_.size(); ++i) push(world, i);
    Push own{};
    const bool has_player = world.get_input(kAuthorityPeer, &own, sizeof own) != 0;
    if (has_player && own.by != 0 && !crates_.empty()) SessionRig::ball(world, crates_.back())->x -= own.by;
    if (tick % 23 == 0) spawn_crate();
    for (const uint64_t crate : crates_) {
      if ((tick + crate) % 5 == 0) SessionRig::ball(world, crate)->x += static_cast<int32_t>(crate);
    }
    if (tick % 71 == 0) {
      EXPECT_EQ(world.despawn(crates_.front()), OpResult::kOk);
      crates_.erase(crates_.begin());
    }
    if (tick % 29 == 0 && !balls_.empty()) {
      static_cast<void>(world.call(rpc_of(balls_[0], kCheer), rig_.now()));
    }
  }
  void spawn_crate() {
    crates_.push_back(rig_.authority->spawn(kBallType, LATTICE_AUTHORITY_SERVER, 0));
    InterestHub* interest = rig_.authority->interest();
    if (interest == nullptr) return;
    const uint32_t slot = rig_.authority->objects().find(crates_.back());
    replication::InterestRule rule = interest->rule(slot);
    rule.filtered = true;
    interest->set_rule(slot, rule);
  }
  void push(Session& world, size_t index) const {
    Push input{};
    if (world.objects().find(balls_[index]) == replication::kNoSlot) return;
    if (world.get_input(owners_[index], &input, sizeof input) == 0) return;
    SessionRig::ball(world, balls_[index])->x += input.by;
  }
  static RpcCall rpc_of(uint64_t object, uint16_t rpc) {
    RpcCall call;
    call.network_id = object;
    call.rpc_id = rpc;
    call.target = rpc == kKick ? LATTICE_RPC_TO_SERVER : LATTICE_RPC_TO_ALL;
    return call;
  }
  void note(const socket::TappedDatagram& datagram) {
    trace_.datagrams.push_back({datagram.now_ns, datagram.to.number,
                                std::vector<uint8_t>(datagram.data, datagram.data + datagram.size)});
  }
  void note_call(const std::string& at, uint64_t id, uint16_t rpc) {
    trace_.calls.push_back(at + " " + std::to_string(id) + " " + std::to_string(rpc) + " tick " +
                           std::to_string(rig_.authority->current_tick()));
  }

  SessionRig rig_;
  std::vector<uint64_t> owners_;  // by client
  std::vector<uint64_t> balls_;   // by client
  std::vector<uint64_t> crates_;
  Trace trace_;
};

Trace play(bool has_player, bool has_interest, int32_t host_push = 0) {
  return Script({has_player, 3, true, has_interest}, host_push).play();
}

class HostTrace : public ::testing::TestWithParam<bool> {};

TEST_P(HostTrace, is_that_of_a_dedicated_server) {
  const Trace dedicated = play(false, GetParam());
  const Trace host = play(true, GetParam());
  EXPECT_GT(dedicated.datagrams.size(), 1000u);
  EXPECT_GT(dedicated.calls.size(), 20u);
  ASSERT_EQ(host.datagrams.size(), dedicated.datagrams.size());
  for (size_t i = 0; i < host.datagrams.size(); ++i) {
    ASSERT_EQ(host.datagrams[i], dedicated.datagrams[i])
        << "datagram " << i << " to port " << dedicated.datagrams[i].to << " at "
        << dedicated.datagrams[i].time_ns / 1'000'000 << " ms";
  }
  EXPECT_EQ(host.hashes, dedicated.hashes);
  EXPECT_EQ(host.calls, dedicated.calls);
  EXPECT_EQ(host.rollbacks, dedicated.rollbacks);
}

TEST_P(HostTrace, differs_when_the_player_of_the_host_does_something) {
  const Trace idle = play(true, GetParam());
  const Trace busy = play(true, GetParam(), 1);
  EXPECT_NE(busy.datagrams, idle.datagrams);
  EXPECT_NE(busy.hashes, idle.hashes);
}

INSTANTIATE_TEST_SUITE_P(Interest, HostTrace, ::testing::Bool());

}  // namespace
}  // namespace lattice::world::test
