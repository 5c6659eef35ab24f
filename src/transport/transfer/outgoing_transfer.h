// Which bytes of one transfer to send: fresh ones in order and as many as a datagram holds, lost chunks
// first.
//
//   OFFERED ──accepted──▶ RUNNING ──end()──▶ ENDED, until no chunk is in flight any more
//      └──────────────────end()───────────────▶
//
// A chunk that was lost goes again as it was if it fits a datagram that every path carries; else it is cut
// into halves, which always do: should the path have stopped carrying what it carried, no byte is stranded,
// and that small packets arrive between lost large ones is how the endpoint finds out (M-14).
//
// Must stay true: in flight ≤ kMaxChunksInFlight, and lost + in flight ≤ kMaxOpenChunks. Fresh bytes are
// taken only while nothing is lost and the first bound allows one more; every other step moves a chunk
// between the two, and each is cut at most once.
#pragma once

#include <cstdint>
#include <vector>

#include "transport/transfer/byte_range.h"
#include "transport/transfer/transfer_limits.h"

namespace lattice::transfer {

class OutgoingTransfer {
 public:
  /// `size_bytes` is 1 to wire::kMaxTransferBytes.
  OutgoingTransfer(uint16_t id, uint64_t size_bytes);

  uint16_t id() const { return id_; }
  uint64_t size_bytes() const { return size_bytes_; }
  uint64_t acked_bytes() const { return acked_bytes_; }
  uint32_t in_flight() const { return in_flight_; }

  /// False when it was accepted before, or has ended. Takes all the memory chunks will need.
  bool accept();
  bool accepted() const { return state_ == State::kRunning; }
  /// While either holds it, no chunk is offered. What is in flight arrives.
  void hold_here(bool held) { held_here_ = held; }
  void hold_by_peer(bool held) { held_by_peer_ = held; }
  /// No chunk is offered any more. Not undone.
  void end() { state_ = State::kEnded; }
  bool ended() const { return state_ == State::kEnded; }
  /// Ended, and every chunk was told its fate: the slot may serve another.
  bool drained() const { return ended() && in_flight_ == 0; }

  /// Every byte left at least once. Before that the peer cannot have them all.
  bool all_sent() const { return next_fresh_ == size_bytes_; }
  bool has_next() const;
  /// What the next message has room for, the chunk's header included: at least kMinRoomBytes each.
  struct Room {
    size_t fresh_bytes;
    size_t repeat_bytes;  ///< In a datagram that every path carries.
  };
  static constexpr size_t kMinRoomBytes = reliability::kMaxUnreliableBody;
  /// The chunk to send next; has_next() holds.
  ByteRange next(const Room& room) const;
  /// next() was sent. Returns its name until its fate is told, below kMaxChunksInFlight.
  uint32_t on_sent(const ByteRange& chunk);
  /// Once for every on_sent(), in any order.
  void on_receipt(uint32_t name, bool acked);

 private:
  enum class State : uint8_t { kOffered, kRunning, kEnded };

  uint16_t id_;
  State state_ = State::kOffered;
  bool held_here_ = false;
  bool held_by_peer_ = false;
  uint64_t size_bytes_;
  uint64_t next_fresh_ = 0;
  uint64_t acked_bytes_ = 0;
  uint32_t in_flight_ = 0;
  std::vector<ByteRange> flying_;     ///< By name.
  std::vector<uint32_t> free_names_;  ///< A stack.
  std::vector<ByteRange> lost_;       ///< A ring; the first may be what is left of a chunk that was cut.
  uint32_t first_lost_ = 0;
  uint32_t lost_count_ = 0;
};

}  // namespace lattice::transfer
