#include "transport/fragment/reassembler.h"

#include <algorithm>

#include "base/assert.h"

namespace lattice::fragment {

using reliability::Refusal;
using wire::ChannelMode;

Reassembler::Result Reassembler::add(const Piece& piece, uint64_t now_ns, std::vector<uint8_t>* message) {
  return piece.is_reliable() ? add_reliable(piece, now_ns, message) : add_unreliable(piece, now_ns, message);
}

Reassembler::Result Reassembler::add_unreliable(const Piece& piece, uint64_t now_ns,
                                                std::vector<uint8_t>* message) {
  uint32_t evicted = make_unreliable_room();
  if (!memory_->has_room()) return {false, Refusal::kMessageNoMemory, evicted};
  PartialGroup* group = find(unreliable_, piece);
  if (group == nullptr) {
    if (unreliable_.count == kMaxUnreliableGroups) {
      close_oldest(unreliable_);
      ++evicted;
    }
    group = open(unreliable_, piece);
  }
  Result result;
  result.refusal = group->refusal(piece);
  if (!result.refusal) result = take(unreliable_, group, piece, now_ns, message);
  if (result.refusal && result.refusal != Refusal::kFragmentDuplicate) close(unreliable_, group);
  result.evicted = evicted;
  return result;
}

// Room for one block more, unless the system has no memory.
uint32_t Reassembler::make_unreliable_room() {
  uint32_t evicted = 0;
  for (; unreliable_.blocks >= reliability::ReceiveMemory::kShareBlocks; ++evicted) {
    if (unreliable_.blocks < kMaxUnreliableBlocks && memory_->may_grow()) break;
    close_oldest(unreliable_);
  }
  for (; unreliable_.count != 0 && !memory_->has_room(); ++evicted) close_oldest(unreliable_);
  return evicted;
}

Reassembler::Result Reassembler::add_reliable(const Piece& piece, uint64_t now_ns,
                                              std::vector<uint8_t>* message) {
  Result result;
  PartialGroup* group = find(reliable_, piece);
  if (group == nullptr) {
    result.refusal = refuse_opening(piece);
    if (result.refusal) return result;
    group = open(reliable_, piece);
  } else if (piece.mode == ChannelMode::kReliableOrdered && piece.header.index != group->received()) {
    result.refusal = Refusal::kFragmentOrder;
    return result;
  }
  result.refusal = group->refusal(piece);
  return result.refusal ? result : take(reliable_, group, piece, now_ns, message);
}

std::optional<Refusal> Reassembler::refuse_opening(const Piece& piece) const {
  if (piece.mode == ChannelMode::kReliableOrdered) {
    return piece.header.index == 0 ? std::nullopt : std::optional(Refusal::kFragmentOrder);
  }
  const base::Sequence16 first = piece.group_id();
  const base::Sequence16 last = first.plus(piece.header.count - 1);
  // This is the first of its fragments that came, and every id before next_id has come.
  if (piece.header.index != 0 && first.distance_from(piece.next_id) < 0) return Refusal::kFragmentOrder;
  for (const PartialGroup* other = reliable_.head; other != nullptr; other = other->next) {
    if (other->channel() != piece.channel) continue;
    // Every id of that message has been received, and some of them were not its fragments.
    if (other->last_id().distance_from(piece.next_id) < 0) return Refusal::kFragmentOrder;
    if (first.distance_from(other->last_id()) <= 0 && other->id().distance_from(last) <= 0) {
      return Refusal::kFragmentMismatch;
    }
  }
  return std::nullopt;
}

Reassembler::Result Reassembler::take(List& list, PartialGroup* group, const Piece& piece, uint64_t now_ns,
                                      std::vector<uint8_t>* message) {
  Result result;
  const size_t held_before = group->held_blocks();
  group->keep(*memory_, piece, now_ns);
  list.blocks += group->held_blocks() - held_before;
  if (!group->is_complete()) return result;
  message->resize(group->message_bytes());
  group->assemble(*message);
  close(list, group);
  result.is_complete = true;
  return result;
}

PartialGroup* Reassembler::find(const List& list, const Piece& piece) const {
  for (PartialGroup* group = list.head; group != nullptr; group = group->next) {
    if (group->channel() != piece.channel) continue;
    switch (piece.mode) {
      case ChannelMode::kReliableOrdered:
        return group;
      case ChannelMode::kReliableUnordered:
        if (group->id() == piece.group_id()) return group;
        break;
      default:
        if (group->number() == piece.header.group) return group;
    }
  }
  return nullptr;
}

PartialGroup* Reassembler::open(List& list, const Piece& piece) {
  PartialGroup* group = PartialGroup::open(*memory_, piece);
  group->next = list.head;
  list.head = group;
  ++list.count;
  list.blocks += group->held_blocks();
  return group;
}

void Reassembler::close(List& list, PartialGroup* group) {
  PartialGroup** link = &list.head;
  while (*link != group) link = &(*link)->next;
  *link = group->next;
  --list.count;
  list.blocks -= group->held_blocks();
  PartialGroup::close(*memory_, group);
}

void Reassembler::close_oldest(List& list) {
  PartialGroup* oldest = list.head;
  while (oldest->next != nullptr) oldest = oldest->next;
  close(list, oldest);
}

template <class Condition>
uint32_t Reassembler::close_if(List& list, Condition condition) {
  uint32_t closed = 0;
  for (PartialGroup* group = list.head; group != nullptr;) {
    PartialGroup* next = group->next;
    if (condition(*group)) {
      close(list, group);
      ++closed;
    }
    group = next;
  }
  return closed;
}

uint32_t Reassembler::expire(uint64_t now_ns) {
  return close_if(unreliable_,
                  [&](const PartialGroup& group) { return now_ns - group.newest_ns() >= kGroupTimeoutNs; });
}

uint64_t Reassembler::next_expiry_ns() const {
  uint64_t next_ns = UINT64_MAX;
  for (const PartialGroup* group = unreliable_.head; group != nullptr; group = group->next) {
    next_ns = std::min(next_ns, group->newest_ns() + kGroupTimeoutNs);
  }
  return next_ns;
}

uint32_t Reassembler::drop_overtaken(uint8_t channel, base::Sequence16 newest) {
  return close_if(unreliable_, [&](const PartialGroup& group) {
    return group.channel() == channel && group.mode() == ChannelMode::kUnreliableSequenced &&
           !base::sequence_greater(group.id(), newest);
  });
}

bool Reassembler::is_inside_message(uint8_t channel) const {
  for (const PartialGroup* group = reliable_.head; group != nullptr; group = group->next) {
    if (group->channel() == channel && group->mode() == ChannelMode::kReliableOrdered) return true;
  }
  return false;
}

std::optional<base::Sequence16> Reassembler::oldest_incomplete(uint8_t channel) const {
  const PartialGroup* oldest = nullptr;
  for (const PartialGroup* group = reliable_.head; group != nullptr; group = group->next) {
    if (group->channel() != channel) continue;
    if (oldest == nullptr || group->id().distance_from(oldest->id()) < 0) oldest = group;
  }
  return oldest == nullptr ? std::nullopt : std::optional(oldest->id());
}

void Reassembler::clear() {
  for (List* list : {&unreliable_, &reliable_}) {
    close_if(*list, [](const PartialGroup&) { return true; });
    LATTICE_ASSERT(list->count == 0 && list->blocks == 0);
  }
}

size_t Reassembler::group_count() const {
  return unreliable_.count + reliable_.count;
}

size_t Reassembler::held_blocks() const {
  return unreliable_.blocks + reliable_.blocks;
}

}  // namespace lattice::fragment
