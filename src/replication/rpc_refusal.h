// Why an RPC was not delivered: one list for the codec, the gate and the inbox, so that it can be counted.
#pragma once

#include <cstdint>

namespace lattice::replication {

enum class RpcRefusal : uint8_t {
  kNone,
  kMalformed,       // the fixed fields do not parse, or a value is out of range
  kArguments,       // the arguments do not parse, or do not end where the body ends
  kTarget,          // this sender may not use this target, or the RPC declares another
  kUnknownRpc,      // the object's type has no such rpc_id
  kUnknownObject,   // never appeared within the time it may be waited for
  kNotInSet,        // the client cannot see the object
  kNotOwner,        // declared owner-only and the sender is not the owner
  kRateLimited,     // more than the sender's bucket holds
  kQueueFull,       // more RPCs wait than may
  kDespawnOverdue,  // an object left before a reliable RPC on it came: 10 s passed, or its room was needed
  kCount
};

/// A stable lower-case name such as "rpc_rate_limited".
const char* rpc_refusal_name(RpcRefusal refusal);

}  // namespace lattice::replication
