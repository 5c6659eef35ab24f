// Keys and tokens as text: hexadecimal and base64 (RFC 4648 section 4, with padding).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace app {

std::string to_hex(std::span<const uint8_t> bytes);
/// Fills `out`. Returns false unless `text` is exactly 2 * out.size() hexadecimal digits.
bool from_hex(std::string_view text, std::span<uint8_t> out);

std::string to_base64(std::span<const uint8_t> bytes);
std::optional<std::vector<uint8_t>> from_base64(std::string_view text);

/// The text with every control character as "\x1b", so that it can be printed on a terminal.
std::string printable(std::string_view text);

}  // namespace app
