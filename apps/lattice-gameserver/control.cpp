#include "control.h"

#include <nlohmann/json.hpp>

#include "json_number.h"

namespace app {

void Control::handle(std::string_view line) {
  using nlohmann::json;
  bool is_done = false;
  try {
    const json message = json::parse(line);
    if (message.contains("shove")) {
      is_done = game_.shove(whole_number(message.at("shove").at("peer")));
    } else if (message.contains("disagree")) {
      is_done = game_.refuse_next_steps(whole_number(message.at("disagree").at("peer")));
    } else if (message.contains("why")) {
      const json& why = message.at("why");
      const uint64_t peer = whole_number(why.at("peer"));
      const uint64_t id = why.contains("id") ? whole_number(why.at("id")) : 0;
      const depot::Vec2 place = {why.value("x", 0.0f), why.value("y", 0.0f)};
      is_done = questions_.ask(game_, peer, id, place);
    }
  } catch (const std::exception&) {
  }
  if (!is_done) ++ignored_lines_;
}

}  // namespace app
