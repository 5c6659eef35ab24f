// Holds RPCs that cannot be delivered yet. The object of an RPC may not have spawned here (up to 2 s, 64 per
// object, X-04), or a tick-aligned RPC may be ahead of the object's tick (up to 500 ms, Q-03).
//
// Bounded: kMaxHeld messages and kMaxBytes of bodies in all. RPCs of one object leave in the order in which
// they came. After its time, a tick-aligned RPC is delivered all the same, because the tick may never come.
// An RPC without an object is dropped and counted.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "replication/rpc_codec.h"

namespace lattice::replication {

/// The inbox asks its sink about objects, and delivers to it.
class RpcSink {
 public:
  virtual ~RpcSink() = default;
  enum class Readiness : uint8_t { kGone, kNoObject, kTooEarly, kReady };
  /// kGone: the object was removed, and the RPC is from before the removal. kTooEarly: the object exists, and
  /// the RPC is tick-aligned and ahead of it.
  virtual Readiness readiness(const RpcHeader& header) = 0;
  /// Delivers the body as received, with the `context` that hold() got. May not call the inbox.
  virtual void deliver(uint64_t context, const RpcHeader& header, std::span<const uint8_t> body) = 0;
  /// Tells that an RPC was dropped, and why; for diagnostics.
  virtual void dropped(uint64_t context, const RpcHeader& header, RpcRefusal reason) = 0;
};

class RpcInbox {
 public:
  static constexpr uint32_t kMaxHeld = 256;
  static constexpr uint32_t kMaxHeldPerObject = 64;
  static constexpr size_t kMaxBytes = 256 * 1024;
  static constexpr uint64_t kObjectWaitNs = 2'000'000'000;
  static constexpr uint64_t kTickWaitNs = 500'000'000;

  RpcInbox();

  /// True when an RPC of this object waits. The next RPC of the object must then wait behind it.
  bool holds(uint64_t network_id) const;
  /// The same, for RPCs of `context` only.
  bool holds(uint64_t network_id, uint64_t context) const;
  /// Keeps a copy of the body. kQueueFull when a bound is reached.
  RpcRefusal hold(uint64_t now_ns, const RpcHeader& header, std::span<const uint8_t> body, uint64_t context);
  /// Delivers the RPCs that have become ready and drops those that waited too long, in arrival order.
  void poll(uint64_t now_ns, RpcSink& sink);
  /// Delivers all waiting RPCs of an object that is about to go, in arrival order (D-35).
  void release(uint64_t network_id, RpcSink& sink);
  /// Forgets all RPCs of `context`: its connection has ended.
  void forget(uint64_t context);

  uint32_t size() const { return static_cast<uint32_t>(held_.size()); }

 private:
  struct Held {
    RpcHeader header;
    uint64_t since_ns = 0;         // time of arrival: the wait for the object begins here
    uint64_t object_since_ns = 0;  // time when the object was first seen: the wait for its tick begins here
    bool has_object = false;
    bool done = false;
    uint64_t context = 0;
    uint32_t first_byte = 0;
    uint32_t size = 0;
  };
  void remove_done();

  std::vector<Held> held_;  // arrival order
  std::vector<uint8_t> bytes_;
  std::vector<uint64_t> blocked_;  // ids passed over in this poll
};

}  // namespace lattice::replication
