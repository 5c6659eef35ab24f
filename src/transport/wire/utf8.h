// The text of a reason: strict UTF-8 (RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF)
// without control characters and without characters that turn or hide text. A peer's text reaches logs and
// terminals, where a line break or an escape sequence would forge other lines, and a change of direction
// would rearrange what stands beside it.
#pragma once

#include <cstdint>
#include <span>

namespace lattice::wire {

/// True when `text` is well-formed UTF-8 without control characters (U+0000 to U+001F, U+007F to U+009F) and
/// without the characters that turn or hide text: U+061C, U+200B to U+200F, U+2028 to U+202E, U+2060 to
/// U+2069, U+FEFF, U+FFF9 to U+FFFB. Source: docs/spec/wire.md W-26, W-29.
bool is_valid_reason_text(std::span<const uint8_t> text);

}  // namespace lattice::wire
