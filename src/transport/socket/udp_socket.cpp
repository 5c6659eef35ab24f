// Batches of platform datagrams, and the counters.
#include "transport/socket/udp_socket.h"

#include <algorithm>
#include <utility>

namespace lattice::socket {
namespace {

uint64_t payload_bytes(std::span<const Datagram> datagrams) {
  uint64_t bytes = 0;
  for (const Datagram& datagram : datagrams) bytes += datagram.size;
  return bytes;
}

}  // namespace

std::unique_ptr<UdpSocket> UdpSocket::open(const platform::Address& bind_address,
                                           platform::UdpOpenResult* result,
                                           const platform::UdpOptions& options) {
  std::unique_ptr<UdpSocket> out(new UdpSocket);
  const platform::UdpOpenResult opened = out->socket_.open(bind_address, options);
  if (result != nullptr) *result = opened;
  if (!opened.ok()) out.reset();
  return out;
}

Reading UdpSocket::receive(std::span<Datagram> out, uint64_t) {
  Reading reading;
  reading.may_have_more = true;
  bool has_failed = false;
  while (reading.may_have_more && reading.count + reading.refused < out.size()) {
    const std::span<Datagram> rest = out.subspan(reading.count);
    const size_t asked = std::min(rest.size() - reading.refused, batch_.size());
    for (size_t i = 0; i < asked; ++i) batch_[i].data = rest[i].data;
    const platform::UdpReceiveResult got = socket_.receive(std::span(batch_).first(asked), kMaxDatagramBytes);
    for (size_t i = 0; i < got.count; ++i) {
      rest[i].peer = path_of(batch_[i].peer);
      rest[i].size = batch_[i].size;
      rest[i].waited_ns = batch_[i].waited_ns;
    }
    stats_.receive_truncated += got.truncated;
    stats_.receive_errors += got.errors;
    reading.count += got.count;
    reading.refused += got.truncated;
    // A short batch means that the kernel's queue is empty. But a failure may be the report of one datagram,
    // before others that wait.
    const bool is_retried = got.errors != 0 && !std::exchange(has_failed, true);
    reading.may_have_more = got.count + got.truncated == asked || is_retried;
  }
  stats_.datagrams_received += reading.count;
  stats_.bytes_received += payload_bytes(out.first(reading.count));
  return reading;
}

uint32_t UdpSocket::largest_datagram(const base::PathId& path) const {
  const bool speaks_ipv6 = socket_.local_address().family == 6;
  const bool is_reached =
      (path.form == base::PathForm::kIpv6) == speaks_ipv6 || socket_.capabilities().dual_stack;
  return is_reached ? DatagramSocket::largest_datagram(path) : 0;
}

bool UdpSocket::take_unreachable(base::PathId* peer) {
  platform::Address address;
  if (!socket_.take_unreachable(&address)) return false;
  *peer = path_of(address);
  return true;
}

size_t UdpSocket::send(std::span<const Datagram> datagrams, uint64_t) {
  size_t taken = 0;
  size_t begin = 0;
  while (begin < datagrams.size()) {
    if (datagrams[begin].size > kMaxDatagramBytes) {
      ++stats_.send_oversize;
      ++begin;
      continue;
    }
    size_t count = 0;
    while (begin + count < datagrams.size() && count < batch_.size() &&
           datagrams[begin + count].size <= kMaxDatagramBytes) {
      const Datagram& datagram = datagrams[begin + count];
      batch_[count++] = {address_of(datagram.peer), datagram.size, datagram.data};
    }
    const platform::UdpSendResult result = socket_.send(std::span(batch_).first(count));
    taken += result.sent;
    stats_.send_full += result.full;
    stats_.send_refused += result.refused;
    stats_.bytes_sent += result.sent_bytes;
    begin += count;
  }
  stats_.datagrams_sent += taken;
  return taken;
}

}  // namespace lattice::socket
