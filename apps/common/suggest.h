// "Did you mean": the nearest of a list of known names.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace app {

/// The name nearest to `given` by edit distance (Levenshtein), or "" when no name is near enough. Near enough
/// is at most 2 edits, or a third of the length of `given` when that is more.
std::string nearest_name(std::string_view given, std::span<const std::string_view> known);

/// " Did you mean 'x'?" or "".
std::string did_you_mean(std::string_view given, std::span<const std::string_view> known);

}  // namespace app
