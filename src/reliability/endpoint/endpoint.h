// The Endpoint: one socket, its connections, and their channels. A server, a client, and a peer-to-peer host
// are the same class with different roles enabled.
//
//   receive():          socket ─▶ route (P-07) ─▶ open (K-03) ─▶ frame-check whole (P-10) ─▶ acks ─▶
//                       messages ─▶ handler
//   update_and_send():  timers ─▶ loss ─▶ pack ─▶ seal a batch ─▶ one socket call
//
// Must stay true: refused datagrams change only counters; application data flows only in state Connected,
// which a server enters with the client's first authenticated packet (H-11); after warm-up neither call
// allocates.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "base/buffer_pool.h"
#include "reliability/channel/outgoing_channels.h"
#include "reliability/channel/receive_memory.h"
#include "reliability/endpoint/capture.h"
#include "reliability/endpoint/endpoint_config.h"
#include "reliability/endpoint/endpoint_handler.h"
#include "reliability/endpoint/send_result.h"
#include "reliability/endpoint/statistics.h"
#include "reliability/limits.h"
#include "transport/connection/lifecycle.h"
#include "transport/crypto/entropy.h"
#include "transport/crypto/x25519.h"
#include "transport/socket/datagram_socket.h"

namespace lattice::reliability {

enum class ConnectResult : uint8_t {
  kOk,
  kFull,            ///< max_connections reached.
  kBadAddress,      ///< Family 0 or port 0.
  kBadToken,        ///< Malformed, or not made for this key or protocol version.
  kSchemaMismatch,  ///< The token states another schema.
  kAlreadyConnecting,
};

class Endpoint {
 public:
  /// `socket`, `handler` and `entropy` are borrowed and must outlive the endpoint. Null when a configuration
  /// value is refused; `error` (may be null) then names field and bound.
  static std::unique_ptr<Endpoint> create(EndpointConfig config, socket::DatagramSocket& socket,
                                          EndpointHandler& handler, crypto::EntropySource& entropy,
                                          const char** error);
  /// Sends nothing: peers see a timeout. For a clean end, call disconnect() and keep pumping for 200 ms.
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  /// Drains the socket (at most most_datagrams()), processes authentic packets and answers handshakes.
  /// `now_ns` is monotonic, may start at 0 and must not go back; `unix_s` is wall-clock seconds.
  void receive(uint64_t now_ns, uint64_t unix_s);

  /// Runs timers, loss detection and resends; then packs, seals and sends everything queued.
  void update_and_send(uint64_t now_ns, uint64_t unix_s);

  /// When update_and_send() has something to do, if nothing arrives and nothing is queued before; 0: at once.
  /// What the last call left undone, such as messages that congestion control lets leave later, is due a
  /// millisecond after it.
  uint64_t next_update_ns() const;

  /// The first part of update_and_send(), which ends the update: send_now() may be called in between.
  void begin_update(uint64_t now_ns, uint64_t unix_s);
  /// Does for one connection now what the update that has begun would do for it: what is queued is sent while
  /// it is still in the cache. Stale handles are ignored.
  void send_now(ConnectionHandle connection);
  /// Fetches a connection into the cache. Only a hint, as is the next.
  void prefetch(ConnectionHandle connection) const;
  /// After prefetch(), with some work in between: fetches what send_now() reads besides.
  void prefetch_for_send(ConnectionHandle connection) const;
  /// Reliable messages could be packed now.
  bool has_reliable_waiting(ConnectionHandle connection) const;

  /// For later connect() calls: the objects that this side has placed by now.
  void set_placed(const wire::PlacedSummary& placed);
  /// Starts connecting at the next update_and_send(). `token` and `client` are copied.
  ConnectResult connect(const base::PathId& server, std::span<const uint8_t> token,
                        const crypto::KeyPair& client, ConnectionHandle* out);

  /// Ends a connection, connected or connecting. `text` is UTF-8, cut at 64 bytes. Its on_disconnected()
  /// comes at the end of the running or the next call of receive() or update_and_send(). Stale handles are
  /// ignored.
  void disconnect(ConnectionHandle connection, connection::DisconnectReason reason,
                  std::string_view text = {});

  /// How the messages of an application's channel share a full link, from now on. False for a stale handle,
  /// and for a channel that carries none.
  bool set_channel(ConnectionHandle connection, Channel channel, const ChannelSettings& settings);

  /// Queues a message; the body is copied. A message with `receipt` other than 0 gets on_receipt() exactly
  /// once. Messages with is_snapshot queued between two update_and_send() calls share one sequence.
  SendResult send(ConnectionHandle connection, Channel channel, MessageFlags flags,
                  std::span<const uint8_t> body, uint32_t receipt = 0);

  /// The next update_and_send() asks EndpointConfig::bulk for chunks of this connection (bulk_source.h).
  /// Stale handles are ignored.
  void wake(ConnectionHandle connection);

  /// Datagram bytes that messages with is_snapshot may fill if update_and_send() ran at `now_ns`: the
  /// allowance of congestion control, less the bytes that wait already. Beside much reliable traffic it is
  /// the quarter of R-14, rounded up to one datagram. UINT64_MAX without a limit; 0 when not even one
  /// datagram may leave, and for stale handles.
  ///
  /// With `during_ns`, they may also leave in later updates until that much after `now_ns`, if the first of
  /// them leaves now.
  uint64_t send_budget_bytes(ConnectionHandle connection, uint64_t now_ns, uint64_t during_ns = 0);
  /// Takes back the messages with is_snapshot that wait. Receipts of such messages are told as lost.
  void drop_waiting_snapshot(ConnectionHandle connection);

  /// Queues `body` as at least two fragments of `unit_bytes` (1 to kFragmentUnitBytes; the last may be
  /// shorter) of the group numbered `group`. Queues all of them, or none and returns the reason. Each carries
  /// `receipt`. Not on the control channel, and no snapshots. Source: F-01…F-05.
  SendResult send_fragments(ConnectionHandle connection, Channel channel, MessageFlags flags, uint16_t group,
                            size_t unit_bytes, std::span<const uint8_t> body, uint32_t receipt = 0);

  // For the layer above, which puts fragments together.

  /// Counts a refusal, for `connection` and in total.
  void count_refusal(ConnectionHandle connection, Refusal refusal, uint64_t how_often = 1);
  /// Counts a refusal and ends the connection with `reason`.
  void refuse(ConnectionHandle connection, Refusal refusal,
              connection::DisconnectReason reason = connection::DisconnectReason::kProtocolError);
  /// Sequence of the newest message delivered on an unreliable-sequenced channel; empty before the first.
  std::optional<base::Sequence16> newest_sequence(ConnectionHandle connection, Channel channel) const;
  /// The memory of fragments. The caller gives its blocks back before the endpoint is destroyed.
  ReceiveMemory& receive_memory();
  const ReceiveMemory& receive_memory() const;

  /// Null for a stale handle. Valid until the next call that may end the connection.
  const ConnectionStats* stats(ConnectionHandle connection) const;
  const EndpointStats& stats() const;
  connection::State state(ConnectionHandle connection) const;
  /// The peer's current address, which may differ from the address it connected from (L-04); family 0 for a
  /// stale handle.
  base::PathId remote_path(ConnectionHandle connection) const;

  /// The tick carried by ConnectionAccepted and Keepalives from now on.
  void set_server_tick(uint32_t tick);

  /// While paused, silence ends no connected connection. When the pause ends, at `now_ns`, the timeout of
  /// each connection restarts.
  void set_timeout_paused(bool paused, uint64_t now_ns);

  /// The issuers whose tokens count from now on, 1 to 4. On an accepting endpoint. Who is connected stays.
  void set_issuers(std::span<const crypto::PublicKey> issuers);

  /// Ends all connections, but for those that have not confirmed: nothing can be told to these.
  void disconnect_all(connection::DisconnectReason reason, std::string_view text);
  /// While it closes, an accepting endpoint refuses newcomers.
  void set_closing(bool is_closing);

  /// Reports every later datagram to `observer`, decrypted (borrowed; null ends the capture). Not from inside
  /// a callback. False, and nothing set, in a build without LATTICE_CAPTURE.
  bool set_capture(CaptureObserver* observer);

  /// Live slots, connecting and ending ones included.
  uint32_t connection_count() const;
  /// The server half of the handshake for its counters, or null.
  const connection::ServerHandshake* server_handshake() const;
  const base::BufferPoolStats& pool_stats() const;

  /// How many datagrams one receive() takes. A server that is pumped once a tick must take what all its
  /// clients send in a tick.
  static constexpr size_t most_datagrams(size_t connections) {
    return std::max<size_t>(4096, 2 * connections);
  }

 private:
  struct Core;
  explicit Endpoint(std::unique_ptr<Core> core);
  std::unique_ptr<Core> core_;
};

}  // namespace lattice::reliability
