// Attachments, the directions between them, and the path of one datagram through both.
#include "transport/socket/simulated_network.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "base/assert.h"
#include "base/random.h"

namespace lattice::socket {

struct SimulatedNetwork::Attachment {
  Attachment(base::BufferPool& pool, size_t capacity, const base::PathId& bound, uint32_t nth)
      : address(bound), earlier(nth), queue(pool, capacity) {}

  base::PathId address;
  const uint32_t earlier;  ///< How often its address had been attached before.
  DeliveryQueue queue;
  SocketStats stats;
  uint64_t injected = 0;
  std::optional<base::PathId> unreachable;  ///< A report that was not taken yet.
};

/// Directions are kept for reuse when an attachment detaches. The epoch distinguishes datagrams that are
/// still in flight from before.
struct SimulatedNetwork::Direction {
  Direction(uint32_t from_slot, uint32_t to_slot) : from(from_slot), to(to_slot), model(0) {}

  uint32_t from;
  uint32_t to;
  uint32_t epoch = 0;
  bool open = false;        ///< Both attachments are the ones that the direction was opened for.
  bool configured = false;  ///< By set_direction; the default no longer applies.
  ImpairmentModel model;
  ImpairmentStats stats;
};

class SimulatedNetwork::Socket final : public DatagramSocket {
 public:
  Socket(SimulatedNetwork& network, uint32_t slot) : network_(network), slot_(slot) {}
  ~Socket() override { network_.detach(slot_); }

  Reading receive(std::span<Datagram> out, uint64_t now_ns) override {
    const size_t count = network_.deliver(slot_, out, now_ns);
    return {count, 0, count == out.size()};
  }
  size_t send(std::span<const Datagram> datagrams, uint64_t now_ns) override {
    size_t taken = 0;
    for (const Datagram& datagram : datagrams)
      taken += network_.transmit(slot_, datagram, now_ns) ? size_t{1} : 0;
    return taken;
  }
  base::PathId local_path() const override { return network_.attachments_[slot_]->address; }
  const SocketStats& stats() const override { return network_.attachments_[slot_]->stats; }
  bool take_unreachable(base::PathId* peer) override {
    std::optional<base::PathId>& report = network_.attachments_[slot_]->unreachable;
    if (!report) return false;
    *peer = *report;
    report.reset();
    return true;
  }

 private:
  SimulatedNetwork& network_;
  uint32_t slot_;
};

namespace {

/// The tag of a queued datagram names the direction, and its epoch, that counts the delivery.
constexpr uint64_t kInjectedTag = UINT64_MAX;

uint64_t direction_tag(uint32_t index, uint32_t epoch) {
  return static_cast<uint64_t>(index) << 32 | epoch;
}

uint64_t direction_key(uint32_t from, uint32_t to) {
  return static_cast<uint64_t>(from) << 32 | to;
}

void add(ImpairmentStats& sum, const ImpairmentStats& part) {
  sum.offered += part.offered;
  sum.offered_bytes += part.offered_bytes;
  sum.delivered += part.delivered;
  sum.delivered_bytes += part.delivered_bytes;
  sum.lost_random += part.lost_random;
  sum.lost_burst += part.lost_burst;
  sum.lost_blackout += part.lost_blackout;
  sum.lost_mtu += part.lost_mtu;
  sum.dropped_rate += part.dropped_rate;
  sum.dropped_overflow += part.dropped_overflow;
  sum.duplicated += part.duplicated;
  sum.reordered += part.reordered;
  sum.overtaking += part.overtaking;
  sum.injected += part.injected;
}

}  // namespace

SimulatedNetwork::SimulatedNetwork(const SimulatedNetworkConfig& config)
    : config_(config),
      pool_(config.pool_bytes),
      slots_(config.max_attachments),
      by_address_(config.max_attachments),
      attach_counts_(64, base::HashIndex::Growth::kDoubling),
      attachments_(config.max_attachments),
      by_direction_(64, base::HashIndex::Growth::kDoubling),
      draw_state_(config.seed) {}

SimulatedNetwork::~SimulatedNetwork() {
  // A socket that outlived its network would detach from freed memory.
  LATTICE_CHECK(slots_.size() == 0);
}

std::unique_ptr<DatagramSocket> SimulatedNetwork::attach(const base::PathId& address) {
  if (!base::is_path(address) || slots_.full()) return nullptr;
  if (by_address_.contains(base::hash_path(address))) return nullptr;
  const uint32_t slot = slots_.acquire().slot;
  attachments_[slot] =
      std::make_unique<Attachment>(pool_, config_.queue_datagrams, address, count_attachment(address));
  LATTICE_CHECK(by_address_.insert(base::hash_path(address), slot));
  return std::make_unique<Socket>(*this, slot);
}

/// Counts one more attachment of the address; returns the count before.
uint32_t SimulatedNetwork::count_attachment(const base::PathId& address) {
  const uint64_t key = base::hash_path(address);
  const uint32_t found = attach_counts_.find(key);
  const uint32_t earlier = found == base::HashIndex::kNone ? 0 : found;
  attach_counts_.erase(key);
  LATTICE_CHECK(attach_counts_.insert(key, earlier + 1));
  return earlier;
}

void SimulatedNetwork::detach(uint32_t slot) {
  LATTICE_CHECK(by_address_.erase(base::hash_path(attachments_[slot]->address)));
  for (const std::unique_ptr<Direction>& direction : directions_) {
    if (direction->from == slot || direction->to == slot) direction->open = false;
  }
  attachments_[slot].reset();
  LATTICE_CHECK(slots_.release(slots_.at(slot)));
}

bool SimulatedNetwork::rebind(const base::PathId& from, const base::PathId& to) {
  const uint32_t slot = find(from);
  if (slot == base::HashIndex::kNone || !base::is_path(to)) return false;
  if (by_address_.contains(base::hash_path(to))) return false;
  by_address_.erase(base::hash_path(from));
  LATTICE_CHECK(by_address_.insert(base::hash_path(to), slot));
  attachments_[slot]->address = to;
  attachments_[slot]->queue.clear();
  return true;
}

/// The slot of an address, or HashIndex::kNone. The index holds hashes; the address itself decides.
uint32_t SimulatedNetwork::find(const base::PathId& address) const {
  const uint32_t slot = by_address_.find(base::hash_path(address));
  if (slot == base::HashIndex::kNone || !(attachments_[slot]->address == address))
    return base::HashIndex::kNone;
  return slot;
}

/// The open direction between two slots, or HashIndex::kNone.
uint32_t SimulatedNetwork::find_direction(uint32_t from, uint32_t to) const {
  const uint32_t index = by_direction_.find(direction_key(from, to));
  return index != base::HashIndex::kNone && directions_[index]->open ? index : base::HashIndex::kNone;
}

/// The same as find_direction(), but opens a direction that is not open; the first opening allocates.
uint32_t SimulatedNetwork::direction_index(uint32_t from, uint32_t to) {
  uint32_t index = by_direction_.find(direction_key(from, to));
  if (index == base::HashIndex::kNone) {
    index = static_cast<uint32_t>(directions_.size());
    directions_.push_back(std::make_unique<Direction>(from, to));
    LATTICE_CHECK(by_direction_.insert(direction_key(from, to), index));
  }
  if (!directions_[index]->open) open_direction(*directions_[index]);
  return index;
}

void SimulatedNetwork::open_direction(Direction& direction) const {
  const Attachment& from = *attachments_[direction.from];
  const Attachment& to = *attachments_[direction.to];
  uint64_t state = config_.seed;
  uint64_t seed = base::splitmix64(state) ^ base::hash_path(from.address);
  seed = base::splitmix64(seed) ^ base::hash_path(to.address);
  seed ^= uint64_t{from.earlier} << 32 | to.earlier;
  direction.model = ImpairmentModel(seed);
  direction.model.configure(default_);
  direction.stats = {};
  direction.configured = false;
  direction.open = true;
  ++direction.epoch;
}

void SimulatedNetwork::set_default(const Impairment& impairment) {
  default_ = impairment;
  for (const std::unique_ptr<Direction>& direction : directions_) {
    if (direction->open && !direction->configured) direction->model.configure(impairment);
  }
}

bool SimulatedNetwork::set_direction(const base::PathId& from, const base::PathId& to,
                                     const Impairment& impairment) {
  const uint32_t from_slot = find(from);
  const uint32_t to_slot = find(to);
  if (from_slot == base::HashIndex::kNone || to_slot == base::HashIndex::kNone) return false;
  Direction& direction = *directions_[direction_index(from_slot, to_slot)];
  direction.model.configure(impairment);
  direction.configured = true;
  return true;
}

bool SimulatedNetwork::set_path(const base::PathId& a, const base::PathId& b, const Impairment& up,
                                const Impairment& down) {
  return set_direction(a, b, up) && set_direction(b, a, down);
}

bool SimulatedNetwork::set_bottleneck(const base::PathId& from, const base::PathId& to,
                                      BottleneckLink* link) {
  const uint32_t from_slot = find(from);
  const uint32_t to_slot = find(to);
  if (from_slot == base::HashIndex::kNone || to_slot == base::HashIndex::kNone) return false;
  directions_[direction_index(from_slot, to_slot)]->model.set_bottleneck(link);
  return true;
}

void SimulatedNetwork::set_tap(NetworkTap tap, void* context) {
  tap_ = tap;
  tap_context_ = context;
}

/// Sends one datagram: counts it, shows the tap a copy that it may change, and forwards the copy.
bool SimulatedNetwork::transmit(uint32_t from, const Datagram& datagram, uint64_t now_ns) {
  Attachment& sender = *attachments_[from];
  if (datagram.size > kMaxDatagramBytes) {
    ++sender.stats.send_oversize;
    return false;
  }
  ++sender.stats.datagrams_sent;
  sender.stats.bytes_sent += datagram.size;
  TappedDatagram tapped{sender.address, datagram.peer, datagram.size, datagram.data, now_ns};
  if (tap_ == nullptr) {
    carry(from, tapped);
    return true;
  }
  std::array<uint8_t, kMaxDatagramBytes> copy;
  if (datagram.size > 0) std::memcpy(copy.data(), datagram.data, datagram.size);
  tapped.data = copy.data();
  const TapVerdict verdict = tap_(tap_context_, tapped);
  LATTICE_CHECK(tapped.data == copy.data() && tapped.size <= kMaxDatagramBytes);
  if (verdict == TapVerdict::kDrop) {
    ++tap_dropped_;
  } else {
    carry(from, tapped);
  }
  return true;
}

void SimulatedNetwork::carry(uint32_t from, const TappedDatagram& datagram) {
  const uint32_t to = find(datagram.to);
  if (to == base::HashIndex::kNone) {
    ++unreachable_;
    return;
  }
  const uint32_t index = direction_index(from, to);
  Direction& direction = *directions_[index];
  const Fate fate = direction.model.offer(datagram.size, datagram.now_ns, direction.stats);
  for (size_t i = 0; i < fate.copies; ++i) {
    const std::span<const uint8_t> bytes(datagram.data, datagram.size);
    if (!attachments_[to]->queue.push(fate.deliver_at_ns[i], datagram.from, bytes,
                                      direction_tag(index, direction.epoch))) {
      ++direction.stats.dropped_overflow;
      ++attachments_[to]->stats.receive_overflow;
    }
  }
}

bool SimulatedNetwork::report_unreachable(const base::PathId& to, const base::PathId& about) {
  const uint32_t slot = find(to);
  if (slot == base::HashIndex::kNone) return false;
  attachments_[slot]->unreachable = about;
  return true;
}

bool SimulatedNetwork::inject(const base::PathId& from, const base::PathId& to,
                              std::span<const uint8_t> bytes, uint64_t deliver_at_ns) {
  const uint32_t slot = find(to);
  if (slot == base::HashIndex::kNone) return false;
  if (!attachments_[slot]->queue.push(deliver_at_ns, from, bytes, kInjectedTag)) return false;
  ++attachments_[slot]->injected;
  return true;
}

size_t SimulatedNetwork::deliver(uint32_t to, std::span<Datagram> out, uint64_t now_ns) {
  Attachment& receiver = *attachments_[to];
  size_t count = 0;
  uint64_t tag = 0;
  while (count < out.size() && receiver.queue.pop(now_ns, out[count], &tag)) {
    receiver.stats.bytes_received += out[count].size;
    if (tag != kInjectedTag) {
      Direction& direction = *directions_[tag >> 32];
      if (direction.epoch == static_cast<uint32_t>(tag)) {
        ++direction.stats.delivered;
        direction.stats.delivered_bytes += out[count].size;
      }
    }
    ++count;
  }
  receiver.stats.datagrams_received += count;
  return count;
}

uint64_t SimulatedNetwork::next_event_ns() const {
  uint64_t next = kNoEvent;
  slots_.used().for_each_set(
      [&](size_t slot) { next = std::min(next, attachments_[slot]->queue.next_event_ns()); });
  return next;
}

size_t SimulatedNetwork::in_flight() const {
  size_t total = 0;
  slots_.used().for_each_set([&](size_t slot) { total += attachments_[slot]->queue.size(); });
  return total;
}

ImpairmentStats SimulatedNetwork::faults_to(const base::PathId& address) const {
  ImpairmentStats sum;
  const uint32_t slot = find(address);
  if (slot == base::HashIndex::kNone) return sum;
  for (const std::unique_ptr<Direction>& direction : directions_) {
    if (direction->open && direction->to == slot) add(sum, direction->stats);
  }
  sum.injected += attachments_[slot]->injected;
  return sum;
}

ImpairmentStats SimulatedNetwork::faults_from(const base::PathId& address) const {
  ImpairmentStats sum;
  const uint32_t slot = find(address);
  if (slot == base::HashIndex::kNone) return sum;
  for (const std::unique_ptr<Direction>& direction : directions_) {
    if (direction->open && direction->from == slot) add(sum, direction->stats);
  }
  return sum;
}

ImpairmentStats SimulatedNetwork::faults(const base::PathId& from, const base::PathId& to) const {
  const uint32_t from_slot = find(from);
  const uint32_t to_slot = find(to);
  if (from_slot == base::HashIndex::kNone || to_slot == base::HashIndex::kNone) return {};
  const uint32_t index = find_direction(from_slot, to_slot);
  return index == base::HashIndex::kNone ? ImpairmentStats{} : directions_[index]->stats;
}

}  // namespace lattice::socket
