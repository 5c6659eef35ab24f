// LeafColumns: the same words, host values and verdicts as leaf_host.h, to the last bit.
#include "serialization/leaf_columns.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstring>
#include <vector>

#include "serialization/leaf_host.h"
#include "unit/serialization/everything.h"
#include "unit/serialization/lists.h"

namespace lattice::serialization {
namespace {

// clang-format off
LATTICE_NETWORKED(Numbers,
  (a, float, BOUNDS(0, 1, 1e-7)), (b, float, BOUNDS(2, 3, 0.5)), (c, float, BOUNDS(-1, 1, 1e-6)),
  (d, float, BOUNDS(-1e30, 1e30, 1e24)), (e, float, BOUNDS(0.1, 0.3, 0.07)),
  (turn, quat, SMALLEST_THREE(10)), (fine_turn, quat, SMALLEST_THREE(11)), (yaw, float, ANGLE),
  (r8, int8, RANGED(-128, 127)), (r16, uint16, RANGED(5, 9)), (r32, uint32, RANGED(1, 4294967295)),
  (s32, int32, RANGED(-2147483648, 2147483647)), (b32, uint32, BITS(31)), (b64, uint64, BITS(9)))
// clang-format on

/// Each leaf by itself.
bool quantize_each(const Layout& layout, const void* const* host, Word* words) {
  bool fits = true;
  for (const LayoutNode& member : layout.nodes().first(layout.behaviours()[0].node_count)) {
    fits &= layout.quantize_member(member, host, words);
  }
  return fits;
}

template <typename T>
void expect_same(const Layout& layout, const T& value) {
  const void* host[] = {&value};
  std::vector<Word> together(layout.word_count(), 1), each(layout.word_count(), 2);
  const bool fits = layout.quantize(host, together.data());
  RC_ASSERT(fits == quantize_each(layout, host, each.data()));
  RC_ASSERT(together == each);
  T rebuilt;
  std::memset(static_cast<void*>(&rebuilt), 0, sizeof rebuilt);  // padding too: members are compared as bytes
  void* out[] = {&rebuilt};
  layout.dequantize(together.data(), out);
  std::vector<Word> again(layout.word_count());
  const void* from[] = {&rebuilt};
  RC_ASSERT(layout.quantize(from, again.data()));
  RC_ASSERT(again == together);
  std::vector<uint8_t> member(sizeof(T));
  for (uint16_t i = 0; i < layout.behaviours()[0].node_count; ++i) {
    const LayoutNode& node = *layout.member(i);
    const auto* bytes = reinterpret_cast<const uint8_t*>(&rebuilt) + node.host_offset;
    if (node.child_count != 0) continue;  // a structure has padding
    RC_ASSERT(layout.get_prop(together.data(), i, member.data(), member.size()) == node.host_bytes);
    RC_ASSERT(std::equal(bytes, bytes + node.host_bytes, member.begin()));
  }
}

/// The words and the host bytes of round() are those of quantize() and dequantize().
template <typename T>
void expect_same_rounding(const Layout& layout, const T& value) {
  T rounded, rewritten;
  std::memcpy(static_cast<void*>(&rounded), &value, sizeof value);
  std::memcpy(static_cast<void*>(&rewritten), &value, sizeof value);
  void* host[] = {&rounded};
  void* other[] = {&rewritten};
  const void* from[] = {&value};
  std::vector<Word> words(layout.word_count(), 1), quantized(layout.word_count(), 2);
  const bool fits = layout.quantize(from, quantized.data());
  layout.dequantize(quantized.data(), other);
  RC_ASSERT(layout.round(host, words.data()) == fits);
  RC_ASSERT(words == quantized);
  RC_ASSERT(std::memcmp(&rounded, &rewritten, sizeof value) == 0);
}

template <typename T>
void check_type(const char* what) {
  const Layout layout = test::layout_of(struct_desc<T>());
  EXPECT_TRUE(rc::check(what, [&](uint64_t seed) {
    base::Random random(seed);
    const auto check = [&](const T& value) {
      expect_same(layout, value);
      expect_same_rounding(layout, value);
    };
    T value{};
    check(value);
    if constexpr (std::is_same_v<T, test::Everything>) check(test::plausible(random));
    if constexpr (std::is_same_v<T, test::Lists>) {
      test::change_some(random, &value);
      check(value);
    }
    for (int i = 0; i < 20; ++i) {
      test::fill_garbage(random, &value);
      check(value);
    }
  }));
}

TEST(LeafColumns, EveryWireTypeAndEncoding) {
  check_type<test::Everything>("everything");
}
TEST(LeafColumns, ArraysAndAngles) {
  check_type<test::Lists>("lists");
}
TEST(LeafColumns, EveryWidthOfNumbers) {
  check_type<Numbers>("numbers");
}

TEST(LeafColumns, BothBoundsOfACompressedFloat) {
  const Layout layout = test::layout_of(struct_desc<Numbers>());
  Numbers value;
  value.a = 1.0f, value.b = 3.0f, value.c = -1.0f, value.r16 = 9, value.r32 = 1;
  value.e = 0.2f;
  const void* host[] = {&value};
  std::vector<Word> words(layout.word_count());
  EXPECT_TRUE(layout.quantize(host, words.data()));
  EXPECT_EQ(words[0], 10'000'000u);
  EXPECT_EQ(words[1], 2u);
  EXPECT_EQ(words[2], 0u);
}

}  // namespace
}  // namespace lattice::serialization
