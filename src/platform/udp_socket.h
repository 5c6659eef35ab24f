// One non-blocking UDP socket with batched send and receive: IPv4, IPv6, or both on one socket.
// Nothing here retries, queues or blocks. A datagram that the kernel does not take is reported and dropped.
// Datagrams are never fragmented, if the system offers that choice. The system's path MTU comes from ICMP,
// which anyone can forge, so it is not used: the sender probes (L-06).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "platform/address.h"

namespace lattice::platform {

/// Most datagrams per system call.
inline constexpr size_t kUdpBatchDatagrams = 64;

/// A datagram in a caller's buffer. `peer` is the sender when received, the destination when sent.
struct UdpDatagram {
  Address peer;
  uint32_t size = 0;        ///< Bytes of payload; 0 is a legal datagram.
  uint8_t* data = nullptr;  ///< Caller's buffer; only read when sending.
  /// Received: how long it had waited in the kernel; 0 without UdpOptions::tell_arrivals. Taken with the
  /// clock of the day, which may be set in between: any number is possible.
  uint64_t waited_ns = 0;
};

enum class UdpOpenError : uint8_t {
  kNone,
  kAddressInUse,  ///< Another socket holds the port.
  kPermission,    ///< A privileged port, or a sandbox that forbids sockets.
  kUnsupported,   ///< No such address family or no such local address on this machine.
  kOther,         ///< Another error; `text` describes it.
};

/// A stable lower-case name such as "address_in_use".
const char* udp_open_error_name(UdpOpenError error);

struct UdpOpenResult {
  UdpOpenError error = UdpOpenError::kNone;
  int os_error = 0;     ///< The errno value, 0 on success.
  char text[120] = "";  ///< "bind: Address already in use"; empty on success.

  bool ok() const { return error == UdpOpenError::kNone; }
};

struct UdpOptions {
  uint32_t receive_buffer_bytes = 4u << 20;  ///< Asked of the kernel; it may grant less.
  uint32_t send_buffer_bytes = 4u << 20;     ///< Asked of the kernel; it may grant less.
  bool dual_stack = true;           ///< A socket bound to [::] also takes IPv4; ignored for other addresses.
  bool report_unreachable = false;  ///< Enables take_unreachable(), if the system supports it.
  bool tell_arrivals = false;       ///< Fills UdpDatagram::waited_ns, if the system supports it.
};

/// The granted buffer sizes and the abilities of the kernel; filled by open(). Buffer sizes compare to the
/// requested ones.
struct UdpCapabilities {
  uint32_t receive_buffer_bytes = 0;
  uint32_t send_buffer_bytes = 0;
  bool dual_stack = false;
  bool forbids_fragmentation = false;  ///< DF is set, and no cached path MTU applies.
  bool segmentation_offload = false;   ///< The kernel accepts UDP_SEGMENT (GSO) on this socket.
  bool receive_offload = false;        ///< The kernel accepts UDP_GRO on this socket.
  bool reports_unreachable = false;    ///< UdpOptions::report_unreachable is in effect.
  bool tells_arrivals = false;         ///< UdpOptions::tell_arrivals is in effect.
};

struct UdpReceiveResult {
  size_t count = 0;      ///< Entries of `out` filled.
  size_t truncated = 0;  ///< Datagrams larger than the buffer, dropped whole.
  size_t errors = 0;     ///< Failures other than an empty queue (ICMP errors, for instance).
};

struct UdpSendResult {
  size_t sent = 0;          ///< Datagrams the kernel took.
  uint64_t sent_bytes = 0;  ///< Their payload.
  size_t full = 0;          ///< Not taken because the kernel's buffer was full; the last of the call.
  size_t refused = 0;       ///< Refused one by one: no route, too large, wrong family, filtered.
};

/// Owns the socket; closed by the destructor. Movable, not copyable. One thread at a time.
class UdpSocket {
 public:
  UdpSocket();
  ~UdpSocket();
  UdpSocket(UdpSocket&& other) noexcept;
  UdpSocket& operator=(UdpSocket&& other) noexcept;
  UdpSocket(const UdpSocket&) = delete;
  UdpSocket& operator=(const UdpSocket&) = delete;

  /// Opens and binds to `bind_address` (port 0: the kernel picks one; see local_address()). Closes a socket
  /// that was open before. On failure the socket is closed and the result says why.
  UdpOpenResult open(const Address& bind_address, const UdpOptions& options = {});
  void close();
  bool is_open() const { return handle_ >= 0; }

  /// Receives up to min(out.size(), kUdpBatchDatagrams) datagrams, each into out[i].data, which must hold
  /// `buffer_bytes` bytes. One system call, or a few when more datagrams wait than usual. Never blocks.
  UdpReceiveResult receive(std::span<UdpDatagram> out, size_t buffer_bytes);

  /// Sends every datagram, kUdpBatchDatagrams per system call; adjacent datagrams of one size to one
  /// destination pass the network stack together where the kernel can do that. Never blocks: when the
  /// kernel's buffer is full, the rest is reported as `full` and dropped.
  UdpSendResult send(std::span<const UdpDatagram> datagrams);

  /// Takes all waiting ICMP reports, and writes the newest `peer` whose port was closed; false when there is
  /// none. Anyone can forge ICMP messages, so a report is only a hint. If more than 32 reports wait, the
  /// socket stops keeping reports. Call it with every receive(), because reports fill the receive buffer.
  /// Never blocks.
  bool take_unreachable(Address* peer);

  /// Blocks until a datagram is waiting or `timeout_ns` has passed; true when one is waiting.
  bool wait_readable(uint64_t timeout_ns) const;

  /// The operating system's name of the socket; -1 while closed.
  intptr_t descriptor() const { return handle_; }
  /// The bound address with the real port; family 0 while closed.
  const Address& local_address() const { return local_; }
  const UdpCapabilities& capabilities() const { return capabilities_; }

 private:
  struct Batch;  // arrays for system calls; posix/udp_batch.h

  UdpOpenResult fail(const char* step, int os_error);
  void read_capabilities(const UdpOptions& options, bool dual_stack);

  intptr_t handle_ = -1;
  std::unique_ptr<Batch> batch_;
  Address local_;
  UdpCapabilities capabilities_;
};

}  // namespace lattice::platform
