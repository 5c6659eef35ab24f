#include "world/placed_set.h"

#include <gtest/gtest.h>

#include <array>

#include "serialization/layout.h"
#include "unit/replication/replication_types.h"

namespace lattice::world {
namespace {

using replication::test::Types;
using Result = PlacedSet::Result;

struct Flags {
  uint8_t a, b, c;
};

/// The type of the example in docs/spec/data.md: id 7, three bools.
class PlacedSetTest : public testing::Test {
 protected:
  PlacedSetTest() {
    lattice_member_desc members[] = {
        replication::test::member("a", LATTICE_WIRE_BOOL, offsetof(Flags, a)),
        replication::test::member("b", LATTICE_WIRE_BOOL, offsetof(Flags, b)),
        replication::test::member("c", LATTICE_WIRE_BOOL, offsetof(Flags, c)),
        replication::test::ranged("d", LATTICE_WIRE_UINT8, offsetof(Flags, c), 0, 3)};
    flags_ = &make(7, std::span(members).first(3));
    other_ = &make(8, std::span(members).first(3));
    ranged_ = &make(9, std::span(members).subspan(3));
  }
  const replication::ObjectType& make(uint32_t id, std::span<const lattice_member_desc> members) {
    lattice_struct_desc structure =
        replication::test::structure<Flags>("S", {members.begin(), members.end()});
    structure.members = members.data();
    lattice_behaviour_desc behaviour;
    lattice_behaviour_desc_init(&behaviour);
    behaviour.structure = &structure;
    lattice_type_desc desc;
    lattice_type_desc_init(&desc);
    desc.type_id = id;
    desc.name = "T";
    desc.behaviours = &behaviour;
    desc.behaviour_count = 1;
    std::string error;
    layouts_.push_back(std::make_unique<serialization::Layout>());
    EXPECT_TRUE(serialization::Layout::compile_object(desc, layouts_.back().get(), &error)) << error;
    return *table_.add(id, *layouts_.back());
  }
  static Result add(PlacedSet& set, uint64_t key, const replication::ObjectType& type, Flags flags) {
    const void* states[] = {&flags};
    return set.add(key, type, states);
  }

  std::vector<std::unique_ptr<serialization::Layout>> layouts_;
  replication::TypeTable table_;
  const replication::ObjectType* flags_ = nullptr;
  const replication::ObjectType* other_ = nullptr;
  const replication::ObjectType* ranged_ = nullptr;
};

TEST_F(PlacedSetTest, the_summary_is_that_of_the_specification_in_any_order) {
  for (const bool backwards : {false, true}) {
    PlacedSet set;
    if (backwards) {
      EXPECT_EQ(add(set, 9, *flags_, {1, 0, 0}), Result::kOk);
    }
    EXPECT_EQ(add(set, 5, *flags_, {0, 1, 0}), Result::kOk);
    if (!backwards) {
      EXPECT_EQ(add(set, 9, *flags_, {1, 0, 0}), Result::kOk);
    }
    set.put_in_order();
    EXPECT_EQ(set.summary(), (wire::PlacedSummary{2, 14, 106, 0x993E91AC14202415u}));
    EXPECT_EQ(set.network_id(5), 1u);
    EXPECT_EQ(set.network_id(9), 2u);
    EXPECT_EQ(set.network_id(7), 0u);
    EXPECT_EQ(set.key_of(2), 9u);
    EXPECT_EQ(set.key_of(3), 0u);
    EXPECT_EQ(set.key_of(0), 0u);
  }
}

TEST_F(PlacedSetTest, keys_types_and_states_each_change_the_digest) {
  const auto digest = [](const std::vector<std::tuple<uint64_t, const replication::ObjectType*, Flags>>& of) {
    PlacedSet set;
    for (const auto& [key, type, flags] : of) EXPECT_EQ(add(set, key, *type, flags), Result::kOk);
    set.put_in_order();
    return set.summary().digest;
  };
  const uint64_t one = digest({{5, flags_, {0, 1, 0}}});
  EXPECT_NE(one, digest({{6, flags_, {0, 1, 0}}}));
  EXPECT_NE(one, digest({{5, other_, {0, 1, 0}}}));
  EXPECT_NE(one, digest({{5, flags_, {0, 1, 1}}}));
  EXPECT_NE(one, digest({{5, flags_, {0, 1, 0}}, {6, flags_, {0, 0, 0}}}));
}

TEST_F(PlacedSetTest, what_is_refused_leaves_no_trace) {
  PlacedSet set;
  EXPECT_EQ(set.summary(), wire::PlacedSummary{});
  EXPECT_EQ(add(set, 5, *flags_, {0, 1, 0}), Result::kOk);
  const wire::PlacedSummary before = set.summary();
  EXPECT_EQ(add(set, 5, *flags_, {1, 1, 1}), Result::kDuplicate);
  EXPECT_EQ(add(set, 6, *ranged_, {0, 0, 9}), Result::kDoesNotFit);
  EXPECT_EQ(add(set, 7, *ranged_, {0, 0, 3}), Result::kOk);
  set.clear();
  EXPECT_EQ(set.summary(), wire::PlacedSummary{});
  EXPECT_EQ(add(set, 5, *flags_, {0, 1, 0}), Result::kOk);
  EXPECT_EQ(set.summary(), before);
}

}  // namespace
}  // namespace lattice::world
