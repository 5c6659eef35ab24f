#include "reliability/endpoint/datagram_batch.h"

#include <cstring>

#include "base/assert.h"

namespace lattice::reliability {

DatagramBatch::DatagramBatch(socket::DatagramSocket& socket, Capture& capture, const CallerTasks& tasks)
    : socket_(socket),
      capture_(capture),
      tasks_(tasks),
      datagrams_(tasks.enabled() ? kDatagramsWithTasks : kDatagrams),
      buffers_(std::make_unique_for_overwrite<uint8_t[]>(datagrams_.size() * socket::kMaxDatagramBytes)) {
  if (!tasks_.enabled()) return;
  pending_.resize(datagrams_.size());
  shares_.emplace(datagrams_.size());
}

std::span<uint8_t> DatagramBatch::begin() {
  // A capture remembers little more than kDatagrams plaintexts.
  if (count_ == datagrams_.size() || (count_ >= kDatagrams && capture_.is_on())) flush();
  return {buffers_.get() + count_ * socket::kMaxDatagramBytes, socket::kMaxDatagramBytes};
}

void DatagramBatch::commit(const base::PathId& to, uint32_t slot, connection::SecureLink& link,
                           const connection::SecureLink::Unsealed& packet) {
  // A capture taps the AEAD of this thread, so the packet is sealed here.
  if (!shares_ || capture_.is_on()) {
    link.finish_seal(packet);
  } else {
    pending_[count_] = {&link, packet};
    shares_->add(slot, count_, packet.datagram.size());
  }
  queue(to, packet.datagram);
}

void DatagramBatch::seal_shares() {
  shares_->run(tasks_, [this](size_t i) { pending_[i].link->finish_seal(pending_[i].packet); });
}

void DatagramBatch::queue(const base::PathId& to, std::span<uint8_t> datagram) {
  LATTICE_ASSERT(count_ < datagrams_.size());
  datagrams_[count_] = {to, static_cast<uint32_t>(datagram.size()), datagram.data()};
  ++count_;
}

void DatagramBatch::emit(const base::PathId& to, std::span<const uint8_t> datagram) {
  LATTICE_ASSERT(datagram.size() <= socket::kMaxDatagramBytes);
  const std::span<uint8_t> buffer = begin();
  std::memcpy(buffer.data(), datagram.data(), datagram.size());
  queue(to, buffer.first(datagram.size()));
  ++emitted_count_;
  emitted_bytes_ += datagram.size();
}

void DatagramBatch::flush() {
  if (count_ == 0) return;
  seal_pending();
  if (capture_.is_on()) {
    for (const socket::Datagram& each : std::span(datagrams_).first(count_)) {
      capture_.outgoing(each.peer, {each.data, each.size}, now_ns_);
    }
  }
  socket_.send(std::span<const socket::Datagram>(datagrams_).first(count_), now_ns_);
  count_ = 0;
}

}  // namespace lattice::reliability
