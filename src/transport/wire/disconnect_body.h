// Plaintext of a Disconnect (L-05):  reason u16 · flags u8 · text_len u8 · text (UTF-8, at most 64 bytes).
// Only authenticated disconnects exist.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/wire/constants.h"

namespace lattice::wire {

inline constexpr uint8_t kDisconnectIsAcknowledgement = 1;
inline constexpr size_t kMaxDisconnectBodyBytes = 4 + kMaxReasonTextBytes;

struct DisconnectBody {
  uint16_t reason = 0;
  bool is_acknowledgement = false;
  std::span<const uint8_t> text;
};

/// Refuses any other length, unknown flags, a text that is too long, and a text that is not UTF-8.
bool parse_disconnect(std::span<const uint8_t> plaintext, DisconnectBody* out);
/// Returns the size written, or 0 when the text is too long or `out` too short.
size_t encode_disconnect(const DisconnectBody& body, std::span<uint8_t> out);

}  // namespace lattice::wire
