// RPCs that cannot be delivered yet: for an object not spawned here (up to 2 s, X-04), or tick-aligned and
// ahead of what the object shows (up to 500 ms, Q-03).
//
// Each sender has a queue of its own. So what one sender holds back delays, and displaces, only calls of the
// same sender. RPCs of one sender on one object leave in the order they came.
//
// Bounded for each sender: kMaxHeld messages, kMaxHeldPerObject of them on one object, kMaxBytes of bodies.
// After their time, or where there is no more room (hasten()), tick-aligned RPCs are delivered all the same:
// the tick may never come. RPCs without an object are dropped and counted.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "replication/rpc_codec.h"

namespace lattice::replication {

/// What the inbox asks about an object, and where it delivers.
class RpcSink {
 public:
  virtual ~RpcSink() = default;
  enum class Readiness : uint8_t { kGone, kNoObject, kTooEarly, kReady };
  /// kGone: the object was removed and the RPC is from before. kTooEarly: the object exists and the RPC is
  /// tick-aligned and ahead of it.
  virtual Readiness readiness(const RpcHeader& header) = 0;
  /// The body as received, and its sender. May call hold() and holds(), nothing else of the inbox.
  virtual void deliver(uint64_t sender, const RpcHeader& header, std::span<const uint8_t> body) = 0;
  /// Dropped with a reason.
  virtual void dropped(RpcRefusal reason) = 0;
};

class RpcInbox {
 public:
  static constexpr uint32_t kMaxHeld = 256;
  static constexpr uint32_t kMaxHeldPerObject = 64;
  static constexpr size_t kMaxBytes = 256 * 1024;
  static constexpr uint64_t kObjectWaitNs = 2'000'000'000;
  static constexpr uint64_t kTickWaitNs = 500'000'000;

  /// True when an RPC of `sender` on this object waits: then the sender's next one must wait behind it.
  bool holds(uint64_t network_id, uint64_t sender) const;
  /// Keeps a copy of the body. `has_object`: the object is here, and the RPC waits for its tick only.
  /// kQueueFull when a bound of the sender is reached.
  RpcRefusal hold(uint64_t now_ns, uint64_t sender, const RpcHeader& header, std::span<const uint8_t> body,
                  bool has_object);
  /// Where the sender's queue is full: the next poll() delivers the tick-aligned RPCs of one object too
  /// early, of this one if that has its full number, else of the one with the most. False when none waits
  /// only for its tick.
  bool hasten(uint64_t sender, uint64_t network_id);
  /// Delivers what has become ready and drops what waited too long: sender after sender, each in arrival
  /// order.
  void poll(uint64_t now_ns, RpcSink& sink);
  /// Delivers all that waits for the object, in the same order: the object is about to go (D-35).
  void release(uint64_t network_id, RpcSink& sink);
  /// Forgets everything that `sender` sent, for a connection that ended. Returns how much that was.
  size_t forget(uint64_t sender);

  /// RPCs held, of all senders.
  size_t size() const;

 private:
  struct Held {
    RpcHeader header;
    uint64_t since_ns = 0;         // time of arrival: the wait for the object begins here
    uint64_t object_since_ns = 0;  // time when the object was here too: the wait for its tick begins here
    bool has_object = false;
    bool is_hastened = false;  // waits for its tick no longer
    bool done = false;
    uint32_t first_byte = 0;
    uint32_t size = 0;
  };
  struct Queue {
    uint64_t sender = 0;
    std::vector<Held> held;  // arrival order
    std::vector<uint8_t> bytes;

    std::span<const uint8_t> body(const Held& rpc) const {
      return std::span<const uint8_t>(bytes).subspan(rpc.first_byte, rpc.size);
    }
  };
  static const Queue* find(const std::vector<Queue>& queues, uint64_t sender);
  static Queue& queue_of(std::vector<Queue>& queues, uint64_t sender);
  void poll(uint64_t now_ns, Queue& queue, RpcSink& sink);
  static bool is_due(uint64_t now_ns, const Held& rpc, RpcSink::Readiness readiness);
  static void remove_done(Queue& queue);
  void take_back_what_still_waits();

  std::vector<Queue> queues_;      // of senders that hold something, by sender
  std::vector<Queue> visited_;     // what poll() and release() go through; hold() adds to queues_ meanwhile
  std::vector<uint64_t> blocked_;  // ids passed over in this poll of a queue
  std::vector<uint64_t> ids_;      // of the objects on which calls wait for their tick, in hasten()
};

}  // namespace lattice::replication
