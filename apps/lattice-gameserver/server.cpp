#include "server.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <optional>

#include <unistd.h>

#include "exit_code.h"
#include "impairment_setting.h"
#include "lattice/lattice.hpp"
#include "log.h"
#include "process.h"
#include "server_identity.h"
#include "text_codec.h"

namespace app {
namespace {

// Parcels, and as many actors as the game steps.
constexpr uint32_t kMaxActors = 4096;
constexpr uint32_t kMaxObjects = 16384;
static_assert(depot::kHallParcels + kMaxActors <= kMaxObjects);

/// What a server that drains answers to newcomers.
constexpr int kServerCloses = LATTICE_DISCONNECT_APPLICATION;
constexpr const char* kCloses = "the server is shutting down";
constexpr const char* kNotListed = "not on the admission list";

}  // namespace

std::string connection_name(const lattice_conn_info& info) {
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(info.connection_id));
  return text;
}

Server::~Server() {
  if (noted_) remove_server_note(config_.data_dir);
  // The world goes first: it ends its connections, and that calls the game.
  if (world_ != nullptr) lattice_world_destroy(world_);
  game_.reset();
}

/// Logs why the library refused, and returns the exit code for that reason.
int Server::refuse_to_start() const {
  const lattice_result result = lattice_last_result();
  log_line(LATTICE_LOG_ERROR, "server", lattice_last_error(),
           {{"result", lattice_result_name(result)}, {"bind", config_.bind}});
  switch (result) {
    case LATTICE_ERROR_ADDRESS_IN_USE:
    case LATTICE_ERROR_PERMISSION:
      return kExitPort;
    case LATTICE_ERROR_CONFIG:
    case LATTICE_ERROR_ADDRESS:
    case LATTICE_ERROR_INVALID_ARGUMENT:
      return kExitConfig;
    default:
      return kExitFailed;
  }
}

int Server::start(const ServerConfig& config) {
  config_ = config;
  if (const std::string problem = folder_.take(config.data_dir); !problem.empty()) {
    const int exit = exit_for(errno);
    log_line(LATTICE_LOG_ERROR, "server", problem);
    return exit;
  }
  if (config.admission.issuers.empty()) {
    IssuerKeys issuer;
    if (const std::string problem = load_or_make_issuer(config.data_dir, issuer); !problem.empty()) {
      const bool is_there = access((config.data_dir + "/issuer.key").c_str(), F_OK) == 0;
      const int exit = is_there ? kExitConfig : exit_for(errno);
      log_line(LATTICE_LOG_ERROR, "issuer", problem);
      return exit;
    }
    own_issuer_ = issuer.public_key;
  }
  const std::vector<uint8_t> issuers = issuer_bytes(config.admission);
  std::optional<ServerIdentity> identity;
  if (const std::string problem = find_identity(config.server_key, config.data_dir, identity);
      !problem.empty()) {
    log_line(LATTICE_LOG_ERROR, "server", problem);
    return kExitConfig;
  }

  lattice::WorldConfig world;
  world.tick_rate_hz = config.tick_rate_hz;
  world.snapshot_rate_hz = config.snapshot_rate_hz;
  world.max_objects = kMaxObjects;
  world.max_connections = config.max_players;
  world.connects_per_s_per_prefix = config.connects_per_s;
  // Half-open entries of one address range: as many as the range may open while one entry waits for its first
  // packet.
  world.max_half_open_per_prefix = std::clamp(config.connects_per_s / 25, 4u, config.max_players + 4u);
  world.max_send_bytes_per_s = config.client_bytes_per_s;
  world.interest_kind = LATTICE_INTEREST_GRID;
  world.interest_radius = static_cast<double>(depot::kSightRadius);
  world.interest_leave_radius = static_cast<double>(depot::kSightLeaveRadius);
  world.seed = config.seed;
  world.bind_address = config.bind.c_str();
  world.issuer_public_keys = issuers.data();
  world.issuer_public_key_count = static_cast<uint32_t>(issuers.size() / LATTICE_KEY_BYTES);
  world.server_identity = identity ? identity->data() : nullptr;
  world.log = log_from_library;
  const lattice_role_context role = lattice::role_context(LATTICE_ROLE_DEDICATED);
  world_ = lattice_world_create(&world, &role);
  if (world_ == nullptr) return refuse_to_start();
  game_ = std::make_unique<depot::GameServer>(world_, kMaxActors, config.max_players,
                                              static_cast<depot::GameListener&>(*this),
                                              depot::Furnishing{.parcels = config.parcels});
  if (game_->attach() != LATTICE_OK) return refuse_to_start();
  if (apply_preset(world_, config.impairment) != LATTICE_OK) return refuse_to_start();
  if (!config.capture.empty()) {
    if (const std::string problem = capture_.start(world_, config.capture); !problem.empty()) {
      log_line(LATTICE_LOG_ERROR, "capture", problem, {{"file", config.capture}});
      return kExitConfig;
    }
    log_line(LATTICE_LOG_WARNING, "capture", "every datagram is written to a file, decrypted",
             {{"file", capture_.path()}});
  }

  char address[128] = {};
  if (lattice_world_address(world_, address, sizeof address) != LATTICE_OK) return refuse_to_start();
  address_ = address;
  return kExitOk;
}

std::string Server::tell_where(const std::string& admin_address) {
  ServerNote note;
  if (lattice_world_public_key(world_, note.server_public_key.data()) != LATTICE_OK)
    return lattice_last_error();
  note.address = address_;
  note.schema_id = lattice_world_schema_id(world_);
  note.pid = getpid();
  note.admin = admin_address;
  if (std::string problem = write_server_note(config_.data_dir, note); !problem.empty()) return problem;
  noted_ = true;
  folder_.tell(address_);
  log_line(LATTICE_LOG_INFO, "server", "listening",
           {{"address", address_},
            {"tick_rate", config_.tick_rate_hz},
            {"snapshot_rate", config_.snapshot_rate_hz},
            {"max_players", config_.max_players},
            {"schema", note.schema_id},
            {"data_dir", config_.data_dir},
            {"version", lattice_version()},
            {"pid", note.pid},
            {"server_key", to_hex(note.server_public_key)}});
  if (config_.admission.issuers.empty()) {
    log_line(
        LATTICE_LOG_INFO, "issuer",
        "tokens of the development issuer count: who can read its key lets anybody in. Give --issuer-keys",
        {{"file", config_.data_dir + "/issuer.key"}});
  }
  return "";
}

/// The keys of the issuers, back to back.
std::vector<uint8_t> Server::issuer_bytes(const Admission& admission) const {
  std::vector<uint8_t> out;
  for (const Key& key : admission.issuers) out.insert(out.end(), key.begin(), key.end());
  if (out.empty()) out.assign(own_issuer_.begin(), own_issuer_.end());
  return out;
}

std::string Server::admit_by(const Admission& admission) {
  if (admission.issuers.empty() && own_issuer_ == Key{}) {
    return "issuer_keys is empty, and this server began without an issuer of its own. Restart it, or give "
           "keys.";
  }
  const std::vector<uint8_t> issuers = issuer_bytes(admission);
  const auto count = static_cast<uint32_t>(issuers.size() / LATTICE_KEY_BYTES);
  if (lattice_world_set_issuers(world_, issuers.data(), count) != LATTICE_OK) return lattice_last_error();
  config_.admission = admission;
  send_away(kNotListed, [this](const lattice_conn_info& info) { return !is_admitted(info); });
  return "";
}

bool Server::is_admitted(const lattice_conn_info& info) const {
  const auto& players = config_.admission.players;
  return players == nullptr || std::ranges::binary_search(*players, std::to_array(info.player));
}

int Server::admit(const lattice_conn_info& info) {
  if (!is_closed_ && is_admitted(info)) return 0;
  lattice_set_admit_text(world_, is_closed_ ? kCloses : kNotListed);
  return is_closed_ ? kServerCloses : LATTICE_DISCONNECT_KICKED;
}

// A player has one place: who comes again, as after a crash, does not wait for the earlier connection to time
// out, and nobody takes several.
void Server::end_earlier(const lattice_conn_info& info) {
  if (std::to_array(info.player) == PlayerId{}) return;
  send_away("the player joined again", [&info](const lattice_conn_info& other) {
    return other.peer_id != info.peer_id && std::to_array(other.player) == std::to_array(info.player);
  });
}

// A connection that ends changes the list of players, so all are found first.
void Server::send_away(const char* text, const std::function<bool(const lattice_conn_info&)>& is_meant) {
  std::vector<lattice_conn*> meant;
  for (const depot::Player& player : game_->players()) {
    lattice_conn* conn = lattice_peer_conn(world_, player.peer);
    lattice_conn_info info{};
    info.struct_size = sizeof info;
    if (lattice_conn_get_info(conn, &info) == LATTICE_OK && is_meant(info)) meant.push_back(conn);
  }
  for (lattice_conn* conn : meant) lattice_disconnect_with(conn, LATTICE_DISCONNECT_KICKED, text);
}

uint32_t Server::pump() {
  const uint64_t began_ns = monotonic_ns();
  const uint32_t ticks = lattice_world_pump(world_);
  capture_.catch_up();
  if (ticks == 0) return 0;
  const uint64_t each_ns = (monotonic_ns() - began_ns) / ticks;
  last_tick_s_ = static_cast<double>(each_ns) / 1e9;
  for (uint32_t i = 0; i < ticks; ++i) tick_timer_.add(each_ns);
  if (began_ns - rates_read_ns_ >= RateMeter::kIntervalNs) read_rates(began_ns);
  return ticks;
}

void Server::read_rates(uint64_t now_ns) {
  rates_read_ns_ = now_ns;
  for (const depot::Player& player : game_->players()) {
    lattice_conn_stats stats;
    lattice_conn_stats_init(&stats);
    if (lattice_conn_get_stats(lattice_peer_conn(world_, player.peer), &stats) != LATTICE_OK) continue;
    rates_.add(player.peer, now_ns, stats.bytes_sent);
  }
}

int Server::stop() {
  const size_t players = game_->players().size();
  lattice_world_leave(world_, LATTICE_DISCONNECT_HOST_LEFT, "the server is shutting down");
  bool is_whole = true;
  if (!config_.capture.empty()) {
    is_whole = capture_.finish();
    log_line(is_whole ? LATTICE_LOG_INFO : LATTICE_LOG_ERROR, "capture",
             is_whole ? "written" : "the file is not whole: the disk refused a part of it",
             {{"file", capture_.path()}, {"datagrams", capture_.datagram_count()}});
  }
  log_line(LATTICE_LOG_INFO, "server", "stopped", {{"tick", stats().tick}, {"players", players}});
  return log_finish() && is_whole ? kExitOk : kExitFailed;
}

lattice_world_stats Server::stats() const {
  lattice_world_stats stats{};
  stats.struct_size = sizeof stats;
  lattice_world_get_stats(world_, &stats);
  return stats;
}

void Server::connected(lattice_conn* conn) {
  lattice_conn_info info{};
  info.struct_size = sizeof info;
  if (lattice_conn_get_info(conn, &info) != LATTICE_OK) return;
  ++joins_;
  log_line(LATTICE_LOG_INFO, "session", "connected",
           {{"tick", lattice_world_next_tick(world_)},
            {"peer", info.peer_id},
            {"connection", connection_name(info)},
            {"remote", info.remote_address},
            {"player", to_hex(info.player)},
            {"session", to_hex(info.session)}});
  // Between the answer to a client and its first packet, the answer may have changed.
  if (is_closed_) {
    lattice_disconnect_with(conn, kServerCloses, kCloses);
  } else if (!is_admitted(info)) {
    lattice_disconnect_with(conn, LATTICE_DISCONNECT_KICKED, kNotListed);
  } else {
    end_earlier(info);
  }
}

void Server::disconnected(lattice_conn* conn, int reason) {
  lattice_conn_info info{};
  info.struct_size = sizeof info;
  if (lattice_conn_get_info(conn, &info) != LATTICE_OK) return;
  rates_.forget(info.peer_id);
  ++disconnects_[lattice_disconnect_reason_name(reason)];
  lattice_conn_stats stats;
  lattice_conn_stats_init(&stats);
  lattice_conn_get_stats(conn, &stats);
  const bool is_fault = info.ended_by_peer == 0 && (reason == LATTICE_DISCONNECT_PROTOCOL_ERROR ||
                                                    reason == LATTICE_DISCONNECT_INTERNAL_ERROR);
  log_line(is_fault ? LATTICE_LOG_WARNING : LATTICE_LOG_INFO, "session", "disconnected",
           {{"tick", lattice_world_next_tick(world_)},
            {"peer", info.peer_id},
            {"connection", connection_name(info)},
            {"remote", info.remote_address},
            {"player", to_hex(info.player)},
            {"session", to_hex(info.session)},
            {"seconds", stats.connected_ms / 1e3},
            {"rtt_ms", stats.rtt_ms},
            {"loss_to_it_pct", stats.send_loss_percent},
            {"loss_from_it_pct", stats.receive_loss_percent},
            {"last_heard_s", stats.silent_ms / 1e3},
            {"ended_by", info.ended_by_peer != 0 ? "client" : "server"},
            {"reason", lattice_disconnect_reason_name(reason)},
            {"text", info.disconnect_text}});
}

void Server::log_connections() {
  for (const depot::Player& player : game_->players()) {
    lattice_conn* conn = lattice_peer_conn(world_, player.peer);
    lattice_conn_info info;
    lattice_conn_info_init(&info);
    lattice_conn_stats stats;
    lattice_conn_stats_init(&stats);
    if (lattice_conn_get_info(conn, &info) != LATTICE_OK) continue;
    if (lattice_conn_get_stats(conn, &stats) != LATTICE_OK) continue;
    log_line(LATTICE_LOG_INFO, "statistics", "connection",
             {{"peer", info.peer_id},
              {"connection", connection_name(info)},
              {"remote", info.remote_address},
              {"player", to_hex(info.player)},
              {"seconds", stats.connected_ms / 1e3},
              {"rtt_ms", stats.rtt_ms},
              {"jitter_ms", stats.jitter_ms},
              {"loss_to_it_pct", stats.send_loss_percent},
              {"loss_from_it_pct", stats.receive_loss_percent},
              {"queue_ms", stats.queue_ms},
              {"bytes_sent", stats.bytes_sent},
              {"quality", stats.quality}});
  }
}

void Server::ticked(uint32_t tick) {
  if (watcher_ != nullptr) watcher_->ticked(tick);
}

void Server::message(lattice_conn* conn, std::span<const std::byte> bytes) {
  lattice_conn_info info{};
  info.struct_size = sizeof info;
  if (watcher_ == nullptr || lattice_conn_get_info(conn, &info) != LATTICE_OK) return;
  watcher_->message(info.peer_id, bytes);
}

}  // namespace app
