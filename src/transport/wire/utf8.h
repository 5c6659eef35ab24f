// Strict UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing above U+10FFFF.
#pragma once

#include <cstdint>
#include <span>

namespace lattice::wire {

/// True when `text` is well-formed UTF-8 without a zero byte (texts cross the C ABI as C strings).
bool is_valid_text(std::span<const uint8_t> text);

}  // namespace lattice::wire
