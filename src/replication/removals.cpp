#include "replication/removals.h"

#include "base/assert.h"
#include "base/sequence.h"
#include "replication/snapshot_format.h"

namespace lattice::replication {
namespace {

/// Removals of a client that moves through a world: so many of a second need no memory of their own.
constexpr size_t kUsualRemovals = 16;
constexpr size_t kUsualRemovalCells = 32;

}  // namespace

Removals::Removals() : of_slot_(kUsualRemovalCells) {
  all_.reserve(kUsualRemovals);
}

Removal& Removals::add(uint32_t slot, uint64_t network_id) {
  uint32_t index = first_free_;
  if (index == kNone) {
    index = static_cast<uint32_t>(all_.size());
    all_.emplace_back();
  } else {
    first_free_ = all_[index].next;
  }
  Removal& removal = all_[index];
  const uint32_t stay = removal.stay;
  removal = Removal();
  removal.network_id = network_id;
  removal.slot = slot;
  removal.stay = stay;
  of_slot_.insert(slot, index);
  append(index, Removal::State::kWaits);
  return removal;
}

void Removals::end(uint32_t index) {
  Removal& removal = all_[index];
  mark_partial(removal, false);
  mark_owed(removal, false);
  of_slot_.erase(removal.slot);
  unlink(index);
  ++removal.stay;
  removal.next = first_free_;
  first_free_ = index;
}

void Removals::mark_partial(Removal& removal, bool partial) {
  partial_ += partial ? 1u : 0u;
  partial_ -= removal.partial ? 1u : 0u;
  removal.partial = partial;
}

void Removals::mark_owed(Removal& removal, bool owed) {
  owed_ += owed ? 1u : 0u;
  owed_ -= removal.owed ? 1u : 0u;
  removal.owed = owed;
}

void Removals::on_sent(uint32_t index, Tick tick) {
  all_[index].sent_tick = tick;
  move(index, Removal::State::kInFlight);
}

// Where acks come in another order than parts were sent, the slot rests until those before it in the queue
// have rested: longer by the time that its ack took, at most.
void Removals::on_acked(uint32_t index, uint32_t stay) {
  Removal& removal = all_[index];
  if (removal.stay != stay || removal.acked()) return;
  mark_partial(removal, false);
  mark_owed(removal, false);
  move(index, Removal::State::kRests);
}

void Removals::on_lost(uint32_t index, uint32_t stay) {
  const Removal& removal = all_[index];
  if (removal.stay == stay && removal.state == Removal::State::kInFlight) move(index, Removal::State::kWaits);
}

void Removals::begin_build(Tick tick, uint32_t resend_ticks) {
  const Queue& in_flight = queue(Removal::State::kInFlight);
  while (in_flight.size != 0) {
    ++visited_;
    if (tick - all_[in_flight.first].sent_tick < resend_ticks) break;
    move(in_flight.first, Removal::State::kWaits);
  }
  ++builds_;
}

uint32_t Removals::rested(Tick tick) {
  const Queue& rests = queue(Removal::State::kRests);
  if (rests.size == 0) return kNone;
  ++visited_;
  return base::tick_distance(tick, all_[rests.first].sent_tick) > kStalePartTicks ? rests.first : kNone;
}

void Removals::longest_waiting(size_t most, std::vector<uint32_t>* out) {
  out->clear();
  for (uint32_t at = queue(Removal::State::kWaits).first; at != kNone && out->size() < most;
       at = all_[at].next) {
    out->push_back(at);
  }
  visited_ += out->size();
}

void Removals::move(uint32_t index, Removal::State state) {
  unlink(index);
  append(index, state);
}

void Removals::append(uint32_t index, Removal::State state) {
  Removal& removal = all_[index];
  Queue& to = queue(state);
  removal.state = state;
  removal.waits_from = builds_;
  removal.next = kNone;
  removal.previous = to.last;
  (to.last == kNone ? to.first : all_[to.last].next) = index;
  to.last = index;
  ++to.size;
}

void Removals::unlink(uint32_t index) {
  const Removal& removal = all_[index];
  Queue& from = queue(removal.state);
  (removal.previous == kNone ? from.first : all_[removal.previous].next) = removal.next;
  (removal.next == kNone ? from.last : all_[removal.next].previous) = removal.previous;
  --from.size;
}

void Removals::validate() const {
#if defined(LATTICE_VALIDATION)
  uint32_t size = 0;
  uint32_t partial = 0, owed = 0;
  for (size_t state = 0; state < queues_.size(); ++state) {
    uint32_t previous = kNone;
    uint32_t length = 0;
    for (uint32_t at = queues_[state].first; at != kNone; previous = at, at = all_[at].next) {
      const Removal& removal = all_[at];
      LATTICE_ASSERT(static_cast<size_t>(removal.state) == state && removal.previous == previous);
      LATTICE_ASSERT(of_slot_.find(removal.slot) == at);
      partial += removal.partial ? 1u : 0u;
      owed += removal.owed ? 1u : 0u;
      ++length;
    }
    LATTICE_ASSERT(queues_[state].last == previous && queues_[state].size == length);
    size += length;
  }
  LATTICE_ASSERT(size == of_slot_.size() && partial == partial_ && owed == owed_);
#endif
}

}  // namespace lattice::replication
