#include "reliability/datagram_batch.h"

#include <cstring>

#include "base/assert.h"

namespace lattice::reliability {

DatagramBatch::DatagramBatch(socket::DatagramSocket& socket, Capture& capture)
    : socket_(socket),
      capture_(capture),
      buffers_(std::make_unique_for_overwrite<uint8_t[]>(kDatagrams * socket::kMaxDatagramBytes)) {}

std::span<uint8_t> DatagramBatch::begin() {
  if (count_ == kDatagrams) flush();
  return {buffers_.get() + count_ * socket::kMaxDatagramBytes, socket::kMaxDatagramBytes};
}

void DatagramBatch::commit(const platform::Address& to, std::span<uint8_t> datagram) {
  LATTICE_ASSERT(count_ < kDatagrams);
  datagrams_[count_] = {to, static_cast<uint32_t>(datagram.size()), datagram.data()};
  ++count_;
}

void DatagramBatch::emit(const platform::Address& to, std::span<const uint8_t> datagram) {
  LATTICE_ASSERT(datagram.size() <= socket::kMaxDatagramBytes);
  const std::span<uint8_t> buffer = begin();
  std::memcpy(buffer.data(), datagram.data(), datagram.size());
  commit(to, buffer.first(datagram.size()));
  ++emitted_count_;
  emitted_bytes_ += datagram.size();
}

void DatagramBatch::flush() {
  if (count_ == 0) return;
  if (capture_.is_on()) {
    for (const socket::Datagram& each : std::span(datagrams_).first(count_)) {
      capture_.outgoing(each.peer, {each.data, each.size}, now_ns_);
    }
  }
  socket_.send(std::span<const socket::Datagram>(datagrams_).first(count_), now_ns_);
  count_ = 0;
}

}  // namespace lattice::reliability
