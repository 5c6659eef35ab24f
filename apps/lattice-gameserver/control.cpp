#include "control.h"

#include <nlohmann/json.hpp>

namespace app {

void Control::handle(std::string_view line) {
  using nlohmann::json;
  bool is_done = false;
  try {
    const json message = json::parse(line);
    if (message.contains("shove")) {
      is_done = game_.shove(message.at("shove").at("peer").get<uint64_t>());
    } else if (message.contains("disagree")) {
      is_done = game_.refuse_next_steps(message.at("disagree").at("peer").get<uint64_t>());
    } else if (message.contains("why")) {
      const json& why = message.at("why");
      const auto peer = why.at("peer").get<uint64_t>();
      const depot::Vec2 place = {why.value("x", 0.0f), why.value("y", 0.0f)};
      is_done = questions_.ask(game_, peer, why.value("id", uint64_t{0}), place);
    }
  } catch (const std::exception&) {
  }
  if (!is_done) ++ignored_lines_;
}

}  // namespace app
