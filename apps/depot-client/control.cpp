#include "control.h"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "json_number.h"

namespace app {
namespace {

using Json = nlohmann::json;

float axis(const Json& message, const char* key) {
  const double value = message.value(key, 0.0);
  return std::isfinite(value) ? static_cast<float>(std::clamp(value, -1.0, 1.0)) : 0.0f;
}

void take_input(Client& client, const Json& message) {
  Pad pad;
  pad.x = axis(message, "x");
  pad.y = axis(message, "y");
  pad.dash = message.value("dash", false);
  pad.fire = message.value("fire", false);
  pad.use = message.value("use", false);
  client.set_pad(pad);
  const double pressed_ms = message.value("pressed_ms", 0.0);
  const uint64_t press_id = message.contains("press") ? whole_number(message.at("press")) : 0;
  if (press_id > 0 && press_id <= UINT32_MAX && std::isfinite(pressed_ms)) {
    client.key_pressed(static_cast<uint32_t>(press_id), pressed_ms);
  }
}

bool take_impairment(Client& client, const Json& message) {
  const std::string name = message.at("direction").get<std::string>();
  if (name != "up" && name != "down") return false;
  const lattice_direction direction = name == "up" ? LATTICE_DIRECTION_SEND : LATTICE_DIRECTION_RECEIVE;
  lattice_impairment impairment = client.impairment(direction);
  impairment.delay_ms = message.value("delay_ms", impairment.delay_ms);
  impairment.jitter_ms = message.value("jitter_ms", impairment.jitter_ms);
  impairment.loss_percent = message.value("loss_pct", impairment.loss_percent);
  impairment.duplicate_percent = message.value("duplicate_pct", impairment.duplicate_percent);
  impairment.reorder_percent = message.value("reorder_pct", impairment.reorder_percent);
  // A datagram is reordered only when it is held back for some time.
  if (impairment.reorder_percent > 0 && impairment.reorder_ms <= 0) impairment.reorder_ms = 30;
  return client.impair(direction, impairment);
}

void take_toggles(Client& client, const Json& message) {
  Toggles toggles = client.toggles();
  toggles.prediction = message.value("prediction", toggles.prediction);
  toggles.smoothing = message.value("smoothing", toggles.smoothing);
  toggles.interpolation = message.value("interpolation", toggles.interpolation);
  client.set_toggles(toggles);
}

}  // namespace

void Control::handle(std::string_view line) {
  try {
    const Json message = Json::parse(line);
    if (message.contains("input")) {
      take_input(client_, message.at("input"));
    } else if (message.contains("impair")) {
      if (!take_impairment(client_, message.at("impair"))) ++ignored_lines_;
    } else if (message.contains("toggle")) {
      take_toggles(client_, message.at("toggle"));
    } else if (message.contains("preset")) {
      const std::string name = message.at("preset").at("name").get<std::string>();
      if (!client_.impair_by_preset(name)) ++ignored_lines_;
    } else if (message.contains("quit")) {
      quit_requested_ = true;
    } else {
      ++ignored_lines_;
    }
  } catch (const std::exception&) {
    ++ignored_lines_;
  }
}

}  // namespace app
