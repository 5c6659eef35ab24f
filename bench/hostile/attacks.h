// What a hostile player sends. Each attack makes the datagram that costs a server the most, of one kind.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "hostile/raw_player.h"

namespace bench {

/// One player's attack. It keeps what the next datagram depends on.
class Attack {
 public:
  virtual ~Attack() = default;
  virtual void send_one(RawPlayer& player, uint64_t now_ns) = 0;
};

/// The names of all attacks.
std::span<const std::string_view> attack_names();
/// Null when there is no such attack.
std::unique_ptr<Attack> make_attack(std::string_view name);

}  // namespace bench
