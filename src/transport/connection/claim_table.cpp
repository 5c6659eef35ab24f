#include "transport/connection/claim_table.h"

#include <algorithm>
#include <bit>

#include "base/assert.h"
#include "base/random.h"
#include "platform/byte_order.h"

namespace lattice::connection {

ClaimTable::ClaimTable(uint32_t capacity, uint64_t hash_key, size_t routes)
    : claims_(std::bit_ceil(size_t{capacity} * 2)),
      drop_at_s_(claims_.size()),
      owner_(claims_.size()),
      route_(claims_.size()),
      connection_id_(claims_.size()),
      living_(capacity, base::HashIndex::Growth::kFixed, hash_key),
      capacity_(capacity),
      most_of_route_(capacity -
                     static_cast<uint32_t>(routes - 1) * (capacity / 2 / static_cast<uint32_t>(routes))),
      hash_key_(hash_key) {
  LATTICE_CHECK(capacity >= 1);
}

uint64_t ClaimTable::hash(const wire::Id16& id) const {
  uint64_t state = platform::load_u64_le(id.data()) ^ hash_key_;
  state = base::splitmix64(state) ^ platform::load_u64_le(id.data() + 8);
  return base::splitmix64(state);
}

uint64_t ClaimTable::owner_of(const RateSubject& subject) const {
  wire::Id16 id{};
  platform::store_u64_le(id.data(), subject.id);
  id[8] = subject.route;
  return hash(id);
}

Claim* ClaimTable::find(const wire::Id16& token_id) {
  const size_t mask = claims_.size() - 1;
  for (size_t i = home_of(token_id); drop_at_s_[i] != 0; i = (i + 1) & mask) {
    if (crypto::equal_constant_time(claims_[i].token_id, token_id)) return &claims_[i];
  }
  return nullptr;
}

Claim* ClaimTable::insert(const wire::Id16& token_id, const Owner& owner, uint64_t connection_id,
                          uint64_t drop_at_s, uint64_t now_s) {
  LATTICE_CHECK(drop_at_s > 0 && connection_id != 0);
  LATTICE_ASSERT(find(token_id) == nullptr);
  if (room_for(owner, now_s) != Room::kRoom) return nullptr;
  const size_t mask = claims_.size() - 1;
  size_t i = home_of(token_id);
  while (drop_at_s_[i] != 0) i = (i + 1) & mask;
  claims_[i] = Claim{};
  claims_[i].token_id = token_id;
  drop_at_s_[i] = drop_at_s;
  owner_[i] = owner.id;
  route_[i] = owner.route;
  ++of_route_[owner.route];
  earliest_drop_s_ = std::min(earliest_drop_s_, drop_at_s);
  connection_id_[i] = connection_id;
  const bool is_new = living_.insert(connection_id, 0);
  LATTICE_CHECK(is_new);  // A claim has at most one live connection, and the caller chose a fresh id.
  ++count_;
  return &claims_[i];
}

ClaimTable::Room ClaimTable::room_for(const Owner& owner, uint64_t now_s) {
  if (count_ < capacity_ / 2) return Room::kRoom;
  sweep(now_s);
  if (count_ < capacity_ / 2) return Room::kRoom;
  if (count_ == capacity_ || of_route_[owner.route] >= most_of_route_) return Room::kFull;
  uint32_t owned = 0;
  for (size_t i = 0; i < owner_.size(); ++i) {
    if (drop_at_s_[i] != 0 && owner_[i] == owner.id) ++owned;
  }
  return owned < share() ? Room::kRoom : Room::kShareUsed;
}

bool ClaimTable::connection_lives(const Claim& claim) const {
  return living_.contains(connection_id_[static_cast<size_t>(&claim - claims_.data())]);
}

bool ClaimTable::has_connection(uint64_t connection_id) const {
  return living_.contains(connection_id);
}

void ClaimTable::on_connection_ended(uint64_t connection_id) {
  living_.erase(connection_id);
}

void ClaimTable::erase_at(size_t hole) {
  const size_t mask = claims_.size() - 1;
  living_.erase(connection_id_[hole]);
  --of_route_[route_[hole]];
  // Backward shift: an entry moves into the hole unless its home lies strictly behind the hole.
  for (size_t i = (hole + 1) & mask; drop_at_s_[i] != 0; i = (i + 1) & mask) {
    const size_t home = home_of(claims_[i].token_id);
    if (((i - home) & mask) < ((i - hole) & mask)) continue;
    claims_[hole] = claims_[i];
    drop_at_s_[hole] = drop_at_s_[i];
    owner_[hole] = owner_[i];
    route_[hole] = route_[i];
    connection_id_[hole] = connection_id_[i];
    hole = i;
  }
  claims_[hole] = Claim{};
  drop_at_s_[hole] = 0;
  connection_id_[hole] = 0;
  --count_;
}

void ClaimTable::sweep(uint64_t now_s) {
  if (now_s < earliest_drop_s_) return;
  for (size_t i = 0; i < drop_at_s_.size();) {
    const bool expired = drop_at_s_[i] != 0 && drop_at_s_[i] <= now_s;
    // Erasing may move another entry to `i`, so the loop looks at `i` again.
    if (expired) {
      erase_at(i);
    } else {
      ++i;
    }
  }
  earliest_drop_s_ = UINT64_MAX;
  for (const uint64_t drop_at_s : drop_at_s_) {
    if (drop_at_s != 0) earliest_drop_s_ = std::min(earliest_drop_s_, drop_at_s);
  }
}

}  // namespace lattice::connection
