// Remote procedure calls.
#include "abi/call.h"

namespace {

using namespace lattice;
using abi::fail;
using abi::WorldInstance;

lattice_result make_call(lattice_world* world, const world::RpcCall& rpc) {
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return call.result();
  if (rpc.arguments == nullptr && rpc.argument_bytes != 0) {
    return fail(LATTICE_ERROR_INVALID_ARGUMENT,
                "args is NULL and len is %zu. Give the arguments, or 0 bytes.", rpc.argument_bytes);
  }
  if (instance->world->endpoint() == nullptr) {
    return fail(LATTICE_ERROR_NOT_FOUND, "No object exists before the first pump.");
  }
  const world::OpResult result = instance->authority != nullptr
                                     ? instance->authority->call(rpc, instance->now())
                                     : instance->client->call(rpc);
  const auto object = static_cast<unsigned long long>(rpc.network_id);
  switch (result) {
    case world::OpResult::kOk:
      return LATTICE_OK;
    case world::OpResult::kNotFound:
      return fail(LATTICE_ERROR_NOT_FOUND, "Object %llu or the peer to call does not exist here.", object);
    case world::OpResult::kNotAllowed:
      return fail(LATTICE_ERROR_NOT_ALLOWED,
                  "A client may only call the server, and the authority only its clients.");
    case world::OpResult::kWouldBlock:
      return fail(LATTICE_ERROR_WOULD_BLOCK, "The queue of a callee is full; it did not get RPC %u.",
                  rpc.rpc_id);
    case world::OpResult::kLimit:
      return fail(LATTICE_ERROR_LIMIT, "The arguments of RPC %u do not fit one message.", rpc.rpc_id);
    case world::OpResult::kInvalid:
    case world::OpResult::kOutOfOrder:
      break;
  }
  return fail(LATTICE_ERROR_INVALID_ARGUMENT,
              "RPC %u of object %llu is not declared with this target, channel and argument size.",
              rpc.rpc_id, object);
}

bool is_inside_on_rpc(const WorldInstance& instance) {
  if (instance.world->rpcs().sender() != 0) return true;
  fail(LATTICE_ERROR_OUT_OF_ORDER, "No RPC is being delivered. Ask from inside on_rpc.");
  return false;
}

}  // namespace

extern "C" {

lattice_result lattice_rpc(lattice_world* world, lattice_netid object, uint16_t rpc_id,
                           lattice_rpc_target target, lattice_channel channel, const void* args, size_t len) {
  world::RpcCall rpc;
  rpc.network_id = object;
  rpc.rpc_id = rpc_id;
  rpc.target = target;
  rpc.channel = channel;
  rpc.arguments = args;
  rpc.argument_bytes = len;
  return make_call(world, rpc);
}

lattice_result lattice_rpc_to(lattice_world* world, lattice_netid object, uint16_t rpc_id,
                              lattice_peer_id peer, lattice_channel channel, const void* args, size_t len) {
  world::RpcCall rpc;
  rpc.network_id = object;
  rpc.rpc_id = rpc_id;
  rpc.target = LATTICE_RPC_TO_PEER;
  rpc.peer = peer;
  rpc.channel = channel;
  rpc.arguments = args;
  rpc.argument_bytes = len;
  return make_call(world, rpc);
}

lattice_peer_id lattice_rpc_sender(lattice_world* world) {
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr || !is_inside_on_rpc(*instance)) return 0;
  return instance->world->rpcs().sender();
}

uint32_t lattice_rpc_tick(lattice_world* world) {
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr || !is_inside_on_rpc(*instance)) return 0;
  return instance->world->rpcs().tick();
}

}  // extern "C"
