// The other half of `plain` (plain_encoder.h): reads the changes of one entry after another. Spec: D-43,
// P-10.
//
// All of it is inline, because it runs for each entry that a client decodes, and the bit window must stay in
// registers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "replication/encoding/wire_mask.h"
#include "replication/object_type.h"
#include "serialization/bit_window.h"
#include "serialization/layout.h"
#include "serialization/member_plan.h"

namespace lattice::replication {

using serialization::BitWindow;

class PlainDecoder {
 public:
  /// What an entry takes over from the one before in its block.
  struct Context {
    const ObjectType* type = nullptr;                 // null: the first entry
    const serialization::MemberPlan* plan = nullptr;  // of the mask, where there is one
    unsigned mask_bits = 0;                           // on the wire, where it is short, else 0
  };

  /// Reads the changes from `baseline` into `out`, which has room for a state. False when no encoder writes
  /// them so; a window that ran out of bits says so itself.
  bool decode(BitWindow& in, const ObjectType& type, const serialization::Word* baseline,
              serialization::Word* out, Context* context) {
    const serialization::Layout& layout = *type.layout;
    const bool same_type = context->type == &type;
    if (same_type && context->mask_bits != 0) {
      // Half of the masks are those before, half are not, so a branch would often be guessed wrong.
      const uint64_t former = context->plan->mask;
      const uint64_t ahead = in.ahead(1 + kMaxShortMaskBits);
      const uint64_t repeats = uint64_t{0} - (ahead >> 63);  // all ones, or none
      const uint64_t difference = (ahead << 1 >> (64 - context->mask_bits)) ^ former;
      in.skip(1 + (context->mask_bits & ~static_cast<unsigned>(repeats)));
      if ((repeats | difference) == 0) return false;  // an encoder would have said so
      context->plan = plan_of(layout, former ^ (difference & ~repeats));
      return layout.decode_members(in, *context->plan, baseline, out);
    }
    context->type = &type;
    context->mask_bits = 0;
    if (!layout.has_flat_mask()) {
      return in.with_reader([&](BitReader& reader) { return layout.decode_delta(reader, baseline, out); });
    }
    const bool is_short = layout.behaviour_count() == 1 && layout.flat_mask_bits() <= kMaxShortMaskBits;
    if (is_short) context->mask_bits = layout.flat_mask_bits();
    if (!same_type || !in.read_bool()) {
      uint64_t mask = 0;
      if (!read_wire_mask(in, layout, &mask) || !in.ok()) return false;
      if (same_type && mask == context->plan->mask) return false;
      context->plan = plan_of(layout, mask);
    }
    return layout.decode_members(in, *context->plan, baseline, out);
  }

 private:
  static constexpr size_t kPlans = 16;
  static constexpr unsigned kMaxShortMaskBits = 16;

  // A plan stays until another mask takes its place; the next entry of its block is decoded before that.
  const serialization::MemberPlan* plan_of(const serialization::Layout& layout, uint64_t mask) {
    serialization::MemberPlan& plan = plans_[(mask * 0x9E3779B97F4A7C15u) >> 60];
    if (plan.layout != &layout || plan.mask != mask) layout.plan(mask, &plan);
    return &plan;
  }

  std::array<serialization::MemberPlan, kPlans> plans_;  // of the masks that came last
};

}  // namespace lattice::replication
