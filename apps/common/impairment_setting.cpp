#include "impairment_setting.h"

#include <string_view>
#include <vector>

#include "suggest.h"

namespace app {

std::string check_preset(const std::string& name) {
  if (name.empty()) return "";
  std::vector<std::string_view> known;
  for (uint32_t i = 0; lattice_impairment_preset_name(i) != nullptr; ++i) {
    known.emplace_back(lattice_impairment_preset_name(i));
    if (known.back() == name) return "";
  }
  std::string text = "There is no impairment preset '" + name + "'." + did_you_mean(name, known) + " Known:";
  for (const std::string_view preset : known) text.append(" ").append(preset);
  return text + ".";
}

lattice_result apply_preset(lattice_world* world, const std::string& name) {
  for (const lattice_direction direction : {LATTICE_DIRECTION_SEND, LATTICE_DIRECTION_RECEIVE}) {
    lattice_impairment impairment;
    lattice_impairment_init(&impairment);
    if (!name.empty()) {
      const lattice_result found = lattice_impairment_preset(name.c_str(), direction, &impairment);
      if (found != LATTICE_OK) return found;
    }
    const lattice_result set = lattice_set_impairment(world, direction, &impairment);
    if (set != LATTICE_OK) return set;
  }
  return LATTICE_OK;
}

}  // namespace app
