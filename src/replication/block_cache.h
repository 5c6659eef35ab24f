// Blocks of deltas that many clients share: a block is encoded for the first client that needs it, and its
// bytes are copied for every further client of the same send. Spec: D-13, D-15.
//
// The slots of the world are cut into groups of 32. A block holds the entries of some objects of one group,
// all against their states at one tick. Blocks begin and end at a byte, so they do not depend on their place
// in a part. Bounded as EntryCache is: past kMaxBytes the next client starts with an empty cache.
//
// Who owns an object with members that are not for everyone gets its group without it: a block that nobody
// else gets. So does a client with too small a budget for all groups. It is cut out of the block of all: the
// bits of an entry depend only on the entry before it, so most are copied as they are. Of an entry that comes
// to follow another one, the members are copied. Where two such blocks come before the block of all, that is
// encoded for those that will follow.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "replication/entry_cache.h"
#include "replication/state_store.h"

namespace lattice::replication {

inline constexpr uint32_t kGroupBits = 5;
inline constexpr uint32_t kGroupSlots = 1u << kGroupBits;

class BlockCache {
 public:
  static constexpr uint32_t kMaxBytes = 8u << 20;
  static constexpr uint32_t kTooLong = UINT32_MAX;

  /// `max_block_bytes`: a block longer than this is kTooLong.
  BlockCache(const ObjectTable& table, const StateStore& store, EntryCache& entries,
             uint32_t max_block_bytes);

  /// Forgets all blocks. Objects may not change between this call and the last find() of the send at `tick`.
  void begin_send(Tick tick);
  /// Call before the first find() for each client.
  void begin_client() {
    if (bytes_.size() >= kMaxBytes) begin_send(tick_);
  }

  /// Another number after each call that forgot blocks: indexes are of no use any more.
  uint32_t send() const { return send_; }
  /// The index of the block with the deltas of the objects in `mask`, bit i being slot 32 * group + i, from
  /// their states at `baseline` to the newest ones. kTooLong when it is too long, or when one of its entries
  /// is. Each entry is the one that those get who do not own the object. `mask` is not 0, and the states at
  /// `baseline` are in the store. Indexes are valid until the next begin_*().
  uint32_t find(uint32_t group, uint32_t mask, Tick baseline);
  /// Counts a block that find() would have found, because the caller had kept its index.
  void count_reuse() { ++shared_; }
  /// Valid until the next find() or begin_*().
  std::span<const uint8_t> bytes(uint32_t index) const {
    return std::span<const uint8_t>(bytes_).subspan(blocks_[index].first_byte, blocks_[index].size);
  }

  /// How many blocks were encoded or cut, and below: how many were reused, and how many were cut.
  uint64_t encoded() const { return encoded_; }
  uint64_t shared() const { return shared_; }
  uint64_t cut() const { return cut_; }

 private:
  static constexpr uint32_t kNoBlock = UINT32_MAX;

  struct Block {
    uint32_t mask = 0;
    Tick baseline = 0;
    uint32_t first_byte = 0;
    uint32_t size = kTooLong;
    uint32_t first_entry = 0;  // in written_; of one that was not cut
    uint8_t k = 0;             // of its gaps
    uint32_t next = kNoBlock;  // further blocks of the same group that were not cut
  };
  static constexpr uint32_t kCutBits = 4;
  struct Head {
    explicit Head(uint32_t of_send = 0) : send(of_send) { cuts.fill(kNoBlock); }
    uint32_t send;
    uint32_t block = kNoBlock;
    /// Blocks that were cut, each at its place: one that a single client gets must not lengthen the list.
    std::array<uint32_t, 1u << kCutBits> cuts;
  };
  /// An entry of a block that was not cut.
  struct Written {
    uint32_t begin = 0;  // bits of the block before it
    uint32_t member_bits = 0;
    WireMask mask;
    const ObjectType* type = nullptr;
  };
  bool is(uint32_t block, uint32_t mask, Tick baseline) const {
    return blocks_[block].mask == mask && blocks_[block].baseline == baseline;
  }
  uint32_t make(uint32_t group, uint32_t mask, Tick baseline, bool* was_cut);
  static Block plan(uint32_t mask, Tick baseline);
  const Block* find_wider(const Head& head, const Block& block) const;
  const Block* make_wider(uint32_t group, const Block& block);
  uint32_t encode(uint32_t group, Block block, const Block* wider);
  bool encode_entries(BitWriter& out, uint32_t base_slot, const Block& block);
  void cut_entries(BitWriter& out, const Block& block, const Block& wider) const;

  const ObjectTable& table_;
  const StateStore& store_;
  EntryCache& entries_;
  Tick tick_ = 0;
  uint32_t send_ = 1;
  std::vector<Head> heads_;  // by group
  std::vector<Block> blocks_;
  std::vector<uint8_t> bytes_;  // each block with kSpareBytes behind it, so that whole words can be read
  /// The entries of blocks that were not cut; behind those of each block, one that begins where it ends.
  std::vector<Written> written_;
  std::vector<uint8_t> scratch_;
  uint64_t encoded_ = 0;
  uint64_t shared_ = 0;
  uint64_t cut_ = 0;
};

}  // namespace lattice::replication
