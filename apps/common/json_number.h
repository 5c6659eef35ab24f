// Whole numbers from JSON that comes from outside.
#pragma once

#include <cstdint>
#include <stdexcept>

#include <nlohmann/json.hpp>

namespace app {

/// Returns a whole number from 0 to `max`. Throws std::invalid_argument for every other value: get<>()
/// would convert a real number too, and one beyond the range of the result is undefined behaviour.
inline uint64_t whole_number(const nlohmann::json& value, uint64_t max = UINT64_MAX) {
  if (!value.is_number_unsigned() || value.get<uint64_t>() > max)
    throw std::invalid_argument("not such a number");
  return value.get<uint64_t>();
}

}  // namespace app
