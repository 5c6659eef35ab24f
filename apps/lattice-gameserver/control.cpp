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
    }
  } catch (const std::exception&) {
  }
  if (!is_done) ++ignored_lines_;
}

}  // namespace app
