#include "server_figures.h"

#include <cstring>

#include "lattice/lattice.hpp"
#include "log.h"

namespace app {
namespace {

double number(uint64_t value) {
  return static_cast<double>(value);
}

void add_traffic(Figures& figures, const lattice_world_stats& stats) {
  figures.counter("lattice_packets_total", "Packets of connections.", number(stats.packets_sent),
                  {{"direction", "out"}});
  figures.counter("lattice_packets_total", "", number(stats.packets_received), {{"direction", "in"}});
  figures.counter("lattice_bytes_total", "Bytes of UDP payload of established connections.",
                  number(stats.bytes_sent), {{"direction", "out"}});
  figures.counter("lattice_bytes_total", "", number(stats.bytes_received), {{"direction", "in"}});
  figures.counter("lattice_snapshots_total", "Snapshots sent.", number(stats.snapshots_sent));
  figures.counter("lattice_snapshot_bytes_total", "Bytes of those snapshots.",
                  number(stats.snapshot_bytes_sent));
}

void add_inputs(Figures& figures, const lattice_world_stats& stats) {
  static constexpr const char* kName = "lattice_inputs_total";
  static constexpr const char* kHelp =
      "used: ticks that had their player's input in time. repeated, defaulted: ticks without it. late: "
      "inputs "
      "after their tick.";
  figures.counter(kName, kHelp, number(stats.inputs_used), {{"result", "used"}});
  figures.counter(kName, kHelp, number(stats.inputs_repeated), {{"result", "repeated"}});
  figures.counter(kName, kHelp, number(stats.inputs_defaulted), {{"result", "defaulted"}});
  figures.counter(kName, kHelp, number(stats.inputs_late), {{"result", "late"}});
}

void add_rpcs(Figures& figures, const lattice_world_stats& stats) {
  static constexpr const char* kHelp = "Remote procedure calls.";
  figures.counter("lattice_rpc_total", kHelp, number(stats.rpcs_sent), {{"result", "sent"}});
  figures.counter("lattice_rpc_total", kHelp, number(stats.rpcs_received), {{"result", "received"}});
  figures.counter("lattice_rpc_total", kHelp, number(stats.rpcs_refused), {{"result", "refused"}});
}

/// The refusal counters: those of the handshake under a name of their own.
void add_refusals(Figures& figures, Server& server) {
  static constexpr std::string_view kHandshake = "server_";
  figures.family(FigureKind::kCounter, "lattice_connect_refused_total",
                 "Handshake messages that were refused, by reason. A client sends several.");
  figures.family(FigureKind::kCounter, "lattice_refused_total",
                 "Everything else from the network that was not acted on, by reason.");
  server.game().world().each_refusal([&figures](const char* name, uint64_t count) {
    if (std::string_view(name) == "handshake_refused") return;  // their sum
    const bool is_handshake = std::string_view(name).starts_with(kHandshake);
    figures.counter(is_handshake ? "lattice_connect_refused_total" : "lattice_refused_total", "",
                    number(count), Labels{{"reason", name + (is_handshake ? kHandshake.size() : 0)}});
  });
}

}  // namespace

void ServerFigures::ticks_ran(uint32_t ticks, double each_s, double budget_s) {
  ticks_ += ticks;
  if (each_s > budget_s) overruns_ += ticks;
  for (uint32_t i = 0; i < ticks; ++i) tick_s_.add(each_s);
}

void ServerFigures::sample(Server& server) {
  for (const depot::Player& player : server.game().players()) {
    lattice_conn_stats stats;
    lattice_conn_stats_init(&stats);
    lattice_conn* conn = lattice_peer_conn(server.game().world().get(), player.peer);
    if (lattice_conn_get_stats(conn, &stats) != LATTICE_OK || stats.rtt_ms == 0) continue;
    rtt_s_.add(stats.rtt_ms / 1e3);
    jitter_s_.add(stats.jitter_ms / 1e3);
    queue_s_.add(stats.queue_ms / 1e3);
  }
}

Figures ServerFigures::collect(Server& server, bool is_draining) const {
  Figures figures;
  const lattice_world_stats stats = server.stats();
  figures.gauge("lattice_build_info", "1; the labels say what runs.", 1,
                {{"version", lattice_version()},
                 {"abi", std::to_string(lattice_abi_version())},
                 {"schema", std::to_string(server.schema_id())}});
  figures.histogram("lattice_tick_duration_seconds", "How long ticks took.", tick_s_);
  figures.counter("lattice_ticks_total", "Ticks that ran.", number(ticks_));
  figures.counter("lattice_tick_overruns_total", "Ticks that took longer than the time between two.",
                  number(overruns_));
  figures.counter("lattice_ticks_dropped_seconds_total", "Simulated time given up: too many ticks were due.",
                  number(stats.ticks_dropped_ns) / 1e9);
  figures.gauge("lattice_pump_gap_seconds", "Longest time without work in the last 5 to 10 s.",
                number(stats.pump_gap_max_ns) / 1e9);
  figures.counter("lattice_stalls_total", "Times the machine kept the program waiting 50 ms or more.",
                  number(server.stall_watch().stalls()));
  figures.gauge("lattice_players", "Players who are connected.", number(server.game().players().size()));
  figures.gauge("lattice_players_max", "Players there is room for.", server.config().max_players);
  figures.gauge("lattice_draining", "1 while the server waits for its players to leave, and lets nobody in.",
                is_draining ? 1 : 0);
  figures.gauge("lattice_objects", "Objects that are alive.", stats.objects);
  figures.gauge("lattice_connections", "Connections that are established.", stats.connections);
  figures.counter("lattice_connect_total", "Players who joined.", number(server.joins()));
  figures.family(FigureKind::kCounter, "lattice_disconnect_total", "Connections that ended, by reason.");
  for (const auto& [reason, count] : server.disconnects()) {
    figures.counter("lattice_disconnect_total", "", number(count), {{"reason", reason}});
  }
  add_refusals(figures, server);
  add_traffic(figures, stats);
  add_inputs(figures, stats);
  add_rpcs(figures, stats);
  figures.histogram("lattice_rtt_seconds", "Round trips: each connection once a second.", rtt_s_);
  figures.histogram("lattice_jitter_seconds", "Jitter of round trips: each connection once a second.",
                    jitter_s_);
  figures.histogram("lattice_send_queue_seconds",
                    "How long a message waits until it is sent: each connection once a second.", queue_s_);
  figures.counter("lattice_log_lines_lost_total", "Log lines that nobody took.", number(log_lines_lost()));
  figures.gauge("lattice_log_bytes_waiting", "Bytes of the log that nobody took yet.",
                number(log_bytes_waiting()));
  figures.counter("lattice_telemetry_lines_lost_total", "Telemetry lines that nobody took.",
                  number(telemetry_lost_));
  figures.counter("lattice_capture_datagrams_lost_total", "Datagrams that the capture lacks.",
                  number(server.capture_lost()));
  figures.counter("lattice_config_reload_total", "Times the settings were read again.", number(reloads_),
                  {{"result", "ok"}});
  figures.counter("lattice_config_reload_total", "", number(failed_reloads_), {{"result", "failed"}});
  return figures;
}

}  // namespace app
