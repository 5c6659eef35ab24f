// One side of a session: schema, socket, endpoint, the table of objects, the phases of the pump, and the
// calls to the game (§10.1, §14, §17.1, §19, B-03, B-04). It has no role: it owns the parts that its
// configuration asks for, and routes between them. Who may write an object is asked of the object (I5).
//
//   listens        StateSender, InputReceiver, ClientTable: it makes the objects, and lets clients in
//   connects       Connector, StateReceiver, Predictor, Presenter, ClockFollower, InputSender: it takes the
//                  objects of the other side, and follows its clock
//   has_player     the player's command
//   transport_only ClientTable or Connector, and nothing else of these: connections and messages
//
// A dedicated server listens. A listen-server listens and has a player, who is peer 1: its input is taken
// directly, and it sees the true state (B-08). A client connects and has a player.
//
//   receive   datagrams; parts of snapshots and inputs of others; then one reconciliation
//   tick      sample the input, let the game step, record what it wrote and what it predicted
//   send      snapshots to those who are due, inputs that the other side lacks
//
// Must stay true: the pump's phases never nest. When a callback ends an object or a connection, it ends at
// the end of the phase, so nothing disappears under a caller that is iterating.
//
// Who fills the host structures of an object: the game of what this side writes, the predictor of what it
// predicts, the state receiver of all others.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/tick.h"
#include "fragment/fragmenting_endpoint.h"
#include "reliability/endpoint/endpoint.h"
#include "replication/object_table.h"
#include "simulation/fixed_tick.h"
#include "transport/connection/server_identity.h"
#include "transport/crypto/locked.h"
#include "transport/socket/datagram_socket.h"
#include "world/clamped_arguments.h"
#include "world/client_table.h"
#include "world/clock_follower.h"
#include "world/connector.h"
#include "world/frame_log.h"
#include "world/held_calls.h"
#include "world/input_receiver.h"
#include "world/input_sender.h"
#include "world/observer.h"
#include "world/op_result.h"
#include "world/placed_set.h"
#include "world/predictor.h"
#include "world/presenter.h"
#include "world/pump_gap.h"
#include "world/rpc_router.h"
#include "world/schema.h"
#include "world/state_receiver.h"
#include "world/state_sender.h"
#include "world/transfer_hub.h"
#include "world/world_config.h"
#include "world/world_stats.h"

namespace lattice::world {

enum class Phase : uint8_t { kIdle, kReceive, kTick, kSend };

/// The present time. The ABI layer reads it once per call.
struct Now {
  uint64_t ns = 0;
  uint64_t unix_s = 0;
};

/// Receipts of the application's messages have this bit. Receipts of snapshot parts stay below it.
inline constexpr uint32_t kApplicationReceiptBit = 1u << 30;

class Session final : public reliability::EndpointHandler,
                      private RpcHost,
                      private StateListener,
                      private PredictionGame,
                      private replication::UnannouncedWrites {
 public:
  Session(const WorldConfig& config, std::unique_ptr<socket::DatagramSocket> socket, Observer& observer);
  ~Session() override;

  // --- Set-up
  Schema& schema() { return schema_; }
  /// Fixes the schema and opens the endpoint. The first pump or connect calls it.
  void fix_schema();
  const WorldConfig& config() const { return config_; }
  socket::DatagramSocket& socket() { return *socket_; }
  /// Null before fix_schema().
  fragment::FragmentingEndpoint* endpoint() { return endpoint_.get(); }
  /// Tells `observer` of every datagram from now on. It is borrowed; null ends the capture. Not to be called
  /// inside the pump. False in a build without LATTICE_CAPTURE.
  bool set_capture(reliability::CaptureObserver* observer);
  /// The static public key of this side, which tokens can name when it listens.
  const crypto::PublicKey& public_key() const { return identity_->key.public_key(); }

  // --- The pump. False: called from inside itself, or `tick` is not next_tick().
  bool receive(Now now);
  bool tick(Tick tick, Now now);
  bool send(Now now);
  /// 0 while this side has no clock to follow, and where there are no ticks.
  Tick next_tick() const {
    const bool ticks = !config_.transport_only && (!clock_ || clock_->ticking());
    return ticks ? base::next_tick(current_tick_) : 0;
  }
  /// The number of whole ticks due at `now`. Consumes the time since the last call.
  uint32_t ticks_due(Now now);
  /// UINT64_MAX where there are no ticks.
  uint64_t time_to_tick_ns(Now now) const;
  /// How long the pump has nothing to do, if nothing arrives: 0 when something is due. What waits until
  /// congestion control lets it leave is looked at each millisecond.
  uint64_t idle_ns(Now now) const;
  Phase phase() const { return phase_; }
  bool resimulating() const { return resimulating_; }
  Tick current_tick() const { return current_tick_; }

  // --- Connections
  /// Makes a key pair for the next token and returns its public half. At most 4 are kept. This side connects.
  crypto::PublicKey new_client_key() { return connector_->new_key(*entropy_); }
  /// Begins to connect. When it cannot begin, `error` names the reason: kNotAllowed (there is a connection
  /// already, or this side does not connect), else as Connector::connect().
  OpResult connect(const base::PathId& server, std::span<const uint8_t> token, ConnectionHandle* out,
                   const char** error);
  void disconnect(ConnectionHandle connection, connection::DisconnectReason reason, std::string_view text,
                  Now now);
  /// While the timeout is paused, silence ends no established connection.
  void set_timeout_paused(bool paused, Now now);
  /// Ends all connections, those that begin included, but for clients that have not confirmed. Not inside a
  /// callback.
  void disconnect_all(connection::DisconnectReason reason, std::string_view text);
  /// While it closes, an authority refuses newcomers.
  void set_closing(bool is_closing);
  /// The clock went back, which whoever reads it has put right.
  void count_clock_step() { ++clock_steps_; }
  /// False once no connection is left, not even one that says goodbye.
  bool has_connections() const;
  /// An authority: the issuers whose tokens count from now on, 1 to 4. Not inside a callback.
  void set_issuers(std::span<const crypto::PublicKey> issuers);
  /// The peer that this side is; 0 while it connects to others and has no session.
  uint64_t local_peer() const { return table_.local_peer(); }
  /// The connection of a client of this side, or an invalid handle.
  ConnectionHandle connection_of(uint64_t peer) const {
    return clients_ ? clients_->connection_of(peer) : ConnectionHandle{};
  }
  /// The client of a connection; 0 when there is none.
  uint64_t peer_of(ConnectionHandle connection) const { return clients_ ? clients_->peer_of(connection) : 0; }
  /// True when `peer` may own an object: 0 (nobody), a connected client, or the player of this side.
  bool is_owner(uint64_t peer) const;
  /// Of the objects in a client's set at join, how many there were, how many it lacks, and whether all have
  /// been acked or are gone. Of a client of this side; else of this side itself, as it was last told.
  StateReceiver::Joining joining(ConnectionHandle connection);
  /// Sends a message of the application, of up to fragment::kMaxMessageBytes. With `receipt` not null, a
  /// number is written there, and Observer::on_receipt() will name that number.
  reliability::SendResult send_message(ConnectionHandle connection, wire::Channel channel,
                                       std::span<const uint8_t> body, uint32_t* receipt);
  /// How the messages of one of the four channels share a full link, from now on. False for a stale handle.
  bool set_channel(ConnectionHandle connection, wire::Channel channel,
                   const reliability::ChannelSettings& settings) {
    return endpoint_ && endpoint_->endpoint().set_channel(connection, channel, settings);
  }
  /// Large transfers; null without WorldConfig::transfer_channel.
  transfer::Transfers* transfers() { return transfers_ ? &transfers_->transfers() : nullptr; }

  /// An authority: what a refused client's lines (S-47) say of the schemas.
  std::vector<serialization::SchemaDifference> differences_told(std::string_view lines) const;

  // --- Placed objects (D-51)
  enum class PlaceResult : uint8_t {
    kOk,
    kOutOfOrder,   // a side that listens runs, or one that connects has a connection
    kUnknownType,  // the type is not registered
    kDuplicate,    // the key is taken
    kFull,         // max_objects are placed
    kDoesNotFit,   // a value does not fit its member
  };
  /// Places an object of a registered type. `states` has one host structure for each behaviour. Fixes the
  /// schema.
  PlaceResult place(uint64_t key, uint32_t type_id, const void* const* states);
  /// Forgets all that was placed. False where place() answers kOutOfOrder.
  bool clear_placed();
  const PlacedSet& placed() const { return placed_; }

  // --- Objects
  const replication::ObjectTable& objects() const { return table_; }
  /// Creates an object owned by `owner` (0: nobody) and returns its id. 0 when the type is unknown, the world
  /// is full, or this side does not listen.
  uint64_t spawn(uint32_t type_id, lattice_authority_mode mode, uint64_t owner);
  /// Removes an object at the end of the current phase; outside the pump at once. On a listen-server the
  /// removal waits until calls on the object to the server's own player are delivered (D-35). kNotAllowed
  /// when this side does not listen.
  OpResult despawn(uint64_t network_id);
  /// Until a write is announced, no tick looks at the object. False when another peer writes it.
  bool let_sleep(uint32_t slot);
  /// The host structure of one behaviour of a live object, to read and write: that announces a write
  /// (announce_write()). Null when there is no such behaviour.
  void* object_state(uint32_t slot, uint32_t behaviour);
  /// The same to read only.
  const void* read_state(uint32_t slot, uint32_t behaviour);
  /// Announces that the game writes the object before the next tick is recorded. Writes through a pointer
  /// that the game keeps need it. Does nothing when another peer writes the object.
  void announce_write(uint32_t slot);
  /// True when on_tick must step the object here and now: its true state, or a prediction of it.
  bool simulated(uint32_t slot) const { return (table_.writes(slot) && !asleep(slot)) || predicts(slot); }
  /// May the game write the object's state right now (I5)? A prediction only in the tick that it is of.
  bool writable(uint32_t slot) const { return table_.writes(slot) || (in_tick() && predicts(slot)); }
  OpResult set_prop(uint64_t network_id, uint16_t prop_id, const void* data, size_t bytes);
  size_t get_prop(uint64_t network_id, uint16_t prop_id, void* out, size_t capacity);
  /// The newest authoritative words and their tick, or null.
  const serialization::Word* confirmed(uint32_t slot, Tick* tick) const;
  /// Writes those words as the host structure of `behaviour`. Returns the bytes written, or 0.
  size_t read_confirmed(uint32_t slot, uint32_t behaviour, void* out, size_t capacity, Tick* tick) const;
  uint64_t state_hash() const;

  // --- Drawing
  enum class Option : uint8_t { kPrediction, kSmoothing, kInterpolation };
  /// Does nothing where this side writes all objects.
  void set_option(Option option, bool enabled);
  /// Begins a frame: it shows every object at `now`, and each pose is computed once. What happened since the
  /// frame before is in frame_log().
  void begin_frame(Now now);
  const FrameLog& frame_log() const { return frame_log_; }
  /// The moment of the frame; null before the first begin_frame().
  const Now* frame() const { return frame_ ? &*frame_ : nullptr; }
  /// The structure of `behaviour` to draw at `now`; null before the first state of the object.
  const void* view(uint32_t slot, uint32_t behaviour, Now now);

  // --- Who sees what. Null, or false, when this side does not listen.
  /// Null when every client gets every object.
  InterestHub* interest() { return sender_ ? sender_->interest() : nullptr; }
  /// Why the client has the object, has it not, or has an old state of it. False when the connection is not
  /// established. `out` has its defaults.
  bool why(ConnectionHandle connection, uint32_t slot, lattice_why_info* out);
  /// True when the client has the object: it is in the client's set, and no rule hides it by now.
  bool sees(ConnectionHandle connection, uint32_t slot) const {
    return sender_ && sender_->has(connection, slot);
  }

  // --- Input
  OpResult set_input(const void* input, size_t bytes);
  /// Reads the input of `peer` for the current tick. Returns 1 fresh, 2 repeated, 0 none.
  int get_input(uint64_t peer, void* out, size_t bytes);
  /// What the player saw when that input was made. False when there is no input.
  bool input_sight(uint64_t peer, InputSight* out) const;

  // --- RPC
  RpcRouter& rpcs() { return rpcs_; }
  OpResult call(const RpcCall& call, Now now);

  // --- Statistics
  WorldStats stats() const;
  /// What snapshots brought about the objects of a type; all zero where none come.
  replication::SnapshotApplier::TypeTraffic type_traffic(const replication::ObjectType& type) const;
  /// Takes the prediction errors of one member since they were last taken; null when there are no more.
  const prediction::PredictionError* take_prediction_error();
  const reliability::ConnectionStats* connection_stats(ConnectionHandle connection) const;
  /// The present path of the other side; form kNone for a stale handle.
  base::PathId remote_path(ConnectionHandle connection) const;
  /// The name and value of refusal counter `index`; null past the last.
  const char* refusal(uint32_t index, uint64_t* value) const;

 private:
  struct PendingDisconnect {
    ConnectionHandle connection;
    connection::DisconnectReason reason;
    std::string text;
  };
  struct TypeScratch {
    const replication::ObjectType* type;
    std::unique_ptr<HostScratch> host;
  };
  class PhaseScope;

  // reliability::EndpointHandler
  void on_connect_refused(const connection::RefusedClient& client) override {
    observer_.on_connect_refused(client);
  }
  void on_path_moved(ConnectionHandle connection, const base::PathId& before,
                     const base::PathId& now) override {
    observer_.on_path_moved(connection, before, now);
  }
  connection::Admission on_admission(const connection::AdmissionRequest& request) override;
  void on_connected(ConnectionHandle connection, const reliability::ConnectedInfo& info) override;
  std::string schema_lines(uint64_t remote_schema, std::string_view text) override;
  void on_schema_told(ConnectionHandle connection, uint64_t remote_schema, std::string_view text) override;
  void on_disconnected(ConnectionHandle connection, connection::DisconnectReason reason,
                       uint64_t remote_schema, std::string_view text) override;
  reliability::Verdict on_message(ConnectionHandle connection, wire::Channel channel,
                                  reliability::MessageFlags flags, std::span<const uint8_t> body,
                                  uint64_t arrived_ns) override;
  bool takes_more() override { return observer_.takes_more(); }
  void on_packet_soon(ConnectionHandle connection, Ahead ahead) override;
  void on_receipt(ConnectionHandle connection, uint32_t receipt, bool acked) override;

  std::vector<serialization::SchemaDifference> differences_from(uint64_t remote_schema,
                                                                std::string_view text) const;

  // RpcHost
  const serialization::TypeInfo* type_of(uint64_t network_id, uint32_t* slot) const override;
  Tick rpc_tick() const override { return current_tick_; }
  Tick known_until(uint32_t slot) const override;
  bool is_gone(uint64_t network_id, Tick tick) const override;
  void reliable_rpc_arrived(uint64_t network_id) override;
  replication::RpcRefusal check_rpc(const replication::RpcHeader& header, uint32_t slot,
                                    const lattice_rpc_desc* rpc, uint64_t sender) const override;

  // StateListener
  void on_object(uint32_t slot, Tick tick) override;
  void on_states(Tick tick, std::span<const replication::NewState> states) override;
  void on_authority(uint32_t slot) override;
  void on_frozen(uint32_t slot) override { update_prediction(slot); }
  void on_gone(uint32_t slot, replication::DespawnReason reason) override;
  void on_loaded() override { observer_.on_loaded(connector_->connection()); }

  // PredictionGame
  void run_again(Tick tick) override;
  void on_corrected(uint32_t slot, const serialization::Word* before,
                    const serialization::Word* after) override;

  // replication::UnannouncedWrites
  void on_unannounced_write(uint32_t slot, Tick tick, const serialization::Word* recorded,
                            const serialization::Word* words) override;

  // Set-up and statistics: session.cpp
  reliability::EndpointConfig endpoint_config() const;
  void start_parts();
  void add_listening(WorldStats* stats) const;
  void add_following(WorldStats* stats) const;
  simulation::InputBufferStats input_stats() const;

  // The pump and the inputs: session_pump.cpp
  void run_receive(Now now);
  void run_tick(Tick tick);
  void run_send(Now now);
  void after_phase();
  void sample_input(Tick tick);
  void send_inputs(Now now);
  void tell_loaded();
  void reconcile();
  uint32_t ticks_of_authority(Now now);
  void resync(Tick newest_tick);
  void record(Tick tick);
  void log_change(uint32_t slot);
  void report_clamped();
  int own_input(void* out, size_t bytes);
  bool own_sight(InputSight* out) const;
  /// The game steps its objects now, for the first time or again.
  bool in_tick() const { return phase_ == Phase::kTick || resimulating_; }

  // Connections and messages: session_peers.cpp, session_calls.cpp
  bool is_joined() const { return connector_ && table_.local_peer() != 0; }
  bool is_connecting() const;
  void forget_client(const Client& client);
  void end_following();
  /// Passes on a receipt of an application's message. False when the receipt is the engine's own.
  bool tell_receipt(ConnectionHandle connection, uint32_t receipt, bool acked);
  /// The verdict on a message of the control channel or about large transfers; nullopt for every other
  /// message.
  std::optional<reliability::Verdict> engine_message(ConnectionHandle connection, wire::Channel channel,
                                                     std::span<const uint8_t> body);
  reliability::Verdict receive_inputs(ConnectionHandle client, std::span<const uint8_t> body,
                                      uint64_t arrived_ns);
  reliability::Verdict receive_part(std::span<const uint8_t> body, uint64_t arrived_ns);
  /// Where the clock of this authority stood when something came, by its ticks from now on.
  simulation::TickTime position_of_arrival(uint64_t arrived_ns) const;
  /// After a pause, ticks that will not run are skipped, if there are too many for clients to follow.
  static bool are_skipped(double lost_ticks);
  /// `client` is null for a call of the other side that this one follows.
  void receive_call(Client* client, wire::Channel channel, std::span<const uint8_t> body);
  OpResult encode_call(const RpcCall& call);
  OpResult call_listener(const RpcCall& call);
  OpResult call_clients(const RpcCall& call, Now now);
  reliability::SendResult send_call(ConnectionHandle to, lattice_channel channel,
                                    std::span<const uint8_t> body);
  /// Sends a call to a client that has the object. False when it cannot be sent now. `is_aligned`:
  /// tick-aligned.
  bool call_client(ConnectionHandle to, uint32_t slot, lattice_channel channel, bool is_aligned,
                   std::span<const uint8_t> body);
  void settle_held_calls();
  bool is_callee(const RpcCall& call, uint32_t slot, uint64_t peer) const;

  // Objects and states: session_objects.cpp, session_states.cpp
  bool may_place() const;
  void spawn_placed();
  bool is_always_relevant(uint32_t type_id) const;
  void remove_now(uint64_t network_id);
  void remove_pending();
  bool calls_own_player(uint64_t network_id) const;
  /// The host structures of an object, of which the game gets a pointer or a copy.
  void* const* host_for_game(uint32_t slot) { return receiver_ ? receiver_->host(slot) : table_.host(slot); }
  const HostScratch& scratch_for(const replication::ObjectType& type) const;
  /// True when the game knows the object: from its first state on.
  bool is_known(uint32_t slot) const { return !receiver_ || receiver_->has_state(slot); }
  /// True while nobody steps an object that this side writes.
  bool asleep(uint32_t slot) const { return sender_ && sender_->store().asleep(slot); }
  /// True when this side steps an object ahead of the state that its writer sends.
  bool predicts(uint32_t slot) const { return predictor_ && predictor_->predicts(slot); }
  void update_prediction(uint32_t slot);
  void log_changes(std::span<const replication::NewState> states);
  void log_placed();
  /// The moment of the other side's time line at which its objects are drawn at `now`; tick 0: none yet.
  simulation::TickTime look(Now now);

  WorldConfig config_;
  Observer& observer_;
  std::unique_ptr<crypto::EntropySource> entropy_;
  crypto::Locked<connection::ServerIdentity> identity_;
  Schema schema_;
  PlacedSet placed_;
  std::unique_ptr<socket::DatagramSocket> socket_;
  reliability::CaptureObserver* capture_ = nullptr;
  std::unique_ptr<TransferHub> transfers_;  // outlives the endpoint, which asks it for chunks
  std::unique_ptr<fragment::FragmentingEndpoint> endpoint_;
  replication::ObjectTable table_;
  simulation::FixedTick fixed_tick_;
  PumpGap pump_gap_;
  RpcRouter rpcs_;
  HeldCalls held_calls_;
  FrameLog frame_log_;

  // A side that listens.
  std::optional<StateSender> sender_;
  std::optional<InputReceiver> input_receiver_;  // once the schema is fixed, if it has inputs
  std::optional<ClientTable> clients_;
  std::vector<uint64_t> pending_despawns_;
  std::vector<bool> despawning_;  // by slot: in pending_despawns_
  uint64_t unannounced_writes_ = 0;

  // A side that connects.
  std::optional<Connector> connector_;
  std::optional<ClockFollower> clock_;
  std::optional<StateReceiver> receiver_;
  std::optional<Predictor> predictor_;
  std::optional<Presenter> presenter_;
  std::optional<InputSender> input_sender_;  // once the schema is fixed, if it has inputs
  bool predicts_own_ = true;                 // Option::kPrediction

  std::unique_ptr<HostScratch> input_host_;  // the command of the player; null where there is none
  ClampedArguments clamped_inputs_;

  uint64_t now_ns_ = 0;    // of the present or last phase
  double lost_ticks_ = 0;  // the clock moves back by so many with the ticks that come after this receive
  Tick current_tick_;
  std::optional<Now> frame_;
  Phase phase_ = Phase::kIdle;
  bool resimulating_ = false;
  bool timeout_paused_ = false;
  bool keeps_identity_;  // the server has the same identity in its next process
  std::vector<PendingDisconnect> pending_disconnects_;
  uint64_t clock_steps_ = 0;
  uint32_t last_receipt_ = 0;  // last receipt of the application, without kApplicationReceiptBit
  mutable std::vector<TypeScratch> type_scratch_;  // for read_confirmed(): one per type that was asked for
};

}  // namespace lattice::world
