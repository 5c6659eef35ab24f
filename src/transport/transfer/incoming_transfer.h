// What has arrived of one transfer: a bit per block.
//
//   OFFERED ──accept()──▶ RUNNING ──every block──▶ complete
#pragma once

#include <cstdint>
#include <vector>

#include "transport/transfer/transfer_limits.h"

namespace lattice::transfer {

class IncomingTransfer {
 public:
  /// `offer` was parsed; its label is not kept.
  explicit IncomingTransfer(const wire::TransferOffer& offer);

  uint16_t id() const { return id_; }
  uint64_t size_bytes() const { return size_bytes_; }
  uint64_t received_bytes() const { return received_bytes_; }

  /// From here on blocks are expected. Takes one bit of memory per block. Must not have been called before.
  void accept();
  bool accepted() const { return accepted_; }

  enum class Judgement : uint8_t { kNew, kDuplicate, kBadIndex, kBadLength };
  /// Changes nothing. The transfer is accepted.
  Judgement judge(const wire::TransferBlock& block) const;
  uint64_t offset(uint32_t index) const { return uint64_t{index} * block_bytes_; }
  /// A block judged kNew was stored.
  void on_stored(const wire::TransferBlock& block);
  bool complete() const { return received_bytes_ == size_bytes_; }

 private:
  uint16_t id_;
  uint16_t block_bytes_;
  bool accepted_ = false;
  uint64_t size_bytes_;
  uint32_t block_count_;
  uint64_t received_bytes_ = 0;
  std::vector<uint64_t> received_;  ///< Bit n: block n is here.
};

}  // namespace lattice::transfer
