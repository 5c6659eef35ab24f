// The measured server: a dedicated world behind the C interface, one thread, one UDP socket. It pumps when a
// tick is due, as lattice_world_pump() allows it without congestion control, and calls the three steps itself
// to time them.
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "allocation_counter.h"
#include "platform/clock.h"
#include "replication/audience.h"
#include "replication/processes.h"
#include "replication/scene.h"
#include "transport/lattice_keys.h"

namespace bench {
namespace {

using lattice::platform::monotonic_ns;

constexpr size_t kMaxTickSamples = 1 << 16;
constexpr uint32_t kNoLimit = 16384;
constexpr uint32_t kManyConnects = 100'000;

struct Server {
  lattice::World world;
  const EndArguments& arguments;
  std::vector<lattice_netid> moving;  // ascending: what walks
  Audience audience;
  uint64_t game_ns = 0;

  void on_connected(lattice::Connection conn) {
    audience.seat(world, conn, moving);
    if (arguments.spectators) return;
    audience.place(world, add(kPlayer, conn.info().peer_id, true));
  }
  void on_disconnected(lattice::Connection conn, int) {
    const lattice_peer_id peer = conn.info().peer_id;
    std::erase_if(moving, [&](lattice_netid id) {
      const bool leaves = world.info(id).owner == peer;
      if (leaves) world.despawn(id);
      return leaves;
    });
  }
  void on_tick(const lattice_tick_context& tick) {
    const uint64_t began_ns = monotonic_ns();
    for (const lattice_netid id : moving) {
      if (Walker* walker = world.state<Walker>(id)) step(*walker, id, tick.tick);
    }
    game_ns += monotonic_ns() - began_ns;
  }

  bool start() {
    lattice::WorldConfig config;
    config.bind_address = "127.0.0.1:0";
    config.tick_rate_hz = kTickRateHz;
    config.snapshot_rate_hz = arguments.snapshot_rate_hz;
    config.max_connections = arguments.clients;
    config.max_objects = std::max(arguments.clients + arguments.objects + 16, config.max_objects);
    config.connects_per_s_per_prefix = kManyConnects;
    config.max_half_open_per_prefix = kNoLimit;
    config.congestion_mode = LATTICE_CONGESTION_NONE;
    config.max_send_bytes_per_s = arguments.cap_bytes_per_s;
    audience.set_up(config);
    const lattice::crypto::PublicKey issuer = token_issuer().public_key();
    config.issuer_public_keys = issuer.data();
    config.issuer_public_key_count = 1;
    const std::array<uint8_t, LATTICE_SERVER_IDENTITY_BYTES> identity = server_identity_bytes();
    config.server_identity = identity.data();
    world = lattice::World::create(config, LATTICE_ROLE_DEDICATED);
    if (!world || !add_schema(world) || world.set_callbacks(*this) != LATTICE_OK) {
      std::fprintf(stderr, "replication-end: %s\n", lattice_last_error());
      return false;
    }
    for (uint32_t i = 0; i < arguments.objects; ++i) add(kThing, 0, i % 100 < arguments.moving_percent);
    return true;
  }

 private:
  lattice_netid add(const lattice::Type<Walker>& type, lattice_peer_id owner, bool moves) {
    const lattice_netid id = world.spawn(type, owner);
    Walker* walker = id != 0 ? world.state<Walker>(id) : nullptr;
    if (walker == nullptr) {
      std::fprintf(stderr, "replication-end: %s\n", lattice_last_error());
      return 0;
    }
    *walker = start_of(id);
    if (arguments.in_set != 0) walker->position.z = 0;
    if (moves) moving.push_back(id);
    return id;
  }
};

/// The least bits of what a walker changes between a snapshot and one that was acknowledged before it: the
/// widths of the members that differ.
double changed_bits() {
  constexpr uint32_t kAgeTicks = 8, kRounds = 2000;  // a round trip and one snapshot interval
  uint64_t bits = 0;
  for (lattice_netid id = 1; id <= kRounds; ++id) {
    const Walker before = start_of(id);
    Walker after = before;
    for (uint32_t tick = 1; tick <= kAgeTicks; ++tick) step(after, id, tick);
    bits += before.position == after.position ? 0 : kPositionBits;
    bits += before.yaw == after.yaw ? 0 : kYawBits;
    bits += before.crouched == after.crouched ? 0 : 1;
    bits += before.armed == after.armed ? 0 : 1;
  }
  return static_cast<double>(bits) / kRounds;
}

/// Sums over the measured window.
struct Sums {
  uint64_t receive_ns = 0, tick_ns = 0, send_ns = 0, pumps = 0;
};

/// The pump, and what is known of the window.
class Meter {
 public:
  explicit Meter(Server& server) : server_(server) { tick_ms_.reserve(kMaxTickSamples); }

  void pump() {
    const uint64_t began_ns = monotonic_ns();
    server_.world.recv();
    const uint64_t received_ns = monotonic_ns();
    uint32_t ticks = 0;
    for (uint32_t due = server_.world.ticks_due(); ticks < due; ++ticks) {
      server_.world.tick(server_.world.next_tick());
    }
    const uint64_t ticked_ns = monotonic_ns();
    server_.world.send();
    const uint64_t sent_ns = monotonic_ns();
    if (!open_) return;
    sums_.receive_ns += received_ns - began_ns, sums_.tick_ns += ticked_ns - received_ns;
    sums_.send_ns += sent_ns - ticked_ns, ++sums_.pumps;
    if (ticks != 0 && tick_ms_.size() < tick_ms_.capacity()) {
      tick_ms_.push_back(static_cast<double>(sent_ns - began_ns) / 1e6);
    }
  }

  /// Begins the window, or ends it with a report.
  void go() {
    open_ = !open_;
    if (!open_) return report();
    sums_ = {}, tick_ms_.clear(), server_.game_ns = 0;
    began_ns_ = monotonic_ns(), before_ = server_.world.stats();
    allocations_ = lattice::test::allocation_count();
  }

 private:
  void report() {
    const double s = static_cast<double>(monotonic_ns() - began_ns_) / 1e9;
    const lattice_world_stats now = server_.world.stats();
    const auto per_s = [&](const char* name, uint64_t before, uint64_t after) {
      say(name, static_cast<double>(after - before) / s);
    };
    const auto percent = [&](const char* name, uint64_t ns) { say(name, static_cast<double>(ns) / s / 1e7); };
    std::sort(tick_ms_.begin(), tick_ms_.end());
    const auto at = [&](double share) {
      return tick_ms_.empty()
                 ? 0
                 : tick_ms_[static_cast<size_t>(share * static_cast<double>(tick_ms_.size() - 1))];
    };
    say("tick_p50_ms", at(0.5)), say("tick_p99_ms", at(0.99)), say("tick_max_ms", at(1));
    per_s("ticks_per_s", before_.tick, now.tick);
    percent("receive_percent", sums_.receive_ns), percent("game_percent", server_.game_ns);
    percent("record_percent", sums_.tick_ns - server_.game_ns), percent("send_percent", sums_.send_ns);
    per_s("pumps_per_s", 0, sums_.pumps);
    per_s("inputs_per_s", before_.inputs_received, now.inputs_received);
    per_s("inputs_used_per_s", before_.inputs_used, now.inputs_used);
    per_s("inputs_late_per_s", before_.inputs_late, now.inputs_late);
    per_s("snapshots_per_s", before_.snapshots_sent, now.snapshots_sent);
    per_s("snapshot_bytes_per_s", before_.snapshot_bytes_sent, now.snapshot_bytes_sent);
    per_s("datagrams_per_s", before_.packets_sent, now.packets_sent);
    per_s("bytes_per_s", before_.bytes_sent, now.bytes_sent);
    say("live_kb", static_cast<double>(lattice::test::live_bytes()) / 1024);
    say("connections", now.connections), say("objects", now.objects);
    say("allocations_per_tick", static_cast<double>(lattice::test::allocation_count() - allocations_) /
                                    std::max(1.0, static_cast<double>(now.tick - before_.tick)));
    say("changed_bits", changed_bits());
    say("objects_in_set", server_.audience.mean_set(server_.world));
    say("window_s", s);
  }

  Server& server_;
  bool open_ = false;
  uint64_t began_ns_ = 0, allocations_ = 0;
  lattice_world_stats before_{};
  Sums sums_;
  std::vector<double> tick_ms_;  // wall time of pumps that ran a tick
};

}  // namespace

int serve_scene(const EndArguments& arguments) {
  Server server{.world = {}, .arguments = arguments, .moving = {}, .audience = Audience(arguments)};
  if (!server.start()) return 1;
  const lattice::Text<64> address = server.world.address();
  say("empty_live_kb", static_cast<double>(lattice::test::live_bytes()) / 1024);
  say("port", std::atof(std::strrchr(address.data, ':') + 1));
  Meter meter(server);
  while (!should_end()) {
    meter.pump();
    if (take_go()) meter.go();
    lattice::platform::sleep_until_ns(monotonic_ns() + server.world.time_to_tick_ns());
  }
  return 0;
}

}  // namespace bench
