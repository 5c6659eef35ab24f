// Names and texts of what base/events.def declares.
#pragma once

#include <cstddef>
#include <string_view>

namespace lattice::base {

/// The name of `event`, an enumeration made from one or more groups of events.def. `names` are those of the
/// same groups, in the same order.
template <class Event, size_t N>
constexpr const char* event_name(const char* const (&names)[N], Event event) {
  static_assert(N == static_cast<size_t>(Event::kCount));
  return static_cast<size_t>(event) < N ? names[static_cast<size_t>(event)] : "unknown";
}

/// What the event of that name says to who reads its counter: a sentence. Null when no event has the name.
const char* event_text(std::string_view name);

}  // namespace lattice::base
