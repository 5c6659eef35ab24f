#include "replication/rpc_inbox.h"

#include <algorithm>

#include "base/assert.h"

namespace lattice::replication {

RpcInbox::RpcInbox() {
  held_.reserve(kMaxHeld);
  blocked_.reserve(kMaxHeld);
}

bool RpcInbox::holds(uint64_t network_id) const {
  return std::any_of(held_.begin(), held_.end(),
                     [&](const Held& held) { return held.header.network_id == network_id; });
}

bool RpcInbox::holds(uint64_t network_id, uint64_t context) const {
  return std::any_of(held_.begin(), held_.end(), [&](const Held& held) {
    return held.header.network_id == network_id && held.context == context;
  });
}

RpcRefusal RpcInbox::hold(uint64_t now_ns, const RpcHeader& header, std::span<const uint8_t> body,
                          uint64_t context) {
  const auto same_object = std::count_if(held_.begin(), held_.end(), [&](const Held& held) {
    return held.header.network_id == header.network_id;
  });
  if (held_.size() >= kMaxHeld || same_object >= static_cast<std::ptrdiff_t>(kMaxHeldPerObject) ||
      bytes_.size() + body.size() > kMaxBytes) {
    return RpcRefusal::kQueueFull;
  }
  Held held;
  held.header = header;
  held.since_ns = now_ns;
  held.context = context;
  held.first_byte = static_cast<uint32_t>(bytes_.size());
  held.size = static_cast<uint32_t>(body.size());
  bytes_.insert(bytes_.end(), body.begin(), body.end());
  held_.push_back(held);
  return RpcRefusal::kNone;
}

void RpcInbox::poll(uint64_t now_ns, RpcSink& sink) {
  if (held_.empty()) return;
  blocked_.clear();
  for (Held& held : held_) {
    const uint64_t id = held.header.network_id;
    if (std::find(blocked_.begin(), blocked_.end(), id) != blocked_.end()) continue;
    const RpcSink::Readiness readiness = sink.readiness(held.header);
    const std::span<const uint8_t> body =
        std::span<const uint8_t>(bytes_).subspan(held.first_byte, held.size);
    if (readiness == RpcSink::Readiness::kGone) {
      sink.dropped(held.context, held.header, RpcRefusal::kUnknownObject);
    } else if (readiness == RpcSink::Readiness::kNoObject) {
      if (now_ns - held.since_ns < kObjectWaitNs) {
        blocked_.push_back(id);
        continue;
      }
      sink.dropped(held.context, held.header, RpcRefusal::kUnknownObject);
    } else {
      if (!held.has_object) {
        held.has_object = true;
        held.object_since_ns = now_ns;
      }
      if (readiness == RpcSink::Readiness::kTooEarly && now_ns - held.object_since_ns < kTickWaitNs) {
        blocked_.push_back(id);
        continue;
      }
      sink.deliver(held.context, held.header, body);
    }
    held.done = true;
  }
  remove_done();
}

void RpcInbox::release(uint64_t network_id, RpcSink& sink) {
  if (!holds(network_id)) return;
  for (size_t i = 0; i < held_.size(); ++i) {
    if (held_[i].done || held_[i].header.network_id != network_id) continue;
    held_[i].done = true;
    const Held held = held_[i];
    sink.deliver(held.context, held.header,
                 std::span<const uint8_t>(bytes_).subspan(held.first_byte, held.size));
  }
  remove_done();
}

void RpcInbox::forget(uint64_t context) {
  for (Held& held : held_) held.done = held.done || held.context == context;
  remove_done();
}

void RpcInbox::remove_done() {
  uint32_t used = 0;
  size_t kept = 0;
  for (const Held& held : held_) {
    if (held.done) continue;
    Held moved = held;
    moved.first_byte = used;
    std::copy_n(bytes_.begin() + held.first_byte, held.size, bytes_.begin() + used);
    used += held.size;
    held_[kept++] = moved;
  }
  held_.resize(kept);
  bytes_.resize(used);
}

}  // namespace lattice::replication
