// Words of host structures, and deltas between them.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "serialization/layout.h"

namespace lattice::test {

using Words = std::vector<serialization::Word>;

/// The words of a structure that is the only behaviour.
template <typename T>
Words quantized(const serialization::Layout& layout, const T& value) {
  Words words(layout.word_count());
  const void* host[] = {&value};
  layout.quantize(host, words.data());
  return words;
}

/// The bytes of a delta.
inline std::vector<uint8_t> delta(const serialization::Layout& layout, const Words& base,
                                  const Words& current) {
  std::vector<uint8_t> buffer(layout.max_delta_bits() / 8 + 1);
  serialization::BitWriter w(buffer);
  layout.encode_delta(w, base.data(), current.data());
  EXPECT_TRUE(w.ok());
  const auto out = w.finish();
  return {out.begin(), out.end()};
}

/// True when the bytes are one whole delta.
inline bool reads(const serialization::Layout& layout, const Words& base, const std::vector<uint8_t>& bytes,
                  Words* out) {
  out->assign(layout.word_count(), 0);
  serialization::BitReader r(bytes);
  return layout.decode_delta(r, base.data(), out->data()) && r.at_end();
}

}  // namespace lattice::test
