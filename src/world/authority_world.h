// The authority of a session: it decides which objects there are, lets clients in, and runs the game's ticks
// (§14, §17.1). What it writes goes out through a StateSender, what clients want comes in through an
// InputReceiver. The own player of a listen-server is peer 1: its input is taken directly, and it sees the
// authority's state itself (B-08).
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/hash_index.h"
#include "lattice/why.h"
#include "replication/rpc_gate.h"
#include "world/input_receiver.h"
#include "world/state_sender.h"
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
    sender_.store().sleep(slot);
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
  bool loaded(ConnectionHandle connection) const { return sender_.loaded(connection); }
  /// Of the objects in the client's set at join, how many there were and how many it lacks.
  replication::JoinCount join_count(ConnectionHandle connection) const {
    return sender_.join_count(connection);
  }
  OpResult call(const RpcCall& call, Now now);
  /// Null when every client gets every object.
  InterestHub* interest() { return sender_.interest(); }
  /// Why the client has the object, has it not, or has an old state of it. False when the connection is not
  /// established. `out` has its defaults.
  bool why(ConnectionHandle connection, uint32_t slot, lattice_why_info* out);
  /// True when the client has the object: it is in the client's set.
  bool sees(ConnectionHandle connection, uint32_t slot) const { return sender_.has(connection, slot); }

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
    replication::RpcGate gate{replication::RpcGate::Config{}};
  };

  void note_write(uint32_t slot) override { sender_.store().mark(slot); }
  bool asleep(uint32_t slot) const override { return sender_.store().asleep(slot); }
  simulation::TickTime look(Now) override { return {current_tick_, 0.0}; }
  void do_receive(Now now) override;
  void do_tick(Tick tick, Now now) override;
  void do_send(Now now) override;
  void after_phase(Now now) override;
  reliability::EndpointConfig endpoint_config() const override;
  void on_schema_fixed() override;
  void add_stats(WorldStats* stats) const override;
  uint64_t input_refusals(simulation::InputRefusal reason) const override {
    return inputs_ ? inputs_->refusals(reason) : 0;
  }
  simulation::InputBufferStats input_stats() const override;
  void on_unannounced_write(uint32_t slot, Tick tick, const serialization::Word* recorded,
                            const serialization::Word* words) override;
  uint64_t unannounced_writes() const override { return unannounced_writes_; }
  uint64_t values_clamped() const override { return sender_.store().clamps().values(); }
  uint64_t snapshot_over_budget() const override { return sender_.over_budget(); }
  Tick object_tick(uint32_t slot) const override;
  replication::RpcRefusal check_rpc(const replication::RpcHeader& header, uint32_t slot,
                                    const lattice_rpc_desc* rpc, uint64_t sender) const override;

  bool may_place() const override { return !endpoint_; }
  void spawn_placed();
  bool is_always_relevant(uint32_t type_id) const;
  Client* client_of(ConnectionHandle connection) const;
  Client* client_of_peer(uint64_t peer) const;
  reliability::Verdict receive_inputs(Client& client, std::span<const uint8_t> body, uint64_t now_ns);
  void remove_now(uint64_t network_id);
  void remove_pending();
  void log_change(uint32_t slot);
  void report_clamped();
  bool calls_own_player(uint64_t network_id) const;
  bool send_rpc(const Client& client, uint32_t slot, lattice_channel channel);
  bool has_player() const override { return is_host(); }
  bool is_known(uint32_t slot) const override { return table_.live(slot); }
  bool is_host() const { return config_.role.role == LATTICE_ROLE_HOST; }
  bool is_callee(const RpcCall& call, uint32_t slot, uint64_t peer) const;

  StateSender sender_;
  std::optional<InputReceiver> inputs_;           // once the schema is fixed, if it has inputs
  std::vector<std::unique_ptr<Client>> clients_;  // by connection slot; null: no client
  base::HashIndex slot_of_peer_;  // the authority chooses peer ids, so no secret seed is needed
  std::vector<uint64_t> pending_despawns_;
  std::vector<bool> despawning_;  // by slot: in pending_despawns_
  uint64_t next_peer_ = kFirstClientPeer;
  uint64_t unannounced_writes_ = 0;
};

}  // namespace lattice::world
