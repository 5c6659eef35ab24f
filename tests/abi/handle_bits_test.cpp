// Handles in pointers of 64 and of 32 bits.
#include "abi/handle_bits.h"

#include <gtest/gtest.h>

#include <set>

namespace lattice::abi {
namespace {

template <class Word>
class HandleBitsOf : public ::testing::Test {};
using Words = ::testing::Types<uint32_t, uint64_t>;
TYPED_TEST_SUITE(HandleBitsOf, Words);

TYPED_TEST(HandleBitsOf, every_field_comes_back_at_its_largest) {
  using Bits = HandleBits<TypeParam>;
  const uint32_t largest[] = {(1u << Bits::kSlotBits) - 1, (1u << Bits::kGenerationBits) - 1,
                              (1u << Bits::kConnectionSlotBits) - 1,
                              (1u << Bits::kConnectionGenerationBits) - 1};
  std::set<TypeParam> words;
  for (const HandleKind kind : {HandleKind::kWorld, HandleKind::kConnection, HandleKind::kNetsim}) {
    for (unsigned set = 0; set < 16; ++set) {
      const auto field = [&](unsigned i) { return (set >> i & 1) != 0 ? largest[i] : 0; };
      const Bits bits{kind, field(0), field(1), field(2), field(3)};
      const Bits back = Bits::unpack(bits.pack());
      EXPECT_EQ(back.kind, kind);
      EXPECT_EQ(back.slot, field(0));
      EXPECT_EQ(back.generation, field(1));
      EXPECT_EQ(back.connection_slot, field(2));
      EXPECT_EQ(back.connection_generation, field(3));
      EXPECT_NE(bits.pack(), 0u) << "a handle is not null";
      words.insert(bits.pack());
    }
  }
  EXPECT_EQ(words.size(), 48u);
}

TYPED_TEST(HandleBitsOf, a_generation_is_told_from_the_next_until_it_comes_round) {
  using Bits = HandleBits<TypeParam>;
  const uint32_t first = 5, round = 1u << Bits::kConnectionGenerationBits;
  for (uint32_t next = first + 1; next < first + round; next += 101) {
    EXPECT_FALSE(Bits::same_connection_generation(first, next)) << next;
  }
  EXPECT_TRUE(Bits::same_connection_generation(first, first + round));
  EXPECT_FALSE(Bits::same_generation(first, first + (1u << (Bits::kGenerationBits - 1))));
  EXPECT_TRUE(Bits::same_generation(first, first + (1u << Bits::kGenerationBits)));
}

TYPED_TEST(HandleBitsOf, a_generation_too_large_changes_no_other_field) {
  using Bits = HandleBits<TypeParam>;
  const Bits bits{HandleKind::kConnection, 3, ~0u, 7, ~0u};
  const Bits back = Bits::unpack(bits.pack());
  EXPECT_EQ(back.kind, HandleKind::kConnection);
  EXPECT_EQ(back.slot, 3u);
  EXPECT_EQ(back.connection_slot, 7u);
}

}  // namespace
}  // namespace lattice::abi
