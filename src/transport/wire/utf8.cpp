#include "transport/wire/utf8.h"

#include <cstddef>

namespace lattice::wire {
namespace {

// Characters without a picture of their own that turn the direction of a text, break its line or hide in it.
bool hides_or_turns(uint32_t character) {
  return character == 0x061C || (character >= 0x200B && character <= 0x200F) ||
         (character >= 0x2028 && character <= 0x202E) || (character >= 0x2060 && character <= 0x2069) ||
         character == 0xFEFF || (character >= 0xFFF9 && character <= 0xFFFB);
}

}  // namespace

bool is_valid_reason_text(std::span<const uint8_t> text) {
  size_t i = 0;
  while (i < text.size()) {
    const uint8_t lead = text[i];
    size_t tail = 0;
    uint32_t low = 0x80;   // bounds of the first continuation byte, which rule out overlong forms,
    uint32_t high = 0xBF;  // surrogates and values past U+10FFFF (RFC 3629 §4)
    if (lead < 0x20 || lead == 0x7F) return false;  // control characters, those of ASCII
    if (lead < 0x80) {
      tail = 0;
    } else if (lead >= 0xC2 && lead <= 0xDF) {
      tail = 1;
      if (lead == 0xC2) low = 0xA0;  // U+0080 to U+009F are control characters
    } else if (lead >= 0xE0 && lead <= 0xEF) {
      tail = 2;
      if (lead == 0xE0) low = 0xA0;
      if (lead == 0xED) high = 0x9F;
    } else if (lead >= 0xF0 && lead <= 0xF4) {
      tail = 3;
      if (lead == 0xF0) low = 0x90;
      if (lead == 0xF4) high = 0x8F;
    } else {
      return false;
    }
    if (text.size() - i <= tail) return false;
    uint32_t character = tail == 0 ? lead : lead & (0x3Fu >> tail);
    for (size_t k = 1; k <= tail; ++k) {
      const uint8_t byte = text[i + k];
      if (byte < low || byte > high) return false;
      character = character << 6 | (byte & 0x3Fu);
      low = 0x80;
      high = 0xBF;
    }
    if (hides_or_turns(character)) return false;
    i += tail + 1;
  }
  return true;
}

}  // namespace lattice::wire
