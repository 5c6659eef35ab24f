// The other half of `plain` (plain_encoder.h): reads the changes of one entry after another. Spec: D-43,
// P-10.
//
// All of it is inline, because it runs for each entry that a client decodes, and the bit window must stay in
// registers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "replication/encoding/wire_mask.h"
#include "replication/object_type.h"
#include "serialization/bit_window.h"
#include "serialization/layout.h"
#include "serialization/member_plan.h"

namespace lattice::replication {

using serialization::BitWindow;

class PlainDecoder {
 public:
  using MemberPlan = serialization::MemberPlan;
  using Layout = serialization::Layout;
  using Word = serialization::Word;

  /// What an entry takes over from the one before in its block.
  struct Context {
    const ObjectType* type = nullptr;  // null: the first entry
    unsigned mask_bits = 0;            // of a mask on the wire, where it is short, else 0
    uint64_t mask = 0;                 // where entries of the type begin with one
  };

  /// So many bits the window has ready when a mask begins, or more.
  static constexpr unsigned kLookBits = 17;

  /// Reads the changes from `baseline` into `out`, which has room for a state. The window has looked. False
  /// when no encoder writes them so; a window that ran out of bits says so itself.
  bool decode(BitWindow& in, const ObjectType& type, const Word* baseline, Word* out, Context* context) {
    const Layout& layout = *type.layout;
    if (!layout.has_flat_mask()) {
      *context = {.type = &type};
      return in.with_reader([&](BitReader& reader) { return layout.decode_delta(reader, baseline, out); });
    }
    if (!read_mask(in, type, context)) return false;
    const MemberPlan* plan = find_plan(layout, context->mask);
    if (plan == nullptr) plan = make_plan(layout, context->mask);
    return layout.decode_members(in, *plan, baseline, out);
  }

  // --- The same in steps, for entries of one type
  /// Reads the mask of an entry of the type of the context, where it is short. False when no encoder writes
  /// it so.
  static bool read_short_mask(BitWindow& in, Context* context) {
    // Half of the masks are those before, half are not, so a branch would often be guessed wrong.
    const uint64_t former = context->mask;
    const uint64_t ahead = in.ahead();
    const uint64_t repeats = uint64_t{0} - (ahead >> 63);  // all ones, or none
    const uint64_t difference = (ahead << 1 >> (64 - context->mask_bits)) ^ former;
    in.skip(1 + (context->mask_bits & ~static_cast<unsigned>(repeats)));
    context->mask = former ^ (difference & ~repeats);
    return (repeats | difference) != 0;  // else an encoder would have said so
  }
  /// The plan of a mask, or null where decode() must make it. It stays until the next decode().
  const MemberPlan* find_plan(const Layout& layout, uint64_t mask) const {
    const MemberPlan& plan = plans_[place_of(mask)];
    return plan.layout == &layout && plan.mask == mask ? &plan : nullptr;
  }

 private:
  static constexpr size_t kPlans = 16;
  static constexpr unsigned kMaxShortMaskBits = kLookBits - 1;

  static bool read_mask(BitWindow& in, const ObjectType& type, Context* context) {
    const bool same_type = context->type == &type;
    if (same_type && context->mask_bits != 0) return read_short_mask(in, context);
    const Layout& layout = *type.layout;
    const bool is_short = layout.behaviour_count() == 1 && layout.flat_mask_bits() <= kMaxShortMaskBits;
    context->type = &type;
    context->mask_bits = is_short ? layout.flat_mask_bits() : 0;
    if (same_type && in.read_bool()) return true;
    uint64_t mask = 0;
    if (!read_wire_mask(in, layout, &mask) || !in.ok()) return false;
    return std::exchange(context->mask, mask) != mask || !same_type;
  }
  static size_t place_of(uint64_t mask) { return (mask * 0x9E3779B97F4A7C15u) >> 60; }
  const MemberPlan* make_plan(const Layout& layout, uint64_t mask) {
    MemberPlan& plan = plans_[place_of(mask)];
    layout.plan(mask, &plan);
    return &plan;
  }

  std::array<MemberPlan, kPlans> plans_;  // of the masks that came last
};

}  // namespace lattice::replication
