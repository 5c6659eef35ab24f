// BitWindow: what it reads is what BitReader reads, up to the last bit and never past the last byte.
#include "serialization/bit_window.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <memory>
#include <vector>

#include "base/random.h"

namespace lattice::serialization {
namespace {

/// Bytes in a block of their exact size, so that a sanitizer sees a read past them.
struct Exact {
  Exact(size_t count, base::Random& random) : bytes(std::make_unique<uint8_t[]>(count)), size(count) {
    for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<uint8_t>(random.next_below(256));
  }
  std::span<const uint8_t> span() const { return {bytes.get(), size}; }
  std::unique_ptr<uint8_t[]> bytes;
  size_t size;
};

TEST(BitWindow, ReadsWhatTheReaderReads) {
  EXPECT_TRUE(rc::check("same fields, same position, same end", [](uint64_t seed) {
    base::Random random(seed);
    const Exact data(random.next_below(40), random);
    const size_t end = random.next_below(data.size * 8 + 1);
    const size_t first = random.next_below(end + 1);
    BitReader reader(data.span(), end);
    reader.Skip(first);
    BitWindow window(data.span(), first, end);
    while (reader.ok()) {
      RC_ASSERT(window.ok());
      RC_ASSERT(window.position_bits() == reader.position_bits());
      if (random.chance(0.3)) window.look();
      const auto bits = static_cast<unsigned>(random.next_below(65));
      const uint64_t expected = reader.ReadBits(static_cast<int>(bits));
      const uint64_t field = window.read(bits);
      if (reader.ok()) RC_ASSERT(field == expected);
      if (bits == 0 && reader.bits_left() == 0) break;
    }
    RC_ASSERT(window.ok() == reader.ok());
  }));
}

TEST(BitWindow, AReaderTakesOverAndGivesBack) {
  const uint8_t bytes[] = {0xA5, 0x81, 0x01, 0xC0};
  BitWindow window(bytes, 0);
  EXPECT_EQ(window.read(8), 0xA5u);
  EXPECT_EQ(window.with_reader([](BitReader& reader) { return reader.ReadVarint32(); }), 0x81u);
  EXPECT_EQ(window.read(2), 3u);
  EXPECT_EQ(window.with_reader([](BitReader& reader) { return reader.ReadVarint32(); }), 0u);
  EXPECT_FALSE(window.ok());  // what the reader refuses, the window refuses
}

}  // namespace
}  // namespace lattice::serialization
