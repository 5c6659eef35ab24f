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

ImpairedSocket::Queues::Queues(const ImpairedSocketConfig& config)
    : pool(config.pool_bytes),
      send(pool, config.queue_datagrams, direction_seed(config.seed, 0)),
      receive(pool, config.queue_datagrams, direction_seed(config.seed, 1)),
      buffers(std::make_unique<uint8_t[]>(kBatch * kMaxDatagramBytes)) {}

std::span<Datagram> ImpairedSocket::Queues::scratch() {
  for (size_t i = 0; i < kBatch; ++i) datagrams[i].data = buffers.get() + i * kMaxDatagramBytes;
  return datagrams;
}

ImpairedSocket::ImpairedSocket(std::unique_ptr<DatagramSocket> inner, const ImpairedSocketConfig& config)
    : inner_(std::move(inner)), config_(config) {
  LATTICE_CHECK(inner_ != nullptr);
  configure_send(config.send);
  configure_receive(config.receive);
}

void ImpairedSocket::configure_send(const Impairment& impairment) {
  if (queues_ == nullptr && impairment == Impairment{}) return;
  if (queues_ == nullptr) queues_ = std::make_unique<Queues>(config_);
  queues_->send.configure(impairment);
}

void ImpairedSocket::configure_receive(const Impairment& impairment) {
  if (queues_ == nullptr && impairment == Impairment{}) return;
  if (queues_ == nullptr) queues_ = std::make_unique<Queues>(config_);
  queues_->receive.configure(impairment);
}

void ImpairedSocket::drain_inner(Queues& queues, uint64_t now_ns) {
  const std::span<Datagram> batch = queues.scratch();
  for (size_t round = 0; round < kDrainBatches; ++round) {
    const Reading reading = inner_->receive(batch, now_ns);
    for (const Datagram& datagram : batch.first(reading.count)) {
      queues.receive.offer(datagram.peer, {datagram.data, datagram.size}, now_ns);
    }
    if (!reading.may_have_more) break;
  }
}

void ImpairedSocket::flush(uint64_t now_ns) {
  Queues* queues = impairing(&Queues::send);
  if (queues == nullptr) return;
  const std::span<Datagram> batch = queues->scratch();
  // The loop ends: each round takes from a bounded queue that is not refilled meanwhile.
  for (size_t count = queues->send.take(batch, now_ns); count > 0; count = queues->send.take(batch, now_ns)) {
    inner_->send(batch.first(count), now_ns);
  }
}

// The counters of a batch are those of the inner socket for it, so that no datagram is looked at.
Reading ImpairedSocket::pass_received(std::span<Datagram> out, uint64_t now_ns) {
  const uint64_t bytes_before = inner_->stats().bytes_received;
  const Reading reading = inner_->receive(out, now_ns);
  stats_.datagrams_received += reading.count;
  stats_.bytes_received += inner_->stats().bytes_received - bytes_before;
  return reading;
}

size_t ImpairedSocket::pass_sent(std::span<const Datagram> datagrams, uint64_t now_ns) {
  const uint64_t bytes_before = inner_->stats().bytes_sent;
  const uint64_t oversize_before = inner_->stats().send_oversize;
  const size_t taken = inner_->send(datagrams, now_ns);
  stats_.datagrams_sent += taken;
  stats_.bytes_sent += inner_->stats().bytes_sent - bytes_before;
  stats_.send_oversize += inner_->stats().send_oversize - oversize_before;
  return taken;
}

Reading ImpairedSocket::receive(std::span<Datagram> out, uint64_t now_ns) {
  flush(now_ns);
  Queues* queues = impairing(&Queues::receive);
  if (queues == nullptr) return pass_received(out, now_ns);
  drain_inner(*queues, now_ns);
  const size_t count = queues->receive.take(out, now_ns);
  stats_.datagrams_received += count;
  for (const Datagram& datagram : out.first(count)) stats_.bytes_received += datagram.size;
  return {count, 0, count == out.size()};
}

size_t ImpairedSocket::send(std::span<const Datagram> datagrams, uint64_t now_ns) {
  Queues* queues = impairing(&Queues::send);
  if (queues == nullptr) return pass_sent(datagrams, now_ns);
  size_t taken = 0;
  for (const Datagram& datagram : datagrams) {
    if (datagram.size > kMaxDatagramBytes) {
      ++stats_.send_oversize;
      continue;
    }
    queues->send.offer(datagram.peer, {datagram.data, datagram.size}, now_ns);
    stats_.bytes_sent += datagram.size;
    ++taken;
  }
  stats_.datagrams_sent += taken;
  flush(now_ns);
  return taken;
}

bool ImpairedSocket::wait_readable(uint64_t timeout_ns) const {
  const bool is_clear = impairing(&Queues::send) == nullptr && impairing(&Queues::receive) == nullptr;
  return inner_->wait_readable(is_clear ? timeout_ns : std::min(timeout_ns, kLookAgainNs)) || !is_clear;
}

uint64_t ImpairedSocket::next_event_ns() const {
  if (queues_ == nullptr) return kNoEvent;
  return std::min(queues_->send.next_event_ns(), queues_->receive.next_event_ns());
}

}  // namespace lattice::socket
