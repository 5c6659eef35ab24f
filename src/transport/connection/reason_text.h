// The text beside a reason: at most 64 bytes of UTF-8, stored without allocation.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "transport/wire/constants.h"

namespace lattice::connection {

class ReasonText {
 public:
  constexpr ReasonText() = default;
  /// `text` is at most kMaxReasonTextBytes; the rest is cut off.
  constexpr explicit ReasonText(std::string_view text)
      : length_(static_cast<uint8_t>(text.copy(bytes_.data(), bytes_.size()))) {}

  std::string_view view() const { return {bytes_.data(), length_}; }

 private:
  std::array<char, wire::kMaxReasonTextBytes> bytes_{};
  uint8_t length_ = 0;
};

}  // namespace lattice::connection
