#include "connection_watch.h"

#include "log.h"

namespace app {
namespace {

const char* phase_name(uint32_t phase) {
  switch (phase) {
    case LATTICE_CONGESTION_PHASE_UNLIMITED:
      return "unlimited";
    case LATTICE_CONGESTION_PHASE_GOOD:
      return "good";
    case LATTICE_CONGESTION_PHASE_BAD:
      return "bad";
    case LATTICE_CONGESTION_PHASE_STARTUP:
      return "startup";
    case LATTICE_CONGESTION_PHASE_STEADY:
      return "steady";
    case LATTICE_CONGESTION_PHASE_DRAIN:
      return "drain";
    case LATTICE_CONGESTION_PHASE_BLACKOUT:
      return "blackout";
    default:
      return "unknown";
  }
}

}  // namespace

void ConnectionWatch::look(Server& server) {
  if (!logs(LATTICE_LOG_DEBUG)) return seen_.clear();
  for (auto& [peer, seen] : seen_) seen.is_here = false;
  for (const depot::Player& player : server.game().players()) {
    lattice_conn* conn = lattice_peer_conn(server.game().world().get(), player.peer);
    lattice_conn_stats stats;
    lattice_conn_stats_init(&stats);
    lattice_conn_info info;
    lattice_conn_info_init(&info);
    if (lattice_conn_get_stats(conn, &stats) != LATTICE_OK) continue;
    if (lattice_conn_get_info(conn, &info) != LATTICE_OK) continue;
    Seen& seen = seen_[player.peer];
    const auto tell = [&info](const char* what, std::initializer_list<LogField> fields) {
      log_line(
          LATTICE_LOG_DEBUG, "connection",
          "peer " + std::to_string(info.peer_id) + " (connection " + connection_name(info) + "): " + what,
          fields);
    };
    if (stats.key_epoch != seen.key_epoch) tell("new keys", {{"epoch", stats.key_epoch}});
    if (stats.datagram_bytes != seen.datagram_bytes) {
      tell("largest datagram", {{"bytes", stats.datagram_bytes}});
    }
    if (stats.congestion_phase != seen.congestion_phase) {
      tell("congestion", {{"phase", phase_name(stats.congestion_phase)},
                          {"bytes_per_s", stats.send_budget_bytes_per_s},
                          {"rtt_ms", stats.rtt_ms},
                          {"queue_ms", stats.queue_ms}});
    }
    if (info.is_loaded != seen.is_loaded) tell("has the world", {{"objects", info.join_objects}});
    if (stats.messages_resent != seen.messages_resent) {
      tell("messages sent again", {{"count", stats.messages_resent - seen.messages_resent},
                                   {"loss_pct", stats.send_loss_recent_percent}});
    }
    if (stats.packets_refused != seen.packets_refused) {
      tell("packets refused", {{"count", stats.packets_refused - seen.packets_refused}});
    }
    seen = {stats.key_epoch,
            stats.datagram_bytes,
            stats.congestion_phase,
            info.is_loaded,
            stats.messages_resent,
            stats.packets_refused,
            true};
  }
  std::erase_if(seen_, [](const auto& entry) { return !entry.second.is_here; });
}

}  // namespace app
