// The arrays that batched UDP system calls point into. They live as long as their socket: filling them again
// for every call costs more than an empty call itself.
//
// Sending: a run of datagrams of one size to one destination (the last may be shorter) is one entry, which
// the kernel divides (UDP_SEGMENT). Receiving: while most datagrams come from one sender, the kernel is asked
// to deliver whole runs (UDP_GRO), which are divided here. This costs a copy and saves a pass through the
// network stack per datagram. Otherwise the kernel writes datagrams into the caller's buffers.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "platform/udp_socket.h"

namespace lattice::platform {

struct UdpSocket::Batch {
  /// Asks the kernel which options it supports.
  Batch(int fd, bool is_ipv6);

  UdpReceiveResult receive(int fd, std::span<UdpDatagram> out, size_t buffer_bytes);
  UdpSendResult send(int fd, std::span<const UdpDatagram> datagrams);
  /// See UdpSocket. Call only after keeps_reports has been set.
  bool take_unreachable(int fd, Address* peer);

  /// Makes the kernel say when datagrams came. False if it cannot.
  bool tell_arrivals(int fd);

  /// Part of a received run still waits in this object.
  bool has_waiting() const { return run_next_ < run_count_; }

  bool can_segment = false;    ///< UDP_SEGMENT was accepted. The first route that refuses it clears this.
  bool can_coalesce = false;   ///< UDP_GRO was accepted.
  bool keeps_reports = false;  ///< The kernel keeps ICMP messages, and calls may fail because of them.

 private:
  static constexpr size_t kCoalesced = 4;  ///< Runs per call; each may be as large as IP allows.
  static constexpr size_t kCoalescedBytes = 65536;
  /// This many datagrams from one sender in one call switch coalescing on; this many calls without a run
  /// switch it off.
  static constexpr size_t kRunWorthCoalescing = 8;
  static constexpr uint32_t kPatienceCalls = 64;
  static constexpr size_t kSpareEntries = 8;
  /// Most calls in a row that may fail because of ICMP messages.
  static constexpr uint32_t kMaxReportsInRow = 4;
  /// Most ICMP messages that one take_unreachable() reads. The largest message takes 4 KiB of the receive
  /// buffer, so this many leave room for datagrams in the smallest buffer that systems grant (208 KiB).
  static constexpr uint32_t kMaxReportsTaken = 32;

  struct Control {
    alignas(cmsghdr) uint8_t bytes[CMSG_SPACE(sizeof(int))];
  };
  /// Room for all that the kernel says of what it received.
  struct ReceiveControl {
    alignas(cmsghdr) uint8_t bytes[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(timespec))];
  };
  union Peer {
    sockaddr any;
    sockaddr_in v4;
    sockaddr_in6 v6;
  };
  /// A received run, partly handed out.
  struct Run {
    Address peer;
    const uint8_t* next = nullptr;
    size_t left = 0;
    size_t segment_bytes = 0;
    uint64_t waited_ns = 0;
  };

  size_t plan(std::span<const UdpDatagram> datagrams);
  void plan_entry(size_t entry, const UdpDatagram& first, size_t first_part, size_t parts);
  bool forget_segmentation(size_t entry);
  /// After a call that failed: true when it should be repeated.
  bool may_be_report();
  void stop_reports(int fd);
  int read_plain(int fd, std::span<UdpDatagram> out, size_t first, size_t end, size_t buffer_bytes);
  void take_plain(std::span<UdpDatagram> out, size_t i, int64_t now_ns, UdpReceiveResult* result);
  UdpReceiveResult receive_plain(int fd, std::span<UdpDatagram> out, size_t buffer_bytes);
  UdpReceiveResult receive_runs(int fd, std::span<UdpDatagram> out, size_t buffer_bytes);
  void hand_out_runs(std::span<UdpDatagram> out, size_t buffer_bytes, UdpReceiveResult* result);
  int read_runs(int fd);
  void choose_by_senders(int fd, std::span<const UdpDatagram> received);

  bool is_ipv6_;
  std::array<mmsghdr, kUdpBatchDatagrams> send_headers_{};
  std::array<iovec, kUdpBatchDatagrams> send_parts_{};
  std::array<Peer, kUdpBatchDatagrams> send_peers_{};
  std::array<Control, kUdpBatchDatagrams> send_controls_{};
  std::array<uint32_t, kUdpBatchDatagrams> send_counts_{};  ///< Datagrams per entry.

  std::array<mmsghdr, kUdpBatchDatagrams> receive_headers_{};
  std::array<iovec, kUdpBatchDatagrams> receive_parts_{};
  std::array<Peer, kUdpBatchDatagrams> receive_peers_{};
  std::array<ReceiveControl, kUdpBatchDatagrams> receive_controls_{};
  bool tells_arrivals_ = false;
  size_t usual_ = 0;          ///< Expected datagrams per plain call, from the last calls.
  bool has_reports_ = false;  ///< The kernel may hold ICMP messages.
  uint32_t reports_in_row_ = 0;

  bool coalescing_ = false;  ///< Runs may be in the kernel's queue.
  bool asked_ = false;       ///< UDP_GRO is on. Off while coalescing_: old runs are still being read.
  uint32_t calls_without_run_ = 0;
  std::unique_ptr<uint8_t[]> arena_;
  std::array<mmsghdr, kCoalesced> run_headers_{};
  std::array<iovec, kCoalesced> run_parts_{};
  std::array<Peer, kCoalesced> run_peers_{};
  std::array<ReceiveControl, kCoalesced> run_controls_{};
  std::array<Run, kCoalesced> runs_{};
  size_t run_count_ = 0;
  size_t run_next_ = 0;
};

}  // namespace lattice::platform
