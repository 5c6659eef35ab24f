// The other end of the server in the bench of hostile players: the attackers, and an honest player who
// measures what they do to it.
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "hostile/attacks.h"
#include "platform/clock.h"
#include "replication/processes.h"
#include "replication/scene.h"
#include "transport/lattice_keys.h"

namespace bench {
namespace {

using lattice::platform::monotonic_ns;

constexpr uint64_t kStepNs = 1'000'000;
constexpr uint64_t kAcknowledgeSteps = 33;  // between two acknowledgements of an attacker that waits
constexpr uint64_t kConnectTimeoutNs = 20'000'000'000;
constexpr uint32_t kHonestToken = 1'000'000;  // beyond the attackers'
constexpr uint64_t kMessageEveryNs = 20'000'000;

lattice::World client_world() {
  lattice::WorldConfig config;
  config.bind_address = "127.0.0.1:0";
  config.tick_rate_hz = kTickRateHz;
  config.max_objects = 1u << 20;
  lattice::World world = lattice::World::create(config, LATTICE_ROLE_CLIENT);
  if (!world || !add_schema(world)) {
    std::fprintf(stderr, "replication-end: %s\n", lattice_last_error());
    return {};
  }
  return world;
}

/// Calls `step` once a millisecond until it is time to end.
template <class Step>
void each_millisecond(Step step) {
  for (uint64_t due_ns = monotonic_ns(); !should_end(); due_ns += kStepNs) {
    lattice::platform::sleep_until_ns(due_ns);
    const uint64_t now_ns = monotonic_ns();
    if (now_ns > due_ns + kStepNs) due_ns = now_ns;
    step(now_ns);
  }
}

/// Half of its messages are reliable. A receipt says of each what became of it.
class HonestPlayer {
 public:
  bool start(uint16_t port) {
    world_ = client_world();
    lattice::crypto::PublicKey key{};
    const std::string server = "127.0.0.1:" + std::to_string(port);
    const bool ready = world_ && world_.set_callbacks(*this) == LATTICE_OK &&
                       lattice_world_new_client_key(world_, key.data()) == LATTICE_OK &&
                       world_.connect(server.c_str(), make_token(key, kHonestToken));
    if (!ready) std::fprintf(stderr, "replication-end: %s\n", lattice_last_error());
    return ready;
  }

  void on_connected(lattice::Connection conn) { server_ = conn, is_connected_ = true, say("ready", 1); }
  void on_disconnected(lattice::Connection, int) { is_connected_ = false; }
  void on_receipt(lattice::Connection, uint32_t, bool acked) { acked ? ++delivered_ : ++lost_; }
  void on_sample_input(uint32_t tick, Keys& input) { input.buttons = static_cast<uint8_t>(tick & 1); }

  void step(uint64_t now_ns) {
    world_.pump();
    const uint64_t snapshots = world_.stats().snapshots_applied;
    if (snapshots != snapshots_) note_snapshot(now_ns), snapshots_ = snapshots;
    if (open_ && is_connected_ && now_ns >= next_message_ns_) send_message(now_ns);
    if (!take_go()) return;
    open_ = !open_;
    if (!open_) return report(now_ns);
    gaps_ms_.clear(), sent_ = delivered_ = lost_ = refused_ = 0;
    last_snapshot_ns_ = next_message_ns_ = began_ns_ = now_ns;
  }

 private:
  void note_snapshot(uint64_t now_ns) {
    if (open_) gaps_ms_.push_back(static_cast<double>(now_ns - last_snapshot_ns_) / 1e6);
    last_snapshot_ns_ = now_ns;
  }
  void send_message(uint64_t now_ns) {
    next_message_ns_ = now_ns + kMessageEveryNs;
    const lattice_channel channel =
        ++turn_ % 2 == 0 ? LATTICE_CHANNEL_RELIABLE_ORDERED : LATTICE_CHANNEL_UNRELIABLE;
    constexpr std::array<uint8_t, 64> kBody{};
    uint32_t receipt = 0;
    ++(server_.send_with_receipt(channel, kBody, receipt) == LATTICE_OK ? sent_ : refused_);
  }
  void report(uint64_t now_ns) {
    gaps_ms_.push_back(static_cast<double>(now_ns - last_snapshot_ns_) / 1e6);  // the one that goes on
    std::sort(gaps_ms_.begin(), gaps_ms_.end());
    const auto last = static_cast<double>(gaps_ms_.size() - 1);
    say("gap_p50_ms", gaps_ms_[static_cast<size_t>(0.5 * last)]);
    say("gap_p99_ms", gaps_ms_[static_cast<size_t>(0.99 * last)]);
    say("gap_max_ms", gaps_ms_.back());
    say("snapshots_hz", last / (static_cast<double>(now_ns - began_ns_) / 1e9));
    say("messages_sent", static_cast<double>(sent_));
    say("messages_lost", static_cast<double>(lost_ + refused_));
    say("messages_open", static_cast<double>(sent_ - delivered_ - lost_));
    say("connected", is_connected_);
  }

  lattice::World world_;
  lattice::Connection server_;
  bool is_connected_ = false, open_ = false;
  uint32_t turn_ = 0;
  uint64_t snapshots_ = 0, last_snapshot_ns_ = 0, next_message_ns_ = 0, began_ns_ = 0;
  uint64_t sent_ = 0, delivered_ = 0, lost_ = 0, refused_ = 0;
  std::vector<double> gaps_ms_;
};

struct Attacker {
  std::unique_ptr<RawPlayer> player;
  std::unique_ptr<Attack> attack;
  double owed = 0;  // datagrams
};

}  // namespace

int play_honestly(const EndArguments& arguments) {
  HonestPlayer player;
  if (!player.start(arguments.port)) return 1;
  each_millisecond([&](uint64_t now_ns) { player.step(now_ns); });
  return 0;
}

int play_hostile(const EndArguments& arguments) {
  if (!make_attack(arguments.attack)) {
    std::fprintf(stderr, "replication-end: there is no attack '%s'\n", arguments.attack);
    return 2;
  }
  // The honest player shares this processor, and must not wait for the attackers.
  setpriority(PRIO_PROCESS, 0, 19);
  const lattice::World world = client_world();
  if (!world) return 1;
  std::vector<Attacker> attackers;
  bool ready = false, open = false;
  uint64_t sent_before = 0, step = 0;
  const auto sent = [&] {
    uint64_t sum = 0;
    for (const Attacker& attacker : attackers) sum += attacker.player->sent();
    return sum;
  };
  for (uint32_t i = 0; i < arguments.clients; ++i) {
    attackers.push_back({std::make_unique<RawPlayer>(arguments.port, world.schema_id(), i),
                         make_attack(arguments.attack), 0});
    if (!attackers.back().player->ok()) return 1;
  }
  const uint64_t began_ns = monotonic_ns();
  each_millisecond([&](uint64_t now_ns) {
    uint32_t connected = 0;
    ++step;
    for (Attacker& attacker : attackers) {
      RawPlayer& player = *attacker.player;
      player.hear(now_ns), connected += player.is_connected();
      if (!open) {
        if (player.is_connected() && step % kAcknowledgeSteps == 0) player.acknowledge();
        continue;
      }
      attacker.owed = std::min(attacker.owed + arguments.up_per_s * kStepNs / 1e9, 64.0);
      for (; attacker.owed >= 1; attacker.owed -= 1) attacker.attack->send_one(player, now_ns);
    }
    if (!ready && connected == attackers.size()) ready = true, say("ready", connected);
    if (!ready && now_ns - began_ns > kConnectTimeoutNs) std::exit(1);
    if (!take_go()) return;
    open = !open;
    if (open) {
      sent_before = sent();
    } else {
      say("datagrams", static_cast<double>(sent() - sent_before));
    }
  });
  for (Attacker& attacker : attackers) attacker.player->leave();
  return 0;
}

}  // namespace bench
