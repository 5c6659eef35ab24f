// The authority's side: inputs in, one game tick, versions recorded, snapshots out (§14, §17.1, T-06). The
// own player of a listen-server is peer 1: its input is taken directly, and it sees the authority's state
// itself (B-08).
//
// Must stay true: each tick consumes exactly one input per client. State is recorded once per tick, after the
// game ran and before anything is sent.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/hash_index.h"
#include "lattice/why.h"
#include "replication/replica_list.h"
#include "replication/rpc_gate.h"
#include "replication/snapshot_builder.h"
#include "replication/state_store.h"
#include "simulation/input_buffer.h"
#include "world/interest_hub.h"
#include "world/world.h"

namespace lattice::world {

class AuthorityWorld final : public World, private replication::UnannouncedWrites {
 public:
  AuthorityWorld(const WorldConfig& config, std::unique_ptr<socket::DatagramSocket> socket,
                 Observer& observer);
  ~AuthorityWorld() override;

  /// Creates an object owned by `owner` (0: nobody) and returns its id. 0 when the type is unknown or the
  /// world is full.
  uint64_t spawn(uint32_t type_id, lattice_authority_mode mode, uint64_t owner);
  /// Removes an object at the end of the current phase; outside the pump at once. On a listen-server the
  /// removal waits until calls on the object to the server's own player are delivered (D-35).
  OpResult despawn(uint64_t network_id);

  Tick next_tick() const override { return current_tick_ + 1; }
  uint32_t ticks_due(Now now) override;
  /// Until a write is announced, no tick looks at the object. False when another peer writes it.
  bool let_sleep(uint32_t slot) {
    if (!table_.writes(slot)) return false;
    store_.sleep(slot);
    return true;
  }
  const void* view(uint32_t slot, uint32_t behaviour, Now now) override;
  const serialization::Word* confirmed(uint32_t slot, Tick* tick) const override;
  int get_input(uint64_t peer, void* out, size_t bytes) override;
  bool input_sight(uint64_t peer, InputSight* out) const override;
  /// The connection of a client, or an invalid handle.
  ConnectionHandle connection_of(uint64_t peer) const;
  /// True when `peer` may own an object: 0 (nobody), a connected client, or the host's own player.
  bool is_owner(uint64_t peer) const;
  /// The client of a connection; 0 when there is none.
  uint64_t peer_of(ConnectionHandle connection) const;
  /// True when every object that was in the client's set at join has been acked once or is gone.
  bool loaded(ConnectionHandle connection) const;
  /// Of the objects in the client's set at join, how many there were and how many it lacks.
  replication::JoinCount join_count(ConnectionHandle connection) const;
  OpResult call(const RpcCall& call, Now now);
  /// Null when every client gets every object.
  InterestHub* interest() { return interest_ ? &*interest_ : nullptr; }
  /// Why the client has the object, has it not, or has an old state of it. False when the connection is not
  /// established. `out` has its defaults.
  bool why(ConnectionHandle connection, uint32_t slot, lattice_why_info* out);
  /// True when the client has the object: it is in the client's set.
  bool sees(ConnectionHandle connection, uint32_t slot) const;

  // reliability::EndpointHandler
  void on_connect_refused(const platform::Address& from, connection::ServerRefusal refusal,
                          std::string_view text) override {
    observer_.on_connect_refused(from, refusal, text);
  }
  void on_connected(ConnectionHandle connection, const reliability::ConnectedInfo& info) override;
  void on_disconnected(ConnectionHandle connection, connection::DisconnectReason reason,
                       uint64_t remote_schema, std::string_view text) override;
  reliability::Verdict on_message(ConnectionHandle connection, wire::Channel channel,
                                  reliability::MessageFlags flags, std::span<const uint8_t> body,
                                  uint64_t now_ns) override;
  void on_receipt(ConnectionHandle connection, uint32_t receipt, bool acked) override;
  connection::Admission on_admission(const connection::AdmissionRequest& request) override;

 private:
  struct Client {
    ConnectionHandle connection;
    uint64_t peer = 0;
    std::optional<simulation::InputBuffer> inputs;
    std::unique_ptr<replication::ReplicaList> recipient;
    bool begins_snapshot = false;  // since the last send, a tick began a snapshot for the client
    bool snapshot_due = false;
    bool is_listed = false;  // in due_
    std::optional<replication::RpcGate> gate;
    bool looked = false;  // its set was made once
    replication::JoinProgress progress;
    uint32_t budget_bytes = 0;  // of the last snapshot; 0: unbounded
    Tick snapshot_tick = 0;     // of the last snapshot
    uint32_t owned = 0;         // objects that it owns
    bool sent_inputs = false;   // since the last snapshot
  };

  void note_write(uint32_t slot) override { store_.mark(slot); }
  bool asleep(uint32_t slot) const override { return store_.asleep(slot); }
  simulation::TickTime look(Now) override { return {current_tick_, 0.0}; }
  void do_receive(Now now) override;
  void do_tick(Tick tick, Now now) override;
  void do_send(Now now) override;
  void after_phase(Now now) override;
  reliability::EndpointConfig endpoint_config() const override;
  void on_schema_fixed() override;
  void add_stats(WorldStats* stats) const override;
  uint64_t input_refusals(simulation::InputRefusal reason) const override {
    return input_refusals_.get(reason);
  }
  simulation::InputBufferStats input_stats() const override;
  void on_unannounced_write(uint32_t slot, Tick tick, const serialization::Word* recorded,
                            const serialization::Word* words) override;
  uint64_t unannounced_writes() const override { return unannounced_writes_; }
  uint64_t values_clamped() const override { return store_.clamps().values(); }
  uint64_t snapshot_over_budget() const override { return builder_ ? builder_->stats().over_budget : 0; }
  Tick object_tick(uint32_t slot) const override;
  replication::RpcRefusal check_rpc(const replication::RpcHeader& header, uint32_t slot,
                                    const lattice_rpc_desc* rpc, uint64_t sender) const override;

  bool may_place() const override { return !endpoint_; }
  void spawn_placed();
  bool is_always_relevant(uint32_t type_id) const;
  void touch_placed(uint32_t slot);
  bool has(const Client& client, uint32_t slot) const;
  Client* client_of(ConnectionHandle connection) const;
  Client* client_of_peer(uint64_t peer) const;
  reliability::Verdict receive_inputs(Client& client, std::span<const uint8_t> body, uint64_t now_ns);
  /// The client's input of the present tick; empty without a type of inputs.
  std::optional<simulation::TakenInput> take_input(Client& client) const;
  bool begins_snapshot(Tick tick) const;
  void begin_snapshots(Tick tick);
  bool rests(Client& client);
  uint64_t due_budget_bytes(Client& client, Now now);
  void send_snapshot(Client& client, uint64_t send_budget_bytes);
  void send_part(Client& client, std::span<const uint8_t> bytes, uint32_t receipt);
  void send_progress(Client& client);
  static void take_receipt(Client& client, uint32_t receipt, bool acked);
  replication::SnapshotBuilder::Silence silence_of(const Client& client) const;
  void update_set(Client& client);
  void explain_rules(const Client& client, uint32_t slot, lattice_why_info* out) const;
  bool is_slowed(const Client& client, const replication::Replica& replica,
                 const lattice_why_info& why) const;
  void explain_sending(const Client& client, const replication::Replica& replica, lattice_why_info* out);
  uint32_t snapshot_budget(const Client& client, uint64_t send_budget_bytes) const;
  Tick turn_of(const Client& client) const;
  uint64_t until_next_snapshot_ns(Now now, Tick turn) const;
  void remove_now(uint64_t network_id);
  void remove_pending();
  template <class Visit>
  void each_change_since(uint64_t place, Visit visit) const;
  void log_change(uint32_t slot);
  void report_clamped();
  bool calls_own_player(uint64_t network_id) const;
  bool send_rpc(const Client& client, uint32_t slot, lattice_channel channel);
  bool has_player() const override { return is_host(); }
  bool is_known(uint32_t slot) const override { return table_.live(slot); }
  bool is_host() const { return config_.role.role == LATTICE_ROLE_HOST; }
  bool is_callee(const RpcCall& call, uint32_t slot, uint64_t peer) const;

  replication::StateStore store_;
  std::unique_ptr<replication::SnapshotBuilder> builder_;
  std::optional<InterestHub> interest_;
  std::vector<std::unique_ptr<Client>> clients_;  // by connection slot; null: no client
  std::vector<std::vector<uint32_t>> turns_;      // connection slots by the turn of their clients
  /// Connection slots whose clients may be due a snapshot. A pump looks at no others.
  std::vector<uint32_t> due_;
  base::HashIndex slot_of_peer_;  // the authority chooses peer ids, so no secret seed is needed
  std::vector<uint64_t> pending_despawns_;
  std::vector<bool> despawning_;            // by slot: in pending_despawns_
  std::vector<uint32_t> destroyed_placed_;  // slots of placed objects that are gone
  std::vector<serialization::Word> default_input_;
  std::vector<serialization::Word> input_scratch_;
  std::unique_ptr<HostScratch> input_out_;
  uint32_t snapshot_interval_ticks_;
  uint64_t next_peer_ = kFirstClientPeer;
  uint64_t unannounced_writes_ = 0;
  simulation::InputBufferStats closed_inputs_;  // counters of clients that left
  base::Counters<simulation::InputRefusal, static_cast<size_t>(simulation::InputRefusal::kCount)>
      input_refusals_;
};

}  // namespace lattice::world
