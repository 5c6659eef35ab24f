#include "transport/connection/half_open_table.h"

#include <algorithm>

#include "base/assert.h"

namespace lattice::connection {

HalfOpenTable::HalfOpenTable(uint32_t total, uint32_t per_prefix, uint64_t life_ns)
    : total_(total), per_prefix_(per_prefix), life_ns_(life_ns) {
  entries_.reserve(total);
}

void HalfOpenTable::note_gone(const Entry& entry) {
  const auto counted = of_prefix_.find(entry.owner.prefix);
  if (--counted->second == 0) of_prefix_.erase(counted);
}

void HalfOpenTable::drop_expired(uint64_t now_ns) {
  size_t expired = 0;
  while (expired < entries_.size() && now_ns >= entries_[expired].began_ns + life_ns_) {
    note_gone(entries_[expired++]);
  }
  entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(expired));
}

template <class Matches>
uint32_t HalfOpenTable::count(Matches matches) const {
  return static_cast<uint32_t>(std::count_if(entries_.begin(), entries_.end(), matches));
}

template <class Matches>
std::optional<HalfOpenTable::Room> HalfOpenTable::oldest(uint64_t now_ns, Matches matches) const {
  const auto entry = std::find_if(entries_.begin(), entries_.end(), matches);
  if (entry == entries_.end() || now_ns < entry->began_ns + kSureNs) return std::nullopt;
  return Room{entry->connection_id};
}

// Of the prefixes with an entry that may give way. At equal numbers the oldest entry decides.
std::optional<HalfOpenTable::Room> HalfOpenTable::oldest_of_fullest_prefix(uint64_t now_ns) const {
  std::optional<Room> found;
  uint32_t most = 0;
  for (const Entry& entry : entries_) {
    if (now_ns < entry.began_ns + kSureNs) break;
    const uint32_t of_prefix = of_prefix_.at(entry.owner.prefix);
    if (of_prefix <= most) continue;
    most = of_prefix;
    found = Room{entry.connection_id};
  }
  return found;
}

std::optional<HalfOpenTable::Room> HalfOpenTable::room_for(const Owner& owner, uint64_t now_ns,
                                                           bool needs_place) {
  drop_expired(now_ns);
  const auto of_player = [&owner](const Entry& entry) {
    return owner.player != 0 && entry.owner.player == owner.player;
  };
  const auto of_prefix = [&owner](const Entry& entry) { return entry.owner.prefix == owner.prefix; };
  const auto counted = of_prefix_.find(owner.prefix);
  if (count(of_player) >= std::max(per_prefix_ / 2, 1u)) return oldest(now_ns, of_player);
  if (counted != of_prefix_.end() && counted->second >= per_prefix_) return oldest(now_ns, of_prefix);
  if (entries_.size() >= total_ || needs_place) return oldest_of_fullest_prefix(now_ns);
  return Room{};
}

void HalfOpenTable::insert(uint64_t connection_id, const Owner& owner, uint64_t now_ns) {
  LATTICE_CHECK(entries_.size() < total_);
  entries_.push_back({connection_id, owner, now_ns});
  ++of_prefix_[owner.prefix];
}

void HalfOpenTable::erase(uint64_t connection_id) {
  const auto entry = std::find_if(entries_.begin(), entries_.end(), [connection_id](const Entry& each) {
    return each.connection_id == connection_id;
  });
  if (entry == entries_.end()) return;
  note_gone(*entry);
  entries_.erase(entry);
}

uint32_t HalfOpenTable::size(uint64_t now_ns) {
  drop_expired(now_ns);
  return static_cast<uint32_t>(entries_.size());
}

}  // namespace lattice::connection
