// The reasons why an RPC was not delivered. Codec, gate and inbox share this list, so that reasons can be
// counted.
#pragma once

#include <cstdint>

namespace lattice::replication {

enum class RpcRefusal : uint8_t {
  kNone,
#define LATTICE_EVENT_RPC(id, name, text) id,
#include "base/events.def"
  kCount,
};

/// A stable lower-case name such as "rpc_rate_limited".
const char* rpc_refusal_name(RpcRefusal refusal);

}  // namespace lattice::replication
