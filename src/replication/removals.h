// The removals that one client is owed: which are to be sent, which are on their way, and which slots rest
// after theirs. Spec: C-04, D-35, D-42.
//
// Each is in one of three queues, moved by being sent, a receipt or time. So a build looks at those that it
// may send and at those whose time has come, however many the client leaves without an ack. The first to wait
// has waited longest, and all gain equally: the queue is in order of priority.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "replication/object_table.h"
#include "replication/slot_map.h"

namespace lattice::replication {

/// An object that the client may hold and must drop.
struct Removal {
  enum class State : uint8_t {
    kWaits,  // is to be sent
    kInFlight,
    kRests,  // acked: the slot rests until late parts are too old to be read (D-42)
  };

  uint64_t network_id = 0;
  uint32_t slot = 0;
  /// Reliable RPCs that the client must have received before it drops the object (D-35).
  uint32_t rpc_count = 0;
  Tick sent_tick = 0;       // tick of the newest entry; 0: none
  uint32_t waits_from = 0;  // the last build before it came to wait, by number
  uint32_t next = 0;        // in its queue, or among the free ones
  uint32_t previous = 0;
  uint32_t stay = 0;  // counts the removals that had the index
  State state = State::kWaits;
  bool left : 1 = false;     // the object lives on, outside of the client's set
  bool named : 1 = false;    // the client may not know the object by its slot
  bool partial : 1 = false;  // it may hold pieces of a state of the object
  bool owed : 1 = false;     // the client has not joined before it has this

  bool acked() const { return state == State::kRests; }
};
static_assert(sizeof(Removal) == 40);

class Removals {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  Removals();

  /// Those that the client has not acked, and those whose slot rests.
  uint32_t size() const { return of_slot_.size(); }
  uint32_t unacked() const { return size() - queue(Removal::State::kRests).size; }
  uint32_t waiting() const { return queue(Removal::State::kWaits).size; }
  /// Those of which the client may hold pieces of a state.
  uint32_t partial() const { return partial_; }
  uint32_t owed() const { return owed_; }
  /// The index of the one about the object that was in a slot, or kNone.
  uint32_t find(uint32_t slot) const { return of_slot_.find(slot); }
  Removal& operator[](uint32_t index) { return all_[index]; }
  const Removal& operator[](uint32_t index) const { return all_[index]; }

  /// It waits to be sent. The reference is valid until the next add().
  Removal& add(uint32_t slot, uint64_t network_id);
  void end(uint32_t index);
  void mark_partial(Removal& removal, bool partial);
  void mark_owed(Removal& removal, bool owed);

  /// Ticks of on_sent() ascend.
  void on_sent(uint32_t index, Tick tick);
  /// The verdict on an entry of an earlier stay changes nothing.
  void on_acked(uint32_t index, uint32_t stay);
  void on_lost(uint32_t index, uint32_t stay);

  /// Counts builds. What was sent `resend_ticks` ago without a verdict waits again.
  void begin_build(Tick tick, uint32_t resend_ticks);
  /// One whose slot has rested until `tick`, or kNone. It is to be ended.
  uint32_t rested(Tick tick);
  /// Those that have waited longest, `most` at most, the first of all first.
  void longest_waiting(size_t most, std::vector<uint32_t>* out);
  /// In how many builds it waited, with this one.
  uint32_t builds_waited(const Removal& removal) const { return builds_ - removal.waits_from; }
  /// How many begin_build(), rested() and longest_waiting() looked at, in all.
  uint64_t visited() const { return visited_; }
  void validate() const;

 private:
  struct Queue {
    uint32_t first = kNone;
    uint32_t last = kNone;
    uint32_t size = 0;
  };
  Queue& queue(Removal::State state) { return queues_[static_cast<size_t>(state)]; }
  const Queue& queue(Removal::State state) const { return queues_[static_cast<size_t>(state)]; }
  void move(uint32_t index, Removal::State state);
  void append(uint32_t index, Removal::State state);
  void unlink(uint32_t index);

  std::vector<Removal> all_;  // with free ones between
  uint32_t first_free_ = kNone;
  std::array<Queue, 3> queues_;
  SlotMap of_slot_;  // slot -> index in all_
  uint32_t partial_ = 0;
  uint32_t owed_ = 0;
  uint32_t builds_ = 0;
  uint64_t visited_ = 0;
};

}  // namespace lattice::replication
