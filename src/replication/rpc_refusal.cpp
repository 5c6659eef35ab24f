#include "replication/rpc_refusal.h"

namespace lattice::replication {

const char* rpc_refusal_name(RpcRefusal refusal) {
  switch (refusal) {
    case RpcRefusal::kNone:
      return "none";
    case RpcRefusal::kMalformed:
      return "rpc_malformed";
    case RpcRefusal::kArguments:
      return "rpc_arguments";
    case RpcRefusal::kTarget:
      return "rpc_target";
    case RpcRefusal::kUnknownRpc:
      return "rpc_unknown_rpc";
    case RpcRefusal::kUnknownObject:
      return "rpc_unknown_object";
    case RpcRefusal::kNotInSet:
      return "rpc_not_in_set";
    case RpcRefusal::kNotOwner:
      return "rpc_not_owner";
    case RpcRefusal::kRateLimited:
      return "rpc_rate_limited";
    case RpcRefusal::kQueueFull:
      return "rpc_queue_full";
    case RpcRefusal::kDespawnOverdue:
      return "rpc_despawn_overdue";
    case RpcRefusal::kCount:
      break;
  }
  return "unknown";
}

}  // namespace lattice::replication
