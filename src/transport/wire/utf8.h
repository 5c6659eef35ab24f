// The text of a reason: strict UTF-8 (RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF)
// without control characters. A peer's text reaches logs and terminals, where a line break or an escape
// sequence would forge other lines.
#pragma once

#include <cstdint>
#include <span>

namespace lattice::wire {

/// True when `text` is well-formed UTF-8 without control characters (U+0000 to U+001F, U+007F to U+009F).
/// Source: docs/spec/wire.md W-26, W-27.
bool is_valid_reason_text(std::span<const uint8_t> text);

}  // namespace lattice::wire
