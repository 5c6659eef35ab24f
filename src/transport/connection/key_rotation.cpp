#include "transport/connection/key_rotation.h"

#include <algorithm>

#include "base/assert.h"

namespace lattice::connection {
namespace {

using wire::ControlType;

constexpr uint64_t kOverlapRtos = 3;

uint64_t add_saturating(uint64_t a, uint64_t b) {
  return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

}  // namespace

KeyRotation::KeyRotation(crypto::Role own_role, const RotationConfig& config, uint64_t now_ns)
    : own_role_(own_role), config_(config), epoch_began_ns_(now_ns) {
  LATTICE_ASSERT(reinterpret_cast<uint8_t*>(&own_) - reinterpret_cast<uint8_t*>(this) <=
                 static_cast<ptrdiff_t>(kHeadBytes));
}

bool KeyRotation::on_opened(SecureLink& link, uint32_t epoch, size_t bytes, uint64_t now_ns,
                            uint64_t rto_ns) {
  received_.add(bytes);
  if (newest_heard_ || epoch != link.newest_epoch()) {
    return received_.bytes >= config_.bytes || received_.packets >= config_.packets;
  }
  newest_heard_ = true;
  link.send_in_newest_epoch();
  overlap_ends_ns_ =
      now_ns + std::clamp(kOverlapRtos * rto_ns, config_.min_overlap_ns, config_.max_overlap_ns);
  return true;
}

// When this side begins a rotation, or asks for one: never before the minimum interval; after it as soon as
// the volume limits are reached, and otherwise after the period.
uint64_t KeyRotation::due_at_ns() const {
  const bool client = own_role_ == crypto::Role::kClient;
  const uint64_t earliest_ns = add_saturating(epoch_began_ns_, config_.min_interval_ns);
  if (asked_) return client ? earliest_ns : kNever;
  // A server waits an eighth longer than a client, so that with equal limits it never has to ask.
  const auto own_limit = [client](uint64_t limit) {
    return client ? limit : add_saturating(limit, limit / 8);
  };
  if (std::max(sent_.bytes, received_.bytes) >= own_limit(config_.bytes) ||
      std::max(sent_.packets, received_.packets) >= own_limit(config_.packets)) {
    return earliest_ns;
  }
  return std::max(earliest_ns, add_saturating(epoch_began_ns_, own_limit(config_.period_ns)));
}

// A third epoch is never live, so the old epoch must be retired before the next exchange begins.
bool KeyRotation::waits_to_begin(const SecureLink& link) const {
  return newest_heard_ && !link.old_epoch_live() && !in_flight_ && outgoing_bytes_ == 0 &&
         link.newest_epoch() != UINT32_MAX;
}

uint64_t KeyRotation::next_deadline_ns(const SecureLink& link) const {
  if (outgoing_bytes_ != 0) return 0;
  if (newest_heard_ && link.old_epoch_live()) return overlap_ends_ns_;
  return waits_to_begin(link) ? due_at_ns() : kNever;
}

void KeyRotation::update(SecureLink& link, crypto::EntropySource& entropy, uint64_t now_ns) {
  if (newest_heard_ && link.old_epoch_live() && now_ns >= overlap_ends_ns_) link.retire_old_epoch();
  if (!waits_to_begin(link) || now_ns < due_at_ns()) return;
  if (own_role_ == crypto::Role::kClient) {
    begin(link, entropy);
  } else {
    outgoing_[0] = static_cast<uint8_t>(ControlType::kRekeyAsk);
    outgoing_bytes_ = 1;
    asked_ = true;
  }
}

void KeyRotation::begin(const SecureLink& link, crypto::EntropySource& entropy) {
  own_ = crypto::KeyPair::generate(entropy);
  outgoing_bytes_ = static_cast<uint32_t>(
      wire::encode_rekey({ControlType::kRekeyInit, link.newest_epoch() + 1, own_.public_key()}, outgoing_));
  LATTICE_CHECK(outgoing_bytes_ == init_body_.size());
  init_body_ = outgoing_;
  in_flight_ = true;
}

KeyRotation::ControlResult KeyRotation::on_control(std::span<const uint8_t> body, SecureLink& link,
                                                   crypto::EntropySource& entropy, uint64_t now_ns) {
  LATTICE_CHECK(!body.empty() && wire::is_rotation_control_type(body[0]));
  const auto type = static_cast<ControlType>(body[0]);
  const bool for_client = type != ControlType::kRekeyInit;
  if (for_client != (own_role_ == crypto::Role::kClient)) return {RotationRefusal::kRekeyWrongRole};
  if (type == ControlType::kRekeyAsk) {
    if (body.size() != 1) return {RotationRefusal::kRekeyMalformed};
    // The server sent RekeyAsk before it knew of the rotation in flight, which already answers it.
    asked_ = !in_flight_;
    return {};
  }
  wire::RekeyBody rekey;
  if (!wire::parse_rekey(body, &rekey)) return {RotationRefusal::kRekeyMalformed};
  if (type == ControlType::kRekeyInit) return {answer(rekey, body, link, entropy, now_ns)};
  const RotationRefusal refusal = finish(rekey, body, link, now_ns);
  return {refusal, refusal == RotationRefusal::kNone};
}

// Server: the exchange is complete here. Only a packet that opens under the new key proves that the client
// has the key.
RotationRefusal KeyRotation::answer(const wire::RekeyBody& init, std::span<const uint8_t> init_body,
                                    SecureLink& link, crypto::EntropySource& entropy, uint64_t now_ns) {
  // A client that has seen the last answer seals under its epoch, so this message opened under it.
  if (!newest_heard_ || link.newest_epoch() == UINT32_MAX || init.epoch != link.newest_epoch() + 1) {
    return RotationRefusal::kRekeyWrongEpoch;
  }
  // A peer must not make this side waste curve operations. The limit is half the interval, because clocks
  // differ. Between the last answer and this message, no network delay can make the interval shorter here
  // than at the peer.
  if (now_ns - epoch_began_ns_ < config_.min_interval_ns / 2) return RotationRefusal::kRekeyTooSoon;
  const crypto::KeyPair own = crypto::KeyPair::generate(entropy);
  crypto::Key shared;
  if (!crypto::x25519(own.secret(), init.public_key, &shared)) return RotationRefusal::kRekeyWeakKey;
  outgoing_bytes_ = static_cast<uint32_t>(
      wire::encode_rekey({ControlType::kRekeyResponse, init.epoch, own.public_key()}, outgoing_));
  LATTICE_CHECK(outgoing_bytes_ == outgoing_.size());
  // The overlap of the last rotation may still run if its first packet came late. Every packet of the epoch
  // before it has been overtaken by now.
  link.retire_old_epoch();
  link.install_epoch(crypto::next_master(link.master(), shared, init_body, outgoing_, init.epoch));
  start_epoch(now_ns);
  return RotationRefusal::kNone;
}

// Client: the peer can already open packets of the new epoch.
RotationRefusal KeyRotation::finish(const wire::RekeyBody& response, std::span<const uint8_t> response_body,
                                    SecureLink& link, uint64_t now_ns) {
  if (!in_flight_ || response.epoch != link.newest_epoch() + 1) return RotationRefusal::kRekeyWrongEpoch;
  crypto::Key shared;
  if (!crypto::x25519(own_.secret(), response.public_key, &shared)) return RotationRefusal::kRekeyWeakKey;
  link.install_epoch(crypto::next_master(link.master(), shared, init_body_, response_body, response.epoch));
  link.send_in_newest_epoch();
  own_.erase();
  in_flight_ = false;
  start_epoch(now_ns);
  return RotationRefusal::kNone;
}

void KeyRotation::start_epoch(uint64_t now_ns) {
  epoch_began_ns_ = now_ns;
  sent_ = received_ = {};
  newest_heard_ = false;
  asked_ = false;
}

}  // namespace lattice::connection
