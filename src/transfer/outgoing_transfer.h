// Decides which bytes of one transfer to send: lost chunks first, then fresh bytes in order, as many as a
// datagram holds.
//
//   OFFERED ──accepted──▶ RUNNING ──end()──▶ ENDED, until no chunk is in flight any more
//      └──────────────────end()───────────────▶
//
// A lost chunk is sent again unchanged if it fits a datagram that every path carries. Otherwise it is cut
// into two halves, which always fit. So every byte arrives even if the path no longer carries large
// datagrams. The small packets that arrive between lost large ones also show the endpoint that the path has
// changed (M-14).
//
// Must stay true: in flight ≤ kMaxChunksInFlight, and lost + in flight ≤ kMaxOpenChunks. Fresh bytes are
// taken only while no chunk is lost and the first bound allows one more; every other step moves a chunk
// between "lost" and "in flight", and each chunk is cut at most once.
#pragma once

#include <cstdint>
#include <vector>

#include "transfer/byte_range.h"
#include "transfer/transfer_limits.h"

namespace lattice::transfer {

class OutgoingTransfer {
 public:
  /// `size_bytes` is 1 to wire::kMaxTransferBytes.
  OutgoingTransfer(uint16_t id, uint64_t size_bytes);

  uint16_t id() const { return id_; }
  uint64_t size_bytes() const { return size_bytes_; }
  uint64_t acked_bytes() const { return acked_bytes_; }
  uint32_t in_flight() const { return in_flight_; }

  /// False when the transfer was accepted before, or has ended. Takes all the memory that chunks will need.
  bool accept();
  bool accepted() const { return state_ == State::kRunning; }
  /// While either side holds the transfer, no chunk is offered. Chunks in flight still arrive.
  void hold_here(bool held) { held_here_ = held; }
  void hold_by_peer(bool held) { held_by_peer_ = held; }
  /// Offers no more chunks. Cannot be undone.
  void end() { state_ = State::kEnded; }
  bool ended() const { return state_ == State::kEnded; }
  /// Ended, and every chunk was reported as acked or lost: the slot may serve another transfer.
  bool drained() const { return ended() && in_flight_ == 0; }

  /// Every byte was sent at least once. Before that the peer cannot have every byte.
  bool all_sent() const { return next_fresh_ == size_bytes_; }
  bool has_next() const;
  /// The room of the next message for a chunk with its header: at least kMinRoomBytes each.
  struct Room {
    size_t fresh_bytes;
    size_t repeat_bytes;  ///< In a datagram that every path carries.
  };
  static constexpr size_t kMinRoomBytes = reliability::kMaxUnreliableBody;
  /// The chunk to send next; has_next() holds.
  ByteRange next(const Room& room) const;
  /// The chunk of next() was sent. Returns its name, below kMaxChunksInFlight, which on_receipt() takes.
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
  std::vector<ByteRange> lost_;       ///< A ring; its first element may be the second half of a cut chunk.
  uint32_t first_lost_ = 0;
  uint32_t lost_count_ = 0;
};

}  // namespace lattice::transfer
