// One connection: path, lifecycle, keys, acks, budget and channels. It composes the classes that own these
// parts, and is the only one that changes them. It sends through the batch of its ConnectionContext, reports
// to the handler there, and enters itself into the schedule when it has something to do or ends.
//   connection_receive.cpp    from a datagram of the connection to an opened packet
//   connection_messages.cpp   acks and messages of an opened packet
//   connection_send.cpp       from queues and timers to datagrams
//   connection_queue.cpp      messages from the layer above into the queues
//   connection_bulk.cpp       chunks of transfers, in the remaining budget
//   connection_congestion.cpp the link between packets and the pacer
//   connection_lifecycle.cpp  beginning and end
//   connection_rotation.cpp   new keys
//   connection_paths.cpp      addresses and datagram sizes
//   connection_service.cpp    what an update does, and when the next one has something to do
//   connection_statistics.cpp what the application may know
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "base/compiler.h"
#include "base/late.h"
#include "reliability/channel/incoming_channels.h"
#include "reliability/channel/outgoing_channels.h"
#include "reliability/channel/send_memory.h"
#include "reliability/congestion/pacer.h"
#include "reliability/endpoint/connection_context.h"
#include "reliability/endpoint/connection_end.h"
#include "reliability/endpoint/reading_shares.h"
#include "reliability/endpoint/send_result.h"
#include "reliability/path/path.h"
#include "reliability/recovery/ack_block_order.h"
#include "reliability/recovery/ack_tracker.h"
#include "reliability/recovery/loss_meter.h"
#include "reliability/recovery/number_skipper.h"
#include "reliability/recovery/probes.h"
#include "reliability/recovery/rtt_estimator.h"
#include "reliability/recovery/sent_packet_history.h"
#include "transport/connection/client_handshake.h"
#include "transport/connection/connection_timers.h"
#include "transport/connection/key_rotation.h"
#include "transport/connection/lifecycle.h"
#include "transport/connection/secure_link.h"
#include "transport/wire/disconnect_body.h"
#include "transport/wire/keepalive_body.h"
#include "transport/wire/stateless_reset.h"
#include "transport/wire/token.h"

namespace lattice::reliability {

class alignas(64) Connection {
 public:
  /// `context` is borrowed. One of begin_connecting() and begin_accepted() follows at once.
  Connection(const ConnectionContext& context, ConnectionHandle handle);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  ConnectionHandle handle() const { return handle_; }
  bool is_incoming() const { return is_incoming_; }
  const base::PathId& address() const { return path_.address(); }
  bool connected() const { return lifecycle_.state() == connection::State::kConnected; }
  connection::State state() const;
  /// The id in its packets. The connection has_link().
  uint64_t connection_id() const { return link_->connection_id(); }
  /// Session packets can be opened and sent.
  bool has_link() const { return static_cast<bool>(link_); }
  /// The handshake of a client has begun, and waits for answers.
  bool is_handshaking() const { return handshake_ && handshake_started_; }

  // Beginning (connection_lifecycle.cpp).

  /// A client: `fields` are those of `token`. The handshake starts with the next update.
  void begin_connecting(const base::PathId& server, const wire::TokenFields& fields,
                        std::span<const uint8_t> token, const crypto::KeyPair& client);
  /// A server has verified a client: half-open until its first packet.
  void begin_accepted(connection::ServerAccepted& accepted);
  /// A handshake datagram, while is_handshaking(). With a result, on_accepted_by_server() must follow.
  std::optional<connection::ClientAccepted> on_handshake_datagram(const base::PathId& from,
                                                                  std::span<const uint8_t> datagram);
  /// `has_id`: the connection is found by its id from now on. Without, it ends.
  void on_accepted_by_server(connection::ClientAccepted& accepted, bool has_id);
  /// The network says that nobody listens at the address.
  void on_unreachable() {
    if (handshake_) handshake_->on_unreachable();
  }

  // Packets (connection_receive.cpp).

  /// A session packet with the connection's id; the connection has_link(). `ahead` is the result of
  /// open_ahead() of link_for() for it. True: an ack was queued that should leave at once.
  bool on_datagram(const base::PathId& from, std::span<uint8_t> datagram, const wire::PacketHeader& header,
                   size_t header_bytes, connection::OpenedAhead ahead);
  /// What may open a packet from `from` ahead of its turn, or null: packets from other sources are opened in
  /// turn, at a limited rate (L-04).
  const connection::SecureLink* link_for(const base::PathId& from) const {
    return link_ && from == path_.address() ? &*link_ : nullptr;
  }
  /// Messages of all packets so far; it wraps.
  uint32_t messages_read() const { return messages_read_; }
  /// What it used of the reading that goes on.
  ReadingShares::Used& reading_used() { return reading_used_; }
  const ReadingShares::Used& reading_used() const { return reading_used_; }

  // Messages (connection_queue.cpp). See Endpoint.

  SendResult send(uint8_t channel, MessageFlags flags, std::span<const uint8_t> body, uint32_t receipt);
  SendResult send_fragments(uint8_t channel, MessageFlags flags, uint16_t group, size_t unit_bytes,
                            std::span<const uint8_t> body, uint32_t receipt);
  void drop_waiting_snapshot();
  /// `channel` carries messages of the application.
  void set_channel(uint8_t channel, const ChannelSettings& settings) {
    outgoing_channels_.set(channel, settings);
  }
  std::optional<base::Sequence16> newest_sequence(uint8_t channel) const {
    return incoming_channels_.sequenced(channel).newest();
  }
  uint64_t send_budget_bytes(uint64_t at_ns, uint64_t during_ns);
  /// Reliable messages could be packed now.
  bool has_reliable_waiting() const { return outgoing_channels_.has_reliable_work(); }

  // Updates (connection_service.cpp).

  /// The next update services the connection. Call it with everything that may give it something to do.
  void wake() const { context_.schedule.wake(handle_.slot); }
  /// Does what is due, and sends what may leave.
  void service();
  /// When service() has something to do if nothing happens before; 0: with the next update.
  uint64_t next_service_ns() const;
  /// While connected: silence counts from `since_ns` on, or from now on if that is later.
  void restart_silence(uint64_t since_ns);

  // End (connection_lifecycle.cpp).

  void disconnect(connection::DisconnectReason reason, std::string_view text);
  /// This side has ended it and told the application.
  bool is_leaving() const { return lifecycle_.state() == connection::State::kDisconnecting && !is_listed_; }
  /// It is one of EndpointStats::connections_leaving until it is freed.
  bool counts_as_leaving() const { return timers_ && timers_->is_disconnecting(); }
  /// It is in the schedule's list of ending connections: updates leave it alone until the list is processed.
  bool is_listed() const { return is_listed_; }
  /// The application knows of the connection: it hears of the end too.
  bool is_announced() const { return end_.is_announced(); }
  /// A client was admitted that has not confirmed: it cannot be told anything yet.
  bool is_half_open() const { return is_incoming_ && lifecycle_.state() == connection::State::kHandshake; }
  /// True once when the connection has ended: what it still carries is lost, and report_end() is due.
  bool take_end();
  /// Tells the handler, if the application knows of the connection.
  void report_end();
  /// The connection is taken off the list. True: it is over, and must be freed.
  bool leave_list();

  // Statistics (connection_statistics.cpp).

  LATTICE_COLD void count(Refusal refusal, uint64_t how_often = 1) {
    context_.totals.refusals.add(refusal, how_often);
    stats_.refusals.add(refusal, how_often);
  }
  const ConnectionStats& stats();
  uint64_t packets_sent() const { return traffic_.packets_sent; }

  // Hints that fetch into the cache. With hundreds of connections no state is in the cache when its
  // connection is processed, and waiting for one cache line after the other takes longer than the work. A
  // hint must not wait itself. So the first step reads nothing, and each further one reads what the step
  // before has fetched.

  /// Step one: what every packet and every update reads. `congestion` is that of the configuration.
  void prefetch_members(const CongestionConfig& congestion) const {
    base::prefetch(this, rtt_.hot_end());
    base::prefetch(pacer_.hot_begin(congestion), probes_.hot_end());
    base::prefetch(losses_.hot_begin(), outgoing_channels_.hot_end());
    base::prefetch(&rotation_, sizeof(uint64_t) + connection::KeyRotation::kHeadBytes);
    base::prefetch(&link_, sizeof(uint64_t) + connection::SecureLink::kHeadBytes);
  }
  /// Step two of sending: the keys that seal, and the records of the oldest packet in flight and of the next
  /// one.
  void prefetch_for_send() const {
    if (link_) link_->prefetch_for_seal();
    history_.prefetch_sent();
  }
  /// Step two of receiving: the keys that open, and the records that the next packet acknowledges.
  void prefetch_for_open() const {
    if (link_) link_->prefetch_for_open();
    history_.prefetch_acks();
  }
  /// Step three: what those packets carried.
  void prefetch_acked_items() const { history_.prefetch_acked_items(); }

 private:
  class Notifier;

  uint64_t now_ns() const { return context_.clock.now_ns(); }

  // connection_receive.cpp
  /// False, and counted: the packet must not be opened.
  bool may_open_from(const base::PathId& from);
  /// The link refused `datagram`. Ends the connection if the datagram is a reset.
  void end_if_reset(std::span<const uint8_t> datagram, size_t header_bytes);

  // connection_messages.cpp
  /// The Payload that is being processed.
  struct Payload {
    uint64_t packet_seq = 0;
    bool is_late = false;  ///< Messages judged by number are not accepted (R-32).
  };
  void on_payload(const connection::SecureLink::Opened& packet);
  void on_keepalive(const base::PathId& from, const connection::SecureLink::Opened& packet);
  void on_disconnect(const connection::SecureLink::Opened& packet);
  /// The number of the packet that carried the probe; 0 if the peer echoes none that this side sent.
  uint64_t on_echo(const wire::KeepaliveBody& body);
  /// Nothing was acknowledged for a while, and that is not how this peer reads.
  bool was_cut_off() const;
  /// The peer acknowledges something again.
  void end_silence();
  /// `echoed` is what on_echo() gave for the same packet.
  void apply_ack(uint64_t packet_seq, const wire::AckBlock& ack, std::optional<uint64_t> ack_delay_ns,
                 uint64_t echoed = 0);
  /// Counts an ack block that on_ack() found invalid, and closes the connection if the block names a skipped
  /// number.
  LATTICE_COLD void refuse_ack(const AckResult& result);
  /// False: because of this message, its packet must not be acked.
  bool on_message(const wire::Message& message, const Payload& payload);
  bool on_reliable_message(const wire::Message& message, const Payload& payload);
  void deliver_early(ReceiveChannel& channel, const wire::Message& message, const Payload& payload);
  bool on_sequenced_message(const wire::Message& message, const Payload& payload);
  bool deliver(const wire::Message& message, const Payload& payload);
  bool deliver_fragment(const wire::Message& message, const Payload& payload);
  void tell_credit(uint8_t channel, std::optional<uint16_t> credit);
  // False: the message closed the connection.
  bool on_credit(std::span<const uint8_t> body);
  bool on_reset_token(std::span<const uint8_t> body);
  LATTICE_COLD void protocol_error(Refusal refusal);

  // connection_send.cpp
  /// The largest datagram that is neither a message nor a probe: a Disconnect with a long text.
  static constexpr uint64_t kMaxUrgentBytes =
      wire::kMaxHeaderBytes + wire::kMaxDisconnectBodyBytes + wire::kTagBytes;
  void send_payloads();
  /// False when nothing fitted `allowance_bytes`. `padded_bytes`: OutgoingChannels::Room.
  bool send_one_payload(uint64_t allowance_bytes, bool control_only, size_t padded_bytes);
  void send_keepalive_if_needed();
  void send_keepalive(bool probe);
  /// A packet that only acknowledges, if it may be sent now.
  void send_ack();
  void send_disconnect(bool is_acknowledgement);
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
  /// A buffer for the next packet. Fixes the packet's number; one number may be left out before it.
  /// Every packet begins with this and ends with transmit().
  std::span<uint8_t> begin_packet();
  /// The bytes of the datagram; 0 when packet numbers are used up.
  size_t transmit(const Outgoing& packet);
  /// transmit() for a Payload with messages; also counts the messages.
  void transmit_payload(const Outgoing& packet, uint32_t first_count, uint32_t resent_count);
  /// How long a message waits for its ack.
  uint64_t resend_after_ns() const;

  // connection_queue.cpp
  /// Whether the application may queue so much more (send_memory.h).
  bool may_queue(size_t messages, size_t bytes) const {
    return context_.pool.stats().capacity_live + queue_memory_bytes(messages, bytes) <=
               context_.config.send_growth_bytes ||
           is_within_share(messages, bytes);
  }
  bool is_within_share(size_t messages, size_t bytes) const;
  void give_up_stale();

  // connection_bulk.cpp
  bool has_chunks() const;
  void send_chunks();
  /// False: the source had no chunk after all.
  bool send_one_chunk();

  // connection_service.cpp
  void update_handshake();
  void update_link();
  void update_loss_window();
  uint64_t repeat_first_ns() const;
  uint64_t idle_ns() const;
  /// A Payload was opened and processed while connected: the connection may have to be serviced earlier.
  void reschedule_after_payload() const;
  bool waits_for_nothing() const;

  // connection_rotation.cpp
  /// False: the message closed the connection.
  bool on_rotation_control(std::span<const uint8_t> body);
  void update_rotation();

  // connection_paths.cpp
  void note_source(const base::PathId& from, size_t bytes, bool is_newest);
  void on_path_flags(const base::PathId& from, const wire::KeepaliveBody& body);
  /// The path has moved. All measurements of the old one start over.
  void on_path_moved();
  /// What limits datagrams of this side to `path`.
  Path::Limits path_limits(const base::PathId& path) const {
    return {std::min(context_.config.max_datagram_bytes, context_.socket.largest_datagram(path)),
            context_.socket.forbids_fragmentation(path)};
  }
  void update_path();
  /// Runs last in an update. If the interface refuses a probe that is too large, the datagrams sent with it
  /// in one run would be lost too.
  void update_mtu();
  void send_path_challenge();
  void send_mtu_probe(uint32_t datagram_bytes);
  /// An ack block was applied: it may have acknowledged an MTU probe.
  void note_probe_ack();

  // connection_congestion.cpp
  static constexpr uint64_t kNoSample = UINT64_MAX;
  PathState path_state() const;
  /// Detects losses by time and order, and reports acks, losses and the sample to the pacer. `ack` is null
  /// when only time passed; `rtt_sample_ns` may be kNoSample.
  void detect_losses(const AckResult* ack, uint64_t rtt_sample_ns);

  // connection_lifecycle.cpp
  /// The link exists from now on, and all that goes with it. `features_` are agreed. `peer_datagram_bytes`:
  /// the largest datagram that the peer accepts.
  void begin_link(crypto::Role role, uint64_t connection_id, crypto::Key master,
                  uint32_t peer_datagram_bytes);
  void on_handshake_end(connection::ClientResult& result);
  void confirm(uint64_t packet_seq);
  /// Server: tells the peer the token that a reset of this connection ends with.
  void queue_reset_token();
  /// `most_rtt_ns`: what is known of the round trip without a sample of it.
  void announce(uint64_t most_rtt_ns = 0);
  /// Records why the connection ended, and lists it so that the end of the phase reports it.
  void note_end(connection::DisconnectReason reason, uint64_t remote_schema, std::string_view text);
  void list_ending();
  /// The most likely cause of a silence, as text.
  std::string_view why_silent() const;

  // connection_statistics.cpp
  void fill_congestion_stats();
  uint64_t queue_ns() const;

  // The members that every packet reads come first. With hundreds of connections none of them is in the cache
  // when the connection is processed, and each cache line is waited for. So what is read lies together: a
  // member of which only the beginning is read stands behind one of which only the end is.
  const ConnectionContext& context_;
  ConnectionHandle handle_;
  Path path_;
  bool is_incoming_ = false;
  // Lifecycle. `handshake_` exists on a connecting client only; while it exists, its own lifecycle counts.
  connection::Lifecycle lifecycle_;
  bool is_listed_ = false;
  std::unique_ptr<connection::ClientHandshake> handshake_;
  base::Late<connection::ConnectionTimers> timers_;  ///< Together with `link_`.
  TrafficStats traffic_;
  uint32_t messages_read_ = 0;
  ReadingShares::Used reading_used_;
  AckTracker acks_;
  SentPacketHistory history_;
  AckBlockOrder ack_block_order_;
  uint64_t answered_by_ = 0;  // the newest packet of the peer whose block was applied
  RttEstimator rtt_;
  Pacer pacer_;
  NumberSkipper skipper_;
  Probes probes_;
  LossMeter losses_;
  OutgoingChannels outgoing_channels_;
  base::Late<connection::KeyRotation> rotation_;  ///< Together with `link_`.
  base::Late<connection::SecureLink> link_;

  // Who.
  uint64_t peer_id_ = 0;
  uint64_t connected_at_ns_ = 0;
  wire::Id16 player_{};
  wire::Id16 session_{};
  std::array<uint8_t, wire::kMaxTokenUserBytes> user_data_{};
  uint16_t user_bytes_ = 0;
  uint32_t features_ = 0;
  uint32_t server_tick_ = 0;
  uint16_t tick_rate_hz_ = 0;

  // The beginning.
  bool handshake_started_ = false;
  /// The server's count when message 4 was made. If it has not changed, message 4 gives a first RTT sample.
  uint64_t accepts_repeated_then_ = 0;

  // The end.
  std::optional<wire::ResetToken> reset_token_;  ///< On a client, once the server has sent it.
  /// Announced when on_connected() was called, or connect() returned kOk: on_disconnected() is owed.
  ConnectionEnd end_;

  IncomingChannels incoming_channels_;

  ConnectionStats stats_;  ///< Traffic, round trips, losses and queues are filled in by stats().
};

}  // namespace lattice::reliability
