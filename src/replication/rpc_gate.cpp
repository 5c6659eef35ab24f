#include "replication/rpc_gate.h"

#include <algorithm>

#include "base/assert.h"

namespace lattice::replication {
namespace {

constexpr uint64_t kTokenUnit =
    1'000'000'000;  // the units of one token; with this number, rate_per_s units accrue per nanosecond

}  // namespace

RpcGate::RpcGate(const Config& config) : config_(config), tokens_(config.burst * kTokenUnit) {
  LATTICE_ASSERT(config.burst > 0 && config.rate_per_s > 0);
}

bool RpcGate::take_token(uint64_t now_ns) {
  if (!started_) {
    started_ = true;
    last_ns_ = now_ns;
  }
  const uint64_t full = config_.burst * kTokenUnit;
  const uint64_t elapsed_ns = now_ns > last_ns_ ? now_ns - last_ns_ : 0;
  last_ns_ = std::max(last_ns_, now_ns);
  // A long silence fills the bucket and no more. The comparison keeps the product below it in range.
  tokens_ = elapsed_ns >= full / config_.rate_per_s
                ? full
                : std::min(full, tokens_ + elapsed_ns * config_.rate_per_s);
  if (tokens_ < kTokenUnit) return false;
  tokens_ -= kTokenUnit;
  return true;
}

RpcRefusal RpcGate::check_from_client(const RpcHeader& header, const lattice_rpc_desc* rpc,
                                      const ObjectInfo& object, uint64_t sender, bool has_object) {
  if (header.target != LATTICE_RPC_TO_SERVER) return RpcRefusal::kTarget;
  if (!has_object) return RpcRefusal::kNotInSet;
  if (rpc == nullptr) return RpcRefusal::kUnknownRpc;
  if (rpc->target != LATTICE_RPC_TO_SERVER) return RpcRefusal::kTarget;
  if (rpc->owner_only != 0 && !object.owned_by(sender)) return RpcRefusal::kNotOwner;
  return RpcRefusal::kNone;
}

RpcRefusal RpcGate::check_from_authority(const RpcHeader& header, const lattice_rpc_desc* rpc) {
  if (header.target == LATTICE_RPC_TO_SERVER) return RpcRefusal::kTarget;
  if (rpc == nullptr) return RpcRefusal::kUnknownRpc;
  if (rpc->target == LATTICE_RPC_TO_SERVER) return RpcRefusal::kTarget;
  return RpcRefusal::kNone;
}

}  // namespace lattice::replication
