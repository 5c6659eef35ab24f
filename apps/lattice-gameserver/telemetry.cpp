#include "telemetry.h"

#include <algorithm>
#include <cstring>

#include "log.h"
#include "process.h"
#include "scene_json.h"

namespace app {
namespace {

// How far a connection may exceed its rate for a moment: two datagrams of the bucket, and one that overdraws
// it (docs/spec/reliability.md, R-20).
constexpr uint32_t kCapBucketBytes = 3 * 1200;

}  // namespace

Telemetry::Telemetry(Server& server, int fd, TelemetryDetail detail, Questions& questions)
    : server_(server), detail_(detail), out_(fd), questions_(questions) {
  if (detail_ != TelemetryDetail::kServer) server_.watch_ticks(this);
}

Telemetry::~Telemetry() {
  server_.watch_ticks(nullptr);
}

void Telemetry::ticked(uint32_t tick) {
  if (ticks_.size() < kMaxTicks) ticks_.push_back({tick, unix_time_ms()});
  presses_.ticked(tick, server_.game().players());
  const auto disturbed = server_.game().disturbed_pawns();
  for (const depot::Player& player : followed()) {
    const depot::PawnState* pawn = server_.game().pawn(player.pawn);
    if (pawn == nullptr || sightings_.size() == kMaxSightings) continue;
    const bool moved_by_others = std::ranges::count(disturbed, player.pawn) != 0;
    sightings_.push_back({tick, player.pawn, pawn->position, moved_by_others});
  }
}

void Telemetry::message(lattice_peer_id peer, std::span<const std::byte> bytes) {
  const auto marker = decode_press_marker(bytes);
  const auto players = server_.game().players();
  const auto player = std::ranges::find(players, peer, &depot::Player::peer);
  if (marker && player != players.end()) presses_.arrived(*player, *marker);
}

std::span<const depot::Player> Telemetry::followed() const {
  const auto players = server_.game().players();
  return players.first(std::min(players.size(), kMaxFollowed));
}

void Telemetry::write_players() {
  json_.key("peers").begin_array();
  for (const depot::Player& player : followed()) {
    json_.begin_object();
    json_.member("peer", player.peer);
    json_.member("pawn", player.pawn);
    json_.member("bot", player.is_bot);
    json_.member("fresh", player.inputs_fresh);
    json_.member("repeated", player.inputs_repeated);
    json_.member("missing", player.inputs_missing);
    json_.end_object();
  }
  json_.end_array();
  write_truth();
  write_ticks();
  presses_.write(json_);
  questions_.write(json_);
}

void Telemetry::write_scene(uint32_t tick) {
  const depot::GameServer& game = server_.game();
  json_.key("objects");
  write_objects(json_, game, tick, kMaxFollowed);
  const uint64_t now_ns = monotonic_ns();
  if (places_due_.due(now_ns)) {
    json_.key("riding");
    write_parcels(json_, game, game.parcels().riding());
    const std::vector<lattice_netid> pawns = ids_of(game, depot::kPawnType);
    json_.key("crowd");
    write_pawn_places(json_, game, std::span(pawns).subspan(std::min(pawns.size(), kMaxFollowed)));
  }
  if (resting_due_.due(now_ns)) {
    json_.key("resting");
    write_parcels(json_, game, game.parcels().resting());
  }
}

void Telemetry::write_cap() {
  if (recent_due_.due(monotonic_ns())) recent_most_ = server_.rates().take_recent_most();
  json_.key("cap").begin_object();
  json_.member("bytes_per_s", server_.config().client_bytes_per_s);
  json_.member("bucket_bytes", kCapBucketBytes);
  json_.member("most_bytes_per_s", server_.rates().most(), 0);
  json_.member("recent_bytes_per_s", recent_most_, 0);
  json_.end_object();
}

void Telemetry::write_refused() {
  json_.key("refused").begin_object();
  server_.game().world().each_refusal([this](const char* name, uint64_t count) {
    if (count != 0) json_.member(name, count);
  });
  json_.end_object();
}

void Telemetry::write_schema_differences() {
  lattice_world* world = server_.game().world().get();
  json_.key("schema_differences").begin_array();
  const char* difference = nullptr;
  for (uint32_t i = 0; (difference = lattice_world_schema_difference(world, i)) != nullptr; ++i) {
    json_.value(difference);
  }
  json_.end_array();
}

void Telemetry::write_truth() {
  json_.key("truth").begin_array();
  for (const Sighting& sighting : sightings_) {
    json_.begin_array();
    json_.value(sighting.tick);
    json_.value(sighting.pawn);
    json_.value(static_cast<double>(sighting.position.x), 6);
    json_.value(static_cast<double>(sighting.position.y), 6);
    json_.value(sighting.disturbed ? 1 : 0);
    json_.end_array();
  }
  json_.end_array();
  sightings_.clear();
}

void Telemetry::write_ticks() {
  json_.key("tick_times").begin_array();
  for (const TickDone& done : ticks_) {
    json_.begin_array();
    json_.value(done.tick);
    json_.value(done.unix_ms);
    json_.end_array();
  }
  json_.end_array();
  ticks_.clear();
}

/// Whether a line is worth its making.
bool Telemetry::is_read() {
  return out_.error() == 0 || out_.has_reader();
}

void Telemetry::log_losses() {
  switch (losses_.look(out_)) {
    case LossWatch::Change::kNone:
      return;
    case LossWatch::Change::kBegan:
      return log_line(LATTICE_LOG_WARNING, "telemetry", "lines are lost",
                      {{"why", std::strerror(out_.error())}});
    case LossWatch::Change::kEnded:
      return log_line(LATTICE_LOG_INFO, "telemetry", "lines are taken again", {{"missing", losses_.lost()}});
  }
}

void Telemetry::write() {
  if (!is_read()) {
    sightings_.clear();
    ticks_.clear();
    return;
  }
  const lattice_world_stats stats = server_.stats();
  const TickTimer::Percentiles tick_time = server_.tick_timer().percentiles();
  json_.clear();
  json_.begin_object();
  json_.member("telemetry", 1);
  json_.member("t", unix_time_ms());
  json_.member("tick", stats.tick);
  json_.member("tick_p50_ms", tick_time.p50_ms);
  json_.member("tick_p99_ms", tick_time.p99_ms);
  json_.member("late_inputs", stats.inputs_late);
  json_.member("players", server_.game().players().size());
  json_.key("inputs").begin_object();
  json_.member("received", stats.inputs_received);
  json_.member("late", stats.inputs_late);
  json_.member("repeated", stats.inputs_repeated);
  json_.member("defaulted", stats.inputs_defaulted);
  json_.end_object();
  json_.member("missing", out_.dropped());
  json_.member("stalls", server_.stall_watch().stalls());
  json_.member("longest_stall_ms", server_.stall_watch().longest_ms(), 1);
  json_.member("joins", server_.joins());
  json_.member("alive", stats.objects);
  json_.member("bytes_sent", stats.bytes_sent);
  write_refused();
  write_schema_differences();
  write_cap();
  if (detail_ != TelemetryDetail::kServer) write_players();
  if (detail_ == TelemetryDetail::kScene) write_scene(stats.tick);
  json_.end_object();
  out_.write_line(json_.text());
  log_losses();
}

}  // namespace app
