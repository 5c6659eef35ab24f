// Decides who may send which RPC: the rules, and one token bucket per client.
#pragma once

#include <cstdint>

#include "lattice/schema.h"
#include "replication/object_table.h"
#include "replication/rpc_codec.h"

namespace lattice::replication {

class RpcGate {
 public:
  struct Config {
    uint32_t rate_per_s = 60;
    uint32_t burst = 120;
  };
  explicit RpcGate(const Config& config);

  /// Takes one token. False when the client has used all tokens. Call it for every received RPC, also for an
  /// RPC that is refused for another reason.
  bool take_token(uint64_t now_ns);

  /// The authority's rules for an RPC of a client. The target is LATTICE_RPC_TO_SERVER, the client has the
  /// object (`has_object`), and `sender` owns the object if the RPC is declared owner-only. `rpc` is null
  /// when the type has no such rpc_id.
  static RpcRefusal check_from_client(const RpcHeader& header, const lattice_rpc_desc* rpc,
                                      const ObjectInfo& object, uint64_t sender, bool has_object);

  /// A client's rules for an RPC of the authority: neither its target nor the declared one is
  /// LATTICE_RPC_TO_SERVER.
  static RpcRefusal check_from_authority(const RpcHeader& header, const lattice_rpc_desc* rpc);

 private:
  Config config_;
  uint64_t tokens_;  // in billionths of a token
  uint64_t last_ns_ = 0;
  bool started_ = false;
};

}  // namespace lattice::replication
