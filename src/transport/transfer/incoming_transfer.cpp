#include "transport/transfer/incoming_transfer.h"

#include "base/assert.h"

namespace lattice::transfer {

void IncomingTransfer::accept() {
  LATTICE_ASSERT(!accepted());
  missing_.emplace(size_bytes_);
}

IncomingTransfer::Judgement IncomingTransfer::judge(const wire::TransferBlock& block) const {
  LATTICE_ASSERT(accepted());
  if (block.offset >= size_bytes_ || block.bytes.size() > size_bytes_ - block.offset) {
    return Judgement::kPastEnd;
  }
  const ByteRange range = range_of(block);
  if (range.bytes() < wire::kMinBlockBytes && range.end != size_bytes_) return Judgement::kTooShort;
  if (missing_->first_within(range).empty()) return Judgement::kDuplicate;
  return missing_->can_fill(range) ? Judgement::kNew : Judgement::kTooScattered;
}

void IncomingTransfer::on_stored(const wire::TransferBlock& block) {
  LATTICE_ASSERT(judge(block) == Judgement::kNew);
  received_bytes_ += missing_->fill(range_of(block));
}

}  // namespace lattice::transfer
