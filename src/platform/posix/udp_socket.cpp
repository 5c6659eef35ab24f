// UDP over BSD sockets: opening, options, waiting. Batches are in udp_batch.cpp.
#include "platform/udp_socket.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "platform/posix/sockaddr.h"
#include "platform/posix/udp_batch.h"
#include "platform/wait.h"

namespace lattice::platform {
namespace {

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

/// Sets DF without the kernel's own path MTU discovery; a datagram larger than the interface is refused.
/// False if the system does not support this.
bool forbid_fragmentation(int fd, bool is_ipv6, bool dual_stack) {
#if defined(IP_PMTUDISC_PROBE) && defined(IPV6_PMTUDISC_PROBE)
  if (is_ipv6 && !set_option(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_PROBE)) return false;
  if (is_ipv6 && !dual_stack) return true;
  return set_option(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE);
#else
  (void)fd, (void)is_ipv6, (void)dual_stack;
  return false;
#endif
}

/// Makes the kernel keep the ICMP messages that answer this socket's datagrams. False if it cannot.
bool keep_icmp_reports(int fd, bool is_ipv6, bool dual_stack) {
#if defined(IP_RECVERR) && defined(IPV6_RECVERR)
  if (is_ipv6 && !set_option(fd, IPPROTO_IPV6, IPV6_RECVERR, 1)) return false;
  if (is_ipv6 && !dual_stack) return true;
  return set_option(fd, IPPROTO_IP, IP_RECVERR, 1);
#else
  (void)fd, (void)is_ipv6, (void)dual_stack;
  return false;
#endif
}

/// Asks for `wanted` bytes and returns the granted bytes. The kernel doubles the requested number for its own
/// bookkeeping and reports the doubled value (socket(7)); half of that value compares to `wanted`.
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

UdpSocket::UdpSocket() = default;

UdpSocket::~UdpSocket() {
  close();
}

UdpSocket::UdpSocket(UdpSocket&& other) noexcept {
  *this = std::move(other);
}

UdpSocket& UdpSocket::operator=(UdpSocket&& other) noexcept {
  if (this == &other) return *this;
  close();
  handle_ = std::exchange(other.handle_, -1);
  batch_ = std::move(other.batch_);
  local_ = std::exchange(other.local_, Address{});
  capabilities_ = std::exchange(other.capabilities_, UdpCapabilities{});
  return *this;
}

void UdpSocket::close() {
  if (handle_ < 0) return;
  ::close(static_cast<int>(handle_));
  handle_ = -1;
  batch_.reset();
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
  capabilities_.segmentation_offload = batch_->can_segment;
  capabilities_.receive_offload = batch_->can_coalesce;
}

UdpOpenResult UdpSocket::open(const Address& bind_address, const UdpOptions& options) {
  close();
  if (bind_address.family != 4 && bind_address.family != 6) return fail("address", EAFNOSUPPORT);
  const bool is_ipv6 = bind_address.family == 6;
  const int fd =
      ::socket(is_ipv6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_UDP);
  if (fd < 0) return fail("socket", errno);
  handle_ = fd;

  const bool dual_stack = is_ipv6 && options.dual_stack && is_unspecified(bind_address);
  if (is_ipv6 && !set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, dual_stack ? 0 : 1)) {
    return fail("IPV6_V6ONLY", errno);
  }
  sockaddr_storage address{};
  const socklen_t address_bytes =
      sockaddr_from_address(bind_address, is_ipv6, reinterpret_cast<sockaddr*>(&address));
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&address), address_bytes) != 0) return fail("bind", errno);

  socklen_t bound_bytes = sizeof address;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &bound_bytes) != 0) {
    return fail("getsockname", errno);
  }
  local_ = address_from_sockaddr(reinterpret_cast<const sockaddr*>(&address));
  batch_ = std::make_unique<Batch>(fd, is_ipv6);
  read_capabilities(options, dual_stack);
  capabilities_.reports_unreachable =
      options.report_unreachable && keep_icmp_reports(fd, is_ipv6, dual_stack);
  batch_->keeps_reports = capabilities_.reports_unreachable;
  capabilities_.tells_arrivals = options.tell_arrivals && batch_->tell_arrivals(fd);
  capabilities_.forbids_fragmentation = forbid_fragmentation(fd, is_ipv6, dual_stack);
  return {};
}

UdpReceiveResult UdpSocket::receive(std::span<UdpDatagram> out, size_t buffer_bytes) {
  if (!is_open()) return {};
  return batch_->receive(static_cast<int>(handle_), out, buffer_bytes);
}

UdpSendResult UdpSocket::send(std::span<const UdpDatagram> datagrams) {
  if (is_open()) return batch_->send(static_cast<int>(handle_), datagrams);
  UdpSendResult result;
  result.refused = datagrams.size();
  return result;
}

bool UdpSocket::take_unreachable(Address* peer) {
  return is_open() && batch_->take_unreachable(static_cast<int>(handle_), peer);
}

bool UdpSocket::wait_readable(uint64_t timeout_ns) const {
  if (!is_open()) return false;
  if (batch_->has_waiting()) return true;
  return platform::wait_readable(std::span(&handle_, 1), timeout_ns);
}

}  // namespace lattice::platform
