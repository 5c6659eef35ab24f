#include "report.h"

#include <cmath>

#include "process.h"
#include "scene_json.h"

namespace app {
namespace {

constexpr uint64_t kRateWindowNs = 1'000'000'000;

void write_impairment(JsonWriter& json, const char* key, const lattice_impairment& impairment) {
  json.key(key).begin_object();
  json.member("delay_ms", impairment.delay_ms);
  json.member("jitter_ms", impairment.jitter_ms);
  json.member("loss_pct", impairment.loss_percent);
  json.member("duplicate_pct", impairment.duplicate_percent);
  json.member("reorder_pct", impairment.reorder_percent);
  json.end_object();
}

}  // namespace

void Report::write_rates(uint64_t now_ns, const lattice_conn_stats& connection) {
  traffic_.push_back({now_ns, connection.packets_sent, connection.packets_received, connection.bytes_sent,
                      connection.bytes_received});
  while (traffic_.size() > 2 && traffic_.front().at_ns + kRateWindowNs < now_ns) traffic_.pop_front();
  const Traffic& then = traffic_.front();
  const double seconds = static_cast<double>(now_ns - then.at_ns) / 1e9;
  const auto rate = [&](uint64_t before, uint64_t after) {
    return seconds > 0 && after >= before ? static_cast<double>(after - before) / seconds : 0.0;
  };
  json_.member("up_pps", rate(then.packets_sent, connection.packets_sent), 1);
  json_.member("up_Bps", rate(then.bytes_sent, connection.bytes_sent), 0);
  json_.member("down_pps", rate(then.packets_received, connection.packets_received), 1);
  json_.member("down_Bps", rate(then.bytes_received, connection.bytes_received), 0);
}

void Report::write_switches() {
  const Toggles& toggles = client_.toggles();
  json_.key("toggles").begin_object();
  json_.member("prediction", toggles.prediction);
  json_.member("smoothing", toggles.smoothing);
  json_.member("interpolation", toggles.interpolation);
  json_.end_object();
  json_.member("preset", client_.preset());
  json_.key("impair").begin_object();
  write_impairment(json_, "up", client_.impairment(LATTICE_DIRECTION_SEND));
  write_impairment(json_, "down", client_.impairment(LATTICE_DIRECTION_RECEIVE));
  json_.end_object();
}

void Report::write_sights() {
  json_.key("sight").begin_object();
  json_.member("objects", lattice_objects(client_.world(), 0, nullptr, 0));
  json_.member("entered", client_.sights().entered);
  json_.member("left", client_.sights().left);
  json_.member("destroyed", client_.sights().destroyed);
  json_.end_object();
}

void Report::write_types() {
  json_.key("types").begin_array();
  const auto write = [&](const char* name, uint32_t type_id) {
    const lattice_type_stats stats = client_.game().world().type_stats(type_id);
    json_.begin_object();
    json_.member("name", name);
    json_.member("objects", stats.objects);
    json_.member("bits", stats.bits_received);
    json_.end_object();
  };
  write("parcels", depot::kParcelType);
  write("pawns", depot::kPawnType);
  write("projectiles", depot::kProjectileType);
  write("doors", depot::kDoorType);
  write("pickups", depot::kPickupType);
  json_.end_array();
}

void Report::write_predictions() {
  json_.key("own").begin_array();
  for (const Client::Prediction& prediction : client_.predictions()) {
    json_.begin_array();
    json_.value(prediction.tick);
    json_.value(static_cast<double>(prediction.position.x), 6);
    json_.value(static_cast<double>(prediction.position.y), 6);
    json_.value(prediction.disturbed ? 1 : 0);
    json_.end_array();
  }
  json_.end_array();
  client_.predictions().clear();
}

void Report::write_totals(const lattice_world_stats& stats, const lattice_conn_stats& connection,
                          uint64_t ignored_lines, const StallWatch& stalls) {
  json_.key("totals").begin_object();
  json_.member("connect_ms", client_.connect_ms());
  json_.member("packets_sent", connection.packets_sent);
  json_.member("packets_received", connection.packets_received);
  json_.member("bytes_sent", connection.bytes_sent);
  json_.member("bytes_received", connection.bytes_received);
  json_.member("send_loss_pct", connection.send_loss_percent);
  json_.member("receive_loss_pct", connection.receive_loss_percent);
  json_.member("min_rtt_ms", connection.min_rtt_ms);
  json_.member("interpolation_samples", stats.interpolation_samples);
  json_.member("interpolation_underruns", stats.interpolation_underruns);
  json_.member("hard_resets", stats.hard_resets);
  json_.member("clock_resyncs", stats.clock_resyncs);
  json_.member("ignored_lines", ignored_lines);
  json_.member("stalls", stalls.stalls());
  json_.member("longest_stall_ms", stalls.longest_ms(), 1);
  json_.end_object();
}

const std::string& Report::line(uint64_t now_ns, uint64_t ignored_lines, const StallWatch& stalls) {
  const lattice_world_stats stats = client_.stats();
  const lattice_conn_stats connection = client_.connection_stats();
  json_.clear();
  json_.begin_object();
  json_.member("t", unix_time_ms());
  json_.member("connected", client_.state() == Client::State::kConnected);
  json_.member("peer", client_.peer());
  json_.member("pawn", client_.game().own_pawn());
  json_.member("tick", stats.tick);
  json_.member("rtt_ms", connection.rtt_ms);
  json_.member("jitter_ms", connection.rtt_variance_ms);
  json_.member("loss_up_pct", connection.send_loss_recent_percent, 2);
  json_.member("loss_down_pct", connection.receive_loss_recent_percent, 2);
  write_rates(now_ns, connection);
  json_.member("snapshots", stats.snapshots_applied);
  json_.member("rollbacks", stats.rollbacks);
  json_.member("resim_ticks", stats.resimulated_ticks);
  json_.member("interp_delay_ms", stats.interpolation_delay_ms, 1);
  json_.member("drawn_tick", client_.drawn_tick(), 2);
  json_.member("underruns", stats.interpolation_underruns);
  json_.member("input_margin_ticks", stats.input_margin_ticks, 2);
  json_.member("unacked_inputs", stats.unacked_inputs);
  write_switches();
  write_ghost(json_, client_.game());
  json_.key("objects");
  write_objects(json_, client_.game(), stats.tick);
  if (parcels_due_.due(now_ns)) {
    json_.key("parcels");
    write_parcels(json_, client_.game(), ids_of(client_.game(), depot::kParcelType));
  }
  write_sights();
  if (types_due_.due(now_ns)) write_types();
  write_predictions();
  client_.presses().write(json_);
  write_totals(stats, connection, ignored_lines, stalls);
  json_.end_object();
  return json_.text();
}

}  // namespace app
