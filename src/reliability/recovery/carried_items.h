// The items of each sent packet: reliable messages, receipts and chunks. They are chains of small nodes in
// one arena, which all connections of an endpoint share. Consecutive messages share a node, and new messages
// always are consecutive, so a packet full of small messages needs one node. A chain lives until its packet
// is acked or forgotten.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/assert.h"
#include "base/compiler.h"

namespace lattice::reliability {

enum class CarriedKind : uint8_t { kReliableMessage, kReceipt, kChunk };

struct CarriedItem {
  CarriedKind kind = CarriedKind::kReliableMessage;
  uint8_t channel = 0;  ///< Of a reliable message.
  uint16_t count = 1;   ///< Of reliable messages, from `value` on.
  uint32_t value = 0;   ///< Index of a reliable message, the receipt, or the chunk's number in BulkSource.
};

class CarriedItems {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;
  /// Most reliable messages, receipts and chunks one packet carries.
  static constexpr size_t kMaxPerPacket = 256;

  /// Holds `reserve` nodes from the start and grows by doubling up to `bound`.
  CarriedItems(size_t reserve, size_t bound) : bound_(bound) { nodes_.reserve(reserve); }

  /// Room for one more packet's items. Without it no packet that carries items is built: back-pressure.
  bool has_room() const { return live_ + kMaxPerPacket <= bound_; }

  /// Puts an item in front of `chain`. has_room() held when the packet was begun. By its members: an item in
  /// memory that was just put together could only be read as a whole once all writes before it are done.
  void add(uint32_t* chain, CarriedKind kind, uint8_t channel, uint32_t value, uint16_t count = 1) {
    uint32_t index = free_;
    if (index != kNone) {
      free_ = nodes_[index].next;
      prefetch(free_);  // the next add() reads it
    } else {
      index = static_cast<uint32_t>(nodes_.size());
      nodes_.emplace_back();
    }
    nodes_[index] = {*chain, {kind, channel, count, value}};
    *chain = index;
    ++live_;
  }

  /// Adds `count` reliable messages of `channel` from index `first` on. If they follow the messages of the
  /// item in front, that item grows.
  void add_messages(uint32_t* chain, uint8_t channel, uint32_t first, size_t count) {
    LATTICE_ASSERT(count != 0 && count <= kMaxPerPacket);
    if (*chain != kNone) {
      CarriedItem& front = nodes_[*chain].item;
      if (front.kind == CarriedKind::kReliableMessage && front.channel == channel &&
          front.value + front.count == first) {
        front.count = static_cast<uint16_t>(front.count + count);
        return;
      }
    }
    add(chain, CarriedKind::kReliableMessage, channel, first, static_cast<uint16_t>(count));
  }

  /// Calls visit(item) for each item of the chain, and removes the item if visit() returns true. Visitors
  /// must not add or remove items.
  template <class Visit>
  void remove_if(uint32_t* chain, Visit visit) {
    uint32_t kept = kNone;
    uint32_t index = *chain;
    while (index != kNone) {
      const uint32_t next = nodes_[index].next;
      if (visit(nodes_[index].item)) {
        nodes_[index].next = free_;
        free_ = index;
        --live_;
      } else {
        nodes_[index].next = kept;
        kept = index;
      }
      index = next;
    }
    *chain = kept;
  }

  /// Fetches the first node of a chain into the cache. Only a hint.
  void prefetch(uint32_t chain) const {
    if (chain != kNone) base::prefetch(&nodes_[chain]);
  }

  size_t live() const { return live_; }

 private:
  struct Node {
    uint32_t next = kNone;
    CarriedItem item;
  };
  std::vector<Node> nodes_;
  uint32_t free_ = kNone;
  size_t live_ = 0;
  size_t bound_;
};

}  // namespace lattice::reliability
