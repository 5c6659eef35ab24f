#include "transport/connection/half_open_table.h"

#include <algorithm>

#include "base/assert.h"

namespace lattice::connection {

HalfOpenTable::HalfOpenTable(uint32_t total, uint32_t per_prefix, uint64_t life_ns)
    : total_(total), per_prefix_(per_prefix), life_ns_(life_ns) {
  entries_.reserve(total);
}

void HalfOpenTable::drop_expired(uint64_t now_ns) {
  std::erase_if(entries_, [this, now_ns](const Entry& entry) { return now_ns >= entry.began_ns + life_ns_; });
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
    const uint32_t of_prefix =
        count([&entry](const Entry& other) { return other.owner.prefix == entry.owner.prefix; });
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
  if (count(of_player) >= std::max(per_prefix_ / 2, 1u)) return oldest(now_ns, of_player);
  if (count(of_prefix) >= per_prefix_) return oldest(now_ns, of_prefix);
  if (entries_.size() >= total_ || needs_place) return oldest_of_fullest_prefix(now_ns);
  return Room{};
}

void HalfOpenTable::insert(uint64_t connection_id, const Owner& owner, uint64_t now_ns) {
  LATTICE_CHECK(entries_.size() < total_);
  entries_.push_back({connection_id, owner, now_ns});
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
