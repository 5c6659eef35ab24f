// The text of a development key: every accepted text is written back as the same text, with digits in lower
// case.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

#include "transport/crypto/development_key.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace lattice::crypto;
  DevelopmentKey key;
  if (!read_development_key({data, size}, &key)) return 0;
  std::array<uint8_t, kDevelopmentKeyTextBytes> text;
  write_development_key(key, text);
  const auto lower = [](uint8_t c) { return c >= 'A' && c <= 'F' ? static_cast<uint8_t>(c + 32) : c; };
  const bool same = size == text.size() && std::equal(text.begin(), text.end(), data,
                                                      [&](uint8_t a, uint8_t b) { return a == lower(b); });
  if (!same) std::abort();
  return 0;
}
