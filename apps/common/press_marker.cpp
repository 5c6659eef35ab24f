#include "press_marker.h"

#include <algorithm>

namespace app {
namespace {

constexpr std::array<std::byte, 4> kMagic = {std::byte{'k'}, std::byte{'e'}, std::byte{'y'}, std::byte{'1'}};

void put_u32(std::byte* at, uint32_t value) {
  for (int i = 0; i < 4; ++i) at[i] = static_cast<std::byte>(value >> (8 * i));
}

uint32_t get_u32(const std::byte* at) {
  uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value |= static_cast<uint32_t>(at[i]) << (8 * i);
  return value;
}

}  // namespace

PressMarkerBytes encode_press_marker(const PressMarker& marker) {
  PressMarkerBytes bytes;
  std::ranges::copy(kMagic, bytes.begin());
  put_u32(bytes.data() + 4, marker.press_id);
  put_u32(bytes.data() + 8, marker.tick);
  return bytes;
}

std::optional<PressMarker> decode_press_marker(std::span<const std::byte> bytes) {
  if (bytes.size() != std::tuple_size_v<PressMarkerBytes> || !std::ranges::equal(bytes.first(4), kMagic)) {
    return std::nullopt;
  }
  return PressMarker{get_u32(bytes.data() + 4), get_u32(bytes.data() + 8)};
}

}  // namespace app
