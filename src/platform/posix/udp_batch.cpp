#include "platform/posix/udp_batch.h"

#include <netinet/udp.h>
#if defined(__linux__)
#include <linux/errqueue.h>
#endif

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "platform/posix/sockaddr.h"

namespace lattice::platform {
namespace {

/// A run must fit an IP datagram with its headers, IPv6 included.
constexpr size_t kMaxRunBytes = 65'000;
/// The kernel's bound (UDP_MAX_SEGMENTS) is 64, or 128 in newer kernels.
constexpr size_t kMaxRunDatagrams = 64;

bool set_coalescing([[maybe_unused]] int fd, [[maybe_unused]] bool on) {
#if defined(UDP_GRO)
  const int value = on ? 1 : 0;
  return setsockopt(fd, IPPROTO_UDP, UDP_GRO, &value, sizeof value) == 0;
#else
  return false;
#endif
}

/// Datagrams from the front of `rest` that can leave as one run; at least 1.
size_t run_length(std::span<const UdpDatagram> rest) {
  const size_t size = rest[0].size;
  if (size == 0) return 1;
  const size_t most = std::min({rest.size(), kMaxRunDatagrams, std::max<size_t>(1, kMaxRunBytes / size)});
  size_t count = 1;
  while (count < most && rest[count].size <= size && rest[count].size != 0 &&
         rest[count].peer == rest[0].peer) {
    ++count;
    if (rest[count - 1].size != size) break;  // A shorter datagram ends the run.
  }
  return count;
}

/// Copies what the kernel says of a datagram under `level` and `type` to `out`; false when it says nothing.
template <class T>
bool read_control(msghdr& header, int level, int type, T* out) {
  for (cmsghdr* control = CMSG_FIRSTHDR(&header); control != nullptr;
       control = CMSG_NXTHDR(&header, control)) {
    if (control->cmsg_level != level || control->cmsg_type != type) continue;
    std::memcpy(out, CMSG_DATA(control), sizeof *out);
    return true;
  }
  return false;
}

/// The size of the datagrams that the kernel joined, or 0 when it joined none.
size_t segment_bytes_of([[maybe_unused]] msghdr& header) {
#if defined(UDP_GRO)
  int bytes = 0;
  if (read_control(header, IPPROTO_UDP, UDP_GRO, &bytes) && bytes > 0) return static_cast<size_t>(bytes);
#endif
  return 0;
}

constexpr int64_t kSecondNs = 1'000'000'000;

/// By the clock that the kernel stamps datagrams with.
int64_t day_ns(const timespec& time) {
  return int64_t{time.tv_sec} * kSecondNs + time.tv_nsec;
}

int64_t day_now_ns() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return day_ns(now);
}

/// How long a datagram had waited at `now_ns`; 0 when the kernel does not say.
uint64_t waited_ns_of([[maybe_unused]] msghdr& header, [[maybe_unused]] int64_t now_ns) {
#if defined(SO_TIMESTAMPNS)
  timespec came{};
  if (read_control(header, SOL_SOCKET, SCM_TIMESTAMPNS, &came)) {
    return static_cast<uint64_t>(std::max<int64_t>(now_ns - day_ns(came), 0));
  }
#endif
  return 0;
}

#if defined(IP_RECVERR) && defined(IPV6_RECVERR)
/// True when the message says that a port is unreachable.
bool says_unreachable(msghdr& header) {
  for (cmsghdr* control = CMSG_FIRSTHDR(&header); control != nullptr;
       control = CMSG_NXTHDR(&header, control)) {
    const bool v4 = control->cmsg_level == IPPROTO_IP && control->cmsg_type == IP_RECVERR;
    const bool v6 = control->cmsg_level == IPPROTO_IPV6 && control->cmsg_type == IPV6_RECVERR;
    if (!v4 && !v6) continue;
    sock_extended_err report;
    std::memcpy(&report, CMSG_DATA(control), sizeof report);
    const bool from_icmp = report.ee_origin == SO_EE_ORIGIN_ICMP || report.ee_origin == SO_EE_ORIGIN_ICMP6;
    if (from_icmp && report.ee_errno == ECONNREFUSED) return true;
  }
  return false;
}
#endif

/// True for the errors of a call that found an empty queue.
bool is_empty(int os_error) {
  return os_error == EAGAIN || os_error == EWOULDBLOCK;
}

}  // namespace

UdpSocket::Batch::Batch(int fd, bool is_ipv6)
    : is_ipv6_(is_ipv6), arena_(std::make_unique_for_overwrite<uint8_t[]>(kCoalesced * kCoalescedBytes)) {
  for (size_t i = 0; i < kUdpBatchDatagrams; ++i) {
    send_headers_[i].msg_hdr.msg_name = &send_peers_[i];
    msghdr& receive = receive_headers_[i].msg_hdr;
    receive.msg_name = &receive_peers_[i];
    receive.msg_iov = &receive_parts_[i];
    receive.msg_iovlen = 1;
    receive.msg_control = receive_controls_[i].bytes;
  }
  for (size_t i = 0; i < kCoalesced; ++i) {
    run_parts_[i] = {arena_.get() + i * kCoalescedBytes, kCoalescedBytes};
    msghdr& header = run_headers_[i].msg_hdr;
    header.msg_name = &run_peers_[i];
    header.msg_iov = &run_parts_[i];
    header.msg_iovlen = 1;
    header.msg_control = run_controls_[i].bytes;
  }
#if defined(UDP_SEGMENT)
  // Segment size 0 switches the feature off, so a successful probe has no effect.
  const int none = 0;
  can_segment = setsockopt(fd, IPPROTO_UDP, UDP_SEGMENT, &none, sizeof none) == 0;
#endif
  can_coalesce = set_coalescing(fd, true) && set_coalescing(fd, false);
}

bool UdpSocket::Batch::tell_arrivals([[maybe_unused]] int fd) {
#if defined(SO_TIMESTAMPNS)
  const int on = 1;
  tells_arrivals_ = setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on) == 0;
#endif
  return tells_arrivals_;
}

// ---- Sending -------------------------------------------------------------------------------------------

void UdpSocket::Batch::plan_entry(size_t entry, const UdpDatagram& first, size_t first_part, size_t parts) {
  msghdr& header = send_headers_[entry].msg_hdr;
  header.msg_namelen = sockaddr_from_address(first.peer, is_ipv6_, &send_peers_[entry].any);
  header.msg_iov = &send_parts_[first_part];
  header.msg_iovlen = parts;
  header.msg_control = nullptr;
  header.msg_controllen = 0;
  send_counts_[entry] = static_cast<uint32_t>(parts);
#if defined(UDP_SEGMENT)
  if (parts == 1) return;
  header.msg_control = send_controls_[entry].bytes;
  header.msg_controllen = CMSG_SPACE(sizeof(uint16_t));
  cmsghdr* control = CMSG_FIRSTHDR(&header);
  control->cmsg_level = IPPROTO_UDP;
  control->cmsg_type = UDP_SEGMENT;
  control->cmsg_len = CMSG_LEN(sizeof(uint16_t));
  const auto segment_bytes = static_cast<uint16_t>(first.size);
  std::memcpy(CMSG_DATA(control), &segment_bytes, sizeof segment_bytes);
#endif
}

/// Fills the entries of one call from the front of `datagrams`, at most kUdpBatchDatagrams; returns their
/// number.
size_t UdpSocket::Batch::plan(std::span<const UdpDatagram> datagrams) {
  const std::span<const UdpDatagram> all = datagrams.first(std::min(datagrams.size(), kUdpBatchDatagrams));
  for (size_t i = 0; i < all.size(); ++i) send_parts_[i] = {all[i].data, all[i].size};
  size_t entries = 0;
  for (size_t i = 0; i < all.size(); i += send_counts_[entries++]) {
    plan_entry(entries, all[i], i, can_segment ? run_length(all.subspan(i)) : 1);
  }
  return entries;
}

/// True when the refused `entry` was a run. Its datagrams, and all after them, are then sent one by one.
bool UdpSocket::Batch::forget_segmentation(size_t entry) {
  if (send_counts_[entry] == 1) return false;
  can_segment = false;
  return true;
}

// With IP_RECVERR a call may fail with the error of an ICMP message about a datagram sent earlier. The
// failure removes that error from the socket, so the call can be repeated. The number of repetitions is
// bounded: an attacker who forges messages as fast as calls are made must not keep a call from ending.
bool UdpSocket::Batch::may_be_report() {
  if (!keeps_reports || reports_in_row_ == kMaxReportsInRow) return false;
  ++reports_in_row_;
  has_reports_ = true;
  return true;
}

#if defined(IP_RECVERR) && defined(IPV6_RECVERR)

// The kernel keeps ICMP messages in the receive buffer. Anyone can forge them, and a buffer full of them has
// no room for datagrams. So each call of take_unreachable() empties the queue, and in a flood this socket
// loses its hints instead of its datagrams.
bool UdpSocket::Batch::take_unreachable(int fd, Address* peer) {
  bool is_unreachable = false;
  for (uint32_t taken = 0; has_reports_; ++taken) {
    if (taken == kMaxReportsTaken) {
      stop_reports(fd);
      break;
    }
    Peer about;
    alignas(cmsghdr) uint8_t control[512];
    msghdr header{};
    header.msg_name = &about;
    header.msg_namelen = sizeof about;
    header.msg_control = control;
    header.msg_controllen = sizeof control;
    if (recvmsg(fd, &header, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) {
      has_reports_ = false;
    } else if (says_unreachable(header)) {
      *peer = address_from_sockaddr(&about.any);
      is_unreachable = true;
    }
  }
  return is_unreachable;
}

// Switching the option off also empties the queue. A socket of one family refuses the option of the other
// family. The error of the last message stays in the socket and would fail one more call; reading SO_ERROR
// removes it.
void UdpSocket::Batch::stop_reports(int fd) {
  const int off = 0;
  (void)setsockopt(fd, IPPROTO_IP, IP_RECVERR, &off, sizeof off);
  (void)setsockopt(fd, IPPROTO_IPV6, IPV6_RECVERR, &off, sizeof off);
  int last = 0;
  socklen_t bytes = sizeof last;
  (void)getsockopt(fd, SOL_SOCKET, SO_ERROR, &last, &bytes);
  keeps_reports = false;
  has_reports_ = false;
}

#else

bool UdpSocket::Batch::take_unreachable(int, Address*) {
  return false;
}

void UdpSocket::Batch::stop_reports(int) {}

#endif

UdpSendResult UdpSocket::Batch::send(int fd, std::span<const UdpDatagram> datagrams) {
  UdpSendResult result;
  size_t position = 0;
  reports_in_row_ = 0;
  while (position < datagrams.size()) {
    const size_t entries = plan(datagrams.subspan(position));
    const int sent = sendmmsg(fd, send_headers_.data(), static_cast<unsigned>(entries), MSG_DONTWAIT);
    if (sent > 0) {
      for (size_t i = 0; i < static_cast<size_t>(sent); ++i) {
        for (const size_t end = position + send_counts_[i]; position < end; ++position) {
          result.sent_bytes += datagrams[position].size;
          ++result.sent;
        }
      }
    } else if (is_empty(errno) || errno == ENOBUFS) {
      result.full = datagrams.size() - position;
      break;
    } else if (errno != EINTR && !may_be_report() && !forget_segmentation(0)) {
      // The error belongs to the first datagram of the call; the others are still tried.
      ++result.refused;
      ++position;
      reports_in_row_ = 0;
    }
  }
  return result;
}

// ---- Receiving -----------------------------------------------------------------------------------------

UdpReceiveResult UdpSocket::Batch::receive(int fd, std::span<UdpDatagram> out, size_t buffer_bytes) {
  const std::span<UdpDatagram> asked = out.first(std::min(out.size(), kUdpBatchDatagrams));
  if (asked.empty()) return {};
  if (coalescing_) return receive_runs(fd, asked, buffer_bytes);
  UdpReceiveResult result = receive_plain(fd, asked, buffer_bytes);
  if (can_coalesce && result.count >= kRunWorthCoalescing) choose_by_senders(fd, asked.first(result.count));
  return result;
}

/// One call for the datagrams from `first` to `end` of `out`; returns how many came, or -1 and errno.
int UdpSocket::Batch::read_plain(int fd, std::span<UdpDatagram> out, size_t first, size_t end,
                                 size_t buffer_bytes) {
  for (size_t i = first; i < end; ++i) {
    receive_parts_[i] = {out[i].data, buffer_bytes};
    receive_headers_[i].msg_hdr.msg_namelen = sizeof(Peer);
    receive_headers_[i].msg_hdr.msg_controllen = tells_arrivals_ ? sizeof receive_controls_[i].bytes : 0;
  }
  int received;
  reports_in_row_ = 0;
  do {
    received =
        recvmmsg(fd, &receive_headers_[first], static_cast<unsigned>(end - first), MSG_DONTWAIT, nullptr);
  } while (received < 0 && (errno == EINTR || (!is_empty(errno) && may_be_report())));
  return received;
}

UdpReceiveResult UdpSocket::Batch::receive_plain(int fd, std::span<UdpDatagram> out, size_t buffer_bytes) {
  UdpReceiveResult result;
  // Prepares as many entries as arrived lately, and some more. Most calls receive little, and preparing a
  // whole batch for each would make them a tenth slower.
  size_t end = 0;
  for (size_t came = 0; came == end && end < out.size();) {
    const size_t first = end;
    end = first == 0 ? std::min(out.size(), usual_ + kSpareEntries) : out.size();
    const int received = read_plain(fd, out, first, end, buffer_bytes);
    if (received < 0) {
      if (!is_empty(errno)) result.errors = 1;
      break;
    }
    came = first + static_cast<size_t>(received);
    const int64_t now_ns = tells_arrivals_ ? day_now_ns() : 0;
    for (size_t i = first; i < came; ++i) take_plain(out, i, now_ns, &result);
  }
  // The value falls slowly, because the last of several calls usually receives few datagrams.
  usual_ = std::max(result.count + result.truncated, usual_ / 2);
  return result;
}

/// Accepts datagram `i` of `out`, read at `now_ns` of the day, or counts why it is dropped.
void UdpSocket::Batch::take_plain(std::span<UdpDatagram> out, size_t i, int64_t now_ns,
                                  UdpReceiveResult* result) {
  if ((receive_headers_[i].msg_hdr.msg_flags & MSG_TRUNC) != 0) {
    ++result->truncated;
    return;
  }
  UdpDatagram& datagram = out[result->count];
  datagram.peer = address_from_sockaddr(&receive_peers_[i].any);
  datagram.size = receive_headers_[i].msg_len;
  datagram.waited_ns = waited_ns_of(receive_headers_[i].msg_hdr, now_ns);
  // A dropped datagram leaves a gap. The next one is copied into it: the caller's pointers must not move.
  if (result->count != i) std::memcpy(datagram.data, out[i].data, datagram.size);
  ++result->count;
}

/// Switches coalescing on when most datagrams come from one sender. The kernel does not coalesce datagrams
/// that are already in its queue.
void UdpSocket::Batch::choose_by_senders(int fd, std::span<const UdpDatagram> received) {
  const auto same = std::count_if(received.begin(), received.end(),
                                  [&](const UdpDatagram& d) { return d.peer == received[0].peer; });
  if (static_cast<size_t>(same) * 4 < received.size() * 3) return;
  asked_ = coalescing_ = set_coalescing(fd, true);
  can_coalesce = asked_;
  calls_without_run_ = 0;
}

int UdpSocket::Batch::read_runs(int fd) {
  for (size_t i = 0; i < kCoalesced; ++i) {
    run_headers_[i].msg_hdr.msg_namelen = sizeof(Peer);
    run_headers_[i].msg_hdr.msg_controllen = sizeof run_controls_[i].bytes;
  }
  int received;
  reports_in_row_ = 0;
  do {
    received = recvmmsg(fd, run_headers_.data(), kCoalesced, MSG_DONTWAIT, nullptr);
  } while (received < 0 && (errno == EINTR || (!is_empty(errno) && may_be_report())));
  run_next_ = run_count_ = 0;
  const int64_t now_ns = tells_arrivals_ ? day_now_ns() : 0;
  bool any_run = false;
  for (size_t i = 0; received > 0 && i < static_cast<size_t>(received); ++i) {
    const size_t bytes = run_headers_[i].msg_len;
    const size_t joined = segment_bytes_of(run_headers_[i].msg_hdr);
    any_run = any_run || (joined != 0 && joined < bytes);
    runs_[run_count_++] = {address_from_sockaddr(&run_peers_[i].any), arena_.get() + i * kCoalescedBytes,
                           bytes, joined == 0 ? bytes : joined,
                           waited_ns_of(run_headers_[i].msg_hdr, now_ns)};
  }
  if (received > 0) calls_without_run_ = any_run ? 0 : calls_without_run_ + 1;
  return received;
}

void UdpSocket::Batch::hand_out_runs(std::span<UdpDatagram> out, size_t buffer_bytes,
                                     UdpReceiveResult* result) {
  while (run_next_ < run_count_ && result->count < out.size()) {
    Run& run = runs_[run_next_];
    const size_t bytes = std::min(run.left, run.segment_bytes);
    if (bytes <= buffer_bytes) {
      UdpDatagram& datagram = out[result->count++];
      datagram.peer = run.peer;
      datagram.size = static_cast<uint32_t>(bytes);
      datagram.waited_ns = run.waited_ns;
      if (bytes != 0) std::memcpy(datagram.data, run.next, bytes);
    } else {
      ++result->truncated;
    }
    run.next += bytes;
    run.left -= bytes;
    if (run.left == 0) ++run_next_;
  }
}

UdpReceiveResult UdpSocket::Batch::receive_runs(int fd, std::span<UdpDatagram> out, size_t buffer_bytes) {
  UdpReceiveResult result;
  hand_out_runs(out, buffer_bytes, &result);
  // If the caller gets fewer datagrams than it asked for, it takes the queue for empty. So the loop runs
  // until the queue is empty.
  while (result.count + result.truncated < out.size()) {
    const int received = read_runs(fd);
    if (received < 0) {
      if (!is_empty(errno)) result.errors = 1;
      // Coalescing is off and the queue is empty: no run can arrive any more.
      if (!asked_ && result.errors == 0) coalescing_ = false;
      break;
    }
    hand_out_runs(out, buffer_bytes, &result);
    if (received < static_cast<int>(kCoalesced)) break;
  }
  if (asked_ && calls_without_run_ >= kPatienceCalls) asked_ = !set_coalescing(fd, false);
  return result;
}

}  // namespace lattice::platform
