#include "client.h"

#include <algorithm>

#include "arena.h"
#include "exit_code.h"
#include "lattice/lattice.hpp"
#include "log.h"
#include "process.h"

namespace app {
namespace {

constexpr uint32_t kMaxObjects = 16384;  // the server's
constexpr uint32_t kMaxActors = 4096;
constexpr size_t kMaxPredictions = 4096;

}  // namespace

Client::~Client() {
  // The world goes first: it ends its connection, and that calls the game.
  if (world_ != nullptr) lattice_world_destroy(world_);
  game_.reset();
}

int Client::refuse(const char* doing) const {
  log_line(LATTICE_LOG_ERROR, "client", lattice_last_error(),
           {{"while", doing}, {"result", lattice_result_name(lattice_last_result())}});
  switch (lattice_last_result()) {
    case LATTICE_ERROR_ADDRESS:
      return kExitUsage;
    case LATTICE_ERROR_ADDRESS_IN_USE:
    case LATTICE_ERROR_PERMISSION:
      return kExitPort;
    default:
      return kExitFailed;
  }
}

int Client::start(const ClientConfig& config) {
  config_ = config;
  bot_plays_ = config.is_bot;
  bot_ = std::make_unique<depot::Bot>(config.seed, config.bot_habit);
  for (lattice_impairment& impairment : impairments_) lattice_impairment_init(&impairment);
  predictions_.reserve(kMaxPredictions);

  lattice::WorldConfig world;
  world.tick_rate_hz = config.tick_rate_hz;
  world.max_objects = kMaxObjects;
  world.max_connections = 1;
  world.seed = config.seed;
  world.log = log_from_library;
  const lattice_role_context role = lattice::role_context(LATTICE_ROLE_CLIENT);
  world_ = lattice_world_create(&world, &role);
  if (world_ == nullptr) return refuse("making the world");
  game_ = std::make_unique<depot::GameClient>(world_, kMaxActors, static_cast<depot::GameListener&>(*this));
  if (game_->attach() != LATTICE_OK) return refuse("registering the schema");
  return kExitOk;
}

int Client::connect() {
  TokenRequest request;
  request.schema_id = lattice_world_schema_id(world_);
  request.player = config_.seed;
  request.is_bot = config_.is_bot;
  if (lattice_world_new_client_key(world_, request.client_public_key.data()) != LATTICE_OK) {
    return refuse("making a key");
  }
  std::vector<uint8_t> token;
  if (const std::string problem = config_.tokens.obtain(request, token); !problem.empty()) {
    log_line(LATTICE_LOG_ERROR, "client", problem);
    return config_.tokens.uses_data_dir() ? kExitUnreachable : kExitFailed;
  }
  started_ns_ = monotonic_ns();
  conn_ = lattice_connect(world_, config_.server.c_str(), token.data(), token.size());
  if (conn_ == nullptr) return refuse("connecting");
  state_ = State::kConnecting;
  return kExitOk;
}

uint32_t Client::pump() {
  const uint32_t ticks = lattice_world_pump(world_);
  if (keep_predictions_ && !bot_plays_) presses_.watch(*game_, drawn_tick());
  return ticks;
}

void Client::leave() {
  if (state_ == State::kConnecting || state_ == State::kConnected) lattice_disconnect(conn_);
}

int Client::exit_code() const {
  switch (end_reason_) {
    case LATTICE_DISCONNECT_NONE:
    case LATTICE_DISCONNECT_REQUESTED:
    case LATTICE_DISCONNECT_HOST_LEFT:
      return was_connected_ ? kExitOk : kExitUnreachable;
    case LATTICE_DISCONNECT_TIMEOUT:
    case LATTICE_DISCONNECT_NO_ANSWER:
    case LATTICE_DISCONNECT_UNREACHABLE:
      return kExitUnreachable;
    case LATTICE_DISCONNECT_VERSION_MISMATCH:
    case LATTICE_DISCONNECT_SCHEMA_MISMATCH:
    case LATTICE_DISCONNECT_CONFIG_MISMATCH:
      return kExitIncompatible;
    default:
      return kExitFailed;
  }
}

void Client::connected(lattice_conn*) {
  state_ = State::kConnected;
  was_connected_ = true;
  connect_ms_ = static_cast<double>(monotonic_ns() - started_ns_) / 1e6;
  log_line(LATTICE_LOG_INFO, "client", "connected",
           {{"peer", lattice_local_peer(world_)},
            {"server", config_.server},
            {"took_ms", static_cast<uint64_t>(connect_ms_)}});
}

void Client::disconnected(lattice_conn* conn, int reason) {
  lattice_conn_info info{};
  info.struct_size = sizeof info;
  lattice_conn_get_info(conn, &info);
  lattice_conn_stats stats;
  lattice_conn_stats_init(&stats);
  lattice_conn_get_stats(conn, &stats);
  const bool expected =
      was_connected_ && (reason == LATTICE_DISCONNECT_REQUESTED || reason == LATTICE_DISCONNECT_HOST_LEFT);
  log_line(expected ? LATTICE_LOG_INFO : LATTICE_LOG_ERROR, "client",
           was_connected_ ? "disconnected" : "never connected",
           {{"reason", lattice_disconnect_reason_name(reason)},
            {"text", info.disconnect_text},
            {"server", config_.server},
            {"seconds", stats.connected_ms / 1e3},
            {"last_heard_s", stats.silent_ms / 1e3},
            {"own_schema", lattice_world_schema_id(world_)},
            {"server_schema", info.remote_schema_id}});
  state_ = State::kEnded;
  end_reason_ = reason;
  conn_ = nullptr;
}

// ---- Input --------------------------------------------------------------------------------------------

void Client::set_pad(const Pad& pad) {
  // Using a door is an event, not a state: it happens when the key goes down.
  if (pad.use && !pad_.use) use_pressed_ = true;
  pad_ = pad;
}

void Client::use_door_in_reach() {
  const int index = game_->door_in_reach();
  if (index == depot::kNoDoor) return;
  for (const auto& door : game_->scene().doors) {
    if (door.state->index != index) continue;
    const bool is_open = depot::door_is_open(*door.state, lattice_world_next_tick(world_));
    game_->request_door(index, !is_open);
    return;
  }
}

void Client::sample_input(uint32_t tick, depot::PawnInput& input) {
  input = depot::PawnInput{};
  if (state_ != State::kConnected) return;
  if (bot_plays_) {
    const depot::Scene scene = game_->scene();
    const depot::PawnState* own = game_->pawn(game_->own_pawn());
    const depot::BotDecision decision = bot_->decide({tick, game_->own_pawn(), own, scene});
    input = decision.input;
    if (decision.use_door != depot::kNoDoor) game_->request_door(decision.use_door, true);
    return;
  }
  presses_.sampled(conn_, tick);
  input.move = {pad_.x, pad_.y};
  input.dash = pad_.dash;
  input.fire = pad_.fire;
  if (use_pressed_) use_door_in_reach();
  use_pressed_ = false;
}

void Client::appeared(lattice_netid, uint32_t) {
  ++sights_.entered;
}

void Client::disappeared(lattice_netid, lattice_despawn_reason reason) {
  if (reason == LATTICE_DESPAWN_LEFT) ++sights_.left;
  if (reason == LATTICE_DESPAWN_DESTROYED) ++sights_.destroyed;
}

void Client::ticked(uint32_t tick) {
  presses_.ticked(tick, toggles_.prediction);
  const depot::PawnState* own = keep_predictions_ ? game_->pawn(game_->own_pawn()) : nullptr;
  if (own == nullptr || predictions_.size() == kMaxPredictions) return;
  predictions_.push_back({tick, own->position, !game_->disturbed_pawns().empty()});
}

// ---- Switches and statistics --------------------------------------------------------------------------

void Client::set_toggles(const Toggles& toggles) {
  toggles_ = toggles;
  lattice_set_option(world_, LATTICE_OPTION_PREDICTION, toggles.prediction ? 1 : 0);
  lattice_set_option(world_, LATTICE_OPTION_SMOOTHING, toggles.smoothing ? 1 : 0);
  lattice_set_option(world_, LATTICE_OPTION_INTERPOLATION, toggles.interpolation ? 1 : 0);
}

bool Client::impair(lattice_direction direction, const lattice_impairment& impairment) {
  if (lattice_set_impairment(world_, direction, &impairment) != LATTICE_OK) return false;
  impairments_[direction] = impairment;
  preset_.clear();
  return true;
}

bool Client::impair_by_preset(const std::string& name) {
  lattice_impairment both[2];
  for (const lattice_direction direction : {LATTICE_DIRECTION_SEND, LATTICE_DIRECTION_RECEIVE}) {
    lattice_impairment_init(&both[direction]);
    if (name == "none") continue;
    if (lattice_impairment_preset(name.c_str(), direction, &both[direction]) != LATTICE_OK) return false;
  }
  for (const lattice_direction direction : {LATTICE_DIRECTION_SEND, LATTICE_DIRECTION_RECEIVE}) {
    if (!impair(direction, both[direction])) return false;
  }
  preset_ = name;
  return true;
}

double Client::drawn_tick() const {
  if (!toggles_.interpolation) return static_cast<double>(presses_.newest_heard_tick());
  const lattice_world_stats now = stats();
  return now.server_tick_estimate - now.interpolation_delay_ms * config_.tick_rate_hz / 1000.0;
}

lattice_world_stats Client::stats() const {
  lattice_world_stats stats{};
  stats.struct_size = sizeof stats;
  lattice_world_get_stats(world_, &stats);
  return stats;
}

lattice_conn_stats Client::connection_stats() const {
  lattice_conn_stats stats{};
  stats.struct_size = sizeof stats;
  if (conn_ != nullptr) lattice_conn_get_stats(conn_, &stats);
  return stats;
}

}  // namespace app
