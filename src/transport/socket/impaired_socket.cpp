// Two impairment queues around an inner socket.
#include "transport/socket/impaired_socket.h"

#include <algorithm>

#include <utility>

#include "base/assert.h"
#include "base/random.h"

namespace lattice::socket {
namespace {

/// The two directions must not share a random sequence.
uint64_t direction_seed(uint64_t seed, uint64_t direction) {
  uint64_t state = seed + direction;
  return base::splitmix64(state);
}

}  // namespace

ImpairedSocket::ImpairedSocket(std::unique_ptr<DatagramSocket> inner, const ImpairedSocketConfig& config)
    : inner_(std::move(inner)),
      pool_(config.pool_bytes),
      send_queue_(pool_, config.queue_datagrams, direction_seed(config.seed, 0)),
      receive_queue_(pool_, config.queue_datagrams, direction_seed(config.seed, 1)),
      buffers_(std::make_unique<uint8_t[]>(kBatch * kMaxDatagramBytes)) {
  LATTICE_CHECK(inner_ != nullptr);
  configure_send(config.send);
  configure_receive(config.receive);
}

std::span<Datagram> ImpairedSocket::scratch() {
  for (size_t i = 0; i < kBatch; ++i) scratch_[i].data = buffers_.get() + i * kMaxDatagramBytes;
  return scratch_;
}

void ImpairedSocket::drain_inner(uint64_t now_ns) {
  const std::span<Datagram> batch = scratch();
  for (size_t round = 0; round < kDrainBatches; ++round) {
    const size_t count = inner_->receive(batch, now_ns);
    for (const Datagram& datagram : batch.first(count)) {
      receive_queue_.offer(datagram.peer, {datagram.data, datagram.size}, now_ns);
    }
    if (count < batch.size()) break;
  }
}

void ImpairedSocket::flush(uint64_t now_ns) {
  const std::span<Datagram> batch = scratch();
  // The loop ends: each round takes from a bounded queue that is not refilled meanwhile.
  for (size_t count = send_queue_.take(batch, now_ns); count > 0; count = send_queue_.take(batch, now_ns)) {
    inner_->send(batch.first(count), now_ns);
  }
}

size_t ImpairedSocket::receive(std::span<Datagram> out, uint64_t now_ns) {
  flush(now_ns);
  size_t count = 0;
  if (receive_queue_.transparent()) {
    count = inner_->receive(out, now_ns);
  } else {
    drain_inner(now_ns);
    count = receive_queue_.take(out, now_ns);
  }
  stats_.datagrams_received += count;
  for (const Datagram& datagram : out.first(count)) stats_.bytes_received += datagram.size;
  return count;
}

size_t ImpairedSocket::send(std::span<const Datagram> datagrams, uint64_t now_ns) {
  size_t taken = 0;
  if (send_queue_.transparent()) {
    taken = inner_->send(datagrams, now_ns);
    stats_.datagrams_sent += taken;
    for (const Datagram& datagram : datagrams) {
      if (datagram.size > kMaxDatagramBytes) {
        ++stats_.send_oversize;
      } else {
        stats_.bytes_sent += datagram.size;
      }
    }
    return taken;
  }
  for (const Datagram& datagram : datagrams) {
    if (datagram.size > kMaxDatagramBytes) {
      ++stats_.send_oversize;
      continue;
    }
    send_queue_.offer(datagram.peer, {datagram.data, datagram.size}, now_ns);
    stats_.bytes_sent += datagram.size;
    ++taken;
  }
  stats_.datagrams_sent += taken;
  flush(now_ns);
  return taken;
}

bool ImpairedSocket::wait_readable(uint64_t timeout_ns) const {
  constexpr uint64_t kStepNs = 1'000'000;
  const bool is_clear = send_queue_.transparent() && receive_queue_.transparent();
  return inner_->wait_readable(is_clear ? timeout_ns : std::min(timeout_ns, kStepNs)) || !is_clear;
}

uint64_t ImpairedSocket::next_event_ns() const {
  const uint64_t send_ns = send_queue_.next_event_ns();
  const uint64_t receive_ns = receive_queue_.next_event_ns();
  return send_ns < receive_ns ? send_ns : receive_ns;
}

}  // namespace lattice::socket
