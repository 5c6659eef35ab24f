#include "fragment/reassembler.h"

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
  Result result;
  result.evicted = make_unreliable_room();
  if (!memory_->has_room()) {
    result.refusal = Refusal::kMessageNoMemory;
    return result;
  }
  PartialGroup* group = find_unreliable(piece);
  if (group == nullptr) {
    if (unreliable_.count == kMaxUnreliableGroups) {
      close_oldest_unreliable();
      ++result.evicted;
    }
    group = open_unreliable(piece);
  }
  result.refusal = group->refusal(piece);
  if (!result.refusal) {
    const size_t held_before = group->held_blocks();
    result.is_complete = take(group, piece, now_ns, message);
    unreliable_.blocks += group->held_blocks() - held_before;
  }
  if (result.is_complete || (result.refusal && result.refusal != Refusal::kFragmentDuplicate)) {
    close_unreliable(group);
  }
  return result;
}

// Room for one block more, unless the system has no memory.
uint32_t Reassembler::make_unreliable_room() {
  uint32_t evicted = 0;
  for (; unreliable_.blocks >= reliability::ReceiveMemory::kShareBlocks; ++evicted) {
    if (unreliable_.blocks < kMaxUnreliableBlocks && memory_->may_grow()) break;
    close_oldest_unreliable();
  }
  for (; unreliable_.count != 0 && !memory_->has_room(); ++evicted) close_oldest_unreliable();
  return evicted;
}

// The ids of a channel span little more than a window, so they have an order.
size_t Reassembler::Row::place_of(base::Sequence16 id) const {
  const auto place = std::lower_bound(
      entries.begin(), entries.end(), id,
      [](const Entry& entry, base::Sequence16 wanted) { return entry.id.distance_from(wanted) < 0; });
  return static_cast<size_t>(place - entries.begin());
}

Reassembler::Result Reassembler::add_reliable(const Piece& piece, uint64_t now_ns,
                                              std::vector<uint8_t>* message) {
  Result result;
  Row& row = reliable_[piece.channel];
  const bool is_ordered = piece.mode == ChannelMode::kReliableOrdered;
  const size_t place = is_ordered ? 0 : row.place_of(piece.group_id());
  const bool is_there =
      place < row.entries.size() && (is_ordered || row.entries[place].id == piece.group_id());
  if (!is_there) {
    result.refusal = refuse_opening(row, place, piece);
    if (result.refusal) return result;
    PartialGroup* opened = PartialGroup::open(*memory_, piece);
    row.entries.insert(row.entries.begin() + static_cast<std::ptrdiff_t>(place), {opened->id(), opened});
    ++reliable_count_;
    reliable_blocks_ += opened->held_blocks();
  }
  PartialGroup* group = row.entries[place].group;
  if (is_there && is_ordered && piece.header.index != group->received()) {
    result.refusal = Refusal::kFragmentOrder;
    return result;
  }
  result.refusal = group->refusal(piece);
  if (result.refusal) return result;
  const size_t held_before = group->held_blocks();
  result.is_complete = take(group, piece, now_ns, message);
  reliable_blocks_ += group->held_blocks() - held_before;
  if (!result.is_complete) return result;
  --reliable_count_;
  reliable_blocks_ -= group->held_blocks();
  PartialGroup::close(*memory_, group);
  row.entries.erase(row.entries.begin() + static_cast<std::ptrdiff_t>(place));
  return result;
}

// Groups do not overlap, so only the neighbours of a new one matter, and of those behind the window the
// first.
std::optional<Refusal> Reassembler::refuse_opening(const Row& row, size_t place, const Piece& piece) const {
  if (piece.mode == ChannelMode::kReliableOrdered) {
    return piece.header.index == 0 ? std::nullopt : std::optional(Refusal::kFragmentOrder);
  }
  const base::Sequence16 first = piece.group_id();
  const base::Sequence16 last = first.plus(piece.header.count - 1);
  // This is the first of its fragments that came, and every id before next_id has come.
  if (piece.header.index != 0 && first.distance_from(piece.next_id) < 0) return Refusal::kFragmentOrder;
  // Every id of that message has been received, and some of them were not its fragments.
  if (!row.entries.empty() && row.entries[0].group->last_id().distance_from(piece.next_id) < 0) {
    return Refusal::kFragmentOrder;
  }
  const bool overlaps_before =
      place != 0 && first.distance_from(row.entries[place - 1].group->last_id()) <= 0;
  const bool overlaps_after = place < row.entries.size() && row.entries[place].id.distance_from(last) <= 0;
  return overlaps_before || overlaps_after ? std::optional(Refusal::kFragmentMismatch) : std::nullopt;
}

bool Reassembler::take(PartialGroup* group, const Piece& piece, uint64_t now_ns,
                       std::vector<uint8_t>* message) {
  group->keep(*memory_, piece, now_ns);
  if (!group->is_complete()) return false;
  message->resize(group->message_bytes());
  group->assemble(*message);
  return true;
}

PartialGroup* Reassembler::find_unreliable(const Piece& piece) const {
  PartialGroup* group = unreliable_.head;
  while (group != nullptr && (group->channel() != piece.channel || group->number() != piece.header.group)) {
    group = group->next;
  }
  return group;
}

PartialGroup* Reassembler::open_unreliable(const Piece& piece) {
  PartialGroup* group = PartialGroup::open(*memory_, piece);
  group->next = unreliable_.head;
  unreliable_.head = group;
  ++unreliable_.count;
  unreliable_.blocks += group->held_blocks();
  return group;
}

void Reassembler::close_unreliable(PartialGroup* group) {
  PartialGroup** link = &unreliable_.head;
  while (*link != group) link = &(*link)->next;
  *link = group->next;
  --unreliable_.count;
  unreliable_.blocks -= group->held_blocks();
  PartialGroup::close(*memory_, group);
}

void Reassembler::close_oldest_unreliable() {
  PartialGroup* oldest = unreliable_.head;
  while (oldest->next != nullptr) oldest = oldest->next;
  close_unreliable(oldest);
}

template <class Condition>
uint32_t Reassembler::close_unreliable_if(Condition condition) {
  uint32_t closed = 0;
  for (PartialGroup* group = unreliable_.head; group != nullptr;) {
    PartialGroup* next = group->next;
    if (condition(*group)) {
      close_unreliable(group);
      ++closed;
    }
    group = next;
  }
  return closed;
}

uint32_t Reassembler::expire(uint64_t now_ns) {
  return close_unreliable_if(
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
  return close_unreliable_if([&](const PartialGroup& group) {
    return group.channel() == channel && group.mode() == ChannelMode::kUnreliableSequenced &&
           !base::sequence_greater(group.id(), newest);
  });
}

bool Reassembler::is_inside_message(uint8_t channel) const {
  const std::vector<Row::Entry>& entries = reliable_[channel].entries;
  return !entries.empty() && entries[0].group->mode() == ChannelMode::kReliableOrdered;
}

std::optional<base::Sequence16> Reassembler::oldest_incomplete(uint8_t channel) const {
  const std::vector<Row::Entry>& entries = reliable_[channel].entries;
  return entries.empty() ? std::nullopt : std::optional(entries[0].id);
}

void Reassembler::clear() {
  close_unreliable_if([](const PartialGroup&) { return true; });
  LATTICE_ASSERT(unreliable_.count == 0 && unreliable_.blocks == 0);
  for (Row& row : reliable_) {
    for (const Row::Entry& entry : row.entries) PartialGroup::close(*memory_, entry.group);
    row.entries.clear();
  }
  reliable_count_ = reliable_blocks_ = 0;
}

size_t Reassembler::group_count() const {
  return unreliable_.count + reliable_count_;
}

size_t Reassembler::held_blocks() const {
  return unreliable_.blocks + reliable_blocks_;
}

}  // namespace lattice::fragment
