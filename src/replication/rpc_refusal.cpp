#include "replication/rpc_refusal.h"

#include "base/events.h"

namespace lattice::replication {

const char* rpc_refusal_name(RpcRefusal refusal) {
  static constexpr const char* kNames[] = {
      "none",
#define LATTICE_EVENT_RPC(id, name, text) name,
#include "base/events.def"
  };
  return base::event_name(kNames, refusal);
}

}  // namespace lattice::replication
