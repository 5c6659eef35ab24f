#include "watch.h"

#include <algorithm>
#include <array>
#include <utility>

#include <nlohmann/json.hpp>

#include "press_join.h"
#include "process.h"

namespace app {
namespace {

using nlohmann::json;

constexpr double kTickMs = 1000.0 / 60;
// Without news, the page gets the ages of the parties this often.
constexpr uint64_t kHeartbeatNs = 100'000'000;
// Answers that wait while no page is open.
constexpr size_t kMaxAnswers = 16;

/// Reads a sighting from a row that a child printed: tick, [pawn,] x, y, disturbed. `x_index` is the place of
/// x.
Sighting sighting_of(const json& row, size_t x_index) {
  return {row.at(0).get<uint32_t>(), row.at(x_index).get<double>(), row.at(x_index + 1).get<double>(),
          row.at(x_index + 2).get<int>() != 0};
}

}  // namespace

struct Watch::Impl {
  /// What the page shows of one party.
  struct Shown {
    json newest;
    bool is_news = false;
    uint64_t heard_ns = 0;

    void take(json message) {
      // What is told now and then only must not be lost with a line that the page never got.
      for (const char* key : {"parcels", "types", "riding", "resting", "crowd"}) {
        if (const auto told = newest.find(key); is_news && told != newest.end() && !message.contains(key)) {
          message[key] = std::move(*told);
        }
      }
      newest = std::move(message);
      is_news = true;
      heard_ns = monotonic_ns();
    }
  };
  struct ClientState {
    Shown shown;
    uint64_t peer = 0;
    bool connected = false;
    uint64_t pawn = 0;
    ClientCounters counters;
    std::unique_ptr<ErrorMeter> errors;
  };

  void take_truth(const json& rows);
  void take_peers(const json& peers);
  void take_presses(const json& message);
  void take_client_press(size_t index, const json& message);
  void take_answers(const json& message);
  json ages(uint64_t now_ns) const;
  json press() const;

  Shown server_shown;
  PressJoin presses{kTickMs};
  std::string shown_press;
  json answers = json::array();  // that the page has not got
  uint64_t told_ns = 0;
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

void Watch::Impl::take_presses(const json& message) {
  for (const json& row : message.at("tick_times")) {
    presses.server_tick(row.at(0).get<uint32_t>(), row.at(1).get<double>());
  }
  for (const json& press : message.at("presses")) {
    for (size_t i = 0; i < kWatchedClients; ++i) {
      if (clients[i].peer != press.at("peer").get<uint64_t>()) continue;
      presses.server_press(i, {.id = press.at("id").get<uint32_t>(),
                               .arrived_ms = press.at("arrived_ms").get<double>(),
                               .applied_tick = press.at("applied_tick").get<uint32_t>(),
                               .applied_ms = press.at("applied_ms").get<double>()});
    }
  }
}

void Watch::Impl::take_answers(const json& message) {
  const auto rows = message.find("why");
  if (rows == message.end()) return;
  for (const json& row : *rows) {
    for (size_t i = 0; i < kWatchedClients; ++i) {
      if (clients[i].peer != row.at("peer").get<uint64_t>() || answers.size() == kMaxAnswers) continue;
      json answer = row;
      answer.erase("peer");
      answer["client"] = kClientNames[i];
      answers.push_back(std::move(answer));
    }
  }
}

void Watch::Impl::take_client_press(size_t index, const json& message) {
  for (const json& row : message.at("seen")) {
    presses.seen(index, {.pawn = row.at(0).get<uint64_t>(),
                         .tick = row.at(1).get<uint32_t>(),
                         .heard_ms = row.at(2).get<double>(),
                         .drawn_ms = row.at(3).get<double>()});
  }
  const auto press = message.find("press");
  if (press == message.end()) return;
  presses.client_press(index, clients[index].pawn,
                       {.id = press->at("id").get<uint32_t>(),
                        .tick = press->at("tick").get<uint32_t>(),
                        .pressed_ms = press->at("pressed_ms").get<double>(),
                        .heard_ms = press->at("heard_ms").get<double>(),
                        .sampled_ms = press->at("sampled_ms").get<double>(),
                        .predicted_ms = press->at("predicted_ms").get<double>()});
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
    server.bytes_sent = message.at("bytes_sent").get<uint64_t>();
    const json& cap = message.at("cap");
    server.cap_bytes_per_s = cap.at("bytes_per_s").get<uint64_t>();
    server.cap_bucket_bytes = cap.at("bucket_bytes").get<uint64_t>();
    server.most_bytes_per_s = cap.at("most_bytes_per_s").get<double>();
    server.stalls = message.at("stalls").get<uint64_t>();
    server.longest_stall_ms = message.at("longest_stall_ms").get<double>();
    impl_->take_truth(message.at("truth"));
    impl_->take_peers(message.at("peers"));
    impl_->take_presses(message);
    impl_->take_answers(message);
    for (const char* key : {"telemetry", "late_inputs", "inputs", "peers", "truth", "tick_times", "presses",
                            "why", "stalls", "longest_stall_ms"})
      message.erase(key);
    impl_->server_shown.take(std::move(message));
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
    client.peer = message.at("peer").get<uint64_t>();
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
    impl_->take_client_press(index, message);
    const double drawn_ms = impl_->presses.server_time_ms(message.at("drawn_tick").get<double>());
    if (drawn_ms > 0) message["others_age_ms"] = std::max(0.0, message.at("t").get<double>() - drawn_ms);
    message["inputs_late"] = counters.inputs_repeated + counters.inputs_missing;
    message["ignored_lines"] = totals.at("ignored_lines");
    for (const char* key : {"own", "totals", "pawn", "press", "seen", "drawn_tick"}) message.erase(key);
    client.shown.take(std::move(message));
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

json Watch::Impl::ages(uint64_t now_ns) const {
  json out = json::object();
  const auto add = [&](const char* name, const Shown& shown) {
    if (shown.heard_ns != 0) out[name] = (now_ns - shown.heard_ns) / 1'000'000;
  };
  add("server", server_shown);
  for (size_t i = 0; i < kWatchedClients; ++i) add(kClientNames[i], clients[i].shown);
  return out;
}

json Watch::Impl::press() const {
  const auto joined = presses.last();
  if (!joined) return nullptr;
  json views = json::object();
  for (size_t i = 0; i < kWatchedClients; ++i) {
    const PressJoin::View& view = joined->views[i];
    views[kClientNames[i]] = {
        {"sent_ms", view.sent_ms}, {"heard_ms", view.heard_ms}, {"drawn_ms", view.drawn_ms}};
  }
  return {{"id", joined->press.id},
          {"client", kClientNames[joined->client]},
          {"pressed_ms", joined->press.pressed_ms},
          {"heard_ms", joined->press.heard_ms},
          {"sampled_ms", joined->press.sampled_ms},
          {"predicted_ms", joined->press.predicted_ms},
          {"arrived_ms", joined->server.arrived_ms},
          {"applied_ms", joined->server.applied_ms},
          {"views", std::move(views)}};
}

std::string Watch::page_state() {
  const uint64_t now_ns = monotonic_ns();
  json message = json::object();
  if (std::exchange(impl_->server_shown.is_news, false)) message["server"] = impl_->server_shown.newest;
  for (size_t i = 0; i < kWatchedClients; ++i) {
    Impl::ClientState& client = impl_->clients[i];
    if (!std::exchange(client.shown.is_news, false)) continue;
    json& shown = message["clients"][kClientNames[i]] = client.shown.newest;
    if (const auto error_mm = client.errors->take_recent_mm()) shown["error_mm"] = *error_mm;
  }
  if (!impl_->answers.empty()) message["why"] = std::exchange(impl_->answers, json::array());
  if (message.empty() && now_ns - impl_->told_ns < kHeartbeatNs) return "";
  impl_->told_ns = now_ns;
  if (json press = impl_->press(); !press.is_null()) {
    if (std::string text = press.dump(); text != impl_->shown_press) {
      impl_->shown_press = std::move(text);
      message["press"] = std::move(press);
    }
  }
  message["t"] = unix_time_ms();
  message["heard"] = impl_->ages(now_ns);
  return message.dump();
}

void Watch::show_all_again() {
  impl_->shown_press.clear();
  // Errors from the time before the page was open do not belong to its first picture.
  for (Impl::ClientState& client : impl_->clients) client.errors->take_recent_mm();
  impl_->server_shown.is_news = !impl_->server_shown.newest.is_null();
  for (Impl::ClientState& client : impl_->clients) client.shown.is_news = !client.shown.newest.is_null();
}

std::string Watch::with_peer(const ViewerCommand& command) const {
  json arguments = json::parse(command.arguments);
  arguments["peer"] = impl_->clients[command.client].peer;
  return json{{command.line, std::move(arguments)}}.dump();
}

// ---- What a viewer may say ------------------------------------------------------------------------------

namespace {

constexpr const char* kInputKeys[] = {"x", "y", "dash", "fire", "use", "press", "pressed_ms"};
constexpr const char* kImpairKeys[] = {"delay_ms", "jitter_ms", "loss_pct", "duplicate_pct", "reorder_pct"};
constexpr const char* kWhyKeys[] = {"id", "x", "y"};
constexpr const char* kToggleKeys[] = {"prediction", "smoothing", "interpolation"};

/// Copies the known members that are numbers or booleans, and leaves out everything else.
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

  out.is_for_server = kind == "shove" || kind == "disagree" || kind == "why";
  if (out.is_for_server) {
    out.line = kind;
    out.arguments = (kind == "why" ? copy_known(body, kWhyKeys) : json::object()).dump();
    return true;
  }
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
