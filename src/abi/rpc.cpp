// Remote procedure calls (§16).
#include "abi/last_error.h"
#include "abi/world_instance.h"

namespace {

using namespace lattice;
using abi::fail;
using abi::WorldInstance;

lattice_result call(lattice_world* world, const world::RpcCall& rpc) {
  WorldInstance* instance = abi::require_world(world);
  if (instance == nullptr) return LATTICE_ERROR_STALE_HANDLE;
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
                  "A client may only call the server, and the authority only its clients (§16.2).");
    case world::OpResult::kWouldBlock:
      return fail(LATTICE_ERROR_WOULD_BLOCK, "A client's queue is full; it did not get RPC %u.", rpc.rpc_id);
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
  return call(world, rpc);
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
  return call(world, rpc);
}

lattice_peer_id lattice_rpc_sender(lattice_world* world) {
  WorldInstance* instance = abi::require_world(world);
  return instance == nullptr ? 0 : instance->world->rpcs().sender();
}

uint32_t lattice_rpc_tick(lattice_world* world) {
  WorldInstance* instance = abi::require_world(world);
  return instance == nullptr ? 0 : instance->world->rpcs().tick();
}

}  // extern "C"
