// The Endpoint of reliability, for messages of up to 290,816 bytes: the same calls, the same callbacks.
//
//   send():   short ──▶ Endpoint::send       long ──▶ 2 to 256 fragments, queued together (F-04, F-05)
//   receive:  message ──▶ handler            fragment ──▶ Reassembler ──▶ whole message ──▶ handler
//
// Must stay true: the handler never sees a fragment, and gets each receipt once; the fragments of a message
// use the message's own channel, so that a long unreliable message stays unreliable.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "fragment/fragment_receipts.h"
#include "fragment/reassembler.h"
#include "reliability/endpoint/endpoint.h"

namespace lattice::fragment {

using reliability::Channel;
using reliability::ConnectionHandle;
using reliability::MessageFlags;
using reliability::SendResult;

class FragmentingEndpoint final : private reliability::EndpointHandler {
 public:
  /// The same as Endpoint::create().
  static std::unique_ptr<FragmentingEndpoint> create(reliability::EndpointConfig config,
                                                     socket::DatagramSocket& socket,
                                                     reliability::EndpointHandler& handler,
                                                     crypto::EntropySource& entropy, const char** error);
  ~FragmentingEndpoint() override;
  FragmentingEndpoint(const FragmentingEndpoint&) = delete;
  FragmentingEndpoint& operator=(const FragmentingEndpoint&) = delete;

  /// Endpoint::send() for bodies of up to kMaxMessageBytes. A body takes 1 to 256 places of the queue;
  /// kWouldBlock when they do not all fit. Snapshots and control messages keep the limit of one packet.
  /// `receipt` is below 2^31. The receipt of a long message is acked once every fragment is acked.
  SendResult send(ConnectionHandle connection, Channel channel, MessageFlags flags,
                  std::span<const uint8_t> body, uint32_t receipt = 0);
  /// Endpoint::update_and_send(), which here also drops incomplete messages that have waited too long (F-03).
  void update_and_send(uint64_t now_ns, uint64_t unix_s);

  void begin_update(uint64_t now_ns, uint64_t unix_s) { endpoint_->begin_update(now_ns, unix_s); }
  void send_now(ConnectionHandle connection) { endpoint_->send_now(connection); }
  void prefetch(ConnectionHandle connection) const { endpoint_->prefetch(connection); }
  void prefetch_for_send(ConnectionHandle connection) const { endpoint_->prefetch_for_send(connection); }
  bool has_reliable_waiting(ConnectionHandle connection) const {
    return endpoint_->has_reliable_waiting(connection);
  }
  void receive(uint64_t now_ns, uint64_t unix_s) { endpoint_->receive(now_ns, unix_s); }
  reliability::ConnectResult connect(const base::PathId& server, std::span<const uint8_t> token,
                                     const crypto::KeyPair& client, ConnectionHandle* out) {
    return endpoint_->connect(server, token, client, out);
  }
  void disconnect(ConnectionHandle connection, connection::DisconnectReason reason,
                  std::string_view text = {}) {
    endpoint_->disconnect(connection, reason, text);
  }
  uint64_t send_budget_bytes(ConnectionHandle connection, uint64_t now_ns, uint64_t during_ns = 0) {
    return endpoint_->send_budget_bytes(connection, now_ns, during_ns);
  }
  void drop_waiting_snapshot(ConnectionHandle connection) { endpoint_->drop_waiting_snapshot(connection); }
  const reliability::ConnectionStats* stats(ConnectionHandle connection) const {
    return endpoint_->stats(connection);
  }
  const reliability::EndpointStats& stats() const { return endpoint_->stats(); }
  connection::State state(ConnectionHandle connection) const { return endpoint_->state(connection); }
  void set_server_tick(uint32_t tick) { endpoint_->set_server_tick(tick); }
  bool set_capture(reliability::CaptureObserver* observer) { return endpoint_->set_capture(observer); }
  const connection::ServerHandshake* server_handshake() const { return endpoint_->server_handshake(); }

  /// The inner endpoint, for all other calls. Messages sent through it are not fragmented.
  reliability::Endpoint& endpoint() { return *endpoint_; }
  const reliability::Endpoint& endpoint() const { return *endpoint_; }

 private:
  /// State of a connection for long messages; made at the first long message and kept for the slot.
  struct Lane {
    explicit Lane(reliability::ReceiveMemory& memory) : reassembler(memory) {}
    ConnectionHandle connection;  ///< The one the slot serves now.
    std::array<uint16_t, wire::kChannelCount> next_group{};
    Reassembler reassembler;
  };

  FragmentingEndpoint(const reliability::EndpointConfig& config, reliability::EndpointHandler& handler);
  SendResult send_fragments(ConnectionHandle connection, Channel channel, MessageFlags flags,
                            std::span<const uint8_t> body, uint32_t receipt);
  Lane& lane_of(ConnectionHandle connection);
  void drop_overtaken(Lane& lane, Channel channel, base::Sequence16 newest);
  reliability::FragmentOutcome refuse(ConnectionHandle connection, const Piece& piece,
                                      reliability::Refusal refusal);
  void expire(uint64_t now_ns);

  // EndpointHandler
  connection::Admission on_admission(const connection::AdmissionRequest& request) override;
  void on_connect_refused(const connection::RefusedClient& client) override {
    above_.on_connect_refused(client);
  }
  void on_path_moved(ConnectionHandle connection, const base::PathId& before,
                     const base::PathId& now) override {
    above_.on_path_moved(connection, before, now);
  }
  void on_connected(ConnectionHandle connection, const reliability::ConnectedInfo& info) override;
  std::string schema_lines(uint64_t remote_schema_id, std::string_view text) override {
    return above_.schema_lines(remote_schema_id, text);
  }
  void on_schema_told(ConnectionHandle connection, uint64_t remote_schema_id,
                      std::string_view text) override {
    above_.on_schema_told(connection, remote_schema_id, text);
  }
  void on_disconnected(ConnectionHandle connection, connection::DisconnectReason reason,
                       uint64_t remote_schema_id, std::string_view text) override;
  reliability::Verdict on_message(ConnectionHandle connection, Channel channel, MessageFlags flags,
                                  std::span<const uint8_t> body, uint64_t arrived_ns) override;
  reliability::FragmentOutcome on_fragment(ConnectionHandle connection, Channel channel, MessageFlags flags,
                                           const reliability::IncomingFragment& fragment,
                                           std::span<const uint8_t> body, uint64_t now_ns) override;
  bool takes_more() override { return above_.takes_more(); }
  void on_packet_soon(ConnectionHandle connection, Ahead ahead) override {
    if (ahead == Ahead::kFar) base::prefetch(&lanes_[connection.slot]);
    above_.on_packet_soon(connection, ahead);
  }
  void on_receipt(ConnectionHandle connection, uint32_t receipt, bool acked) override;

  reliability::EndpointHandler& above_;
  wire::ChannelTable channels_;
  std::unique_ptr<reliability::Endpoint> endpoint_;
  std::vector<std::unique_ptr<Lane>> lanes_;  ///< By slot; after endpoint_, whose memory they borrow.
  FragmentReceipts receipts_;
  std::vector<uint8_t> message_;          ///< The message being delivered.
  uint64_t next_expiry_ns_ = UINT64_MAX;  ///< No group of any connection expires earlier.
};

}  // namespace lattice::fragment
