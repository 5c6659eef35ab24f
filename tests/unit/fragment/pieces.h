// Messages cut into fragments by hand, for tests of the reassembly.
#pragma once

#include <algorithm>
#include <vector>

#include "fragment/piece.h"

namespace lattice::test {

using MessageBytes = std::vector<uint8_t>;

/// Bytes that differ from place to place and from message to message.
inline MessageBytes pattern(size_t bytes, uint32_t seed) {
  MessageBytes out(bytes);
  uint32_t state = seed * 2654435761u + 1;
  for (uint8_t& byte : out) {
    state = state * 1664525u + 1013904223u;
    byte = static_cast<uint8_t>(state >> 24);
  }
  return out;
}

/// `message` in units of `unit` bytes as group `group`; the first has number `id`. The bodies point into it.
inline std::vector<fragment::Piece> cut(const MessageBytes& message, size_t unit, wire::ChannelMode mode,
                                        uint8_t channel, uint16_t group, uint16_t id) {
  std::vector<fragment::Piece> pieces((message.size() + unit - 1) / unit);
  for (size_t i = 0; i < pieces.size(); ++i) {
    fragment::Piece& piece = pieces[i];
    piece.channel = channel;
    piece.mode = mode;
    piece.header = {group, static_cast<uint8_t>(i), static_cast<uint16_t>(pieces.size())};
    piece.id.value = static_cast<uint16_t>(wire::is_reliable(mode) ? id + i : id);
    piece.next_id.value = id;
    piece.body = std::span(message).subspan(i * unit, std::min(unit, message.size() - i * unit));
  }
  return pieces;
}

}  // namespace lattice::test
