// The common part of authority and client: schema, socket, endpoint, the table of objects, the phases of the
// pump, and the calls to the game (§10.1, §19, B-03, B-04).
//
// Must stay true: the pump's phases never nest. When a callback ends an object or a connection, it ends at
// the end of the phase, so nothing disappears under a caller that is iterating.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "reliability/endpoint.h"
#include "replication/object_table.h"
#include "replication/snapshot_applier.h"
#include "simulation/fixed_tick.h"
#include "transport/connection/server_identity.h"
#include "transport/fragment/fragmenting_endpoint.h"
#include "transport/socket/datagram_socket.h"
#include "world/frame_log.h"
#include "world/input_receiver.h"
#include "world/observer.h"
#include "world/placed_set.h"
#include "world/rpc_router.h"
#include "world/schema.h"
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

enum class OpResult : uint8_t {
  kOk,
  kNotFound,
  kNotAllowed,
  kInvalid,
  kLimit,
  kWouldBlock,
  kOutOfOrder,
  kNotConnected,
};

/// Snapshots and inputs travel on channel 1 only, and are never RPCs (spec W-27).
inline bool is_engine_traffic_legal(wire::Channel channel, reliability::MessageFlags flags) {
  return !flags.is_snapshot || (channel == wire::Channel::kUnreliableSequenced && !flags.is_rpc);
}

/// Receipts of the application's messages have this bit. Receipts of snapshot parts stay below it.
inline constexpr uint32_t kApplicationReceiptBit = 1u << 30;

class World : public reliability::EndpointHandler, protected RpcHost {
 public:
  World(const WorldConfig& config, std::unique_ptr<socket::DatagramSocket> socket, Observer& observer);
  ~World() override;

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
  /// The authority's static public key.
  const crypto::PublicKey& public_key() const { return identity_.key.public_key(); }

  // --- The pump. False: called from inside itself, or `tick` is not next_tick().
  bool receive(Now now);
  bool tick(Tick tick, Now now);
  bool send(Now now);
  virtual Tick next_tick() const = 0;
  /// The number of whole ticks due at `now`. Consumes the time since the last call.
  virtual uint32_t ticks_due(Now now) = 0;
  uint64_t time_to_tick_ns(Now now) const;
  Phase phase() const { return phase_; }
  bool resimulating() const { return resimulating_; }
  Tick current_tick() const { return current_tick_; }

  // --- Connections
  void disconnect(ConnectionHandle connection, connection::DisconnectReason reason, std::string_view text,
                  Now now);
  /// While the timeout is paused, silence ends no established connection.
  void set_timeout_paused(bool paused, Now now);
  /// The peer that this side is; 0 on a client without a session.
  uint64_t local_peer() const { return table_.local_peer(); }
  /// Sends a message of the application, of up to fragment::kMaxMessageBytes. With `receipt` not null, a
  /// number is written there, and Observer::on_receipt() will name that number.
  reliability::SendResult send_message(ConnectionHandle connection, wire::Channel channel,
                                       std::span<const uint8_t> body, uint32_t* receipt);
  /// Large transfers; null without WorldConfig::transfer_channel.
  transfer::Transfers* transfers() { return transfers_ ? &transfers_->transfers() : nullptr; }

  // --- Placed objects (D-51)
  enum class PlaceResult : uint8_t {
    kOk,
    kOutOfOrder,   // the authority runs, or the client has a connection
    kUnknownType,  // the type is not registered
    kDuplicate,    // the key is taken
    kFull,         // max_objects are placed
    kDoesNotFit,   // a value does not fit its member
  };
  /// Places an object of a registered type. `states` has one host structure for each behaviour. Fixes the
  /// types of the schema.
  PlaceResult place(uint64_t key, uint32_t type_id, const void* const* states);
  /// Forgets all that was placed. False where place() answers kOutOfOrder.
  bool clear_placed();
  const PlacedSet& placed() const { return placed_; }

  // --- Objects
  const replication::ObjectTable& objects() const { return table_; }
  /// The host structure of one behaviour, to read and write: that announces a write (announce_write()). Null
  /// when there is no such object or behaviour.
  void* object_state(uint64_t network_id, uint32_t behaviour);
  /// The same to read only.
  const void* read_state(uint64_t network_id, uint32_t behaviour);
  /// Announces that the game writes the object before the next tick is recorded. Writes through a pointer
  /// that the game keeps need it. Does nothing when another peer writes the object.
  void announce_write(uint32_t slot) {
    if (table_.writes(slot)) note_write(slot);
  }
  /// True when on_tick must step the object here and now: its true state, or a prediction of it.
  bool simulated(uint32_t slot) const { return (table_.writes(slot) && !asleep(slot)) || predicts(slot); }
  /// May the game write the object's state right now (I5)? A prediction only in the tick that it is of.
  bool writable(uint32_t slot) const { return table_.writes(slot) || (in_tick() && predicts(slot)); }
  OpResult set_prop(uint64_t network_id, uint16_t prop_id, const void* data, size_t bytes);
  size_t get_prop(uint64_t network_id, uint16_t prop_id, void* out, size_t capacity);
  /// Begins a frame: it shows every object at `now`, and each pose is computed once. What happened since the
  /// frame before is in frame_log().
  void begin_frame(Now now);
  const FrameLog& frame_log() const { return frame_log_; }
  /// The moment of the frame; null before the first begin_frame().
  const Now* frame() const { return frame_ ? &*frame_ : nullptr; }
  /// The structure of `behaviour` to draw at `now`; null before the first state of the object.
  virtual const void* view(uint32_t slot, uint32_t behaviour, Now now) = 0;
  /// The newest authoritative words and their tick, or null.
  virtual const serialization::Word* confirmed(uint32_t slot, Tick* tick) const = 0;
  /// Writes those words as the host structure of `behaviour`. Returns the bytes written, or 0.
  size_t read_confirmed(uint32_t slot, uint32_t behaviour, void* out, size_t capacity, Tick* tick) const;
  uint64_t state_hash() const;

  // --- Input
  OpResult set_input(const void* input, size_t bytes);
  /// Reads the input of `peer` for the current tick. Returns 1 fresh, 2 repeated, 0 none.
  virtual int get_input(uint64_t peer, void* out, size_t bytes) = 0;
  /// What the player saw when that input was made. False when there is no input.
  virtual bool input_sight(uint64_t peer, InputSight* out) const = 0;

  // --- RPC
  RpcRouter& rpcs() { return rpcs_; }

  WorldStats stats() const;
  /// What snapshots brought about the objects of a type; all zero on an authority.
  virtual replication::SnapshotApplier::TypeTraffic type_traffic(const replication::ObjectType&) const {
    return {};
  }
  const reliability::ConnectionStats* connection_stats(ConnectionHandle connection) const;
  /// The present address of the other side; family 0 for a stale handle.
  platform::Address remote_address(ConnectionHandle connection) const;
  /// The name and value of refusal counter `index`; null past the last.
  const char* refusal(uint32_t index, uint64_t* value) const;

 protected:
  /// The game steps its objects now, for the first time or again.
  bool in_tick() const { return phase_ == Phase::kTick || resimulating_; }
  /// Notes that an object changes that this side writes.
  virtual void note_write(uint32_t) {}
  /// True while nobody steps an object that this side writes.
  virtual bool asleep(uint32_t) const { return false; }
  /// True when this side steps an object ahead of the state that its writer sends.
  virtual bool predicts(uint32_t) const { return false; }
  /// The host structures of an object, of which the game gets a pointer or a copy.
  virtual void* const* host_for_game(uint32_t slot) { return table_.host(slot); }
  virtual bool may_place() const = 0;
  virtual void do_receive(Now now) = 0;
  virtual void do_tick(Tick tick, Now now) = 0;
  virtual void do_send(Now now) = 0;
  virtual void after_phase(Now now);
  virtual reliability::EndpointConfig endpoint_config() const = 0;
  virtual void on_schema_fixed() = 0;
  virtual void add_stats(WorldStats* stats) const = 0;
  /// Entries that were longer than the budget of their snapshot and were not sent.
  virtual uint64_t snapshot_over_budget() const { return 0; }
  /// Writes of the game that were not announced. Only validation builds find any.
  virtual uint64_t unannounced_writes() const { return 0; }
  /// Values of the game that did not fit their member and were clamped.
  virtual uint64_t values_clamped() const { return 0; }
  virtual uint64_t snapshot_refusals(replication::SnapshotRefusal) const { return 0; }
  virtual uint64_t input_refusals(simulation::InputRefusal) const { return 0; }
  virtual simulation::InputBufferStats input_stats() const { return {}; }
  /// Passes on a receipt of an application's message. False when the receipt is the engine's own.
  bool tell_receipt(ConnectionHandle connection, uint32_t receipt, bool acked);
  /// The verdict on a message of the control channel or about large transfers; nullopt for every other
  /// message.
  std::optional<reliability::Verdict> engine_message(ConnectionHandle connection, wire::Channel channel,
                                                     std::span<const uint8_t> body);
  /// True when a local player has an input here.
  virtual bool has_player() const = 0;
  /// True when the game knows the object: on a client from its first state on.
  virtual bool is_known(uint32_t slot) const = 0;
  /// The moment of the server's time line at which objects of others are drawn at `now`; tick 0: none yet.
  virtual simulation::TickTime look(Now now) = 0;
  /// Ends the transfers of a connection. on_disconnected() calls it first.
  void end_transfers(ConnectionHandle connection);

  // RpcHost
  const serialization::TypeInfo* type_of(uint64_t network_id, uint32_t* slot) const override;
  Tick rpc_tick() const override { return current_tick_; }

  WorldConfig config_;
  Observer& observer_;
  std::unique_ptr<crypto::EntropySource> entropy_;
  connection::ServerIdentity identity_;
  Schema schema_;
  PlacedSet placed_;
  std::unique_ptr<socket::DatagramSocket> socket_;
  reliability::CaptureObserver* capture_ = nullptr;
  std::unique_ptr<TransferHub> transfers_;  // outlives the endpoint, which asks it for chunks
  std::unique_ptr<fragment::FragmentingEndpoint> endpoint_;
  replication::ObjectTable table_;
  simulation::FixedTick fixed_tick_;
  RpcRouter rpcs_;
  std::unique_ptr<HostScratch> input_host_;  // the local player's command; null where there is no player
  Tick current_tick_ = 0;
  std::optional<Now> frame_;
  FrameLog frame_log_;
  Phase phase_ = Phase::kIdle;
  bool resimulating_ = false;
  bool timeout_paused_ = false;
  bool keeps_identity_;  // the server has the same identity in its next process

 private:
  struct PendingDisconnect {
    ConnectionHandle connection;
    connection::DisconnectReason reason;
    std::string text;
  };
  class PhaseScope;
  const HostScratch& scratch_for(const replication::ObjectType& type) const;
  std::vector<PendingDisconnect> pending_disconnects_;
  uint32_t last_receipt_ = 0;  // last receipt of the application, without kApplicationReceiptBit
  struct TypeScratch {
    const replication::ObjectType* type;
    std::unique_ptr<HostScratch> host;
  };
  mutable std::vector<TypeScratch> type_scratch_;  // for read_confirmed(): one per type that was asked for
};

}  // namespace lattice::world
