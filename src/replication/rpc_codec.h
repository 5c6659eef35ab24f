// The RPC body:
//
//   network_id varint · rpc_id varint · tick u32 · target 2 bits (+ peer varint for LATTICE_RPC_TO_PEER) ·
//   argument bits · zero padding to a byte
//
// The argument bits are the whole encoding of the RPC's argument structure (Y-07: bools inline). The body
// must end where they end, except for up to 7 bits of padding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/sequence.h"
#include "lattice/types.h"
#include "replication/rpc_refusal.h"
#include "serialization/word.h"

namespace lattice::serialization {
class Layout;
}

namespace lattice::replication {

using base::Tick;

/// True when the channel is reliable. Calls on it are counted: a despawn waits for them (D-35).
constexpr bool is_reliable_rpc(lattice_channel channel) {
  return channel == LATTICE_CHANNEL_RELIABLE_UNORDERED || channel == LATTICE_CHANNEL_RELIABLE_ORDERED;
}

/// The fixed fields of an RPC.
struct RpcHeader {
  uint64_t network_id = 0;
  uint16_t rpc_id = 0;
  Tick tick = 0;
  lattice_rpc_target target = LATTICE_RPC_TO_SERVER;
  uint64_t peer = 0;  // LATTICE_RPC_TO_PEER only
};

class RpcCodec {
 public:
  /// Writes a body. `arguments` is null for an RPC without arguments. Otherwise it is their layout, and
  /// `host` points to the argument structure. Returns the bytes used, or 0 when `out` is too small. `fits`,
  /// if not null, becomes false when values did not fit and were clamped, else true.
  size_t encode(const RpcHeader& header, const serialization::Layout* arguments, const void* host,
                std::span<uint8_t> out, bool* fits = nullptr);

  /// Reads the fixed fields; `argument_bit` becomes the bit position of the arguments.
  /// kMalformed for a truncated body, network_id 0 or an rpc_id above 65535.
  static RpcRefusal decode_header(std::span<const uint8_t> body, RpcHeader* header, size_t* argument_bit);

  /// Reads the arguments into the host structure at `host`, which is zeroed and has the size and alignment of
  /// the layout's behaviour. On a malformed body returns kArguments and writes nothing.
  RpcRefusal decode_arguments(std::span<const uint8_t> body, size_t argument_bit,
                              const serialization::Layout* arguments, void* host);

 private:
  std::vector<serialization::Word> words_;  // grows to the largest argument list seen
};

}  // namespace lattice::replication
