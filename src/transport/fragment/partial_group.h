// A message of which some fragments have arrived (F-06). The group and each fragment are buffers of the pool,
// so that memory follows the bytes received, never the bytes announced.
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
#include "base/buffer_pool.h"
#include "reliability/refusal.h"
#include "transport/fragment/piece.h"

namespace lattice::fragment {

class PartialGroup {
 public:
  /// Makes an empty group for the message of `first`; null when the pool gives no memory.
  static PartialGroup* open(base::BufferPool& pool, const Piece& first);
  /// Returns the memory of the group and its fragments to the pool.
  static void close(base::BufferPool& pool, PartialGroup* group);

  PartialGroup(const PartialGroup&) = delete;
  PartialGroup& operator=(const PartialGroup&) = delete;

  /// Why `piece` cannot be part of this message; empty if it can. After kFragmentDuplicate the group remains
  /// valid.
  std::optional<reliability::Refusal> refusal(const Piece& piece) const;
  /// Stores a piece that refusal() accepted. False when the pool gives no memory.
  bool keep(base::BufferPool& pool, const Piece& piece, uint64_t now_ns);

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
  /// Memory of the pool, the group itself included.
  size_t held_bytes() const { return held_bytes_; }

  PartialGroup* next = nullptr;  ///< Next group of its list.

 private:
  struct Record {
    Record* next;
    uint32_t capacity_bytes;
    uint16_t bytes;
    uint8_t index;
  };
  static_assert(sizeof(Record) == reliability::kFragmentRecordBytes);

  explicit PartialGroup(const Piece& first);
  ~PartialGroup() = default;

  Record* records_ = nullptr;
  uint64_t newest_ns_ = 0;
  uint32_t held_bytes_ = 0;
  uint32_t capacity_bytes_ = 0;  ///< Of the buffer that holds the group.
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

}  // namespace lattice::fragment
