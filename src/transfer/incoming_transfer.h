// The received part of one incoming transfer.
//
//   OFFERED ──accept()──▶ RUNNING ──every byte──▶ complete
#pragma once

#include <cstdint>
#include <optional>

#include "transfer/missing_ranges.h"
#include "transport/wire/transfer_bodies.h"

namespace lattice::transfer {

class IncomingTransfer {
 public:
  /// `offer` is a parsed offer; its label is not kept.
  explicit IncomingTransfer(const wire::TransferOffer& offer)
      : id_(offer.id), size_bytes_(offer.size_bytes) {}

  uint16_t id() const { return id_; }
  uint64_t size_bytes() const { return size_bytes_; }
  uint64_t received_bytes() const { return received_bytes_; }

  /// Expects chunks from here on, and takes the memory for them. Call once.
  void accept();
  bool accepted() const { return missing_.has_value(); }

  enum class Judgement : uint8_t { kNew, kDuplicate, kPastEnd, kTooShort, kTooScattered };
  /// Judges a chunk of an accepted transfer; changes nothing. kNew: at least one byte of the chunk is
  /// missing.
  Judgement judge(const wire::TransferChunk& chunk) const;
  /// The first bytes of `range` that are missing; an empty range when there are none.
  ByteRange first_missing(const ByteRange& range) const { return missing_->first_within(range); }
  /// A chunk judged kNew was stored.
  void on_stored(const wire::TransferChunk& chunk);
  bool complete() const { return received_bytes_ == size_bytes_; }

 private:
  uint16_t id_;
  uint64_t size_bytes_;
  uint64_t received_bytes_ = 0;
  std::optional<MissingRanges> missing_;  ///< Once accepted.
};

/// Where a chunk's bytes belong. Its offset is below kMaxTransferBytes.
inline ByteRange range_of(const wire::TransferChunk& chunk) {
  return {chunk.offset, chunk.offset + chunk.bytes.size()};
}

}  // namespace lattice::transfer
