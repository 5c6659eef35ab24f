#include "transfer/incoming_transfer.h"

#include "base/assert.h"

namespace lattice::transfer {

void IncomingTransfer::accept() {
  LATTICE_ASSERT(!accepted());
  missing_.emplace(size_bytes_);
}

IncomingTransfer::Judgement IncomingTransfer::judge(const wire::TransferChunk& chunk) const {
  LATTICE_ASSERT(accepted());
  if (chunk.offset >= size_bytes_ || chunk.bytes.size() > size_bytes_ - chunk.offset) {
    return Judgement::kPastEnd;
  }
  const ByteRange range = range_of(chunk);
  if (range.bytes() < wire::kMinChunkBytes && range.end != size_bytes_) return Judgement::kTooShort;
  if (missing_->first_within(range).empty()) return Judgement::kDuplicate;
  return missing_->can_fill(range) ? Judgement::kNew : Judgement::kTooScattered;
}

void IncomingTransfer::on_stored(const wire::TransferChunk& chunk) {
  LATTICE_ASSERT(judge(chunk) == Judgement::kNew);
  received_bytes_ += missing_->fill(range_of(chunk));
}

}  // namespace lattice::transfer
