// Hex text to bytes, for tests that compare with published vectors.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace lattice::test {

inline uint8_t hex_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<uint8_t>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<uint8_t>(c - 'a' + 10);
  throw std::invalid_argument("not a hex digit");
}

inline std::vector<uint8_t> from_hex(std::string_view text) {
  if (text.size() % 2 != 0) throw std::invalid_argument("odd hex length");
  std::vector<uint8_t> out(text.size() / 2);
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<uint8_t>(hex_digit(text[2 * i]) << 4 | hex_digit(text[2 * i + 1]));
  }
  return out;
}

template <size_t N>
std::array<uint8_t, N> array_from_hex(std::string_view text) {
  const std::vector<uint8_t> bytes = from_hex(text);
  if (bytes.size() != N) throw std::invalid_argument("wrong hex length");
  std::array<uint8_t, N> out;
  for (size_t i = 0; i < N; ++i) out[i] = bytes[i];
  return out;
}

inline std::string to_hex(std::span<const uint8_t> bytes) {
  std::string out;
  for (const uint8_t byte : bytes) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", byte);
    out += digits;
  }
  return out;
}

}  // namespace lattice::test
