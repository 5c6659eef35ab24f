// The client's side: snapshots in, predict and reconcile, inputs out, something to draw (§11, §12, §17.1).
//
//   receive   parts -> applier -> mirror; clock; then one reconciliation against the newest known tick
//   tick      sample the input, let the game step its predicted objects, record their new states
//   send      the input window, when there is a new input
//
// An object is predicted when this peer owns it and another peer writes it, its type asks for prediction, and
// prediction is switched on.
// The host structures of predicted objects hold the predicted present. All others hold the newest
// authoritative state, from the moment when the game first asks for them: most objects are only drawn.
//
// Nothing follows from an entry that is missing, except where a part says so: it may confirm all that this
// client owns (D-40). A rested entry says that an object stays as it is, so it is drawn without extrapolation
// (D-17).
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "prediction/interpolation_clock.h"
#include "prediction/reconciler.h"
#include "replication/despawn_gate.h"
#include "replication/early_rpcs.h"
#include "replication/join_progress.h"
#include "replication/snapshot_applier.h"
#include "simulation/clock_sync.h"
#include "simulation/input_history.h"
#include "world/world.h"

namespace lattice::world {

class ClientWorld final : public World,
                          public replication::SnapshotListener,
                          public prediction::ResimulationHost {
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
  /// How far this client has come with the objects that were to be here when it joined, as the authority
  /// last said. `loaded` once nothing is missing.
  struct Joining {
    replication::JoinCount count;
    bool loaded = false;
  };
  const Joining& joining() const { return joining_; }

  Tick next_tick() const override { return ticking_ ? current_tick_ + 1 : 0; }
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
  /// The client's data for one mirrored object.
  struct Mirror {
    const replication::ObjectType* type = nullptr;
    std::unique_ptr<Presentation> presentation;  // from the first drawing on
    Tick newest_tick = 0;                        // tick of the newest received state
    bool predicted = false;
    bool host_kept = false;    // the host structures are kept current: the game or a simulation reads them
    uint64_t drawn_ns = 0;     // the moment of the drawn pose
    uint32_t drawn_frame = 0;  // the frame of the drawn pose
    bool drawn = false;
    replication::DespawnGate despawn_gate;
  };
  struct TypePoses {
    const replication::ObjectType* type;
    std::unique_ptr<PoseScratch> scratch;
  };
  bool predicts(uint32_t slot) const override { return table_.live(slot) && mirrors_[slot].predicted; }
  void* const* host_for_game(uint32_t slot) override;
  void do_receive(Now now) override;
  void do_tick(Tick tick, Now now) override;
  void do_send(Now now) override;
  reliability::EndpointConfig endpoint_config() const override;
  void on_schema_fixed() override;
  bool has_player() const override { return true; }
  bool may_place() const override;
  void begin_placed(Tick server_tick);
  void begin_mirror(uint32_t slot);
  bool is_known(uint32_t slot) const override { return mirrors_[slot].newest_tick != 0; }
  void add_stats(WorldStats* stats) const override;
  replication::SnapshotApplier::TypeTraffic type_traffic(const replication::ObjectType& type) const override {
    return applier_ ? applier_->traffic(type) : replication::SnapshotApplier::TypeTraffic{};
  }
  uint64_t snapshot_refusals(replication::SnapshotRefusal reason) const override {
    return snapshot_refusals_.get(reason);
  }
  Tick object_tick(uint32_t slot) const override;
  replication::RpcRefusal check_rpc(const replication::RpcHeader& header, uint32_t slot,
                                    const lattice_rpc_desc* rpc, uint64_t sender) const override;

  // RpcHost
  bool is_gone(uint64_t network_id, Tick tick) const override { return applier_->is_gone(network_id, tick); }
  void reliable_rpc_arrived(uint64_t network_id) override;

  // replication::SnapshotListener
  void on_spawn(uint32_t slot, Tick tick) override;
  void on_despawn(uint32_t slot, Tick tick, replication::DespawnReason reason) override;
  bool may_despawn(uint32_t slot, uint32_t rpc_count) override;
  void on_stays(uint32_t slot) override;
  void on_state(uint32_t slot, Tick tick, const serialization::Word* words,
                replication::EntryKind kind) override;
  void on_authority(uint32_t slot, Tick tick) override;

  // prediction::ResimulationHost
  void load_state(uint32_t slot, const serialization::Word* words) override;
  void store_state(uint32_t slot, serialization::Word* words) override;
  void resimulate_tick(Tick tick) override;
  void corrected(uint32_t slot, const serialization::Word* before, const serialization::Word* after) override;

  reliability::Verdict receive_part(std::span<const uint8_t> body, uint64_t now_ns);
  const serialization::Word* newest_words(uint32_t slot) const { return applier_->confirmed(slot, nullptr); }
  void begin_showing(uint32_t slot, Tick tick);
  void note_part(const replication::SnapshotHeader& header);
  void note_progress(const replication::SnapshotHeader& header);
  void reconcile();
  void offer_authoritative(Tick tick);
  void update_prediction(uint32_t slot);
  void set_predicted(uint32_t slot, bool predicted);
  void resync(const simulation::Steering& steering, Now now);
  simulation::TickTime look(Now now) override;
  simulation::TickTime seen_time() const;
  void draw(uint32_t slot, Now now);
  uint8_t lead_quarter_ticks() const;
  void forget_session();
  Presentation& presentation_of(Mirror& mirror);
  std::unique_ptr<Presentation> take_presentation(const replication::ObjectType& type);
  PoseScratch& pose_scratch(const replication::ObjectType& type);

  std::unique_ptr<replication::SnapshotApplier> applier_;
  replication::EarlyRpcs early_rpcs_;
  simulation::ClockSync clock_;
  prediction::InterpolationClock render_clock_;
  std::optional<simulation::InputHistory> inputs_;
  std::unique_ptr<prediction::Reconciler> reconciler_;
  std::vector<TypePoses> pose_scratch_;  // one per type that was drawn; outlives the presentations
  std::vector<Mirror> mirrors_;          // by slot
  std::vector<std::unique_ptr<Presentation>> spare_presentations_;
  std::vector<serialization::Word> input_words_;
  std::unique_ptr<HostScratch> input_out_;
  std::vector<crypto::KeyPair> keys_;
  ConnectionHandle connection_;
  uint64_t now_ns_ = 0;
  uint64_t render_ns_ = 0;
  simulation::TickTime view_time_;     // the moment of the server's time line that is drawn
  simulation::SnapshotTiming timing_;  // of the newest snapshot in this receive phase; tick 0: none
  Tick snapshot_tick_ = 0;             // tick of the newest snapshot of which a part arrived
  Tick first_snapshot_tick_ = 0;       // of this session; 0: none yet
  Joining joining_;
  Tick joining_tick_ = 0;    // when the authority said so; 0: not yet
  Tick own_tick_ = 0;        // newest tick at which a part confirmed what this client owns (D-40)
  Tick reconcile_tick_ = 0;  // newest tick with news about a predicted object
  bool connected_ = false;
  bool ticking_ = false;
  bool predict_ = true;
  bool smooth_ = true;
  bool interpolate_ = true;
  int8_t margin_quarter_ticks_ = 0;
  Tick acked_input_tick_ = 0;
  uint64_t snapshots_applied_ = 0;
  /// Counts over all connections: each connection begins with a new applier.
  base::Counters<replication::SnapshotRefusal, static_cast<size_t>(replication::SnapshotRefusal::kCount)>
      snapshot_refusals_;
  uint64_t poses_ = 0;           // poses of objects that are gone
  uint64_t underrun_poses_ = 0;  // likewise
};

}  // namespace lattice::world
