// Accepted connections whose client has not yet proved that it receives message 4 (H-11), each for `life_ns`.
//
// Nobody keeps newcomers out by never confirming. A player has at most half of the places of a prefix, which
// is one /24 or /56. At any bound, an entry that is a second old gives way to a newcomer: honest clients
// confirm after a round trip. Where none is that old, the newcomer gets no answer and its token stays
// unclaimed, so that a retry succeeds.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace lattice::connection {

class HalfOpenTable {
 public:
  /// So long an entry gives way to nobody. A client repeats message 3 at least each 1.1 s, and its first
  /// packet each 0.5 s, so one lost datagram costs no honest client its place.
  static constexpr uint64_t kSureNs = 2'500'000'000;

  /// Whose connection it is. `player` 0: the token names none, and only the prefix counts.
  struct Owner {
    uint64_t prefix = 0;
    uint64_t player = 0;
  };
  /// A place for one more entry.
  struct Room {
    uint64_t gives_way = 0;  // the connection that must end for it; 0: none
  };

  /// At most `total` entries, and `per_prefix` of one prefix.
  HalfOpenTable(uint32_t total, uint32_t per_prefix, uint64_t life_ns);

  /// Room for an entry of `owner`, if there is any. With `needs_place` an entry must give way in any case.
  std::optional<Room> room_for(const Owner& owner, uint64_t now_ns, bool needs_place = false);
  /// There must be room, and what gives way for it must have been erased.
  void insert(uint64_t connection_id, const Owner& owner, uint64_t now_ns);
  /// Confirmed or ended; unknown ids are ignored.
  void erase(uint64_t connection_id);
  uint32_t size(uint64_t now_ns);

 private:
  struct Entry {
    uint64_t connection_id = 0;
    Owner owner;
    uint64_t began_ns = 0;
  };
  void drop_expired(uint64_t now_ns);
  template <class Matches>
  uint32_t count(Matches matches) const;
  template <class Matches>
  std::optional<Room> oldest(uint64_t now_ns, Matches matches) const;
  std::optional<Room> oldest_of_fullest_prefix(uint64_t now_ns) const;
  void note_gone(const Entry& entry);

  std::vector<Entry> entries_;  // the oldest first
  std::unordered_map<uint64_t, uint32_t> of_prefix_;
  uint32_t total_;
  uint32_t per_prefix_;
  uint64_t life_ns_;
};

}  // namespace lattice::connection
