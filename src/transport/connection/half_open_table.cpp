#include "transport/connection/half_open_table.h"

#include <algorithm>

#include "base/assert.h"
#include "transport/connection/prefix_rate.h"

namespace lattice::connection {

HalfOpenTable::HalfOpenTable(uint32_t total, uint32_t per_subject, uint64_t life_ns, size_t routes)
    : total_(total), per_route_(part_of_route(total, routes)), per_subject_(per_subject), life_ns_(life_ns) {
  entries_.reserve(total);
  remembered_.reserve(kMostRemembered);
}

void HalfOpenTable::note_gone(const Entry& entry) {
  const auto counted = of_subject_.find(entry.owner.subject);
  if (--counted->second == 0) of_subject_.erase(counted);
  --of_route_[entry.owner.subject.route];
}

void HalfOpenTable::remember(const Owner& owner, uint64_t now_ns) {
  std::erase_if(remembered_,
                [&](const Remembered& each) { return now_ns >= each.until_ns || each.owner.is_same(owner); });
  if (remembered_.size() == kMostRemembered) remembered_.erase(remembered_.begin());
  remembered_.push_back({owner, now_ns + kRememberNs});
  for (Entry& entry : entries_) entry.is_sure = entry.is_sure && !entry.owner.is_same(owner);
}

bool HalfOpenTable::is_remembered(const Owner& owner, uint64_t now_ns) const {
  return std::any_of(remembered_.begin(), remembered_.end(), [&](const Remembered& each) {
    return now_ns < each.until_ns && each.owner.is_same(owner);
  });
}

void HalfOpenTable::drop_expired(uint64_t now_ns) {
  size_t expired = 0;
  while (expired < entries_.size() && now_ns >= entries_[expired].began_ns + life_ns_) {
    note_gone(entries_[expired]);
    remember(entries_[expired++].owner, now_ns);
  }
  entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(expired));
}

template <class Matches>
uint32_t HalfOpenTable::count(Matches matches) const {
  return static_cast<uint32_t>(std::count_if(entries_.begin(), entries_.end(), matches));
}

template <class Matches>
std::optional<HalfOpenTable::Room> HalfOpenTable::oldest(uint64_t now_ns, Matches matches) const {
  const auto entry = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& each) {
    return matches(each) && each.may_give_way(now_ns);
  });
  if (entry == entries_.end()) return std::nullopt;
  return Room{entry->connection_id};
}

uint8_t HalfOpenTable::fullest_route(uint8_t at_equal) const {
  uint8_t fullest = at_equal;
  for (uint8_t route = 0; route < of_route_.size(); ++route) {
    if (of_route_[route] > of_route_[fullest]) fullest = route;
  }
  return fullest;
}

// Of the subjects of the route with an entry that may give way. At equal numbers the oldest entry decides.
std::optional<HalfOpenTable::Room> HalfOpenTable::oldest_of_fullest_subject(uint64_t now_ns,
                                                                            uint8_t route) const {
  std::optional<Room> found;
  uint32_t most = 0;
  for (const Entry& entry : entries_) {
    if (!entry.may_give_way(now_ns) || entry.owner.subject.route != route) continue;
    const uint32_t of_subject = of_subject_.at(entry.owner.subject);
    if (of_subject <= most) continue;
    most = of_subject;
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
  const auto of_subject = [&owner](const Entry& entry) { return entry.owner.subject == owner.subject; };
  const auto counted = of_subject_.find(owner.subject);
  const uint8_t route = owner.subject.route;
  if (count(of_player) >= std::max(per_subject_ / 2, 1u)) return oldest(now_ns, of_player);
  if (counted != of_subject_.end() && counted->second >= per_subject_) return oldest(now_ns, of_subject);
  if (of_route_[route] >= per_route_) return oldest_of_fullest_subject(now_ns, route);
  if (entries_.size() >= total_ || needs_place) {
    return oldest_of_fullest_subject(now_ns, fullest_route(route));
  }
  return Room{};
}

void HalfOpenTable::insert(uint64_t connection_id, const Owner& owner, uint64_t now_ns) {
  LATTICE_CHECK(entries_.size() < total_ && owner.subject.route < of_route_.size());
  entries_.push_back({connection_id, owner, now_ns, !is_remembered(owner, now_ns)});
  ++of_subject_[owner.subject];
  ++of_route_[owner.subject.route];
}

std::vector<HalfOpenTable::Entry>::iterator HalfOpenTable::find(uint64_t connection_id) {
  return std::find_if(entries_.begin(), entries_.end(),
                      [connection_id](const Entry& each) { return each.connection_id == connection_id; });
}

void HalfOpenTable::remove(std::vector<Entry>::iterator entry) {
  note_gone(*entry);
  entries_.erase(entry);
}

void HalfOpenTable::confirm(uint64_t connection_id) {
  if (const auto entry = find(connection_id); entry != entries_.end()) remove(entry);
}

void HalfOpenTable::end(uint64_t connection_id, uint64_t now_ns) {
  const auto entry = find(connection_id);
  if (entry == entries_.end()) return;
  remember(entry->owner, now_ns);
  remove(entry);
}

uint32_t HalfOpenTable::size(uint64_t now_ns) {
  drop_expired(now_ns);
  return static_cast<uint32_t>(entries_.size());
}

}  // namespace lattice::connection
