// Remote procedure calls.
#include <string>

#include "abi/call.h"

namespace {

using namespace lattice;
using abi::fail;
using abi::WorldInstance;

std::string target_name(int target) {
  constexpr const char* kNames[] = {"LATTICE_RPC_TO_SERVER", "LATTICE_RPC_TO_OWNER", "LATTICE_RPC_TO_ALL",
                                    "LATTICE_RPC_TO_PEER"};
  return target >= 0 && target < 4 ? kNames[target] : std::to_string(target) + ", which is no target";
}

std::string channel_name(int channel) {
  constexpr const char* kNames[] = {"LATTICE_CHANNEL_UNRELIABLE", "LATTICE_CHANNEL_UNRELIABLE_SEQUENCED",
                                    "LATTICE_CHANNEL_RELIABLE_UNORDERED", "LATTICE_CHANNEL_RELIABLE_ORDERED"};
  return channel >= 0 && channel < 4 ? kNames[channel] : std::to_string(channel) + ", which is no channel";
}

/// Says which part of a call differs from its declaration.
lattice_result not_as_declared(const WorldInstance& instance, const world::RpcCall& rpc) {
  const serialization::RpcInfo* declared = nullptr;
  const world::RpcCallError error = instance.world->rpcs().check(rpc, &declared);
  if (declared == nullptr) {
    const replication::ObjectTable& objects = instance.world->objects();
    const uint32_t slot = objects.find(rpc.network_id);
    return fail(LATTICE_ERROR_INVALID_ARGUMENT,
                "Type '%s' has no RPC %u. RPCs are registered with their type, in lattice_type_desc.rpcs.",
                instance.world->schema().info(*objects.info(slot).type).name.c_str(), rpc.rpc_id);
  }
  if (error == world::RpcCallError::kTarget) {
    return fail(LATTICE_ERROR_INVALID_ARGUMENT,
                "RPC %u '%s' is declared with target %s, and the call names %s.", rpc.rpc_id,
                declared->name.c_str(), target_name(declared->target).c_str(),
                target_name(rpc.target).c_str());
  }
  if (error == world::RpcCallError::kChannel) {
    return fail(LATTICE_ERROR_INVALID_ARGUMENT,
                "RPC %u '%s' is declared with channel %s, and the call names %s.", rpc.rpc_id,
                declared->name.c_str(), channel_name(declared->channel).c_str(),
                channel_name(rpc.channel).c_str());
  }
  return fail(LATTICE_ERROR_INVALID_ARGUMENT,
              "RPC %u '%s' takes %zu bytes of arguments, and the call gives %zu.", rpc.rpc_id,
              declared->name.c_str(), declared->argument_bytes, rpc.argument_bytes);
}

/// Says whether the object is missing or who should have been called.
lattice_result nobody_to_call(const WorldInstance& instance, const world::RpcCall& rpc) {
  const auto object = static_cast<unsigned long long>(rpc.network_id);
  const char* unpumped = instance.was_pumped ? "" : " The world has not been pumped yet.";
  const uint32_t slot = instance.world->objects().find(rpc.network_id);
  if (slot == replication::kNoSlot) {
    return fail(LATTICE_ERROR_NOT_FOUND, "There is no object %llu here.%s", object, unpumped);
  }
  const uint64_t owner = instance.world->objects().info(slot).owner;
  const bool to_owner = rpc.target == LATTICE_RPC_TO_OWNER;
  if (to_owner && owner == 0) {
    return fail(LATTICE_ERROR_NOT_FOUND, "Object %llu has no owner who could be called.", object);
  }
  return fail(LATTICE_ERROR_NOT_FOUND, "Peer %llu is not connected, or does not have object %llu yet.%s",
              static_cast<unsigned long long>(to_owner ? owner : rpc.peer), object, unpumped);
}

lattice_result not_allowed(const WorldInstance& instance, const world::RpcCall& rpc) {
  if (!instance.connects()) {
    return fail(
        LATTICE_ERROR_NOT_ALLOWED,
        "A dedicated server has no player who could call it. LATTICE_RPC_TO_SERVER is for clients and "
        "hosts.");
  }
  return fail(LATTICE_ERROR_NOT_ALLOWED,
              "A client calls the authority only, with LATTICE_RPC_TO_SERVER. The call names %s.",
              target_name(rpc.target).c_str());
}

lattice_result make_call(lattice_world* world, const world::RpcCall& rpc) {
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return call.result();
  if (rpc.arguments == nullptr && rpc.argument_bytes != 0) {
    return fail(LATTICE_ERROR_INVALID_ARGUMENT,
                "args is NULL and len is %zu. Give the arguments, or 0 bytes.", rpc.argument_bytes);
  }
  const world::OpResult result = instance->world->call(rpc, instance->now());
  switch (result) {
    case world::OpResult::kOk:
      return LATTICE_OK;
    case world::OpResult::kNotConnected:
      return abi::fail_not_connected(
          *instance, "This client is not connected, so it cannot call the authority. Wait for on_connected.");
    case world::OpResult::kNotFound:
      return nobody_to_call(*instance, rpc);
    case world::OpResult::kNotAllowed:
      return not_allowed(*instance, rpc);
    case world::OpResult::kWouldBlock:
      return fail(
          LATTICE_ERROR_WOULD_BLOCK, "The queue of a callee is full; it did not get RPC %u.%s", rpc.rpc_id,
          rpc.target == LATTICE_RPC_TO_ALL ? " The others got it: do not call all of them again." : "");
    case world::OpResult::kLimit:
      return fail(LATTICE_ERROR_LIMIT, "The arguments of RPC %u do not fit one message.", rpc.rpc_id);
    case world::OpResult::kInvalid:
    case world::OpResult::kOutOfOrder:
      break;
  }
  return not_as_declared(*instance, rpc);
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
