#include "replication/crowd_socket.h"

#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace bench {

using lattice::base::PathId;
using lattice::socket::Datagram;

namespace {

constexpr int kBufferBytes = 1 << 20;

/// A socket of its own, connected to the server; -1 when there are too many.
int open_socket(uint16_t port) {
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  sockaddr_in server{};
  server.sin_family = AF_INET;
  server.sin_port = htons(port);
  server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &kBufferBytes, sizeof kBufferBytes);
  setsockopt(fd, IPPROTO_UDP, UDP_GRO, &on, sizeof on);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&server), sizeof server) == 0) return fd;
  close(fd);
  return -1;
}

}  // namespace

CrowdSocket::CrowdSocket(uint16_t port, uint32_t count, const Path& path) : path_(path), run_(kRunBytes) {
  for (uint32_t i = 0; i < count; ++i) {
    const int fd = open_socket(port);
    if (fd < 0) return;
    index_of_.resize(std::max<size_t>(index_of_.size(), size_t{static_cast<unsigned>(fd)} + 1));
    index_of_[static_cast<size_t>(fd)] = i;
    sockets_.push_back(fd);
  }
  ok_ = true;
}

CrowdSocket::~CrowdSocket() {
  for (const int fd : sockets_) close(fd);
}

PathId CrowdSocket::crowd_address(uint32_t index) {
  return lattice::base::ipv4_path(10, 0, static_cast<uint8_t>(index >> 8), static_cast<uint8_t>(index), 1);
}

PathId CrowdSocket::local_path() const {
  return lattice::base::ipv4_path(127, 0, 0, 1, 1);
}

void CrowdSocket::begin_phase(uint32_t phase) {
  group_.clear();
  for (size_t i = phase; i < sockets_.size(); i += kPhases) group_.push_back({sockets_[i], POLLIN, POLLIN});
  next_ = group_.size(), again_ = true;
}

/// One look at all sockets of the group costs less than a failing read at each of them. Those that had
/// something may have more, and are looked at again. The others wait for their next phase.
bool CrowdSocket::find_readable() {
  for (;;) {
    for (; next_ < group_.size(); ++next_) {
      if ((group_[next_].revents & POLLIN) != 0) return true;
    }
    if (!again_) return false;
    again_ = false, next_ = 0;
    std::erase_if(group_, [](const pollfd& socket) { return (socket.revents & POLLIN) == 0; });
    if (poll(group_.data(), group_.size(), 0) <= 0) next_ = group_.size();
  }
}

bool CrowdSocket::read_run() {
  while (find_readable()) {
    alignas(cmsghdr) std::array<uint8_t, CMSG_SPACE(sizeof(int))> control{};
    iovec part = {run_.data(), run_.size()};
    msghdr header{};
    header.msg_iov = &part, header.msg_iovlen = 1;
    header.msg_control = control.data(), header.msg_controllen = control.size();
    const int fd = group_[next_++].fd;
    const ssize_t got = recvmsg(fd, &header, 0);
    if (got <= 0) continue;
    again_ = true, run_index_ = index_of_[static_cast<size_t>(fd)], run_at_ = 0;
    run_bytes_ = segment_bytes_ = static_cast<size_t>(got);
    for (cmsghdr* c = CMSG_FIRSTHDR(&header); c != nullptr; c = CMSG_NXTHDR(&header, c)) {
      int segment = 0;
      if (c->cmsg_level != IPPROTO_UDP || c->cmsg_type != UDP_GRO) continue;
      std::memcpy(&segment, CMSG_DATA(c), sizeof segment);
      if (segment > 0) segment_bytes_ = static_cast<size_t>(segment);
    }
    return true;
  }
  return false;
}

lattice::socket::Reading CrowdSocket::receive(std::span<Datagram> out, uint64_t now_ns) {
  flush(now_ns);
  size_t count = 0;
  while (count < out.size()) {
    if (run_at_ == run_bytes_ && !read_run()) break;
    const size_t bytes = std::min(segment_bytes_, run_bytes_ - run_at_);
    if (bytes <= lattice::socket::kMaxDatagramBytes && !random_.chance(path_.loss)) {
      Datagram& datagram = out[count++];
      std::memcpy(datagram.data, &run_[run_at_], bytes);
      datagram.size = static_cast<uint32_t>(bytes), datagram.peer = crowd_address(run_index_);
      ++stats_.datagrams_received, stats_.bytes_received += bytes;
    }
    run_at_ += bytes;
  }
  return {count, 0, count == out.size()};
}

void CrowdSocket::flush(uint64_t now_ns) {
  for (std::deque<Parcel>& parcels : parcels_) {
    for (; !parcels.empty() && parcels.front().due_ns <= now_ns; parcels.pop_front()) {
      Parcel& parcel = parcels.front();
      // A full buffer of the server drops it, as a network would.
      const bool sent = ::send(sockets_[parcel.index], parcel.bytes.data(), parcel.bytes.size(), 0) >= 0;
      stats_.send_full += !sent;
      spare_.push_back(std::move(parcel.bytes));
    }
  }
}

size_t CrowdSocket::send(std::span<const Datagram> datagrams, uint64_t now_ns) {
  for (const Datagram& datagram : datagrams) {
    const auto index = static_cast<uint32_t>(datagram.peer.bytes[14] << 8 | datagram.peer.bytes[15]);
    const uint32_t step = index % kDelays;
    if (random_.chance(path_.loss)) continue;
    const uint64_t delay_ns = path_.delay_ns - path_.spread_ns + 2 * path_.spread_ns * step / (kDelays - 1);
    Parcel parcel = {now_ns + delay_ns, index, {}};
    if (!spare_.empty()) parcel.bytes = std::move(spare_.back()), spare_.pop_back();
    parcel.bytes.assign(datagram.data, datagram.data + datagram.size);
    parcels_[step].push_back(std::move(parcel));
    ++stats_.datagrams_sent, stats_.bytes_sent += datagram.size;
  }
  flush(now_ns);
  return datagrams.size();
}

}  // namespace bench
