#include "replication/rpc_refusal.h"

namespace lattice::replication {

const char* rpc_refusal_name(RpcRefusal refusal) {
  switch (refusal) {
    case RpcRefusal::kNone:
      return "none";
    case RpcRefusal::kMalformed:
      return "malformed";
    case RpcRefusal::kArguments:
      return "arguments";
    case RpcRefusal::kTarget:
      return "target";
    case RpcRefusal::kUnknownRpc:
      return "unknown_rpc";
    case RpcRefusal::kUnknownObject:
      return "unknown_object";
    case RpcRefusal::kNotInSet:
      return "not_in_set";
    case RpcRefusal::kNotOwner:
      return "not_owner";
    case RpcRefusal::kRateLimited:
      return "rate_limited";
    case RpcRefusal::kQueueFull:
      return "queue_full";
    case RpcRefusal::kCount:
      break;
  }
  return "unknown";
}

}  // namespace lattice::replication
