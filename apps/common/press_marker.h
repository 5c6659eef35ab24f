// The message that marks a key press. A playable client sends it beside the input command that holds the
// press, so that the server can say when that command arrived. The marker leaves in the same datagrams as the
// command and its first repetitions. 12 bytes: "key1", the press id and the tick of the first command, both
// little-endian.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace app {

struct PressMarker {
  uint32_t press_id = 0;
  uint32_t tick = 0;
};

using PressMarkerBytes = std::array<std::byte, 12>;

PressMarkerBytes encode_press_marker(const PressMarker& marker);
/// Returns nullopt when the bytes are not a marker.
std::optional<PressMarker> decode_press_marker(std::span<const std::byte> bytes);

}  // namespace app
