#include "fragment/fragment_receipts.h"

#include "base/assert.h"

namespace lattice::fragment {

uint32_t FragmentReceipts::open(uint32_t receipt, size_t count) {
  LATTICE_ASSERT(receipt != 0 && !is_group(receipt) && count != 0 && count <= UINT16_MAX);
  if (free_.empty()) {
    free_.push_back(static_cast<uint32_t>(entries_.size()));
    entries_.emplace_back();
    free_.reserve(entries_.capacity());  // So that close() never allocates.
  }
  const uint32_t index = free_.back();
  free_.pop_back();
  entries_[index] = {receipt, static_cast<uint16_t>(count), false};
  return kGroupBit | index;
}

void FragmentReceipts::cancel(uint32_t number) {
  LATTICE_ASSERT(is_group(number) && (number & ~kGroupBit) < entries_.size());
  close(number & ~kGroupBit);
}

std::optional<FragmentReceipts::Told> FragmentReceipts::on_receipt(uint32_t number, bool acked) {
  const uint32_t index = number & ~kGroupBit;
  LATTICE_ASSERT(is_group(number) && index < entries_.size() && entries_[index].untold != 0);
  Entry& entry = entries_[index];
  const bool is_last = --entry.untold == 0;
  const bool tell = !entry.is_told && (!acked || is_last);
  entry.is_told = entry.is_told || tell;
  const Told told{entry.receipt, acked};
  if (is_last) close(index);
  return tell ? std::optional(told) : std::nullopt;
}

}  // namespace lattice::fragment
