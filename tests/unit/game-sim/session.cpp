#include "session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace depot::test {
namespace {

constexpr uint32_t kMaxObjects = 12288;
constexpr uint32_t kMaxActors = 1024;
constexpr const char* kServerAddress = "10.0.0.1:27015";

void expect_ok(lattice_result result) {
  ASSERT_EQ(result, LATTICE_OK) << lattice_last_error();
}

uint64_t fixed_time(void*) {
  return 1'700'000'000;
}

lattice_world_config world_config(lattice_netsim* network, uint64_t seed) {
  lattice_world_config config;
  lattice_world_config_init(&config);
  config.max_objects = kMaxObjects;
  config.seed = seed;
  config.netsim = network;
  config.clock = lattice_netsim_clock;
  config.clock_ctx = network;
  config.unix_seconds = fixed_time;
  return config;
}

}  // namespace

lattice_impairment perfect_link() {
  lattice_impairment impairment;
  lattice_impairment_init(&impairment);
  return impairment;
}

lattice_impairment preset_link(const char* name) {
  lattice_impairment impairment = perfect_link();
  EXPECT_EQ(lattice_impairment_preset(name, LATTICE_DIRECTION_SEND, &impairment), LATTICE_OK) << name;
  return impairment;
}

// ---- One client -----------------------------------------------------------------------------------------

Session::Client::~Client() {
  lattice_world_destroy(world);
  game.reset();
}

void Session::Client::sample_input(uint32_t tick, PawnInput& input) {
  input = pad;
  if (!bot) return;
  const Scene scene = game->scene();
  const BotDecision decision = bot->decide({tick, game->own_pawn(), own(), scene});
  input = decision.input;
  if (decision.use_door != kNoDoor) game->request_door(decision.use_door, true);
}

void Session::Client::ticked(uint32_t tick) {
  if (!record) return;
  if (const PawnState* pawn = own()) predicted[tick] = {pawn->position, !game->disturbed_pawns().empty()};
}

lattice_world_stats Session::Client::stats() const {
  lattice_world_stats stats{};
  stats.struct_size = sizeof stats;
  expect_ok(lattice_world_get_stats(world, &stats));
  return stats;
}

// ---- The session ----------------------------------------------------------------------------------------

Session::Session(const SessionConfig& config)
    : record_(config.record), network_(lattice_netsim_create(config.seed)) {
  expect_ok(lattice_netsim_set_impairment(network_, &config.impairment));
  start_server(config);
  for (size_t i = 0; i < config.clients; ++i) add_client(config, i);
}

Session::~Session() {
  clients.clear();
  lattice_world_destroy(server_world_);
  server_game_.reset();
  lattice_netsim_destroy(network_);
}

void Session::start_server(const SessionConfig& config) {
  std::array<uint8_t, LATTICE_KEY_BYTES> issuer_public{};
  expect_ok(lattice_issuer_generate(issuer_seed_.data(), issuer_public.data()));
  lattice_world_config world = world_config(network_, config.seed);
  world.bind_address = kServerAddress;
  world.snapshot_rate_hz = config.snapshot_rate_hz;
  world.max_connections = static_cast<uint32_t>(config.clients) + 1;
  world.issuer_public_keys = issuer_public.data();
  world.issuer_public_key_count = 1;
  if (config.interest_radius > 0) {
    world.interest_kind = LATTICE_INTEREST_GRID;
    world.interest_radius = config.interest_radius;
  }
  lattice_role_context role;
  lattice_role_context_init(&role, LATTICE_ROLE_DEDICATED);
  server_world_ = lattice_world_create(&world, &role);
  ASSERT_NE(server_world_, nullptr) << lattice_last_error();
  server_game_ = std::make_unique<GameServer>(
      server_world_, kMaxActors, world.max_connections, listener_,
      Furnishing{.parcels = config.parcels, .has_interest = config.interest_radius > 0});
  expect_ok(server_game_->attach());
}

void Session::add_client(const SessionConfig& config, size_t index) {
  auto client = std::make_unique<Client>();
  client->record = config.record;
  lattice_world_config world = world_config(network_, config.seed * 1000 + index);
  const std::string address = "10.0.1." + std::to_string(index + 1) + ":1000";
  world.bind_address = address.c_str();
  world.max_connections = 1;
  lattice_role_context role;
  lattice_role_context_init(&role, LATTICE_ROLE_CLIENT);
  client->world = lattice_world_create(&world, &role);
  ASSERT_NE(client->world, nullptr) << lattice_last_error();
  client->game = std::make_unique<GameClient>(client->world, kMaxActors, static_cast<GameListener&>(*client));
  expect_ok(client->game->attach());
  client->bot = std::make_unique<Bot>(config.seed * 1000 + index);

  lattice_token_request request;
  lattice_token_request_init(&request);
  request.issued_unix_s = fixed_time(nullptr);
  request.schema_id = lattice_world_schema_id(client->world);
  expect_ok(lattice_world_public_key(server_world_, request.server_public_key));
  expect_ok(lattice_world_new_client_key(client->world, request.client_public_key));
  std::array<uint8_t, LATTICE_TOKEN_MAX_BYTES> token{};
  size_t bytes = 0;
  expect_ok(lattice_token_issue(issuer_seed_.data(), &request, token.data(), token.size(), &bytes));
  client->conn = lattice_connect(client->world, kServerAddress, token.data(), bytes);
  ASSERT_NE(client->conn, nullptr) << lattice_last_error();
  clients.push_back(std::move(client));
}

void Session::ServerListener::ticked(uint32_t tick) {
  if (!session.record_) return;
  GameServer& game = *session.server_game_;
  for (const Player& player : game.players()) {
    const PawnState* pawn = game.pawn(player.pawn);
    if (pawn == nullptr) continue;
    const bool disturbed = std::ranges::count(game.disturbed_pawns(), player.pawn) != 0;
    session.truth_[player.pawn][tick] = {pawn->position, disturbed};
  }
}

void Session::run_ms(uint32_t ms) {
  for (uint32_t i = 0; i < ms; ++i) {
    lattice_netsim_advance(network_, 1'000'000);
    lattice_world_pump(server_world_);
    for (auto& client : clients) lattice_world_pump(client->world);
  }
}

bool Session::everyone_is_in() const {
  return std::ranges::all_of(clients, [](const auto& c) { return c->is_connected && c->own() != nullptr; });
}

uint32_t Session::server_tick() const {
  return lattice_world_next_tick(server_world_) - 1;
}

ErrorReport compare(const std::map<uint32_t, Spot>& predicted, const std::map<uint32_t, Spot>& truth,
                    uint32_t from, uint32_t to, uint32_t settle) {
  ErrorReport report;
  uint32_t unsettled_until = 0;
  double sum = 0;
  for (uint32_t tick = from; tick < to; ++tick) {
    const auto ours = predicted.find(tick), theirs = truth.find(tick);
    if (ours == predicted.end() || theirs == truth.end()) continue;
    if (ours->second.disturbed || theirs->second.disturbed) unsettled_until = tick + settle;
    const Vec2 apart = ours->second.position - theirs->second.position;
    const double error_mm = static_cast<double>(length(apart)) * 1000;
    ++report.compared;
    sum += error_mm;
    report.max_mm = std::max(report.max_mm, error_mm);
    if (tick < unsettled_until) continue;
    ++report.judged;
    if (std::max(std::abs(apart.x), std::abs(apart.y)) > 1.0f / 512 + 1e-6f) ++report.beyond_step;
  }
  report.mean_mm = report.compared == 0 ? 0 : sum / report.compared;
  return report;
}

}  // namespace depot::test
