#include "suggest.h"

#include <algorithm>
#include <vector>

namespace app {
namespace {

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({substituted, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string nearest_name(std::string_view given, std::span<const std::string_view> known) {
  std::string_view best;
  size_t best_distance = std::max<size_t>(2, given.size() / 3) + 1;
  for (const std::string_view name : known) {
    const size_t distance = edit_distance(given, name);
    if (distance < best_distance) best_distance = distance, best = name;
  }
  return std::string(best);
}

std::string did_you_mean(std::string_view given, std::span<const std::string_view> known) {
  const std::string name = nearest_name(given, known);
  return name.empty() ? "" : " Did you mean '" + name + "'?";
}

}  // namespace app
