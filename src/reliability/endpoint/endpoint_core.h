// The inside of Endpoint: its state, and the functions of each file.
//   endpoint_receive.cpp      from a datagram to an opened packet
//   endpoint_messages.cpp     acks and messages of an opened packet
//   endpoint_send.cpp         from queues and timers to datagrams
//   endpoint_queue.cpp        messages from the layer above into the queues
//   endpoint_bulk.cpp         chunks of transfers, in the remaining budget
//   endpoint_congestion.cpp   the link between packets and the pacer
//   endpoint_connections.cpp  beginnings and ends of connections
//   endpoint_rotation.cpp     new keys
//   endpoint_resets.cpp       stateless resets
//   endpoint_paths.cpp        addresses and datagram sizes
//   endpoint_service.cpp      which connections an update services
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/deadline_table.h"
#include "base/paged_memory.h"
#include "reliability/channel/packet_builder.h"
#include "reliability/endpoint/capture.h"
#include "reliability/endpoint/datagram_batch.h"
#include "reliability/endpoint/endpoint.h"
#include "reliability/endpoint/open_ahead.h"
#include "reliability/endpoint/peer.h"
#include "reliability/recovery/carried_items.h"
#include "transport/connection/connection_table.h"
#include "transport/connection/server_handshake.h"
#include "transport/wire/keepalive_body.h"

namespace lattice::reliability {

struct Endpoint::Core final : public connection::AdmissionPolicy {
  Core(EndpointConfig config, socket::DatagramSocket& socket, EndpointHandler& handler,
       crypto::EntropySource& entropy);
  ~Core() override;

  /// Runs `work` at a time: callbacks may come, and no other phase begins.
  template <class Work>
  void run_phase(uint64_t now, uint64_t unix, Work work);

  // endpoint_receive.cpp
  class PacketsAhead;
  void receive();
  void note_unreachable();
  /// The peer of the connection id in a datagram, or null. The id is not authenticated yet; nothing is
  /// refused or counted here.
  Peer* claimed_peer(const socket::Datagram& datagram) const;
  void prefetch(const socket::Datagram& datagram) const;
  /// Runs the AEAD of a whole batch on the caller's threads. on_datagram() follows for each datagram.
  void open_ahead(std::span<const socket::Datagram> received);
  /// `ahead` is the result of open_ahead() for this datagram.
  void on_datagram(const base::PathId& from, std::span<uint8_t> datagram, connection::OpenedAhead ahead);
  void on_handshake_datagram(const base::PathId& from, std::span<const uint8_t> datagram,
                             const wire::PacketHeader& header, size_t header_bytes);
  void on_server_datagram(const base::PathId& from, std::span<const uint8_t> datagram);
  void verify_newcomers();
  void note_refused(const base::PathId& from, connection::ServerRefusal refusal, std::string_view text);
  void on_client_datagram(Peer& peer, const base::PathId& from, std::span<const uint8_t> datagram);
  void on_session_datagram(const base::PathId& from, std::span<uint8_t> datagram,
                           const wire::PacketHeader& header, size_t header_bytes,
                           connection::OpenedAhead ahead);

  // endpoint_messages.cpp
  void on_payload(Peer& peer, const connection::SecureLink::Opened& packet);
  void on_keepalive(Peer& peer, const base::PathId& from, const connection::SecureLink::Opened& packet);
  void on_disconnect(Peer& peer, const connection::SecureLink::Opened& packet);
  /// The number of the packet that carried the probe; 0 if the peer echoes none that this side sent.
  uint64_t on_echo(Peer& peer, const wire::KeepaliveBody& body);
  /// `echoed` is what on_echo() gave for the same packet.
  void apply_ack(Peer& peer, uint64_t packet_seq, const wire::AckBlock& ack,
                 std::optional<uint64_t> ack_delay_ns, uint64_t echoed = 0);
  /// Counts an ack block that on_ack() found invalid, and closes the connection if the block names a skipped
  /// number.
  void refuse_ack(Peer& peer, const AckResult& result);
  /// False: because of this message, its packet must not be acked.
  bool on_message(Peer& peer, const wire::Message& message);
  bool on_reliable_message(Peer& peer, const wire::Message& message);
  bool on_sequenced_message(Peer& peer, const wire::Message& message);
  bool deliver(Peer& peer, const wire::Message& message);
  bool deliver_fragment(Peer& peer, const wire::Message& message);
  void protocol_error(Peer& peer, Refusal refusal);

  // endpoint_send.cpp
  /// What an update does before it services connections.
  void begin_update();
  void update_and_send();
  void update_handshake(Peer& peer);
  void update_link(Peer& peer);
  void send_payloads(Peer& peer);
  /// False when nothing fitted `allowance_bytes`. `padded_bytes`: OutgoingChannels::Room.
  bool send_one_payload(Peer& peer, uint64_t allowance_bytes, bool control_only, size_t padded_bytes);
  uint64_t repeat_first_ns(const Peer& peer) const;
  uint64_t idle_ns(const Peer& peer) const;
  void send_keepalive_if_needed(Peer& peer);
  void send_keepalive(Peer& peer, bool probe);
  /// A packet that only acknowledges, if it may be sent now.
  void send_ack(Peer& peer);
  void send_disconnect(Peer& peer, bool is_acknowledgement);
  struct Outgoing {
    wire::PacketType type = wire::PacketType::kPayload;
    std::span<uint8_t> buffer;  ///< From begin_packet(); the plaintext starts at kMaxHeaderBytes.
    size_t plaintext_bytes = 0;
    const base::PathId* to = nullptr;  ///< Null: the peer's address. Another one gets only challenges.
    /// A challenge or an MTU probe. It may not reach the peer, so its ack block does not count as sent.
    bool is_experiment = false;
    bool ack_eliciting = false;
    Charge charge = Charge::kOrdinary;
    uint32_t items = CarriedItems::kNone;
  };
  /// A buffer for the next packet of `peer`. Fixes the packet's number; one number may be left out before it
  /// . Every packet begins with this and ends with transmit().
  std::span<uint8_t> begin_packet(Peer& peer);
  /// The bytes of the datagram; 0 when packet numbers are used up.
  size_t transmit(Peer& peer, const Outgoing& packet);
  /// transmit() for a Payload with messages; also counts the messages.
  void transmit_payload(Peer& peer, const Outgoing& packet, uint32_t first_count, uint32_t resent_count);
  void update_loss_window(Peer& peer);

  // endpoint_queue.cpp
  SendResult send(ConnectionHandle handle, uint8_t channel, MessageFlags flags, std::span<const uint8_t> body,
                  uint32_t receipt);
  SendResult send_fragments(ConnectionHandle handle, uint8_t channel, MessageFlags flags, uint16_t group,
                            size_t unit_bytes, std::span<const uint8_t> body, uint32_t receipt);
  /// Whether the application may queue so much more for the peer (send_memory.h).
  bool may_queue(const Peer& peer, size_t messages, size_t bytes) const;
  void give_up_stale(Peer& peer);
  void drop_waiting_snapshot(Peer& peer);

  // endpoint_bulk.cpp
  bool has_chunks(const Peer& peer) const;
  void send_chunks(Peer& peer);
  /// False: the source had no chunk after all.
  bool send_one_chunk(Peer& peer);

  // endpoint_service.cpp
  /// The next update services `peer`. Call it with everything that may give the peer something to do.
  void wake(const Peer& peer) {
    service_times.set_due(peer.handle.slot);
    woken = true;
  }
  void service_due();
  void service(Peer& peer);
  /// Services the peer in the update that has begun, unless it is ending.
  void service_now(Peer& peer);
  size_t next_due(size_t first);
  void prefetch_service(size_t slot);
  /// `interval_ns` since the last update.
  void note_update_interval(uint64_t interval_ns);
  /// A Payload of a connected peer was opened and processed: the peer may have to be serviced earlier.
  void reschedule_after_payload(Peer& peer);
  bool waits_for_nothing(const Peer& peer) const;
  uint64_t next_service_ns(const Peer& peer) const;

  // endpoint_rotation.cpp
  /// False: the message closed the connection.
  bool on_rotation_control(Peer& peer, std::span<const uint8_t> body);
  void update_rotation(Peer& peer);

  // endpoint_resets.cpp
  /// Server: tells the peer the token that a reset of its connection ends with.
  void queue_reset_token(Peer& peer);
  /// Client: stores the reset token from the server. False: the message closed the connection.
  void tell_credit(Peer& peer, uint8_t channel, std::optional<uint16_t> credit);
  bool on_credit(Peer& peer, std::span<const uint8_t> body);
  bool on_reset_token(Peer& peer, std::span<const uint8_t> body);
  /// Counts a session packet of an unknown connection, and may answer it with a reset.
  void refuse_unknown(const base::PathId& from, const wire::PacketHeader& header, size_t header_bytes,
                      size_t datagram_bytes);
  /// The peer's link refused `datagram`. Ends the connection if the datagram is a reset.
  void end_if_reset(Peer& peer, std::span<const uint8_t> datagram, size_t header_bytes);

  // endpoint_paths.cpp
  /// False, and counted: the packet must not be opened.
  bool may_open_from(Peer& peer, const base::PathId& from);
  void note_source(Peer& peer, const base::PathId& from, size_t bytes, bool is_newest);
  void on_path_flags(Peer& peer, const base::PathId& from, const wire::KeepaliveBody& body);
  /// The path has moved. All measurements of the old one start over.
  void on_path_moved(Peer& peer);
  /// What limits datagrams of this side to `path`.
  Path::Limits path_limits(const base::PathId& path) const {
    return {std::min(config.max_datagram_bytes, socket.largest_datagram(path)),
            socket.forbids_fragmentation(path)};
  }
  void update_path(Peer& peer);
  /// Runs last in a peer's update. If the interface refuses a probe that is too large, the datagrams sent
  /// with it in one run would be lost too.
  void update_mtu(Peer& peer);
  void send_path_challenge(Peer& peer);
  void send_mtu_probe(Peer& peer, uint32_t datagram_bytes);
  /// An ack block was applied: it may have acknowledged an MTU probe.
  void note_probe_ack(Peer& peer);

  // endpoint_congestion.cpp
  PathState path_state(const Peer& peer) const;
  Pacer::Setup pacer_setup() const { return {config.congestion, now_ns}; }
  static constexpr uint64_t kNoSample = UINT64_MAX;
  /// Detects losses by time and order, and reports acks, losses and the sample to the pacer. `ack` is null
  /// when only time passed; `rtt_sample_ns` may be kNoSample.
  void detect_losses(Peer& peer, const AckResult* ack, uint64_t rtt_sample_ns);
  uint64_t send_budget_bytes(Peer& peer, uint64_t at_ns, uint64_t during_ns);
  void fill_congestion_stats(const Peer& peer, ConnectionStats* out) const;

  // endpoint_connections.cpp
  connection::Admission admit(const connection::AdmissionRequest& request) override;
  bool is_full() const override { return table.size() == table.capacity(); }
  ConnectResult connect(const base::PathId& server, std::span<const uint8_t> token,
                        const crypto::KeyPair& client, ConnectionHandle* out);
  void on_accepted_by_server(Peer& peer, connection::ClientAccepted& accepted);
  void end_half_open(uint64_t connection_id);
  void on_accepted_client(connection::ServerAccepted& accepted);
  void on_handshake_result(Peer& peer, connection::ClientResult& result);
  void confirm(Peer& peer, uint64_t packet_seq);
  /// `most_rtt_ns`: what is known of the round trip without a sample of it.
  void announce(Peer& peer, uint64_t most_rtt_ns = 0);
  void disconnect(Peer& peer, connection::DisconnectReason reason, std::string_view text);
  /// Records why the connection ended, and lists the peer so that finish_phase() reports it.
  void note_end(Peer& peer, connection::DisconnectReason reason, uint64_t remote_schema,
                std::string_view text);
  void list_ending(Peer& peer);
  /// Reports ended connections and frees those that are Disconnected.
  void finish_phase();
  void report_end(Peer& peer);
  void lose_receipts(Peer& peer);
  void free_peer(Peer& peer);

  void set_timeout_paused(bool paused, uint64_t since_ns);
  /// The most likely cause of a silence, as text.
  std::string_view why_silent(const Peer& peer) const;

  /// The features this side offers in the handshake, and the cipher of a connection that agreed on
  /// `features`.
  static uint32_t offered_features(const EndpointConfig& config);
  static crypto::Cipher cipher_of(uint32_t features);
  Peer* find(ConnectionHandle handle) const {
    return table.live(handle) ? peers[handle.slot].get() : nullptr;
  }
  /// Makes a peer in the slot of `handle`, which is empty.
  Peer& make_peer(ConnectionHandle handle);
  void count(Refusal refusal, Peer* peer, uint64_t how_often = 1);
  connection::ServerMoment moment() const { return {now_ns, unix_s, server_tick}; }
  const ConnectionStats* stats_of(Peer& peer);

  EndpointConfig config;
  socket::DatagramSocket& socket;
  EndpointHandler& handler;
  crypto::EntropySource& entropy;
  base::BufferPool pool;  ///< Everything that is sent, and the arrays of what is received.
  ReceiveMemory receive_memory;
  CarriedItems items;
  Capture capture;
  DatagramBatch batch;
  connection::ConnectionTable table;
  base::PagedMemory peer_memory;
  std::vector<PlacedPeer> peers;      ///< By slot, in peer_memory.
  base::DeadlineTable service_times;  ///< By slot: when an update must service the peer.
  std::vector<uint32_t> ending;       ///< Slots finish_phase() looks at.
  std::optional<connection::ServerHandshake> server;
  std::optional<connection::StatelessResets> resets;  ///< Together with `server`.
  std::unique_ptr<uint8_t[]> receive_buffers;
  std::vector<socket::Datagram> receive_datagrams;
  std::array<wire::Message, 32> framed_messages;  ///< Of the packet that is being processed.
  /// The Payload that is being processed.
  struct {
    uint64_t packet_seq = 0;
    bool is_late = false;  ///< Messages judged by number are not accepted (R-32).
  } current_payload;
  std::unique_ptr<OpenAhead> opening;  ///< Null without the caller's threads.
  mutable EndpointStats stats;

  uint64_t now_ns = 0;
  uint64_t unix_s = 0;
  uint64_t emptied_ns = 0;        ///< When the socket was last read until it was empty.
  uint64_t unread_ns = 0;         ///< The longest time that a datagram read now may have waited in it.
  uint64_t reading_every_ns = 0;  ///< The time between two readings: rises at once and falls slowly.
  uint64_t last_update_ns = 0;
  uint64_t previous_update_ns = 0;    ///< The one before it.
  uint64_t last_update_second = 0;    ///< Of the last update that has finished.
  uint64_t until_next_update_ns = 0;  ///< A guess: the last interval, at most 25 ms.
  uint64_t ack_lead_ns = 0;           ///< At least until_next_update_ns: acks are serviced this much earlier.
  uint64_t longest_interval_ns = 0;   ///< Of this second.
  uint64_t last_server_update_ns = 0;
  bool has_updated = false;
  bool update_begun = false;
  bool woken = false;  ///< There is new work since the last update.
  /// The last ICMP report that an address is unreachable.
  struct {
    base::PathId about;
    uint64_t at_ns = 0;
  } unreachable;
  uint32_t server_tick = 0;
  bool timeout_paused = false;
  bool in_phase = false;
  bool ack_leaves_now =
      false;  ///< An ack in the middle of a burst leaves at once, not after the whole burst.
};

}  // namespace lattice::reliability
