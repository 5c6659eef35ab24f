// The reasons why an RPC was not delivered. Codec, gate and inbox share this list, so that reasons can be
// counted.
#pragma once

#include <cstdint>

namespace lattice::replication {

enum class RpcRefusal : uint8_t {
  kNone,
  kMalformed,       // the fixed fields do not parse, or a value is out of range
  kArguments,       // the arguments do not parse, or do not end where the body ends
  kTarget,          // this sender may not use this target, or the RPC declares another
  kUnknownRpc,      // the object's type has no such rpc_id
  kUnknownObject,   // the object did not appear within the time that the RPC may wait
  kNotInSet,        // the client cannot see the object
  kNotOwner,        // the RPC is declared owner-only, and the sender is not the owner
  kRateLimited,     // the sender's token bucket is empty
  kQueueFull,       // as many RPCs wait as may
  kDespawnOverdue,  // an object left before a reliable RPC on it came: 10 s passed, or its room was needed
  kCount
};

/// A stable lower-case name such as "rpc_rate_limited".
const char* rpc_refusal_name(RpcRefusal refusal);

}  // namespace lattice::replication
