// RPCs between the wire and the game (§16, Q-01…Q-04): encodes calls, and checks and delivers arriving RPCs.
//
// Must stay true: a call reaches the game only if its sender may make it, all of its arguments were decoded,
// and its object exists. Every other call is counted by reason.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "replication/rpc_codec.h"
#include "replication/rpc_gate.h"
#include "replication/rpc_inbox.h"
#include "world/clamped_arguments.h"
#include "world/observer.h"
#include "world/schema.h"

namespace lattice::world {

/// The router's access to its world.
class RpcHost {
 public:
  virtual ~RpcHost() = default;
  /// The type of a live object, and its slot; or null.
  virtual const serialization::TypeInfo* type_of(uint64_t network_id, uint32_t* slot) const = 0;
  /// The tick stamped on calls made now.
  virtual Tick rpc_tick() const = 0;
  /// The last tick whose state of the object is here, also where that is an older one that still holds. A
  /// tick-aligned call waits until it is that of the call.
  virtual Tick known_until(uint32_t slot) const = 0;
  /// True when the object was removed here, and a call made at `tick` is from before the removal.
  virtual bool is_gone(uint64_t /*network_id*/, Tick /*tick*/) const { return false; }
  /// A call on a reliable channel arrived. By now it was delivered, held or refused (D-35).
  virtual void reliable_rpc_arrived(uint64_t /*network_id*/) {}
  /// The rules for calls in this direction.
  virtual replication::RpcRefusal check_rpc(const replication::RpcHeader& header, uint32_t slot,
                                            const lattice_rpc_desc* rpc, uint64_t sender) const = 0;
};

/// A call that the game makes.
struct RpcCall {
  uint64_t network_id = 0;
  uint16_t rpc_id = 0;
  lattice_rpc_target target = LATTICE_RPC_TO_SERVER;
  uint64_t peer = 0;
  lattice_channel channel = LATTICE_CHANNEL_RELIABLE_ORDERED;
  const void* arguments = nullptr;
  size_t argument_bytes = 0;
};

enum class RpcCallError : uint8_t {
  kNone,
  kUnknownObject,
  kUnknownRpc,
  kTarget,
  kChannel,
  kArguments,
  kTooLarge
};

class RpcRouter : private replication::RpcSink {
 public:
  RpcRouter(RpcHost& host, Observer& observer) : host_(host), observer_(observer), clamps_(observer) {}

  /// Allocates the memory for bodies and arguments. Call it once, when the schema is fixed.
  void prepare(const Schema& schema, size_t max_body_bytes);

  /// Checks a call against its declaration, which is written to `declared`: null when there is none.
  RpcCallError check(const RpcCall& call, const serialization::RpcInfo** declared) const;
  /// Of a call that check() finds right: whether it waits for the state of its tick.
  bool is_tick_aligned(const RpcCall& call) const;
  /// Checks a call as check() does and writes its body into body(). Returns kNone on success.
  RpcCallError encode(const RpcCall& call);
  std::span<const uint8_t> body() const { return {body_.data(), body_bytes_}; }

  /// Takes a body that arrived from `sender` on `channel`: delivers it now, holds it, or refuses and counts
  /// it. With `wait_for_object` the object may still be on its way, as at a client. Otherwise a call on an
  /// unknown object is refused.
  void receive(uint64_t now_ns, uint64_t sender, lattice_channel channel, std::span<const uint8_t> body,
               bool wait_for_object);
  /// A call to this process, for the own player of a listen-server (B-08). The body that encode() wrote is
  /// delivered in the next receive phase, by the same rules as a call from the network. False when too many
  /// wait already.
  bool loop_back(uint64_t now_ns, uint64_t sender);
  void count_refusal(replication::RpcRefusal reason) { ++refused_[static_cast<size_t>(reason)]; }
  /// Counts an RPC that arrived and is refused before it is looked at.
  void refuse_received(replication::RpcRefusal reason) {
    ++received_;
    count_refusal(reason);
  }
  /// Delivers the held calls that are due.
  void poll(uint64_t now_ns) { inbox_.poll(now_ns, *this); }
  /// Delivers all held calls on an object that is about to go (D-35).
  void release(uint64_t network_id) { inbox_.release(network_id, *this); }
  bool holds(uint64_t network_id, uint64_t sender) const { return inbox_.holds(network_id, sender); }
  void forget(uint64_t sender) {
    refused_[static_cast<size_t>(replication::RpcRefusal::kUnknownObject)] += inbox_.forget(sender);
  }

  uint64_t sender() const { return sender_; }
  Tick tick() const { return tick_; }
  uint64_t sent() const { return sent_; }
  /// Arguments of calls made here that did not fit their members.
  uint64_t clamped_arguments() const { return clamps_.values(); }
  uint64_t received() const { return received_; }
  uint64_t refused() const;
  uint64_t refused(replication::RpcRefusal reason) const { return refused_[static_cast<size_t>(reason)]; }
  void count_sent() { ++sent_; }

 private:
  Readiness readiness(const replication::RpcHeader& header) override;
  void deliver(uint64_t sender, const replication::RpcHeader& header, std::span<const uint8_t> body) override;
  void dropped(replication::RpcRefusal reason) override { count_refusal(reason); }
  /// Whether `sender` may make this call on an object that is here.
  replication::RpcRefusal judge(uint64_t sender, const replication::RpcHeader& header) const;
  /// To the game, when the arguments can be decoded.
  void hand_over(uint64_t sender, const replication::RpcHeader& header, std::span<const uint8_t> body);
  /// Puts a call into the inbox. Where that has no place for it, calls that wait for their tick make room:
  /// one that is early is better than one that is lost.
  replication::RpcRefusal hold(uint64_t now_ns, uint64_t sender, const replication::RpcHeader& header,
                               std::span<const uint8_t> body, bool has_object);
  const serialization::RpcInfo* find(const replication::RpcHeader& header, uint32_t* slot) const;

  RpcHost& host_;
  Observer& observer_;
  replication::RpcCodec codec_;
  replication::RpcInbox inbox_;
  ClampedArguments clamps_;
  std::vector<uint8_t> body_;
  size_t body_bytes_ = 0;
  std::vector<std::byte> arguments_;  // with room to align
  uint64_t sender_ = 0;
  Tick tick_ = 0;
  uint64_t sent_ = 0;
  uint64_t received_ = 0;
  std::array<uint64_t, static_cast<size_t>(replication::RpcRefusal::kCount)> refused_{};
};

}  // namespace lattice::world
