// Accepted connections whose client has not yet proved that it receives message 4 (H-11): at most `total`,
// and at most `per_prefix` of one /24 or /56, each for `life_ns`. At a bound the next message 3 gets no
// answer and its token stays unclaimed, so a retry succeeds once an entry was confirmed or expired.
#pragma once

#include <cstdint>
#include <vector>

namespace lattice::connection {

class HalfOpenTable {
 public:
  HalfOpenTable(uint32_t total, uint32_t per_prefix, uint64_t life_ns);

  /// True when another entry of `prefix` fits now.
  bool has_room(uint64_t prefix, uint64_t now_ns);
  /// has_room() must hold.
  void insert(uint64_t connection_id, uint64_t prefix, uint64_t now_ns);
  /// Confirmed or ended; unknown ids are ignored.
  void erase(uint64_t connection_id);
  uint32_t size(uint64_t now_ns);

 private:
  struct Entry {
    uint64_t connection_id;
    uint64_t prefix;
    uint64_t expires_ns;
  };
  void drop_expired(uint64_t now_ns);

  std::vector<Entry> entries_;
  uint32_t total_;
  uint32_t per_prefix_;
  uint64_t life_ns_;
};

}  // namespace lattice::connection
