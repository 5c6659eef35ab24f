// The hub finds an address by a linear search: tests and tools join only a handful of sockets.
#include "transport/socket/loopback_socket.h"

#include <algorithm>
#include <cstring>

namespace lattice::socket {

LoopbackHub::LoopbackHub(size_t queue_datagrams, uint64_t pool_bytes)
    : pool_(pool_bytes), queue_datagrams_(queue_datagrams) {}

LoopbackHub::~LoopbackHub() {
  LATTICE_CHECK(sockets_.empty());
}

std::unique_ptr<LoopbackSocket> LoopbackHub::attach(const base::PathId& address) {
  if (!base::is_path(address) || find(address) != nullptr) return nullptr;
  std::unique_ptr<LoopbackSocket> socket(new LoopbackSocket(*this, address, queue_datagrams_));
  sockets_.push_back(socket.get());
  return socket;
}

LoopbackSocket* LoopbackHub::find(const base::PathId& address) const {
  for (LoopbackSocket* socket : sockets_) {
    if (socket->address_ == address) return socket;
  }
  return nullptr;
}

void LoopbackHub::detach(LoopbackSocket* socket) {
  sockets_.erase(std::remove(sockets_.begin(), sockets_.end(), socket), sockets_.end());
}

LoopbackSocket::LoopbackSocket(LoopbackHub& hub, const base::PathId& address, size_t queue_datagrams)
    : hub_(hub), address_(address), pending_(queue_datagrams) {}

LoopbackSocket::~LoopbackSocket() {
  while (!pending_.empty()) {
    Pending pending = pending_.pop_front();
    hub_.pool_.release(pending.buffer);
  }
  hub_.detach(this);
}

bool LoopbackSocket::deliver(const base::PathId& from, std::span<const uint8_t> bytes) {
  if (pending_.full()) return false;
  const base::Buffer buffer = hub_.pool_.allocate(bytes.size());
  if (!buffer) return false;
  if (!bytes.empty()) std::memcpy(buffer.data, bytes.data(), bytes.size());
  return pending_.push_back({from, buffer});
}

Reading LoopbackSocket::receive(std::span<Datagram> out, uint64_t) {
  size_t count = 0;
  while (count < out.size() && !pending_.empty()) {
    Pending pending = pending_.pop_front();
    Datagram& datagram = out[count++];
    datagram.peer = pending.from;
    datagram.size = pending.buffer.size_bytes;
    datagram.waited_ns = 0;
    std::memcpy(datagram.data, pending.buffer.data, datagram.size);
    stats_.bytes_received += datagram.size;
    hub_.pool_.release(pending.buffer);
  }
  stats_.datagrams_received += count;
  return {count, 0, !pending_.empty()};
}

size_t LoopbackSocket::send(std::span<const Datagram> datagrams, uint64_t) {
  size_t taken = 0;
  for (const Datagram& datagram : datagrams) {
    if (datagram.size > kMaxDatagramBytes) {
      ++stats_.send_oversize;
      continue;
    }
    LoopbackSocket* peer = hub_.find(datagram.peer);
    if (peer == nullptr) {
      ++stats_.send_refused;
      continue;
    }
    // As with UDP, the sender does not learn that the receiver has no room.
    if (!peer->deliver(address_, {datagram.data, datagram.size})) ++peer->stats_.receive_overflow;
    stats_.bytes_sent += datagram.size;
    ++taken;
  }
  stats_.datagrams_sent += taken;
  return taken;
}

}  // namespace lattice::socket
