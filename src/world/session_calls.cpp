// The calls of a session, to the game and from it; see session.h.
#include "world/session.h"

namespace lattice::world {

void Session::receive_call(Client* client, wire::Channel channel, std::span<const uint8_t> body) {
  if (client != nullptr && !client->gate.take_token(now_ns_)) {
    rpcs_.refuse_received(replication::RpcRefusal::kRateLimited);
    return;
  }
  const uint64_t sender = client != nullptr ? client->peer : kAuthorityPeer;
  const bool waits_for_object = receiver_.has_value();
  rpcs_.receive(now_ns_, sender, static_cast<lattice_channel>(channel), body, waits_for_object);
}

const serialization::TypeInfo* Session::type_of(uint64_t network_id, uint32_t* slot) const {
  *slot = table_.find(network_id);
  return *slot == replication::kNoSlot ? nullptr : &schema_.info(*table_.info(*slot).type);
}

Tick Session::known_until(uint32_t slot) const {
  return receiver_ ? receiver_->known_until(slot) : current_tick_;
}

bool Session::is_gone(uint64_t network_id, Tick tick) const {
  return receiver_ && receiver_->is_gone(network_id, tick);
}

void Session::reliable_rpc_arrived(uint64_t network_id) {
  if (receiver_) receiver_->on_reliable_rpc(network_id);
}

replication::RpcRefusal Session::check_rpc(const replication::RpcHeader& header, uint32_t slot,
                                           const lattice_rpc_desc* rpc, uint64_t sender) const {
  if (!clients_) return replication::RpcGate::check_from_authority(header, rpc);
  const bool is_own = sender == local_peer();  // it calls its own player, or that player calls it
  if (is_own && header.target != LATTICE_RPC_TO_SERVER) {
    return rpc == nullptr ? replication::RpcRefusal::kUnknownRpc : replication::RpcRefusal::kNone;
  }
  const Client* client = clients_->find_peer(sender);
  const bool has_object = is_own || (client != nullptr && sees(client->connection, slot));
  return replication::RpcGate::check_from_client(header, rpc, table_.info(slot), sender, has_object);
}

OpResult Session::call(const RpcCall& call, Now now) {
  return clients_ ? call_clients(call, now) : call_listener(call);
}

OpResult Session::encode_call(const RpcCall& call) {
  switch (rpcs_.encode(call)) {
    case RpcCallError::kNone:
      return OpResult::kOk;
    case RpcCallError::kUnknownObject:
      return OpResult::kNotFound;
    case RpcCallError::kTooLarge:
      return OpResult::kLimit;
    default:
      return OpResult::kInvalid;
  }
}

reliability::SendResult Session::send_call(ConnectionHandle to, lattice_channel channel,
                                           std::span<const uint8_t> body) {
  reliability::MessageFlags flags;
  flags.is_rpc = true;
  const auto sent = endpoint_->send(to, static_cast<wire::Channel>(channel), flags, body);
  if (sent == reliability::SendResult::kOk) rpcs_.count_sent();
  return sent;
}

OpResult Session::call_listener(const RpcCall& call) {
  if (call.target != LATTICE_RPC_TO_SERVER) return OpResult::kNotAllowed;
  if (resimulating_) return OpResult::kOk;  // the call was sent when the tick ran for the first time
  if (!is_joined()) return OpResult::kNotConnected;
  if (const OpResult bad = encode_call(call); bad != OpResult::kOk) return bad;
  switch (send_call(connector_->connection(), call.channel, rpcs_.body())) {
    case reliability::SendResult::kOk:
      return OpResult::kOk;
    case reliability::SendResult::kWouldBlock:
      return OpResult::kWouldBlock;
    case reliability::SendResult::kTooLarge:
      return OpResult::kLimit;
    case reliability::SendResult::kNotConnected:  // inside on_disconnected
      return OpResult::kNotConnected;
    case reliability::SendResult::kInvalidChannel:
      return OpResult::kInvalid;
  }
  return OpResult::kInvalid;
}

OpResult Session::call_clients(const RpcCall& call, Now now) {
  // Only a listen-server has a player of its own, who may call the server (B-08).
  if (call.target == LATTICE_RPC_TO_SERVER && !config_.has_player) return OpResult::kNotAllowed;
  const uint32_t slot = table_.find(call.network_id);
  if (slot == replication::kNoSlot) return OpResult::kNotFound;
  if (const OpResult bad = encode_call(call); bad != OpResult::kOk) return bad;
  bool any = config_.has_player && is_callee(call, slot, local_peer());
  bool blocked = any && !rpcs_.loop_back(now.ns, local_peer());
  const bool is_aligned = rpcs_.is_tick_aligned(call);
  HeldCalls::Body body;
  for (const std::unique_ptr<Client>& client : clients_->slots()) {
    if (!client || !is_callee(call, slot, client->peer)) continue;
    const ConnectionHandle to = client->connection;
    if (held_calls_.holds(to, call.network_id) || sender_->is_to_be_judged(to, slot)) {
      any = true;
      if (!body) body = std::make_shared<std::vector<uint8_t>>(rpcs_.body().begin(), rpcs_.body().end());
      if (!held_calls_.hold(to, {call.network_id, call.channel, is_aligned, body})) {
        rpcs_.count_refusal(replication::RpcRefusal::kQueueFull);
      }
    } else if (sees(to, slot)) {
      any = true;
      blocked = !call_client(to, slot, call.channel, is_aligned, rpcs_.body()) || blocked;
    }
  }
  if (blocked) return OpResult::kWouldBlock;
  return any || call.target == LATTICE_RPC_TO_ALL ? OpResult::kOk : OpResult::kNotFound;
}

bool Session::call_client(ConnectionHandle to, uint32_t slot, lattice_channel channel, bool is_aligned,
                          std::span<const uint8_t> body) {
  sender_->begin_calls(to, slot);
  if (send_call(to, channel, body) != reliability::SendResult::kOk) return false;
  if (replication::is_reliable_rpc(channel)) sender_->count_reliable_rpc(to, slot);
  if (is_aligned) sender_->say_unchanged(to, slot);
  return true;
}

// A queue that is full now may have room when the set is made again. Who does not get the object gets no
// call.
void Session::settle_held_calls() {
  const auto is_due = [this](ConnectionHandle to) { return sender_->was_judged(to); };
  held_calls_.settle(is_due, [this](ConnectionHandle to, const HeldCalls::Call& call) {
    const uint32_t slot = table_.find(call.network_id);
    if (slot == replication::kNoSlot) return true;
    if (sender_->is_to_be_judged(to, slot)) return false;
    return !sees(to, slot) || call_client(to, slot, call.channel, call.is_aligned, *call.body);
  });
}

bool Session::is_callee(const RpcCall& call, uint32_t slot, uint64_t peer) const {
  switch (call.target) {
    case LATTICE_RPC_TO_SERVER:
      return peer == local_peer();
    case LATTICE_RPC_TO_ALL:
      return true;
    case LATTICE_RPC_TO_OWNER:
      return table_.info(slot).owned_by(peer);
    case LATTICE_RPC_TO_PEER:
      return peer == call.peer;
  }
  return false;
}

}  // namespace lattice::world
