// The sixteen logical channels and their modes (§5, R-10). Both ends must use the same table; it is part
// of the schema hash.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace lattice::wire {

inline constexpr size_t kChannelCount = 16;

enum class Channel : uint8_t {
  kUnreliable = 0,
  kUnreliableSequenced = 1,
  kReliableUnordered = 2,
  kReliableOrdered = 3,
  // 4 to 13: application channels, declared in the configuration.
  kAck = 14,
  kControl = 15,
};

inline constexpr uint8_t kFirstApplicationChannel = 4;
inline constexpr uint8_t kLastApplicationChannel = 13;

enum class ChannelMode : uint8_t {
  kUnreliable,
  kUnreliableSequenced,
  kReliableUnordered,
  kReliableOrdered,
  kBulk,        ///< Chunks of large transfers, framed as unreliable messages (transfer_bodies.h).
  kUndeclared,  ///< An application channel that is not declared: a message on it is a framing error.
  kAckMessage,  ///< Channel 14.
};

inline bool is_reliable(ChannelMode mode) {
  return mode == ChannelMode::kReliableUnordered || mode == ChannelMode::kReliableOrdered;
}

class ChannelTable {
 public:
  constexpr ChannelTable() {
    modes_.fill(ChannelMode::kUndeclared);
    modes_[0] = ChannelMode::kUnreliable;
    modes_[1] = ChannelMode::kUnreliableSequenced;
    modes_[2] = ChannelMode::kReliableUnordered;
    modes_[3] = ChannelMode::kReliableOrdered;
    modes_[14] = ChannelMode::kAckMessage;
    modes_[15] = ChannelMode::kReliableOrdered;
  }

  /// Declares application channel 4 to 13; false for any other number or for a mode that is not one of
  /// the four or bulk.
  constexpr bool declare(uint8_t channel, ChannelMode mode) {
    if (channel < kFirstApplicationChannel || channel > kLastApplicationChannel) return false;
    if (mode > ChannelMode::kBulk) return false;
    modes_[channel] = mode;
    return true;
  }

  /// `channel` is below kChannelCount.
  constexpr ChannelMode mode(uint8_t channel) const { return modes_[channel]; }
  constexpr ChannelMode mode(Channel channel) const { return modes_[static_cast<uint8_t>(channel)]; }

 private:
  std::array<ChannelMode, kChannelCount> modes_{};
};

}  // namespace lattice::wire
