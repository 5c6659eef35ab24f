// One end of a transport, as every workload of the transport bench sees it: a server, or one client with a
// socket of its own. Four contenders implement it (lattice in three ways), so that each workload is written
// once:
//
//   lattice      reliability::Endpoint over UDP
//   lattice-c    the same through the C interface: a world that is transport_only
//   lattice-two-threads  the same; a second thread seals and opens at the server (docs/threads.md)
//   udp          plain datagrams: the floor of moving bytes
//   udp-aead     the same, each datagram sealed and opened with libsodium: the floor of moving secrets
//   udp-aes      the same with AES-256-GCM, which Lattice uses too where both processors have it
//   udp-aead-runs, udp-aes-runs  the same two, with runs of datagrams for the kernel and credit that costs
//                nothing: the floors of bulk
//   enet         Debian's ENet, unencrypted; absent when it was not there at configure time
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace bench {

enum class Delivery : uint8_t { kUnreliable, kReliableOrdered };

class EndEvents {
 public:
  virtual ~EndEvents() = default;
  /// `peer` is dense and small: the server's clients are 0, 1, …; a client's server is 0.
  virtual void on_connected(uint32_t peer) = 0;
  virtual void on_disconnected(uint32_t peer) = 0;
  virtual void on_message(uint32_t peer, std::span<const uint8_t> body) = 0;
};

class End {
 public:
  virtual ~End() = default;
  /// Takes everything that has arrived; returns whether anything had.
  virtual bool receive(EndEvents& events) = 0;
  /// Queues a copy of `body` (at most 1100 bytes). False: full now, flush and try again. The floors deliver
  /// kReliableOrdered like anything else: they are a floor, and loopback with credit loses nothing.
  virtual bool send(uint32_t peer, Delivery delivery, std::span<const uint8_t> body) = 0;
  /// Runs timers and sends everything queued.
  virtual void flush() = 0;
  /// Ends the connection; does nothing for the floors, which have none.
  virtual void disconnect(uint32_t peer) = 0;
  /// Sleeps until something arrives, at most `timeout_ns`.
  virtual void wait(uint64_t timeout_ns) = 0;
  virtual uint16_t port() const = 0;
  /// True if send() refuses messages when its queue is full. Otherwise the workload limits sending by credit.
  virtual bool has_back_pressure() const = 0;
  /// Without back-pressure, and when unreliable: how many messages may be on their way. So many fit the
  /// receiver's socket.
  virtual uint64_t credit_messages() const { return 2048; }
};

struct Contender {
  std::string_view name;
  /// A server on 127.0.0.1 with a port the kernel chose; null when it cannot.
  std::unique_ptr<End> (*serve)(uint32_t max_clients);
  /// Client number `index` of the server at `port`. Connecting begins with the first flush().
  std::unique_ptr<End> (*connect)(uint16_t port, uint32_t index);
};

/// The contenders of this build.
std::span<const Contender> contenders();
const Contender* find_contender(std::string_view name);

extern const Contender kLatticeContender;
extern const Contender kLatticeTwoThreadsContender;
extern const Contender kLatticeCContender;
extern const Contender kUdpContender;
extern const Contender kUdpAeadContender;
extern const Contender kUdpAesContender;
extern const Contender kBulkFloorContender;
extern const Contender kBulkAesFloorContender;
extern const Contender kEnetContender;

}  // namespace bench
