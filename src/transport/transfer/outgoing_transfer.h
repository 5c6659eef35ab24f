// Which blocks of one transfer to send: fresh ones in order, lost ones first.
//
//   OFFERED ──accepted──▶ RUNNING ──end()──▶ ENDED, until no block is in flight any more
//      └──────────────────end()───────────────▶
//
// Must stay true: lost + in flight ≤ kMaxBlocksInFlight. A fresh block is taken only while nothing is lost
// and the bound allows one more; every other step moves a block between the two.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "transport/transfer/transfer_limits.h"

namespace lattice::transfer {

class OutgoingTransfer {
 public:
  /// `size_bytes` is 1 to kMaxBlocks blocks, `block_bytes` within the limits of wire::TransferOffer.
  OutgoingTransfer(uint16_t id, uint64_t size_bytes, uint16_t block_bytes);

  uint16_t id() const { return id_; }
  uint64_t size_bytes() const { return size_bytes_; }
  uint64_t acked_bytes() const { return acked_bytes_; }
  uint32_t in_flight() const { return in_flight_; }

  /// False when it was accepted before, or has ended.
  bool accept();
  bool accepted() const { return state_ == State::kRunning; }
  /// While either holds it, no block is offered. What is in flight arrives.
  void hold_here(bool held) { held_here_ = held; }
  void hold_by_peer(bool held) { held_by_peer_ = held; }
  /// No block is offered any more. Not undone.
  void end() { state_ = State::kEnded; }
  bool ended() const { return state_ == State::kEnded; }
  /// Ended, and every block was told its fate: the slot may serve another.
  bool drained() const { return ended() && in_flight_ == 0; }

  /// Every block left at least once. Before that the peer cannot have them all.
  bool all_sent() const { return next_fresh_ == block_count_; }
  /// The block to send next, if there is one.
  std::optional<uint32_t> next() const;
  uint64_t offset(uint32_t index) const { return uint64_t{index} * block_bytes_; }
  /// Length of a block: block_bytes, or less for the last.
  size_t bytes(uint32_t index) const;
  /// next() was sent.
  void on_sent();
  /// Once for every on_sent(), in any order.
  void on_fate(uint32_t index, bool acked);

 private:
  enum class State : uint8_t { kOffered, kRunning, kEnded };

  uint16_t id_;
  uint16_t block_bytes_;
  State state_ = State::kOffered;
  bool held_here_ = false;
  bool held_by_peer_ = false;
  uint64_t size_bytes_;
  uint32_t block_count_;
  uint32_t next_fresh_ = 0;
  uint32_t in_flight_ = 0;
  uint64_t acked_bytes_ = 0;
  std::vector<uint32_t> lost_;  ///< A ring of kMaxBlocksInFlight; made when accepted.
  uint32_t first_lost_ = 0;
  uint32_t lost_count_ = 0;
};

}  // namespace lattice::transfer
