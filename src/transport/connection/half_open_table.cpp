#include "transport/connection/half_open_table.h"

#include <algorithm>

#include "base/assert.h"

namespace lattice::connection {

HalfOpenTable::HalfOpenTable(uint32_t total, uint32_t per_prefix, uint64_t life_ns)
    : total_(total), per_prefix_(per_prefix), life_ns_(life_ns) {
  entries_.reserve(total);
}

void HalfOpenTable::drop_expired(uint64_t now_ns) {
  std::erase_if(entries_, [now_ns](const Entry& entry) { return now_ns >= entry.expires_ns; });
}

bool HalfOpenTable::has_room(uint64_t prefix, uint64_t now_ns) {
  drop_expired(now_ns);
  if (entries_.size() >= total_) return false;
  const auto same = std::count_if(entries_.begin(), entries_.end(),
                                  [prefix](const Entry& entry) { return entry.prefix == prefix; });
  return static_cast<uint64_t>(same) < per_prefix_;
}

void HalfOpenTable::insert(uint64_t connection_id, uint64_t prefix, uint64_t now_ns) {
  LATTICE_CHECK(entries_.size() < total_);
  entries_.push_back({connection_id, prefix, now_ns + life_ns_});
}

void HalfOpenTable::erase(uint64_t connection_id) {
  std::erase_if(entries_,
                [connection_id](const Entry& entry) { return entry.connection_id == connection_id; });
}

uint32_t HalfOpenTable::size(uint64_t now_ns) {
  drop_expired(now_ns);
  return static_cast<uint32_t>(entries_.size());
}

}  // namespace lattice::connection
