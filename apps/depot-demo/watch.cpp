#include "watch.h"

#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

#include "process.h"

namespace app {
namespace {

using nlohmann::json;

/// A sighting as the children print it, at `at`: tick, [pawn,] x, y, disturbed.
Sighting sighting_of(const json& row, size_t x_index) {
  return {row.at(0).get<uint32_t>(), row.at(x_index).get<double>(), row.at(x_index + 1).get<double>(),
          row.at(x_index + 2).get<int>() != 0};
}

}  // namespace

struct Watch::Impl {
  struct ClientState {
    json shown;  // as the page gets it
    bool connected = false;
    uint64_t pawn = 0;
    ClientCounters counters;
    std::unique_ptr<ErrorMeter> errors;
  };

  void take_truth(const json& rows);
  void take_peers(const json& peers);

  json server_shown;
  ServerCounters server;
  std::array<ClientState, kWatchedClients> clients;
  uint64_t malformed_lines = 0;
};

Watch::Watch(double step_m, uint32_t settle_ticks) : impl_(std::make_unique<Impl>()) {
  for (auto& client : impl_->clients) client.errors = std::make_unique<ErrorMeter>(step_m, settle_ticks);
}
Watch::~Watch() = default;

void Watch::Impl::take_truth(const json& rows) {
  for (const json& row : rows) {
    const uint64_t pawn = row.at(1).get<uint64_t>();
    for (ClientState& client : clients) {
      if (client.pawn == pawn) client.errors->truth(sighting_of(row, 2));
    }
  }
}

void Watch::Impl::take_peers(const json& peers) {
  for (const json& peer : peers) {
    const uint64_t pawn = peer.at("pawn").get<uint64_t>();
    for (ClientState& client : clients) {
      if (client.pawn != pawn || pawn == 0) continue;
      client.counters.inputs_fresh = peer.at("fresh").get<uint64_t>();
      client.counters.inputs_repeated = peer.at("repeated").get<uint64_t>();
      client.counters.inputs_missing = peer.at("missing").get<uint64_t>();
    }
  }
}

void Watch::server_line(std::string_view line) {
  try {
    json message = json::parse(line);
    ServerCounters& server = impl_->server;
    server.tick_p50_ms = message.at("tick_p50_ms").get<double>();
    server.tick_p99_ms = message.at("tick_p99_ms").get<double>();
    server.players = message.at("players").get<uint64_t>();
    server.inputs_received = message.at("inputs").at("received").get<uint64_t>();
    server.inputs_late = message.at("inputs").at("late").get<uint64_t>();
    server.stalls = message.at("stalls").get<uint64_t>();
    server.longest_stall_ms = message.at("longest_stall_ms").get<double>();
    impl_->take_truth(message.at("truth"));
    impl_->take_peers(message.at("peers"));
    for (const char* key : {"telemetry", "t", "inputs", "peers", "truth", "stalls", "longest_stall_ms"})
      message.erase(key);
    impl_->server_shown = std::move(message);
  } catch (const std::exception&) {
    ++impl_->malformed_lines;
  }
}

void Watch::client_line(size_t index, std::string_view line) {
  Impl::ClientState& client = impl_->clients[index];
  try {
    json message = json::parse(line);
    const json& totals = message.at("totals");
    ClientCounters& counters = client.counters;
    client.connected = message.at("connected").get<bool>();
    client.pawn = message.at("pawn").get<uint64_t>();
    counters.rtt_ms = message.at("rtt_ms").get<double>();
    counters.jitter_ms = message.at("jitter_ms").get<double>();
    counters.snapshots = message.at("snapshots").get<uint64_t>();
    counters.rollbacks = message.at("rollbacks").get<uint64_t>();
    counters.resimulated_ticks = message.at("resim_ticks").get<uint64_t>();
    counters.packets_sent = totals.at("packets_sent").get<uint64_t>();
    counters.packets_received = totals.at("packets_received").get<uint64_t>();
    counters.bytes_sent = totals.at("bytes_sent").get<uint64_t>();
    counters.bytes_received = totals.at("bytes_received").get<uint64_t>();
    counters.send_loss_pct = totals.at("send_loss_pct").get<double>();
    counters.receive_loss_pct = totals.at("receive_loss_pct").get<double>();
    counters.interpolation_samples = totals.at("interpolation_samples").get<uint64_t>();
    counters.interpolation_underruns = totals.at("interpolation_underruns").get<uint64_t>();
    counters.hard_resets = totals.at("hard_resets").get<uint64_t>();
    counters.clock_resyncs = totals.at("clock_resyncs").get<uint64_t>();
    counters.stalls = totals.at("stalls").get<uint64_t>();
    counters.longest_stall_ms = totals.at("longest_stall_ms").get<double>();
    counters.connect_ms = totals.at("connect_ms").get<double>();
    for (const json& row : message.at("own")) client.errors->prediction(sighting_of(row, 1));
    for (const char* key : {"t", "own", "totals", "pawn"}) message.erase(key);
    client.shown = std::move(message);
  } catch (const std::exception&) {
    ++impl_->malformed_lines;
  }
}

bool Watch::connected(size_t client) const {
  return impl_->clients[client].connected;
}
const ClientCounters& Watch::client(size_t client) const {
  return impl_->clients[client].counters;
}
const ServerCounters& Watch::server() const {
  return impl_->server;
}
ErrorMeter& Watch::errors(size_t client) {
  return *impl_->clients[client].errors;
}
uint64_t Watch::malformed_lines() const {
  return impl_->malformed_lines;
}

std::string Watch::page_state() {
  json message = {{"t", unix_ms()}, {"clients", json::object()}};
  if (!impl_->server_shown.is_null()) message["server"] = impl_->server_shown;
  for (size_t i = 0; i < kWatchedClients; ++i) {
    Impl::ClientState& client = impl_->clients[i];
    if (client.shown.is_null()) continue;
    json& shown = message["clients"][kClientNames[i]] = client.shown;
    shown["error_mm"] = client.errors->take_recent_mm();
  }
  return message.dump();
}

// ---- What a viewer may say ------------------------------------------------------------------------------

namespace {

constexpr const char* kInputKeys[] = {"x", "y", "dash", "fire", "use"};
constexpr const char* kImpairKeys[] = {"delay_ms", "jitter_ms", "loss_pct", "duplicate_pct", "reorder_pct"};
constexpr const char* kToggleKeys[] = {"prediction", "smoothing", "interpolation"};

/// Copies the known members that are numbers or truth values; everything else is left out.
template <size_t N>
json copy_known(const json& from, const char* const (&keys)[N]) {
  json out = json::object();
  for (const char* key : keys) {
    const auto at = from.find(key);
    if (at != from.end() && (at->is_number() || at->is_boolean())) out[key] = *at;
  }
  return out;
}

}  // namespace

bool parse_viewer_command(std::string_view text, ViewerCommand& out) {
  const json message = json::parse(text, nullptr, false);
  if (!message.is_object() || message.size() != 1) return false;
  const std::string kind = message.begin().key();
  const json& body = message.begin().value();
  if (!body.is_object() || !body.contains("client") || !body.at("client").is_string()) return false;
  const auto name = body.at("client").get<std::string>();
  const auto at = std::find(std::begin(kClientNames), std::end(kClientNames), name);
  if (at == std::end(kClientNames)) return false;
  out.client = static_cast<size_t>(at - std::begin(kClientNames));

  json checked;
  if (kind == "input") {
    checked = copy_known(body, kInputKeys);
  } else if (kind == "toggle") {
    checked = copy_known(body, kToggleKeys);
  } else if (kind == "preset" && body.contains("name") && body["name"].is_string()) {
    checked["name"] = body["name"];
  } else if (kind == "impair" && body.contains("direction") &&
             (body["direction"] == "up" || body["direction"] == "down")) {
    checked = copy_known(body, kImpairKeys);
    checked["direction"] = body["direction"];
  } else {
    return false;
  }
  out.line = json{{kind, checked}}.dump();
  return true;
}

}  // namespace app
