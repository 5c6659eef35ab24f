// UDP over BSD sockets with recvmmsg and sendmmsg.
#include "platform/udp_socket.h"

#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "platform/posix/sockaddr.h"

namespace lattice::platform {
namespace {

/// The arrays one recvmmsg or sendmmsg call points into; about 14 KB of stack.
struct Batch {
  std::array<mmsghdr, kUdpBatchDatagrams> headers;
  std::array<iovec, kUdpBatchDatagrams> buffers;
  std::array<sockaddr_storage, kUdpBatchDatagrams> peers;

  void point(size_t i, uint8_t* data, size_t bytes, socklen_t peer_bytes) {
    buffers[i] = {data, bytes};
    headers[i] = {};
    headers[i].msg_hdr.msg_iov = &buffers[i];
    headers[i].msg_hdr.msg_iovlen = 1;
    headers[i].msg_hdr.msg_name = &peers[i];
    headers[i].msg_hdr.msg_namelen = peer_bytes;
  }
};

UdpOpenError classify(int os_error) {
  switch (os_error) {
    case EADDRINUSE:
      return UdpOpenError::kAddressInUse;
    case EACCES:
    case EPERM:
      return UdpOpenError::kPermission;
    case EAFNOSUPPORT:
    case EPROTONOSUPPORT:
    case EADDRNOTAVAIL:
      return UdpOpenError::kUnsupported;
    default:
      return UdpOpenError::kOther;
  }
}

bool is_unspecified(const Address& address) {
  return address.family == 6 &&
         std::all_of(address.ip.begin(), address.ip.end(), [](uint8_t b) { return b == 0; });
}

bool set_option(int fd, int level, int name, int value) {
  return setsockopt(fd, level, name, &value, sizeof value) == 0;
}

/// Asks for `wanted` bytes and returns what the kernel will really use. The kernel doubles the number it
/// is given to pay for its own bookkeeping and reports the double (socket(7)); half is the comparable one.
uint32_t request_buffer(int fd, int name, uint32_t wanted) {
  set_option(fd, SOL_SOCKET, name, static_cast<int>(std::min<uint32_t>(wanted, 1u << 30)));
  int granted = 0;
  socklen_t bytes = sizeof granted;
  if (getsockopt(fd, SOL_SOCKET, name, &granted, &bytes) != 0 || granted < 0) return 0;
  return static_cast<uint32_t>(granted) / 2;
}

}  // namespace

const char* udp_open_error_name(UdpOpenError error) {
  switch (error) {
    case UdpOpenError::kNone:
      return "none";
    case UdpOpenError::kAddressInUse:
      return "address_in_use";
    case UdpOpenError::kPermission:
      return "permission";
    case UdpOpenError::kUnsupported:
      return "unsupported";
    case UdpOpenError::kOther:
      return "other";
  }
  return "other";
}

UdpSocket::UdpSocket(UdpSocket&& other) noexcept {
  *this = std::move(other);
}

UdpSocket& UdpSocket::operator=(UdpSocket&& other) noexcept {
  if (this == &other) return *this;
  close();
  handle_ = std::exchange(other.handle_, -1);
  is_ipv6_ = other.is_ipv6_;
  local_ = std::exchange(other.local_, Address{});
  capabilities_ = std::exchange(other.capabilities_, UdpCapabilities{});
  return *this;
}

void UdpSocket::close() {
  if (handle_ < 0) return;
  ::close(static_cast<int>(handle_));
  handle_ = -1;
  local_ = {};
  capabilities_ = {};
}

UdpOpenResult UdpSocket::fail(const char* step, int os_error) {
  close();
  UdpOpenResult result;
  result.error = classify(os_error);
  result.os_error = os_error;
  std::snprintf(result.text, sizeof result.text, "%s: %s", step, std::strerror(os_error));
  return result;
}

void UdpSocket::read_capabilities(const UdpOptions& options, bool dual_stack) {
  const int fd = static_cast<int>(handle_);
  capabilities_.receive_buffer_bytes = request_buffer(fd, SO_RCVBUF, options.receive_buffer_bytes);
  capabilities_.send_buffer_bytes = request_buffer(fd, SO_SNDBUF, options.send_buffer_bytes);
  capabilities_.dual_stack = dual_stack;
#if defined(UDP_SEGMENT)
  // Segment size 0 switches the feature off, so the probe has no effect where it succeeds.
  capabilities_.segmentation_offload = set_option(fd, IPPROTO_UDP, UDP_SEGMENT, 0);
#endif
}

UdpOpenResult UdpSocket::open(const Address& bind_address, const UdpOptions& options) {
  close();
  if (bind_address.family != 4 && bind_address.family != 6) return fail("address", EAFNOSUPPORT);
  is_ipv6_ = bind_address.family == 6;
  const int fd =
      ::socket(is_ipv6_ ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_UDP);
  if (fd < 0) return fail("socket", errno);
  handle_ = fd;

  const bool dual_stack = is_ipv6_ && options.dual_stack && is_unspecified(bind_address);
  if (is_ipv6_ && !set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, dual_stack ? 0 : 1)) {
    return fail("IPV6_V6ONLY", errno);
  }
  sockaddr_storage address{};
  const socklen_t address_bytes = sockaddr_from_address(bind_address, is_ipv6_, &address);
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&address), address_bytes) != 0) return fail("bind", errno);

  socklen_t bound_bytes = sizeof address;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &bound_bytes) != 0) {
    return fail("getsockname", errno);
  }
  local_ = address_from_sockaddr(reinterpret_cast<const sockaddr*>(&address));
  read_capabilities(options, dual_stack);
  return {};
}

UdpReceiveResult UdpSocket::receive(std::span<UdpDatagram> out, size_t buffer_bytes) {
  UdpReceiveResult result;
  const size_t wanted = std::min(out.size(), kUdpBatchDatagrams);
  if (!is_open() || wanted == 0) return result;
  Batch batch;
  for (size_t i = 0; i < wanted; ++i) batch.point(i, out[i].data, buffer_bytes, sizeof(sockaddr_storage));

  int received;
  do {
    received = recvmmsg(static_cast<int>(handle_), batch.headers.data(), static_cast<unsigned>(wanted),
                        MSG_DONTWAIT, nullptr);
  } while (received < 0 && errno == EINTR);
  if (received < 0) {
    if (errno != EAGAIN && errno != EWOULDBLOCK) result.errors = 1;
    return result;
  }
  for (size_t i = 0; i < static_cast<size_t>(received); ++i) {
    if ((batch.headers[i].msg_hdr.msg_flags & MSG_TRUNC) != 0) {
      ++result.truncated;
      continue;
    }
    UdpDatagram& datagram = out[result.count];
    datagram.peer = address_from_sockaddr(reinterpret_cast<const sockaddr*>(&batch.peers[i]));
    datagram.size = batch.headers[i].msg_len;
    // A gap left by a dropped datagram is closed by copying: the caller's pointers stay where they are.
    if (result.count != i) std::memcpy(datagram.data, out[i].data, datagram.size);
    ++result.count;
  }
  return result;
}

UdpSendResult UdpSocket::send(std::span<const UdpDatagram> datagrams) {
  UdpSendResult result;
  if (!is_open()) {
    result.refused = datagrams.size();
    return result;
  }
  Batch batch;
  size_t position = 0;
  while (position < datagrams.size()) {
    const size_t count = std::min(datagrams.size() - position, kUdpBatchDatagrams);
    for (size_t i = 0; i < count; ++i) {
      const UdpDatagram& datagram = datagrams[position + i];
      const socklen_t peer_bytes = sockaddr_from_address(datagram.peer, is_ipv6_, &batch.peers[i]);
      batch.point(i, datagram.data, datagram.size, peer_bytes);
    }
    const int sent =
        sendmmsg(static_cast<int>(handle_), batch.headers.data(), static_cast<unsigned>(count), MSG_DONTWAIT);
    if (sent > 0) {
      for (size_t i = 0; i < static_cast<size_t>(sent); ++i)
        result.sent_bytes += datagrams[position + i].size;
      result.sent += static_cast<size_t>(sent);
      position += static_cast<size_t>(sent);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS) {
      result.full = datagrams.size() - position;
      break;
    } else if (errno != EINTR) {
      // The error belongs to the first datagram of the call; the others still get their chance.
      ++result.refused;
      ++position;
    }
  }
  return result;
}

bool UdpSocket::wait_readable(uint64_t timeout_ns) const {
  if (!is_open()) return false;
  pollfd waiting{static_cast<int>(handle_), POLLIN, 0};
  const timespec timeout{static_cast<time_t>(timeout_ns / 1'000'000'000),
                         static_cast<long>(timeout_ns % 1'000'000'000)};
  return ppoll(&waiting, 1, &timeout, nullptr) > 0;
}

}  // namespace lattice::platform
