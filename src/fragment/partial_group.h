// A message of which some fragments have arrived (F-06). Each fragment has a block of ReceiveMemory, and the
// group shares the block of the first that came, so that memory follows what was received, never what was
// announced.
//
//   group ─▶ record index 7 ─▶ record index 3 ─▶ record index 4       in order of arrival; every fragment but
//                                                                     the last is `unit` bytes long, so that
//                                                                     index · unit is its place
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/bit_set.h"
#include "fragment/piece.h"
#include "reliability/channel/receive_memory.h"
#include "reliability/endpoint/refusal.h"

namespace lattice::fragment {

class PartialGroup {
 public:
  /// Makes an empty group for the message of `first`, in a block of its own.
  static PartialGroup* open(reliability::ReceiveMemory& memory, const Piece& first);
  /// Gives the blocks of the group and its fragments back.
  static void close(reliability::ReceiveMemory& memory, PartialGroup* group);

  PartialGroup(const PartialGroup&) = delete;
  PartialGroup& operator=(const PartialGroup&) = delete;

  /// Why `piece` cannot be part of this message; empty if it can. After kFragmentDuplicate the group remains
  /// valid.
  std::optional<reliability::Refusal> refusal(const Piece& piece) const;
  /// Stores a piece that refusal() accepted: the first in the group's block, each other one in a further
  /// block.
  void keep(reliability::ReceiveMemory& memory, const Piece& piece, uint64_t now_ns);

  bool is_complete() const { return received_ == count_; }
  /// Length of a complete message.
  size_t message_bytes() const { return size_t{unit_bytes_} * (count_ - 1u) + last_bytes_; }
  /// Writes a complete message; `out` holds message_bytes().
  void assemble(std::span<uint8_t> out) const;

  uint8_t channel() const { return channel_; }
  wire::ChannelMode mode() const { return mode_; }
  uint16_t number() const { return number_; }
  uint16_t received() const { return received_; }
  base::Sequence16 id() const { return id_; }
  /// Reliable channels: the message_id of the last fragment.
  base::Sequence16 last_id() const { return id_.plus(count_ - 1); }
  uint64_t newest_ns() const { return newest_ns_; }
  /// A group without a fragment holds one too.
  size_t held_blocks() const { return received_ == 0 ? 1 : received_; }

  PartialGroup* next = nullptr;  ///< Next group of its list.

  /// The longest fragment that a block can hold behind the group.
  static const size_t kMaxPieceBytes;

 private:
  struct Record {
    Record* next;
    uint16_t bytes;
    uint8_t index;
  };

  explicit PartialGroup(const Piece& first);
  ~PartialGroup() = default;
  /// Behind the group, in its block.
  uint8_t* first_record() { return reinterpret_cast<uint8_t*>(this + 1); }

  Record* records_ = nullptr;
  uint64_t newest_ns_ = 0;
  base::FixedBitSet<reliability::kMaxFragments> have_;
  base::Sequence16 id_;
  uint16_t number_;
  uint16_t count_;
  uint16_t received_ = 0;
  uint16_t unit_bytes_ = 0;  ///< 0: no fragment but the last has arrived.
  uint16_t last_bytes_ = 0;  ///< 0: the last fragment has not arrived.
  uint8_t channel_;
  wire::ChannelMode mode_;
  bool is_rpc_;
};

inline constexpr size_t PartialGroup::kMaxPieceBytes =
    reliability::ReceiveMemory::kBlockBytes - sizeof(PartialGroup) - sizeof(Record);
// The largest fragment in the largest datagram: alone, with the shortest header, and the ack block in its
// own.
static_assert(PartialGroup::kMaxPieceBytes >= reliability::kLargestDatagramBytes - wire::kMinHeaderBytes -
                                                  wire::kTagBytes - (1 + 2 + wire::kAckBlockBytes + 2) -
                                                  wire::kFragmentHeaderBytes);

}  // namespace lattice::fragment
