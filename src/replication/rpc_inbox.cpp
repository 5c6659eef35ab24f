#include "replication/rpc_inbox.h"

#include <algorithm>
#include <cstring>

namespace lattice::replication {

namespace {

constexpr auto kBySender = [](const auto& queue, uint64_t sender) { return queue.sender < sender; };

}  // namespace

const RpcInbox::Queue* RpcInbox::find(const std::vector<Queue>& queues, uint64_t sender) {
  const auto it = std::lower_bound(queues.begin(), queues.end(), sender, kBySender);
  return it != queues.end() && it->sender == sender ? &*it : nullptr;
}

RpcInbox::Queue& RpcInbox::queue_of(std::vector<Queue>& queues, uint64_t sender) {
  auto it = std::lower_bound(queues.begin(), queues.end(), sender, kBySender);
  if (it == queues.end() || it->sender != sender) {
    it = queues.emplace(it);
    it->sender = sender;
  }
  return *it;
}

bool RpcInbox::holds(uint64_t network_id, uint64_t sender) const {
  for (const std::vector<Queue>* queues : {&queues_, &visited_}) {
    const Queue* queue = find(*queues, sender);
    if (queue == nullptr) continue;
    for (const Held& rpc : queue->held) {
      if (!rpc.done && rpc.header.network_id == network_id) return true;
    }
  }
  return false;
}

size_t RpcInbox::size() const {
  size_t sum = 0;
  for (const Queue& queue : queues_) sum += queue.held.size();
  return sum;
}

RpcRefusal RpcInbox::hold(uint64_t now_ns, uint64_t sender, const RpcHeader& header,
                          std::span<const uint8_t> body, bool has_object) {
  size_t held = 0;
  size_t on_object = 0;
  size_t bytes = body.size();
  for (const std::vector<Queue>* queues : {&queues_, &visited_}) {
    const Queue* queue = find(*queues, sender);
    if (queue == nullptr) continue;
    bytes += queue->bytes.size();
    held += queue->held.size();
    for (const Held& rpc : queue->held) on_object += rpc.header.network_id == header.network_id ? 1 : 0;
  }
  if (held >= kMaxHeld || on_object >= kMaxHeldPerObject || bytes > kMaxBytes) return RpcRefusal::kQueueFull;
  Queue& queue = queue_of(queues_, sender);
  Held rpc;
  rpc.header = header;
  rpc.since_ns = now_ns;
  rpc.object_since_ns = now_ns;
  rpc.has_object = has_object;
  rpc.first_byte = static_cast<uint32_t>(queue.bytes.size());
  rpc.size = static_cast<uint32_t>(body.size());
  queue.bytes.insert(queue.bytes.end(), body.begin(), body.end());
  queue.held.push_back(rpc);
  return RpcRefusal::kNone;
}

bool RpcInbox::hasten(uint64_t sender, uint64_t network_id) {
  const auto it = std::lower_bound(queues_.begin(), queues_.end(), sender, kBySender);
  if (it == queues_.end() || it->sender != sender) return false;
  std::vector<Held>& held = it->held;
  // The ids of the objects on which calls wait for their tick, and of them the one with the most calls: that
  // of the newcomer, if it has as many as an object may have.
  ids_.clear();
  for (const Held& rpc : held) {
    if (rpc.has_object && !rpc.is_hastened) ids_.push_back(rpc.header.network_id);
  }
  if (ids_.empty()) return false;
  std::sort(ids_.begin(), ids_.end());
  uint64_t most_on = 0;
  size_t most = 0;
  for (auto first = ids_.begin(); first != ids_.end();) {
    const auto last = std::upper_bound(first, ids_.end(), *first);
    const auto count = static_cast<size_t>(last - first);
    const bool is_full = *first == network_id && count >= kMaxHeldPerObject;
    if (is_full || count > most) {
      most_on = *first;
      most = is_full ? SIZE_MAX : count;
    }
    first = last;
  }
  for (Held& rpc : held) {
    rpc.is_hastened = rpc.is_hastened || (rpc.header.network_id == most_on && rpc.has_object);
  }
  return true;
}

bool RpcInbox::is_due(uint64_t now_ns, const Held& rpc, RpcSink::Readiness readiness) {
  switch (readiness) {
    case RpcSink::Readiness::kNoObject:
      return now_ns - rpc.since_ns >= kObjectWaitNs;
    case RpcSink::Readiness::kTooEarly:
      return rpc.is_hastened || now_ns - rpc.object_since_ns >= kTickWaitNs;
    case RpcSink::Readiness::kGone:
    case RpcSink::Readiness::kReady:
      return true;
  }
  return true;
}

void RpcInbox::poll(uint64_t now_ns, RpcSink& sink) {
  if (queues_.empty()) return;
  visited_.swap(queues_);
  for (Queue& queue : visited_) poll(now_ns, queue, sink);
  take_back_what_still_waits();
}

void RpcInbox::poll(uint64_t now_ns, Queue& queue, RpcSink& sink) {
  blocked_.clear();
  for (Held& rpc : queue.held) {
    const uint64_t id = rpc.header.network_id;
    const RpcSink::Readiness readiness = sink.readiness(rpc.header);
    // Also of an RPC behind a blocked one: each waits for the tick from its own time on.
    if (!rpc.has_object &&
        (readiness == RpcSink::Readiness::kReady || readiness == RpcSink::Readiness::kTooEarly)) {
      rpc.has_object = true;
      rpc.object_since_ns = now_ns;
    }
    if (std::find(blocked_.begin(), blocked_.end(), id) != blocked_.end()) continue;
    if (!is_due(now_ns, rpc, readiness)) {
      blocked_.push_back(id);
      continue;
    }
    rpc.done = true;
    if (readiness == RpcSink::Readiness::kGone || readiness == RpcSink::Readiness::kNoObject) {
      sink.dropped(RpcRefusal::kUnknownObject);
    } else {
      sink.deliver(queue.sender, rpc.header, queue.body(rpc));
    }
  }
  remove_done(queue);
}

void RpcInbox::release(uint64_t network_id, RpcSink& sink) {
  if (queues_.empty()) return;
  visited_.swap(queues_);
  for (Queue& queue : visited_) {
    for (Held& rpc : queue.held) {
      if (rpc.header.network_id != network_id) continue;
      rpc.done = true;
      sink.deliver(queue.sender, rpc.header, queue.body(rpc));
    }
    remove_done(queue);
  }
  take_back_what_still_waits();
}

size_t RpcInbox::forget(uint64_t sender) {
  const size_t before = size();
  std::erase_if(queues_, [sender](const Queue& queue) { return queue.sender == sender; });
  return before - size();
}

void RpcInbox::remove_done(Queue& queue) {
  uint32_t used = 0;
  size_t kept = 0;
  for (const Held& rpc : queue.held) {
    if (rpc.done) continue;
    Held moved = rpc;
    moved.first_byte = used;
    std::memmove(queue.bytes.data() + used, queue.bytes.data() + rpc.first_byte, rpc.size);
    used += rpc.size;
    queue.held[kept++] = moved;
  }
  queue.held.resize(kept);
  queue.bytes.resize(used);
}

// What came meanwhile is behind what waited before.
void RpcInbox::take_back_what_still_waits() {
  std::erase_if(visited_, [](const Queue& queue) { return queue.held.empty(); });
  visited_.swap(queues_);
  for (const Queue& newer : visited_) {
    Queue& queue = queue_of(queues_, newer.sender);
    for (Held rpc : newer.held) {
      const std::span<const uint8_t> body = newer.body(rpc);
      rpc.first_byte = static_cast<uint32_t>(queue.bytes.size());
      queue.bytes.insert(queue.bytes.end(), body.begin(), body.end());
      queue.held.push_back(rpc);
    }
  }
  visited_.clear();
}

}  // namespace lattice::replication
