// See rpc_router.h.
#include "world/rpc_router.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace lattice::world {
namespace {

using replication::RpcHeader;
using replication::RpcRefusal;
using serialization::RpcInfo;
using serialization::TypeInfo;

constexpr size_t kArgumentAlign = 64;  // the largest alignment that a structure may ask for

/// The declaration in the form that the rules use.
lattice_rpc_desc declaration(const RpcInfo& info) {
  lattice_rpc_desc desc;
  lattice_rpc_desc_init(&desc);
  desc.rpc_id = info.rpc_id;
  desc.owner_only = info.owner_only ? 1 : 0;
  desc.channel = info.channel;
  desc.target = info.target;
  desc.delivery = info.delivery;
  return desc;
}

}  // namespace

void RpcRouter::prepare(const Schema& schema, size_t max_body_bytes) {
  body_.resize(max_body_bytes);
  size_t largest = 0;
  for (size_t i = 0; i < schema.type_count(); ++i) {
    for (const RpcInfo& rpc : schema.type_at(i).rpcs) largest = std::max(largest, rpc.argument_bytes);
  }
  arguments_.assign(largest + kArgumentAlign, std::byte{0});
}

RpcCallError RpcRouter::check(const RpcCall& call, const RpcInfo** declared) const {
  *declared = nullptr;
  uint32_t slot = 0;
  const TypeInfo* type = host_.type_of(call.network_id, &slot);
  if (type == nullptr) return RpcCallError::kUnknownObject;
  const RpcInfo* rpc = *declared = type->find_rpc(call.rpc_id);
  if (rpc == nullptr) return RpcCallError::kUnknownRpc;
  // An RPC declared for all may be called for one peer: a server may tell one client what all may hear.
  if (rpc->target != call.target &&
      !(rpc->target == LATTICE_RPC_TO_ALL && call.target == LATTICE_RPC_TO_PEER)) {
    return RpcCallError::kTarget;
  }
  if (rpc->channel != call.channel) return RpcCallError::kChannel;
  if (rpc->argument_bytes != call.argument_bytes || (rpc->has_arguments && call.arguments == nullptr)) {
    return RpcCallError::kArguments;
  }
  return RpcCallError::kNone;
}

bool RpcRouter::is_tick_aligned(const RpcCall& call) const {
  const RpcInfo* rpc = nullptr;
  static_cast<void>(check(call, &rpc));
  return rpc != nullptr && rpc->delivery == LATTICE_RPC_TICK_ALIGNED;
}

RpcCallError RpcRouter::encode(const RpcCall& call) {
  const RpcInfo* rpc = nullptr;
  if (const RpcCallError error = check(call, &rpc); error != RpcCallError::kNone) return error;
  RpcHeader header;
  header.network_id = call.network_id;
  header.rpc_id = call.rpc_id;
  header.tick = host_.rpc_tick();
  header.target = call.target;
  header.peer = call.peer;
  bool fits = true;
  body_bytes_ =
      codec_.encode(header, rpc->has_arguments ? &rpc->arguments : nullptr, call.arguments, body_, &fits);
  if (!fits) clamps_.note(rpc->arguments, call.arguments, call.rpc_id);
  return body_bytes_ == 0 ? RpcCallError::kTooLarge : RpcCallError::kNone;
}

void RpcRouter::receive(uint64_t now_ns, uint64_t sender, lattice_channel channel,
                        std::span<const uint8_t> body, bool wait_for_object) {
  ++received_;
  RpcHeader header;
  size_t argument_bit = 0;
  if (const RpcRefusal bad = replication::RpcCodec::decode_header(body, &header, &argument_bit);
      bad != RpcRefusal::kNone) {
    return count_refusal(bad);
  }
  const Readiness ready = readiness(header);
  const bool has_object = ready != Readiness::kNoObject;
  // Judged before it may wait: a call that will be refused holds nothing back.
  RpcRefusal refusal = RpcRefusal::kNone;
  if (ready == Readiness::kGone || (!has_object && !wait_for_object)) {
    refusal = RpcRefusal::kUnknownObject;
  } else if (has_object) {
    refusal = judge(sender, header);
  }
  if (refusal != RpcRefusal::kNone) {
    count_refusal(refusal);
  } else if (ready == Readiness::kReady && !inbox_.holds(header.network_id, sender)) {
    hand_over(sender, header, body);
  } else if (const RpcRefusal full = hold(now_ns, sender, header, body, has_object);
             full != RpcRefusal::kNone) {
    count_refusal(full);
  }
  // Also one that is dropped: the authority counted it (D-35).
  if (replication::is_reliable_rpc(channel)) host_.reliable_rpc_arrived(header.network_id);
}

RpcRefusal RpcRouter::hold(uint64_t now_ns, uint64_t sender, const RpcHeader& header,
                           std::span<const uint8_t> body, bool has_object) {
  const RpcRefusal full = inbox_.hold(now_ns, sender, header, body, has_object);
  if (full == RpcRefusal::kNone) return full;
  inbox_.poll(now_ns, *this);  // some waited for their object, and it is here by now
  if (inbox_.hasten(sender, header.network_id)) inbox_.poll(now_ns, *this);
  return inbox_.hold(now_ns, sender, header, body, has_object);
}

bool RpcRouter::loop_back(uint64_t now_ns, uint64_t sender) {
  RpcHeader header;
  size_t argument_bit = 0;
  replication::RpcCodec::decode_header(body(), &header, &argument_bit);
  if (inbox_.hold(now_ns, sender, header, body(), true) != RpcRefusal::kNone) return false;
  ++sent_;
  ++received_;
  return true;
}

uint64_t RpcRouter::refused() const {
  // An overdue despawn is about an object. It is not an RPC that was refused.
  return std::accumulate(refused_.begin(), refused_.end(), uint64_t{0}) -
         refused(RpcRefusal::kDespawnOverdue);
}

const RpcInfo* RpcRouter::find(const RpcHeader& header, uint32_t* slot) const {
  const TypeInfo* type = host_.type_of(header.network_id, slot);
  return type == nullptr ? nullptr : type->find_rpc(header.rpc_id);
}

replication::RpcSink::Readiness RpcRouter::readiness(const RpcHeader& header) {
  uint32_t slot = 0;
  if (host_.type_of(header.network_id, &slot) == nullptr) {
    return host_.is_gone(header.network_id, header.tick) ? Readiness::kGone : Readiness::kNoObject;
  }
  const RpcInfo* rpc = find(header, &slot);
  const bool aligned = rpc != nullptr && rpc->delivery == LATTICE_RPC_TICK_ALIGNED;
  return aligned && base::tick_after(header.tick, host_.known_until(slot)) ? Readiness::kTooEarly
                                                                           : Readiness::kReady;
}

RpcRefusal RpcRouter::judge(uint64_t sender, const RpcHeader& header) const {
  uint32_t slot = 0;
  const RpcInfo* rpc = find(header, &slot);
  const lattice_rpc_desc declared = rpc == nullptr ? lattice_rpc_desc{} : declaration(*rpc);
  return host_.check_rpc(header, slot, rpc == nullptr ? nullptr : &declared, sender);
}

void RpcRouter::deliver(uint64_t sender, const RpcHeader& header, std::span<const uint8_t> body) {
  // Judged again after the wait: the object may have got another owner.
  if (const RpcRefusal refusal = judge(sender, header); refusal != RpcRefusal::kNone) {
    return count_refusal(refusal);
  }
  hand_over(sender, header, body);
}

void RpcRouter::hand_over(uint64_t sender, const RpcHeader& header, std::span<const uint8_t> body) {
  uint32_t slot = 0;
  const RpcInfo* rpc = find(header, &slot);
  RpcHeader again;
  size_t argument_bit = 0;
  replication::RpcCodec::decode_header(body, &again, &argument_bit);
  const auto address = reinterpret_cast<uintptr_t>(arguments_.data());
  void* arguments = reinterpret_cast<void*>((address + kArgumentAlign - 1) & ~(kArgumentAlign - 1));
  std::memset(arguments, 0, rpc->argument_bytes);
  if (const RpcRefusal refusal = codec_.decode_arguments(
          body, argument_bit, rpc->has_arguments ? &rpc->arguments : nullptr, arguments);
      refusal != RpcRefusal::kNone) {
    return count_refusal(refusal);
  }
  sender_ = sender;
  tick_ = header.tick;
  observer_.on_rpc(header.network_id, header.rpc_id, rpc->has_arguments ? arguments : nullptr,
                   rpc->argument_bytes);
  sender_ = 0;
}

}  // namespace lattice::world
