#include "fragment/partial_group.h"

#include <cstring>
#include <new>

#include "base/assert.h"

namespace lattice::fragment {

using reliability::ReceiveMemory;
using reliability::Refusal;

PartialGroup::PartialGroup(const Piece& first)
    : id_(first.group_id()),
      number_(first.header.group),
      count_(first.header.count),
      channel_(first.channel),
      mode_(first.mode),
      is_rpc_(first.is_rpc) {}

PartialGroup* PartialGroup::open(ReceiveMemory& memory, const Piece& first) {
  return new (memory.take()) PartialGroup(first);
}

void PartialGroup::close(ReceiveMemory& memory, PartialGroup* group) {
  for (Record* record = group->records_; record != nullptr;) {
    Record* next = record->next;
    auto* block = reinterpret_cast<uint8_t*>(record);
    if (block != group->first_record()) memory.give(block);
    record = next;
  }
  group->~PartialGroup();
  memory.give(reinterpret_cast<uint8_t*>(group));
}

std::optional<Refusal> PartialGroup::refusal(const Piece& piece) const {
  if (piece.header.group != number_ || piece.header.count != count_ || piece.is_rpc != is_rpc_ ||
      piece.group_id() != id_) {
    return Refusal::kFragmentMismatch;
  }
  if (have_.test(piece.header.index)) return Refusal::kFragmentDuplicate;
  const size_t bytes = piece.body.size();
  if (bytes == 0 || bytes > kMaxPieceBytes) return Refusal::kFragmentLength;
  const size_t unit = piece.is_last() ? unit_bytes_ : bytes;
  const size_t last = piece.is_last() ? bytes : last_bytes_;
  if (!piece.is_last() && unit_bytes_ != 0 && bytes != unit_bytes_) return Refusal::kFragmentLength;
  if (unit != 0 && last > unit) return Refusal::kFragmentLength;
  // The shortest length that this message can have.
  if (unit * (count_ - 1u) + (last == 0 ? 1 : last) > kMaxMessageBytes) return Refusal::kFragmentTooLong;
  return std::nullopt;
}

void PartialGroup::keep(ReceiveMemory& memory, const Piece& piece, uint64_t now_ns) {
  LATTICE_ASSERT(!refusal(piece));
  uint8_t* room = received_ == 0 ? first_record() : memory.take();
  const auto bytes = static_cast<uint16_t>(piece.body.size());
  records_ = new (room) Record{records_, bytes, piece.header.index};
  std::memcpy(room + sizeof(Record), piece.body.data(), bytes);
  have_.set(piece.header.index);
  (piece.is_last() ? last_bytes_ : unit_bytes_) = bytes;
  ++received_;
  newest_ns_ = now_ns;
}

void PartialGroup::assemble(std::span<uint8_t> out) const {
  LATTICE_ASSERT(is_complete() && out.size() == message_bytes());
  for (const Record* record = records_; record != nullptr; record = record->next) {
    const auto* body = reinterpret_cast<const uint8_t*>(record) + sizeof(Record);
    std::memcpy(out.data() + size_t{record->index} * unit_bytes_, body, record->bytes);
  }
}

}  // namespace lattice::fragment
