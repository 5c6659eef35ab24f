// The inside of Endpoint: the table of its connections, their schedule, the batch, and the functions of each
// file. What happens within a connection is in connection.h.
//   endpoint_receive.cpp      from the socket to the connection, and to the handshakes
//   endpoint_connections.cpp  connections are made, end and are freed
//   endpoint_resets.cpp       what the server answers to packets of unknown connections
//   endpoint_service.cpp      which connections an update services
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/paged_memory.h"
#include "reliability/endpoint/capture.h"
#include "reliability/endpoint/connection.h"
#include "reliability/endpoint/connection_context.h"
#include "reliability/endpoint/datagram_batch.h"
#include "reliability/endpoint/endpoint.h"
#include "reliability/endpoint/open_ahead.h"
#include "reliability/endpoint/service_schedule.h"
#include "reliability/recovery/carried_items.h"
#include "transport/connection/connection_table.h"
#include "transport/connection/server_handshake.h"

namespace lattice::reliability {

/// Deleter of a Connection in memory that it does not own.
struct DestroyConnection {
  void operator()(Connection* connection) const { std::destroy_at(connection); }
};
using PlacedConnection = std::unique_ptr<Connection, DestroyConnection>;

struct Endpoint::Core final : public connection::AdmissionPolicy {
  Core(EndpointConfig config, socket::DatagramSocket& socket, EndpointHandler& handler,
       crypto::EntropySource& entropy);
  ~Core() override;

  /// Runs `work` at a time: callbacks may come, and no other phase begins.
  template <class Work>
  void run_phase(uint64_t now_ns, uint64_t unix_s, Work work);

  // endpoint_receive.cpp
  class PacketsAhead;
  void receive();
  void note_unreachable();
  /// The connection of the connection id in a datagram, or null. The id is not authenticated yet; nothing is
  /// refused or counted here.
  Connection* claimed_connection(const socket::Datagram& datagram) const;
  /// Runs the AEAD of a whole batch on the caller's threads. on_datagram() follows for each datagram.
  void open_ahead(std::span<const socket::Datagram> received);
  /// `ahead` is the result of open_ahead() for this datagram.
  void on_datagram(const base::PathId& from, std::span<uint8_t> datagram, connection::OpenedAhead ahead);
  void on_handshake_datagram(const base::PathId& from, std::span<const uint8_t> datagram,
                             const wire::PacketHeader& header, size_t header_bytes);
  void on_server_datagram(const base::PathId& from, std::span<const uint8_t> datagram);
  void verify_newcomers();
  void note_refused(const connection::RefusedClient& client);
  /// A client that waits for answers to a handshake.
  bool is_connecting() const;
  void on_client_datagram(Connection& connection, const base::PathId& from,
                          std::span<const uint8_t> datagram);
  void on_session_datagram(const base::PathId& from, std::span<uint8_t> datagram,
                           const wire::PacketHeader& header, size_t header_bytes,
                           connection::OpenedAhead ahead);

  // endpoint_service.cpp
  /// What an update does before it services connections.
  void begin_update();
  void update_and_send();
  void service_due();
  /// Services the connection in the update that has begun, unless it is ending.
  void service_now(Connection& connection);
  size_t next_due(size_t first);
  void prefetch_service(size_t slot);
  void set_timeout_paused(bool paused, uint64_t since_ns);

  // endpoint_resets.cpp
  /// Counts a session packet of an unknown connection, and may answer it with a reset.
  LATTICE_COLD void refuse_unknown(const base::PathId& from, const wire::PacketHeader& header,
                                   size_t header_bytes, size_t datagram_bytes);

  // endpoint_connections.cpp
  connection::Admission admit(const connection::AdmissionRequest& request) override;
  bool is_full() const { return table.size() == table.capacity(); }
  /// Whoever is gone leaves his place to a newcomer: all that was to come is the acknowledgement of his end.
  bool has_place() const override;
  void make_place() override;
  Connection* first_leaving() const;
  ConnectResult connect(const base::PathId& server, std::span<const uint8_t> token,
                        const crypto::KeyPair& client, ConnectionHandle* out);
  void end_half_open(uint64_t connection_id);
  void on_accepted_client(connection::ServerAccepted& accepted);
  /// Reports ended connections and frees those that are Disconnected.
  void finish_phase();
  void free_connection(Connection& connection);

  /// Null for a stale handle.
  Connection* find(ConnectionHandle handle) const {
    if (handle.slot >= connections.size()) return nullptr;
    Connection* connection = connections[handle.slot].get();
    return connection != nullptr && connection->handle() == handle ? connection : nullptr;
  }
  /// Any connection in the slot of `handle`, or null. Unlike find() it does not wait for the connection's
  /// cache line: for hints.
  const Connection* in_slot(ConnectionHandle handle) const {
    return handle.slot < connections.size() ? connections[handle.slot].get() : nullptr;
  }
  /// Makes a connection in the slot of `handle`, which is empty.
  Connection& make_connection(ConnectionHandle handle);
  /// Counts what is no connection's.
  LATTICE_COLD void count(Refusal refusal, uint64_t how_often = 1) { stats.refusals.add(refusal, how_often); }
  connection::ServerMoment moment() const {
    return {context.clock.now_ns(), context.clock.unix_s(), context.server_tick};
  }

  ConnectionContext context;
  socket::DatagramSocket& socket;
  base::BufferPool pool;
  ReceiveMemory receive_memory;
  CarriedItems items;
  Capture capture;
  DatagramBatch batch;
  EndpointStats stats;
  ServiceSchedule schedule;
  connection::ConnectionTable table;
  base::PagedMemory connection_memory;
  std::vector<PlacedConnection> connections;  ///< By slot, in connection_memory.
  bool is_closing = false;                    ///< Newcomers are refused.
  std::optional<connection::ServerHandshake> server;
  std::optional<connection::StatelessResets> resets;  ///< Together with `server`.
  std::unique_ptr<uint8_t[]> receive_buffers;
  std::vector<socket::Datagram> receive_datagrams;
  std::array<wire::Message, 32> framed_messages;  ///< Of the packet that is being processed.
  std::unique_ptr<OpenAhead> opening;             ///< Null without the caller's threads.

  uint64_t last_server_update_ns = 0;
  bool update_begun = false;
  bool in_phase = false;
  ReadingShares shares;
  /// An ack in the middle of a burst leaves at once, not after the whole burst.
  bool ack_leaves_now = false;
};

}  // namespace lattice::reliability
