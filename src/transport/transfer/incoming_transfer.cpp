#include "transport/transfer/incoming_transfer.h"

#include <algorithm>

#include "base/assert.h"

namespace lattice::transfer {

IncomingTransfer::IncomingTransfer(const wire::TransferOffer& offer)
    : id_(offer.id),
      block_bytes_(offer.block_bytes),
      size_bytes_(offer.size_bytes),
      block_count_(static_cast<uint32_t>(wire::block_count(offer.size_bytes, offer.block_bytes))) {}

void IncomingTransfer::accept() {
  LATTICE_ASSERT(!accepted_);
  accepted_ = true;
  received_.assign((size_t{block_count_} + 63) / 64, 0);
}

IncomingTransfer::Judgement IncomingTransfer::judge(const wire::TransferBlock& block) const {
  LATTICE_ASSERT(accepted_);
  if (block.index >= block_count_) return Judgement::kBadIndex;
  const uint64_t expected_bytes = std::min<uint64_t>(block_bytes_, size_bytes_ - offset(block.index));
  if (block.bytes.size() != expected_bytes) return Judgement::kBadLength;
  const bool here = (received_[block.index / 64] >> (block.index % 64) & 1) != 0;
  return here ? Judgement::kDuplicate : Judgement::kNew;
}

void IncomingTransfer::on_stored(const wire::TransferBlock& block) {
  LATTICE_ASSERT(judge(block) == Judgement::kNew);
  received_[block.index / 64] |= uint64_t{1} << (block.index % 64);
  received_bytes_ += block.bytes.size();
}

}  // namespace lattice::transfer
