// The client's side (§11, §12, §17.1): routes between the parts that receive states, predict, draw, follow
// the authority's clock and send inputs.
//
//   receive   parts of snapshots; the clock; then one reconciliation against the newest known tick
//   tick      sample the input, let the game step its predicted objects, record their new states
//   send      the inputs that the authority lacks
//
// An object is predicted when this peer owns it and another peer writes it, its type asks for prediction, and
// prediction is switched on.
//
// Who fills the host structures of an object: the game of what this peer writes, the predictor of what it
// predicts, the state receiver of all others.
#pragma once

#include <optional>
#include <vector>

#include "world/clock_follower.h"
#include "world/input_sender.h"
#include "world/predictor.h"
#include "world/presenter.h"
#include "world/state_receiver.h"
#include "world/world.h"

namespace lattice::world {

class ClientWorld final : public World, private StateListener, private PredictionGame {
 public:
  enum class Option : uint8_t { kPrediction, kSmoothing, kInterpolation };

  ClientWorld(const WorldConfig& config, std::unique_ptr<socket::DatagramSocket> socket, Observer& observer);
  ~ClientWorld() override;

  /// Makes a key pair for the next token and returns its public half. At most 4 are kept.
  crypto::PublicKey new_client_key();
  /// Begins to connect. When it cannot begin, `error` names the reason: kNotAllowed (there is a connection
  /// already), kWouldBlock (earlier connections are still ending), kNotFound (an address without host or
  /// port), kInvalid (the token).
  OpResult connect(const platform::Address& server, std::span<const uint8_t> token, ConnectionHandle* out,
                   const char** error);
  void set_option(Option option, bool enabled);
  const StateReceiver::Joining& joining() const { return receiver_.joining(); }

  Tick next_tick() const override { return clock_.ticking() ? current_tick_ + 1 : 0; }
  uint32_t ticks_due(Now now) override;
  const void* view(uint32_t slot, uint32_t behaviour, Now now) override;
  const serialization::Word* confirmed(uint32_t slot, Tick* tick) const override;
  int get_input(uint64_t peer, void* out, size_t bytes) override;
  bool input_sight(uint64_t peer, InputSight* out) const override;
  OpResult call(const RpcCall& call);

  // reliability::EndpointHandler
  connection::Admission on_admission(const connection::AdmissionRequest& request) override;
  void on_connected(ConnectionHandle connection, const reliability::ConnectedInfo& info) override;
  void on_disconnected(ConnectionHandle connection, connection::DisconnectReason reason,
                       uint64_t remote_schema, std::string_view text) override;
  reliability::Verdict on_message(ConnectionHandle connection, wire::Channel channel,
                                  reliability::MessageFlags flags, std::span<const uint8_t> body,
                                  uint64_t now_ns) override;
  void on_receipt(ConnectionHandle connection, uint32_t receipt, bool acked) override;

 private:
  bool predicts(uint32_t slot) const override { return predictor_.predicts(slot); }
  void* const* host_for_game(uint32_t slot) override { return receiver_.host(slot); }
  void do_receive(Now now) override;
  void do_tick(Tick tick, Now now) override;
  void do_send(Now now) override;
  reliability::EndpointConfig endpoint_config() const override { return {}; }
  void on_schema_fixed() override;
  bool has_player() const override { return true; }
  bool may_place() const override;
  bool is_known(uint32_t slot) const override { return receiver_.has_state(slot); }
  void add_stats(WorldStats* stats) const override;
  replication::SnapshotApplier::TypeTraffic type_traffic(const replication::ObjectType& type) const override {
    return receiver_.traffic(type);
  }
  uint64_t snapshot_refusals(replication::SnapshotRefusal reason) const override {
    return receiver_.refusals(reason);
  }
  simulation::TickTime look(Now now) override { return presenter_.look(clock_.sync(), now.ns); }

  // RpcHost
  Tick object_tick(uint32_t slot) const override { return receiver_.newest_tick(slot); }
  replication::RpcRefusal check_rpc(const replication::RpcHeader& header, uint32_t slot,
                                    const lattice_rpc_desc* rpc, uint64_t sender) const override;
  bool is_gone(uint64_t network_id, Tick tick) const override { return receiver_.is_gone(network_id, tick); }
  void reliable_rpc_arrived(uint64_t network_id) override { receiver_.on_reliable_rpc(network_id); }

  // StateListener
  void on_object(uint32_t slot, Tick tick) override;
  void on_state(uint32_t slot, Tick tick, const serialization::Word* former,
                const serialization::Word* words) override;
  void on_authority(uint32_t slot) override;
  void on_frozen(uint32_t slot) override { update_prediction(slot); }
  void on_gone(uint32_t slot, replication::DespawnReason reason) override;

  // PredictionGame
  void run_again(Tick tick) override;
  void on_corrected(uint32_t slot, const serialization::Word* before,
                    const serialization::Word* after) override;

  bool is_connected() const { return clock_.started(); }
  reliability::Verdict receive_part(std::span<const uint8_t> body, uint64_t now_ns);
  void reconcile();
  void update_prediction(uint32_t slot);
  void resync(Tick newest_tick);
  void forget_session();

  StateReceiver receiver_;
  Predictor predictor_;
  Presenter presenter_;
  ClockFollower clock_;
  std::optional<InputSender> inputs_;  // once the schema is fixed, if it has inputs
  std::vector<crypto::KeyPair> keys_;
  ConnectionHandle connection_;
  uint64_t now_ns_ = 0;  // of the present or last phase
  bool predicts_ = true;
};

}  // namespace lattice::world
