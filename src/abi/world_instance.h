// One world behind a handle: the world itself, its clocks, and the game's callbacks.
#pragma once

#include <memory>
#include <optional>

#include "abi/capture_bridge.h"
#include "abi/development_tokens.h"
#include "abi/event_log.h"
#include "abi/handle_table.h"
#include "abi/refusal_log.h"
#include "abi/steady_clock.h"
#include "abi/transfer_bridge.h"
#include "lattice/lattice.h"
#include "transport/connection/reason_text.h"
#include "transport/socket/impaired_socket.h"
#include "world/session.h"

namespace lattice::abi {

struct WorldInstance final : world::Observer {
  lattice_world* handle = nullptr;
  std::unique_ptr<world::Session> world;
  socket::ImpairedSocket* impaired = nullptr;  // owned by the world
  std::unique_ptr<CaptureBridge> capture;      // the callback of lattice_set_capture()
  lattice_netsim* netsim = nullptr;            // the network of this world; null: a UDP socket
  std::optional<crypto::PublicKey> development_issuer;
  DevelopmentOffer development;  // after `world`: the key is removed before another world can take the port
  lattice_role_context role{};
  lattice_clock_fn clock = nullptr;
  void* clock_ctx = nullptr;
  lattice_clock_fn unix_seconds = nullptr;
  void* unix_seconds_ctx = nullptr;
  lattice_log_fn log = nullptr;
  void* log_ctx = nullptr;
  lattice_callbacks callbacks{};
  void* callbacks_ctx = nullptr;
  TransferBridge transfers{*this};
  RefusalLog refusal_log;
  bool is_admitting = false;  // inside the application's on_admit
  connection::ReasonText admit_words;
  mutable SteadyClock steady_clock;
  std::optional<EventLog> events;  // in place of the callbacks about connections
  bool was_pumped = false;
  lattice_tick_context tick_context{};
  lattice_despawn_reason despawn_reason = LATTICE_DESPAWN_NONE;  // of the present on_despawn

  // The answers of lattice_conn_get_info(), by connection slot; the callbacks below update them.
  struct Connection {
    world::ConnectionHandle handle;
    lattice_conn_info info{};
    std::vector<std::string> schema_differences;  // of a server that refused this client for its schema
    std::unique_ptr<reliability::ConnectionStats> last_stats;  // of one that ended, for who reads events
    bool known = false;
  };
  /// An authority: what the newest refused client told of the schemas whom the log had room for.
  struct SchemaTold {
    /// What was logged lately, so that it is not logged again at once.
    struct Lately {
      size_t hash = 0;
      uint64_t at_ns = 0;  // 0: nothing
    };
    std::array<Lately, 16> lately{};
    size_t next_lately = 0;
    std::vector<std::string> sentences;  // of the newest
  };
  SchemaTold schema_told;
  /// A client: for lattice_last_error() after the server refused it for its schema; else empty.
  std::string refused_for;
  std::vector<Connection> connections;
  std::vector<ConnectionRef> ended;  // whose last event has been taken: known until the next call

  static constexpr size_t kMaxLogLineBytes = 512;
  /// Writes to the log callback, if there is one; printf-style, cut at kMaxLogLineBytes.
  LATTICE_PRINTF(4, 5)
  void write_log(lattice_log_level level, const char* category, const char* format, ...) const;
  world::Now now() const;
  /// What the session does: a client connects, the others listen.
  bool listens() const { return world->config().listens; }
  bool connects() const { return world->config().connects; }
  /// Runs Session::receive(), then logs the refused clients that are due.
  bool receive(world::Now now);
  /// How long the pump and lattice_world_events() have nothing to do.
  uint64_t idle_ns() const { return events && !events->empty() ? 0 : world->idle_ns(now()); }
  /// Takes events, and forgets the connections whose end was taken before.
  size_t take_events(std::span<lattice_event> out);
  void forget_ended();
  /// So many events wait that nothing may be received.
  bool is_full_of_events() const { return events && events->is_full(); }
  lattice_conn* handle_of(world::ConnectionHandle connection) const;
  /// An event of that connection, with its handle and its peer.
  lattice_event event_of(lattice_event_kind kind, world::ConnectionHandle connection);
  Connection* find(ConnectionRef ref);
  Connection& remember(world::ConnectionHandle connection);
  /// Writes the peer's current address into the connection's info. The last address stays when the peer is
  /// gone.
  void note_address(Connection& connection) const;

  void note_schema_told(const connection::RefusedClient& client, uint64_t now_ns);

  void on_connect_refused(const connection::RefusedClient& client) override;
  void on_path_moved(world::ConnectionHandle connection, const base::PathId& before,
                     const base::PathId& now) override;
  void on_connected(world::ConnectionHandle connection, const reliability::ConnectedInfo& info) override;
  void on_schema_differs(world::ConnectionHandle connection,
                         const std::vector<serialization::SchemaDifference>& differences) override;
  void on_disconnected(world::ConnectionHandle connection, connection::DisconnectReason reason,
                       uint64_t remote_schema_id, std::string_view text) override;
  void on_loaded(world::ConnectionHandle connection) override;
  void on_spawn(uint64_t network_id, uint32_t type_id) override;
  void on_despawn(uint64_t network_id, replication::DespawnReason reason) override;
  void on_rpc(uint64_t network_id, uint16_t rpc_id, const void* arguments, size_t bytes) override;
  void on_authority_changed(uint64_t network_id, uint64_t new_owner) override;
  void on_tick(world::Tick tick, bool resimulating) override;
  void on_sample_input(world::Tick tick, void* input, size_t bytes) override;
  void on_message(world::ConnectionHandle connection, uint8_t channel,
                  std::span<const uint8_t> body) override;
  void on_receipt(world::ConnectionHandle connection, uint32_t receipt, bool acked) override;
  uint16_t on_admit(const world::Admission& who) override;
  std::string_view admit_text() const override { return admit_words.view(); }
  bool takes_more() override { return !is_full_of_events(); }
  void on_resync(world::Tick from, world::Tick to) override;
  void on_silence(uint64_t silent_ns) override;
  bool on_relevant(world::ConnectionHandle connection, uint64_t network_id) override;
  void on_value_clamped(uint64_t network_id, uint16_t prop_id, world::Tick tick) override;
  void on_argument_clamped(std::optional<uint16_t> rpc_id, std::string_view member) override;
  transfer::TransferHandler& transfer_handler() override { return transfers; }
};

}  // namespace lattice::abi
