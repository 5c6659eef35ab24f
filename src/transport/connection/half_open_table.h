// Accepted connections whose client has not yet proved that it receives message 4 (H-11), each for `life_ns`.
//
// Nobody keeps newcomers out by never confirming. Each route has an equal part of the places. A player has at
// most half of the places of a rate subject, which on UDP is one /24 or /56. At any bound, an entry that is
// kSureNs old gives way to a newcomer: honest clients confirm after a round trip. Whoever let an entry end
// unconfirmed is remembered for kRememberNs, and his entries give way at any age. Where none may, the
// newcomer gets no answer and its token stays unclaimed, so that a retry succeeds.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "transport/connection/rate_subject.h"

namespace lattice::connection {

class HalfOpenTable {
 public:
  /// So long an entry gives way to nobody. A client repeats message 3 at least each 1.1 s, and its first
  /// packet each 0.5 s, so one lost datagram costs no honest client its place.
  static constexpr uint64_t kSureNs = 2'500'000'000;

  /// So long, and so many of them, are remembered who let an entry end unconfirmed.
  static constexpr uint64_t kRememberNs = 60'000'000'000;
  static constexpr size_t kMostRemembered = 256;

  /// Whose connection it is. `player` 0: the token names none, and only the subject counts.
  struct Owner {
    RateSubject subject;
    uint64_t player = 0;

    bool is_same(const Owner& other) const {
      return player == other.player && (player != 0 || subject == other.subject);
    }
  };
  /// A place for one more entry.
  struct Room {
    uint64_t gives_way = 0;  // the connection that must end for it; 0: none
  };

  /// At most `total` entries, `per_subject` of one rate subject, and of one of `routes` its part.
  HalfOpenTable(uint32_t total, uint32_t per_subject, uint64_t life_ns, size_t routes = 1);

  /// Room for an entry of `owner`, if there is any. With `needs_place` an entry must give way in any case.
  std::optional<Room> room_for(const Owner& owner, uint64_t now_ns, bool needs_place = false);
  /// There must be room, and what gives way for it must have been erased.
  void insert(uint64_t connection_id, const Owner& owner, uint64_t now_ns);
  /// Unknown ids are ignored.
  void confirm(uint64_t connection_id);
  /// It ended; unconfirmed, if it is known.
  void end(uint64_t connection_id, uint64_t now_ns);
  uint32_t size(uint64_t now_ns);

 private:
  struct Entry {
    uint64_t connection_id = 0;
    Owner owner;
    uint64_t began_ns = 0;
    bool is_sure = false;  // gives way to nobody before kSureNs

    bool may_give_way(uint64_t now_ns) const { return !is_sure || now_ns >= began_ns + kSureNs; }
  };
  struct Remembered {
    Owner owner;
    uint64_t until_ns = 0;
  };
  void drop_expired(uint64_t now_ns);
  template <class Matches>
  uint32_t count(Matches matches) const;
  template <class Matches>
  std::optional<Room> oldest(uint64_t now_ns, Matches matches) const;
  std::optional<Room> oldest_of_fullest_subject(uint64_t now_ns, uint8_t route) const;
  uint8_t fullest_route(uint8_t at_equal) const;
  std::vector<Entry>::iterator find(uint64_t connection_id);
  void remove(std::vector<Entry>::iterator entry);
  void note_gone(const Entry& entry);
  /// An entry of `owner` ended unconfirmed.
  void remember(const Owner& owner, uint64_t now_ns);
  bool is_remembered(const Owner& owner, uint64_t now_ns) const;

  std::vector<Entry> entries_;          // the oldest first
  std::vector<Remembered> remembered_;  // by until_ns
  std::unordered_map<RateSubject, uint32_t, HashOfSubject> of_subject_;
  std::array<uint32_t, base::kMaxRoutes> of_route_{};
  uint32_t total_;
  uint32_t per_route_;
  uint32_t per_subject_;
  uint64_t life_ns_;
};

}  // namespace lattice::connection
