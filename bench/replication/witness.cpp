#include "replication/witness.h"

#include <algorithm>
#include <cstdio>

#include "replication/processes.h"
#include "transport/lattice_keys.h"

namespace bench {
namespace {

/// An object that was brought up to date in so many ticks before counts as one that moves.
constexpr uint32_t kMovingTicks = 30;

}  // namespace

bool Witness::start(uint16_t port, uint32_t index, double loss_percent) {
  lattice::WorldConfig config;
  config.bind_address = "127.0.0.1:0";
  config.tick_rate_hz = kTickRateHz;
  config.max_objects = 1u << 20;
  config.congestion_mode = LATTICE_CONGESTION_NONE;
  world_ = lattice::World::create(config, LATTICE_ROLE_CLIENT);
  lattice::Impairment up, down;
  up.delay_ms = kRoundTripMs;
  up.loss_percent = down.loss_percent = loss_percent;
  lattice::crypto::PublicKey key{};
  const std::string server = "127.0.0.1:" + std::to_string(port);
  const bool ready = world_ && add_schema(world_) && world_.set_callbacks(*this) == LATTICE_OK &&
                     world_.set_impairment(LATTICE_DIRECTION_SEND, up) == LATTICE_OK &&
                     world_.set_impairment(LATTICE_DIRECTION_RECEIVE, down) == LATTICE_OK &&
                     lattice_world_new_client_key(world_, key.data()) == LATTICE_OK &&
                     world_.connect(server.c_str(), make_token(key, index));
  if (!ready) std::fprintf(stderr, "replication-end: %s\n", lattice_last_error());
  return ready;
}

void Witness::on_tick(const lattice_tick_context& tick) {
  world_.each_simulated(kPlayer, [&](lattice_netid id, Walker& walker) { step(walker, id, tick.tick); });
}

void Witness::pump() {
  const uint32_t ticks = world_.pump();
  if (open_ && ticks != 0) look();
}

void Witness::look() {
  const size_t count = lattice_objects(world_, 0, nullptr, 0);
  ids_.resize(count);
  ids_.resize(std::min(count, lattice_objects(world_, 0, ids_.data(), ids_.size())));
  const auto now_tick = static_cast<uint32_t>(server_tick());
  now_seen_.clear();
  auto before = seen_.begin();
  for (const lattice_netid id : ids_) {  // an object that has just come begins here
    const uint32_t tick = world_.info(id).confirmed_tick;
    while (before != seen_.end() && before->id < id) ++before;
    const bool is_known = before != seen_.end() && before->id == id;
    const bool is_update = is_known && before->tick != tick;
    now_seen_.push_back({id, tick, is_update || (is_known && before->changed)});
    updates_ += is_update;
    seen_moving_ += now_seen_.back().changed && now_tick < tick + kMovingTicks;
    if (now_tick > tick) worst_age_ticks_ = std::max(worst_age_ticks_, now_tick - tick);
  }
  seen_.swap(now_seen_);
  ++looks_, seen_objects_ += ids_.size();
}

void Witness::go(double now_s) {
  open_ = !open_;
  const lattice_world_stats stats = world_.stats();
  if (open_) {
    began_s_ = now_s, before_ = stats;
    updates_ = looks_ = seen_objects_ = seen_moving_ = worst_age_ticks_ = 0;
    return;
  }
  const double s = now_s - began_s_;
  const auto mean = [&](uint64_t seen) {
    return looks_ == 0 ? 0 : static_cast<double>(seen) / static_cast<double>(looks_);
  };
  const double objects = mean(seen_objects_), moving = mean(seen_moving_);
  say("witness_objects", objects);
  say("witness_updates_hz", objects == 0 ? 0 : static_cast<double>(updates_) / objects / s);
  say("witness_moving_updates_hz", moving == 0 ? 0 : static_cast<double>(updates_) / moving / s);
  say("witness_worst_age_ticks", worst_age_ticks_);
  say("witness_rollbacks_per_s", static_cast<double>(stats.rollbacks - before_.rollbacks) / s);
  say("witness_snapshots_hz", static_cast<double>(stats.snapshots_applied - before_.snapshots_applied) / s);
}

}  // namespace bench
