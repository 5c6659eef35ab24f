#include "transport/fragment/partial_group.h"

#include <cstring>
#include <new>

#include "base/assert.h"

namespace lattice::fragment {

using reliability::Refusal;

PartialGroup::PartialGroup(const Piece& first)
    : id_(first.group_id()),
      number_(first.header.group),
      count_(first.header.count),
      channel_(first.channel),
      mode_(first.mode),
      is_rpc_(first.is_rpc) {}

PartialGroup* PartialGroup::open(base::BufferPool& pool, const Piece& first) {
  const base::Buffer buffer = pool.allocate(sizeof(PartialGroup));
  if (!buffer) return nullptr;
  auto* group = new (buffer.data) PartialGroup(first);
  group->capacity_bytes_ = group->held_bytes_ = buffer.capacity_bytes;
  return group;
}

void PartialGroup::close(base::BufferPool& pool, PartialGroup* group) {
  for (Record* record = group->records_; record != nullptr;) {
    Record* next = record->next;
    base::Buffer buffer{reinterpret_cast<uint8_t*>(record), record->capacity_bytes, record->capacity_bytes};
    pool.release(buffer);
    record = next;
  }
  base::Buffer buffer{reinterpret_cast<uint8_t*>(group), group->capacity_bytes_, group->capacity_bytes_};
  group->~PartialGroup();
  pool.release(buffer);
}

std::optional<Refusal> PartialGroup::refusal(const Piece& piece) const {
  if (piece.header.group != number_ || piece.header.count != count_ || piece.is_rpc != is_rpc_ ||
      piece.group_id() != id_) {
    return Refusal::kFragmentMismatch;
  }
  if (have_.test(piece.header.index)) return Refusal::kFragmentDuplicate;
  const size_t bytes = piece.body.size();
  if (bytes == 0) return Refusal::kFragmentLength;
  const size_t unit = piece.is_last() ? unit_bytes_ : bytes;
  const size_t last = piece.is_last() ? bytes : last_bytes_;
  if (!piece.is_last() && unit_bytes_ != 0 && bytes != unit_bytes_) return Refusal::kFragmentLength;
  if (unit != 0 && last > unit) return Refusal::kFragmentLength;
  // The shortest length that this message can have.
  if (unit * (count_ - 1u) + (last == 0 ? 1 : last) > kMaxMessageBytes) return Refusal::kFragmentTooLong;
  return std::nullopt;
}

bool PartialGroup::keep(base::BufferPool& pool, const Piece& piece, uint64_t now_ns) {
  LATTICE_ASSERT(!refusal(piece));
  const base::Buffer buffer = pool.allocate(sizeof(Record) + piece.body.size());
  if (!buffer) return false;
  const auto bytes = static_cast<uint16_t>(piece.body.size());
  records_ = new (buffer.data) Record{records_, buffer.capacity_bytes, bytes, piece.header.index};
  std::memcpy(buffer.data + sizeof(Record), piece.body.data(), bytes);
  have_.set(piece.header.index);
  (piece.is_last() ? last_bytes_ : unit_bytes_) = bytes;
  ++received_;
  held_bytes_ += buffer.capacity_bytes;
  newest_ns_ = now_ns;
  return true;
}

void PartialGroup::assemble(std::span<uint8_t> out) const {
  LATTICE_ASSERT(is_complete() && out.size() == message_bytes());
  for (const Record* record = records_; record != nullptr; record = record->next) {
    const auto* body = reinterpret_cast<const uint8_t*>(record) + sizeof(Record);
    std::memcpy(out.data() + size_t{record->index} * unit_bytes_, body, record->bytes);
  }
}

}  // namespace lattice::fragment
