// A file of ids or keys: one in a line, in hexadecimal. Empty lines, and what follows a #, do not count.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace app {

/// Calls `take` with each entry of `bytes` bytes. Returns "", or a text that says what is wrong and what to
/// do.
std::string read_hex_list(const std::string& path, size_t bytes,
                          const std::function<void(std::span<const uint8_t>)>& take);

template <size_t N>
std::string read_hex_list(const std::string& path, std::vector<std::array<uint8_t, N>>& out) {
  out.clear();
  return read_hex_list(path, N, [&out](std::span<const uint8_t> entry) {
    std::memcpy(out.emplace_back().data(), entry.data(), N);
  });
}

}  // namespace app
