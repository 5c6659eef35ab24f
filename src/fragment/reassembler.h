// The incomplete messages of one connection (F-03, F-04, F-06).
//
//   unreliable   Found by (channel, group). At most 16 groups, and 2 MiB, or the share of receive_memory.h
//                when memory is short; the oldest group gives way. A group without a new fragment for 2 s is
//                dropped. A contradiction between fragments drops the message.
//   reliable     Every fragment arrives, so groups never time out, and only a peer that breaks the protocol
//                sends a contradiction. Ordered: one group per channel, its fragments one after another.
//                Unordered: found by the message_id of its first fragment. Groups do not overlap, and a group
//                whose last id is behind the window can never be completed. From 256 groups on, only those in
//                the channel's share of memory may begin. The groups of a channel are sorted by id, so that a
//                fragment finds its group, and the neighbours of a new one, in a few steps.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "fragment/partial_group.h"
#include "reliability/channel/receive_memory.h"
#include "transport/wire/channel_table.h"

namespace lattice::fragment {

inline constexpr size_t kMaxUnreliableGroups = 16;
inline constexpr size_t kMaxUnreliableBlocks = (2u << 20) / reliability::ReceiveMemory::kBlockBytes;
inline constexpr size_t kCrowdedGroups = 256;
inline constexpr uint64_t kGroupTimeoutNs = 2'000'000'000;

class Reassembler {
 public:
  /// `memory` is borrowed and outlives this.
  explicit Reassembler(reliability::ReceiveMemory& memory) : memory_(&memory) {}
  ~Reassembler() { clear(); }
  Reassembler(const Reassembler&) = delete;
  Reassembler& operator=(const Reassembler&) = delete;

  struct Result {
    bool is_complete = false;
    /// Why the piece was not kept. On an unreliable channel its group is gone too, except after a duplicate.
    std::optional<reliability::Refusal> refusal;
    uint32_t evicted = 0;  ///< Older groups that were dropped.
  };
  /// Takes one fragment. If it completes its message, writes the whole message to `message`, which then has
  /// the length of the message. A reliable piece has a right to a block, and ReceiveMemory has room for it.
  Result add(const Piece& piece, uint64_t now_ns, std::vector<uint8_t>* message);

  /// Frees unreliable groups without a new fragment for 2 s; returns how many.
  uint32_t expire(uint64_t now_ns);
  /// The earliest time at which expire() has work; UINT64_MAX for never.
  uint64_t next_expiry_ns() const;
  /// Frees groups of a sequenced channel that a delivered message has overtaken; returns the count.
  uint32_t drop_overtaken(uint8_t channel, base::Sequence16 newest);
  /// True while a message of reliable-ordered `channel` is incomplete: no other message may come between
  /// (F-04).
  bool is_inside_message(uint8_t channel) const;
  /// The first id of the oldest incomplete message of a reliable channel.
  std::optional<base::Sequence16> oldest_incomplete(uint8_t channel) const;
  /// Reliable messages are incomplete in such a number that no more should begin.
  bool is_crowded() const { return reliable_count_ >= kCrowdedGroups; }
  void clear();

  size_t group_count() const;
  size_t held_blocks() const;

 private:
  struct List {
    PartialGroup* head = nullptr;  ///< Newest first.
    size_t count = 0;
    size_t blocks = 0;
  };
  /// The reliable groups of one channel, in ascending order of their ids.
  struct Row {
    struct Entry {
      base::Sequence16 id;
      PartialGroup* group;
    };
    std::vector<Entry> entries;
    /// Where a group with this id is, or would be.
    size_t place_of(base::Sequence16 id) const;
  };

  Result add_unreliable(const Piece& piece, uint64_t now_ns, std::vector<uint8_t>* message);
  Result add_reliable(const Piece& piece, uint64_t now_ns, std::vector<uint8_t>* message);
  /// Why no message can begin at `piece`; empty if one can.
  std::optional<reliability::Refusal> refuse_opening(const Row& row, size_t place, const Piece& piece) const;
  /// Keeps the piece; true when it completes its message, which is then in `message`.
  bool take(PartialGroup* group, const Piece& piece, uint64_t now_ns, std::vector<uint8_t>* message);
  PartialGroup* find_unreliable(const Piece& piece) const;
  uint32_t make_unreliable_room();
  PartialGroup* open_unreliable(const Piece& piece);
  void close_unreliable(PartialGroup* group);
  void close_oldest_unreliable();
  template <class Condition>
  uint32_t close_unreliable_if(Condition condition);

  reliability::ReceiveMemory* memory_;
  List unreliable_;
  std::array<Row, wire::kChannelCount> reliable_;
  size_t reliable_count_ = 0;
  size_t reliable_blocks_ = 0;
};

}  // namespace lattice::fragment
