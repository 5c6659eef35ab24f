// Remembers which tokens were used, by which client, and with which answer (H-06). A claim is made when
// message 3 has verified, and not earlier. It lives until the token's expiry + 60 s, even if its connection
// ends, because until then the token would verify again.
//
// Bound: the capacity given at creation. A full table refuses new claims (the client gets ServerFull) and
// never drops an unexpired claim: its token could then be used twice. Expired claims are dropped by sweep(),
// and by a search for room that passes them. Once half of the table is used, an owner that has its share gets
// no more. So one account with a login service that makes tokens for it all the time keeps nobody out. And
// the claims of one route leave a part of that half to each other route.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/hash_index.h"
#include "transport/connection/prefix_rate.h"
#include "transport/connection/rate_subject.h"
#include "transport/crypto/secret.h"
#include "transport/wire/constants.h"
#include "transport/wire/handshake_bodies.h"

namespace lattice::connection {

inline constexpr uint64_t kClaimLingerS = 60;
/// Size of a whole message 4 datagram.
inline constexpr size_t kAcceptedDatagramBytes =
    wire::kMinHeaderBytes + wire::kAnswerClearBytes + wire::kConnectionAcceptedSealedBytes + wire::kTagBytes;

struct Claim {
  wire::Id16 token_id{};
  crypto::PublicKey client{};
  std::array<uint8_t, kAcceptedDatagramBytes> accepted_datagram{};  ///< Message 4, repeated unchanged.
};

class ClaimTable {
 public:
  /// `capacity` is at least 1; `hash_key` is random and secret.
  ClaimTable(uint32_t capacity, uint64_t hash_key, size_t routes = 1);

  /// The claim on `token_id`, or null. Pointers hold until the next insert() or sweep().
  Claim* find(const wire::Id16& token_id);
  /// Whose claim it is: a number of owner_of(), and the route that he came on.
  struct Owner {
    uint64_t id = 0;
    uint8_t route = base::kUdpRoute;
  };
  /// Makes a claim of `owner`, kept until Unix second `drop_at_s` (above 0), for the live connection
  /// `connection_id` (non-zero). Null unless room_for() is kRoom. find(token_id) must be null.
  Claim* insert(const wire::Id16& token_id, const Owner& owner, uint64_t connection_id, uint64_t drop_at_s,
                uint64_t now_s);

  enum class Room : uint8_t {
    kRoom,
    kShareUsed,  ///< Half of the table is used, and the owner has its share of claims.
    kFull,       ///< Of all claims, or of those of the route.
  };
  /// Whether insert() would succeed. Claims that have expired at `now_s` do not count.
  Room room_for(const Owner& owner, uint64_t now_s);
  /// A player, as an owner.
  uint64_t owner_of(const wire::Id16& player) const { return hash(player); }
  /// A rate subject, as an owner.
  uint64_t owner_of(const RateSubject& subject) const;

  /// True while the connection of `claim` (of this table) lives.
  bool connection_lives(const Claim& claim) const;
  /// True when a living connection has this id.
  bool has_connection(uint64_t connection_id) const;
  /// The connection is gone: from now on the server does not answer its token.
  void on_connection_ended(uint64_t connection_id);
  /// Drops expired claims.
  void sweep(uint64_t now_s);

  uint32_t size() const { return count_; }
  uint32_t capacity() const { return capacity_; }
  /// The claims that an owner may have once half of the table is used.
  uint32_t share() const { return std::max(capacity_ / kShares, kLeastShare); }

 private:
  static constexpr uint32_t kShares = 256;
  static constexpr uint32_t kLeastShare = 4;

  uint64_t hash(const wire::Id16& id) const;
  size_t home_of(const wire::Id16& token_id) const { return hash(token_id) & (claims_.size() - 1); }
  void erase_at(size_t index);

  // Parallel arrays, so that a scan by time or by owner touches eight bytes per entry.
  std::vector<Claim> claims_;
  std::vector<uint64_t> drop_at_s_;  // 0: the entry is free.
  std::vector<uint64_t> owner_;
  std::vector<uint8_t> route_;
  std::vector<uint64_t> connection_id_;  // The connection of the claim; it lives while it is in `living_`.
  base::HashIndex living_;               // An index: each connection made or ended is one of thousands.
  uint32_t capacity_;
  uint32_t count_ = 0;
  uint32_t most_of_route_;
  std::array<uint32_t, base::kMaxRoutes> of_route_{};
  uint64_t earliest_drop_s_ = UINT64_MAX;  ///< No claim expires earlier.
  uint64_t hash_key_;
};

}  // namespace lattice::connection
