#include "replication/encoding/plain_encoder.h"

namespace lattice::replication {

WireMask encode_members(BitWriter& out, const serialization::Layout& layout, const serialization::Word* from,
                        const serialization::Word* to) {
  if (!layout.has_flat_mask()) {
    layout.encode_delta(out, from, to);
    return {};
  }
  const uint64_t mask = layout.changed_mask(from, to);
  layout.encode_members(out, mask, from, to);
  return to_wire(layout, mask);
}

void write_mask(BitWriter& out, const WireMask& mask, const WireMask* before) {
  if (mask.count == 0) return;
  const bool same = before != nullptr && mask == *before;
  if (before != nullptr) out.WriteBool(same);
  if (!same) out.WriteBits(mask.bits, static_cast<int>(mask.count));
}

void write_long_changes(BitWriter& out, const FrontBits& front, const EntryBody& body,
                        const WireMask* before) {
  out.WriteBits(front.bits, static_cast<int>(front.count));
  write_mask(out, body.mask, before);
  const uint32_t whole = body.bits / 64;
  for (uint32_t i = 0; i < whole; ++i) out.WriteBits(body.words[i], 64);
  const uint32_t tail = body.bits % 64;
  if (tail != 0) out.WriteBits(body.words[whole] >> (64 - tail), static_cast<int>(tail));
}

void write_changes(BitWriter& out, const serialization::Layout& layout, const serialization::Word* from,
                   const serialization::Word* to) {
  if (!layout.has_flat_mask()) {
    layout.encode_delta(out, from, to);
    return;
  }
  const uint64_t mask = layout.changed_mask(from, to);
  write_mask(out, to_wire(layout, mask), nullptr);
  layout.encode_members(out, mask, from, to);
}

}  // namespace lattice::replication
