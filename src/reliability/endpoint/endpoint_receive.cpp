// From the socket to the connection of a datagram, or to a handshake: routing (P-04, P-07). Until a packet
// has been opened, it changes only counters.
#include <algorithm>
#include <array>
#include <utility>

#include "base/assert.h"
#include "base/compiler.h"
#include "platform/byte_order.h"
#include "reliability/endpoint/endpoint_core.h"
#include "transport/connection/config_difference.h"

namespace lattice::reliability {
namespace {

/// The connection that a datagram names; 0: none.
uint64_t claimed_id(const socket::Datagram& datagram) {
  constexpr size_t kConnectionIdOffset = 5;
  if (datagram.size < wire::kMinHeaderBytes) return 0;
  return platform::load_u64_le(datagram.data + kConnectionIdOffset);
}

Refusal refusal_of_header(wire::HeaderStatus status) {
  switch (status) {
    case wire::HeaderStatus::kTooShort:
      return Refusal::kHeaderTooShort;
    case wire::HeaderStatus::kBadMagic:
      return Refusal::kHeaderBadMagic;
    case wire::HeaderStatus::kWrongVersion:
      return Refusal::kHeaderWrongVersion;
    case wire::HeaderStatus::kUnknownType:
      return Refusal::kHeaderUnknownType;
    case wire::HeaderStatus::kBadPacketSeq:
    case wire::HeaderStatus::kOk:
      break;
  }
  return Refusal::kHeaderBadPacketSeq;
}

}  // namespace

// Fetches what the next packets need, in the order in which one thing leads to the next. Each step of a
// packet reads what its step before has fetched, while packets before it were processed.
//
// A connection lies in pages that the processor has not looked up lately. It waits for a page even where it
// only fetches, but it looks up several pages at once. So packets take the first steps, which find the pages,
// in runs. They take the others, which fetch many lines, one by one.
class Endpoint::Core::PacketsAhead {
 public:
  PacketsAhead(const Core& core, std::span<const socket::Datagram> datagrams)
      : core_(core), datagrams_(datagrams) {
    if (datagrams_.size() < 2) datagrams_ = {};  // there is no time to fetch anything in
    for (size_t newest = 0; newest < kAhead && !datagrams_.empty(); ++newest) advance(newest);
  }

  /// Call it for each datagram in turn, before it is processed. No connection is freed in between.
  void prefetch(size_t k) {
    if (!datagrams_.empty()) advance(k + kAhead);
  }

 private:
  using Ahead = EndpointHandler::Ahead;
  static constexpr size_t kRun = 4;
  // So many packets after the first step of its run, a packet takes the others.
  static constexpr size_t kPacket = 9, kOpen = 11, kAckedItems = 13, kAhead = kAckedItems + 1;
  static constexpr size_t kPlaces = 16;
  static_assert(kPacket > 2 * kRun && kAckedItems < kPlaces);

  void advance(size_t newest) {
    if (newest % kRun == 0) {
      each(newest, [this](size_t k) { core_.table.prefetch(claimed_id(datagrams_[k])); });
      each(newest - kRun, [this](size_t k) { find(k); });
      each(newest - 2 * kRun, [this](size_t k) { tell(connections_[k % kPlaces], Ahead::kNear); });
    }
    if (const Connection* connection = found(newest - kPacket)) {
      connection->prefetch_members(core_.context.config.congestion);
    }
    if (const Connection* connection = found(newest - kOpen)) {
      connection->prefetch_for_open();
      tell(connection, Ahead::kNext);
    }
    if (const Connection* connection = found(newest - kAckedItems)) connection->prefetch_acked_items();
  }
  /// Visits a run of packets. There is none before the first, where the number wraps.
  template <class Visit>
  void each(size_t first, Visit visit) const {
    for (size_t k = first; k < std::min(first + kRun, datagrams_.size()); ++k) visit(k);
  }
  void find(size_t k) {
    const auto handle = core_.table.find(claimed_id(datagrams_[k]));
    const Connection* connection = handle ? core_.in_slot(*handle) : nullptr;
    connections_[k % kPlaces] = connection;
    if (connection == nullptr) return;
    base::prefetch(connection);
    core_.context.handler.on_packet_soon(*handle, Ahead::kFar);
  }
  void tell(const Connection* connection, Ahead ahead) const {
    if (connection != nullptr) core_.context.handler.on_packet_soon(connection->handle(), ahead);
  }
  /// Null also before the first datagram, where the number wraps, and behind the last.
  const Connection* found(size_t k) const {
    return k < datagrams_.size() ? connections_[k % kPlaces] : nullptr;
  }

  const Core& core_;
  std::span<const socket::Datagram> datagrams_;
  std::array<const Connection*, kPlaces> connections_{};
};

void Endpoint::Core::receive() {
  const uint64_t now_ns = context.clock.now_ns();
  batch.set_now(now_ns);
  note_unreachable();
  context.clock.begin_reading();
  shares.begin(table.size());
  const size_t most = most_datagrams(table.size());
  for (size_t taken = 0; taken < most;) {
    const socket::Reading reading = socket.receive(receive_datagrams, now_ns);
    const size_t received = reading.count;
    // What was refused counts too: a flood of it must not keep this loop running.
    taken += received + reading.refused;
    const bool is_ahead = opening && !capture.is_on();  // A capture taps this thread's AEAD packet by packet.
    if (is_ahead) open_ahead(std::span(receive_datagrams).first(received));
    const std::span<const socket::Datagram> datagrams = std::span(receive_datagrams).first(received);
    PacketsAhead ahead(*this, datagrams);
    for (size_t k = 0; k < received; ++k) {
      ahead.prefetch(k);
      const socket::Datagram& datagram = receive_datagrams[k];
      context.clock.take(datagram.waited_ns);
      capture.begin_incoming(datagram.peer, {datagram.data, datagram.size});
      on_datagram(datagram.peer, {datagram.data, datagram.size},
                  is_ahead ? opening->result(k) : connection::OpenedAhead::kNotTried);
      capture.finish_incoming(now_ns);
      // The sender refills its window while this side processes the rest of the burst.
      if (std::exchange(ack_leaves_now, false)) batch.flush();
    }
    if (!reading.may_have_more) context.clock.note_empty();
    if (!reading.may_have_more || !context.handler.takes_more() || shares.is_enough()) break;
  }
  if (server) verify_newcomers();
  finish_phase();
  batch.flush();
}

// A hint for a client that gets no answer. Anyone can forge it, so it ends nothing.
void Endpoint::Core::note_unreachable() {
  base::PathId about;
  if (!socket.take_unreachable(&about)) return;
  const std::optional<ConnectionHandle> pending = table.find_pending(about);
  Connection* connection = pending ? find(*pending) : nullptr;
  if (connection != nullptr) connection->on_unreachable();
  context.unreachable = {about, context.clock.now_ns()};
}

Connection* Endpoint::Core::claimed_connection(const socket::Datagram& datagram) const {
  const auto handle = table.find(claimed_id(datagram));
  return handle ? connections[handle->slot].get() : nullptr;
}

void Endpoint::Core::open_ahead(std::span<const socket::Datagram> received) {
  opening->begin(received.size());
  // The work in between covers one access to memory.
  const auto soon = [&](size_t k) { return k < received.size() ? claimed_connection(received[k]) : nullptr; };
  for (size_t k = 0; k < received.size(); ++k) {
    if (const Connection* far = soon(k + 2)) far->prefetch_members(context.config.congestion);
    if (const Connection* near = soon(k + 1)) near->prefetch_for_open();
    const Connection* connection = claimed_connection(received[k]);
    const bool is_read = connection != nullptr && !shares.is_over(connection->reading_used());
    const connection::SecureLink* link = is_read ? connection->link_for(received[k].peer) : nullptr;
    if (link != nullptr) opening->add(k, received[k].size, connection->handle().slot, *link);
  }
  opening->run(context.config.tasks, received);
}

void Endpoint::Core::on_datagram(const base::PathId& from, std::span<uint8_t> datagram,
                                 connection::OpenedAhead ahead) {
  wire::PacketHeader header;
  size_t header_bytes = 0;
  const wire::HeaderStatus status =
      wire::parse_packet_header(datagram, context.config.protocol_id, &header, &header_bytes);
  if (status == wire::HeaderStatus::kWrongVersion && server && header.type == wire::PacketType::kHandshake) {
    on_server_datagram(from, datagram);  // May answer with an advisory denial (P-03); refuses in any case.
    count(Refusal::kHeaderWrongVersion);
    return;
  }
  if (status != wire::HeaderStatus::kOk) {
    count(refusal_of_header(status));
    return;
  }
  if (wire::is_session_packet(header.type)) {
    on_session_datagram(from, datagram, header, header_bytes, ahead);
  } else {
    on_handshake_datagram(from, datagram, header, header_bytes);
  }
}

void Endpoint::Core::on_handshake_datagram(const base::PathId& from, std::span<const uint8_t> datagram,
                                           const wire::PacketHeader& header, size_t header_bytes) {
  bool for_server = header.type == wire::PacketType::kChallengeResponse;
  if (header.type == wire::PacketType::kHandshake) {
    const auto message = wire::peek_handshake_message(datagram.subspan(header_bytes));
    for_server = message == wire::HandshakeMessage::kConnectionRequest ||
                 message == wire::HandshakeMessage::kSchemaDifference;
  } else if (!for_server) {
    count(Refusal::kWrongRole);  // RelayCtrl: no relay here.
    return;
  }
  if (for_server) {
    if (server) {
      on_server_datagram(from, datagram);
    } else {
      count(Refusal::kWrongRole);
    }
    return;
  }
  const std::optional<ConnectionHandle> pending = table.find_pending(from);
  Connection* connection = pending ? find(*pending) : nullptr;
  if (connection == nullptr && is_connecting()) {
    count(Refusal::kHandshakeRefused);
    context.totals.client_drops.add(connection::ClientDrop::kForeignAddress);
    return;
  }
  if (connection == nullptr || !connection->is_handshaking()) {
    // A repeated ConnectionAccepted comes here, and so does every unexpected handshake datagram.
    count(Refusal::kNotReady);
    return;
  }
  on_client_datagram(*connection, from, datagram);
}

bool Endpoint::Core::is_connecting() const {
  if (server) return false;
  return std::ranges::any_of(connections, [](const auto& c) { return c && c->is_handshaking(); });
}

void Endpoint::Core::on_server_datagram(const base::PathId& from, std::span<const uint8_t> datagram) {
  const connection::ServerArrival arrival = server->on_datagram(from, datagram, moment(), batch);
  if (arrival.waits) capture.forget_incoming();  // It is captured when it is verified, and so opened.
  connection::ReasonText text;
  if (arrival.refusal == connection::ServerRefusal::kWrongVersion) {
    text = connection::versions_differ(context.config.protocol_id, platform::load_u32_le(datagram.data()));
  }
  note_refused({arrival.displaced.value_or(from), arrival.refusal, text.view(), arrival.refused});
}

// The packets of players come first: what strangers cost in curve operations is spent after them.
void Endpoint::Core::verify_newcomers() {
  while (const auto waited = server->take_waiting(context.clock.now_ns())) {
    capture.begin_incoming(waited->from, waited->datagram);
    connection::ServerResult result = server->verify(*waited, moment(), batch);
    if (result.accepted) {
      if (result.gave_way != 0) end_half_open(result.gave_way);
      on_accepted_client(*result.accepted);
    } else {
      note_refused({waited->from, result.refusal, result.text.view(), result.refused, result.schema_lines});
    }
    capture.finish_incoming(context.clock.now_ns());
  }
}

void Endpoint::Core::note_refused(const connection::RefusedClient& client) {
  if (client.refusal == connection::ServerRefusal::kNone) return;
  count(Refusal::kHandshakeRefused);
  context.handler.on_connect_refused(client);
}

void Endpoint::Core::on_client_datagram(Connection& connection, const base::PathId& from,
                                        std::span<const uint8_t> datagram) {
  std::optional<connection::ClientAccepted> accepted = connection.on_handshake_datagram(from, datagram);
  if (!accepted) return;
  const bool has_id = table.assign_id(connection.handle(), accepted->connection_id);
  connection.on_accepted_by_server(*accepted, has_id);
}

void Endpoint::Core::on_session_datagram(const base::PathId& from, std::span<uint8_t> datagram,
                                         const wire::PacketHeader& header, size_t header_bytes,
                                         connection::OpenedAhead ahead) {
  const std::optional<ConnectionHandle> handle = table.find(header.connection_id);
  Connection* connection = handle ? connections[handle->slot].get() : nullptr;
  if (connection == nullptr || !connection->has_link()) {
    refuse_unknown(from, header, header_bytes, datagram.size());
    return;
  }
  if (shares.is_over(connection->reading_used())) {
    count(Refusal::kReadingShare);
    return;
  }
  const uint32_t messages = connection->messages_read();
  if (connection->on_datagram(from, datagram, header, header_bytes, ahead)) ack_leaves_now = true;
  shares.spend(&connection->reading_used(), connection->messages_read() - messages);
}

}  // namespace lattice::reliability
