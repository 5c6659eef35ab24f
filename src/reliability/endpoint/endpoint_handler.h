// The callbacks with which an Endpoint reports to the layer above, and asks it for decisions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/path_id.h"
#include "transport/connection/connection_table.h"
#include "transport/connection/disconnect_reason.h"
#include "transport/connection/server_handshake.h"
#include "transport/wire/channel_table.h"
#include "transport/wire/constants.h"
#include "transport/wire/message_framing.h"

namespace lattice::reliability {

using Channel = wire::Channel;
using ChannelMode = wire::ChannelMode;
/// {slot, generation}; slots are dense, below EndpointConfig::max_connections. A default one is never live.
using ConnectionHandle = connection::ConnectionHandle;

struct MessageFlags {
  bool is_fragment = false;  ///< Of messages handed to on_fragment(); send() refuses it.
  bool is_rpc = false;
  bool is_snapshot = false;

  friend bool operator==(const MessageFlags&, const MessageFlags&) = default;
};

enum class Verdict : uint8_t {
  kAccept,
  /// a snapshot part is too old to be decoded. Its packet stays unacked, so the sender never uses it as
  /// a baseline. Only for unreliable channels; a reliable message is acked whatever the handler returns.
  kAcceptButDoNotAck,
  kProtocolError,  ///< Closes the connection (P-10).
};

/// A fragment of a message. A reliable channel delivers each fragment once, an ordered one also in order.
struct IncomingFragment {
  wire::FragmentHeader header;
  base::Sequence16 id;       ///< message_id, or sequence on unreliable-sequenced channels (F-04).
  base::Sequence16 next_id;  ///< Reliable channels: the lowest message_id not received yet.
};

/// The result of on_fragment(). The default is a refusal.
struct FragmentOutcome {
  /// The verdict on the message, if the fragment completed it. kProtocolError always closes the connection.
  Verdict verdict = Verdict::kProtocolError;
  /// The message is complete and was delivered: on a sequenced channel, older ones are stale from now on.
  bool is_complete = false;
  /// Reliable channels: the first message_id of the oldest message of the channel that is incomplete now.
  std::optional<base::Sequence16> oldest_incomplete = std::nullopt;
  /// Reliable channels: so many messages are incomplete that no more should begin.
  bool is_crowded = false;
};

/// The facts that both sides know once connected. Spans live for the call.
struct ConnectedInfo {
  base::PathId address;
  uint64_t peer_id = 0;  ///< Session id of the client: the peer on a server, this side on a client.
  uint64_t connection_id = 0;
  bool is_incoming = false;  ///< True on the side that accepted.
  wire::Id16 player{};       ///< From the token; both sides have it.
  wire::Id16 session{};
  std::span<const uint8_t> user_data;
  uint32_t features = 0;      ///< The features that both sides offered.
  uint32_t server_tick = 0;   ///< Client: tick in ConnectionAccepted. Server: its own tick then.
  uint16_t tick_rate_hz = 0;  ///< The server's.
  uint64_t rtt_ns = 0;        ///< First sample, else what it is at most; 0 on the side that accepted.
};

/// Callbacks run inside receive() and update_and_send(). They may call send(), disconnect(), connect(),
/// stats() and set_server_tick(); not receive(), update_and_send() or the destructor.
class EndpointHandler {
 public:
  virtual ~EndpointHandler() = default;

  /// Server side: decides whether to admit this verified client. Refuse with kServerFull, kKicked or an
  /// application reason; set Admission::peer_id to the client's session peer id. Called again if the client's
  /// answer is lost and its half-open entry expires. Not called while the connection table is full: the
  /// endpoint then refuses by itself. Must not call the endpoint.
  virtual connection::Admission on_admission(const connection::AdmissionRequest& request) = 0;

  /// Server side: a handshake message was refused. Unauthenticated senders decide how often this is called.
  virtual void on_connect_refused(const connection::RefusedClient&) {}

  virtual void on_connected(ConnectionHandle connection, const ConnectedInfo& info) = 0;

  /// Server side: the client answers from another address now (L-04). At most once a second.
  virtual void on_path_moved(ConnectionHandle, const base::PathId& /*before*/, const base::PathId& /*now*/) {}

  /// Client side, before on_disconnected(): the server refused this client because of its schema. `text` is
  /// the server's schema text or the front of it: any bytes, at most 64 kB. It lives for the call.
  virtual void on_schema_told(ConnectionHandle, uint64_t /*remote_schema_id*/, std::string_view /*text*/) {}

  /// Client side: what the server is told of the difference, in lines as in message 7 (S-47), or nothing.
  /// Asked once, when a server has refused this client for its schema; the arguments are those of
  /// on_schema_told(). Must not call the endpoint.
  virtual std::string schema_lines(uint64_t /*remote_schema_id*/, std::string_view /*text*/) { return {}; }

  /// Exactly once for every on_connected(), and once for every connect() that returned kOk and failed. Every
  /// receipt has been reported before it. The handle is stale afterwards. `remote_schema_id` is not 0 only
  /// with kSchemaMismatch; `text` lives for the call.
  virtual void on_disconnected(ConnectionHandle connection, connection::DisconnectReason reason,
                               uint64_t remote_schema_id, std::string_view text) = 0;

  /// One message, in the order of its channel. `body` lives for the call. `channel` may be an application
  /// channel (4 to 13) or kControl (first body byte: control type, R-10; rotation types never get here).
  /// `arrived_ns`: when its packet came to this machine, as far as the socket knows, and at most the time of
  /// the phase.
  virtual Verdict on_message(ConnectionHandle connection, Channel channel, MessageFlags flags,
                             std::span<const uint8_t> body, uint64_t arrived_ns) = 0;

  /// One fragment of a message sent with send_fragments(). A handler that does not put messages together
  /// closes the connection.
  virtual FragmentOutcome on_fragment(ConnectionHandle, Channel, MessageFlags, const IncomingFragment&,
                                      std::span<const uint8_t> /*body*/, uint64_t /*now_ns*/) {
    return {};
  }

  /// Whether the handler takes further datagrams in this receive(). Asked now and then, after some 64 of
  /// them.
  virtual bool takes_more() { return true; }

  /// A hint: a packet of this connection is likely to be processed soon. A handler may fetch into the cache
  /// what it will need then: first its tables by slot, with the second call what those lead to, with the
  /// third what that leads to.
  enum class Ahead : uint8_t { kFar, kNear, kNext };
  virtual void on_packet_soon(ConnectionHandle, Ahead) {}

  /// Exactly once for every message sent with a receipt other than 0: acked, or lost (for reliable messages
  /// only at the end of the connection). For send_fragments(): once for every fragment.
  virtual void on_receipt(ConnectionHandle connection, uint32_t receipt, bool acked) = 0;
};

}  // namespace lattice::reliability
