// The calls of the world to the game. The layer abi turns them into the C callbacks of §19.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/sequence.h"
#include "reliability/endpoint/endpoint.h"
#include "replication/despawn_reason.h"
#include "serialization/schema_difference.h"
#include "transfer/transfer_handler.h"
#include "transport/connection/disconnect_reason.h"

namespace lattice::world {

using base::Tick;
using reliability::ConnectionHandle;

/// A client that asks to join the authority.
struct Admission {
  std::span<const uint8_t> player;   // 16 bytes
  std::span<const uint8_t> session;  // 16 bytes
  std::span<const uint8_t> user_data;
};

class Observer {
 public:
  virtual ~Observer() = default;
  /// A client was not let in. Like EndpointHandler::on_connect_refused(). With `schema_lines` it has told
  /// what differs in the schemas: Session::differences_told() reads them.
  virtual void on_connect_refused(const connection::RefusedClient& client) = 0;
  /// An authority: the client answers from another address now. At most once a second for each.
  virtual void on_path_moved(ConnectionHandle connection, const base::PathId& before,
                             const base::PathId& now) = 0;
  virtual void on_connected(ConnectionHandle connection, const reliability::ConnectedInfo& info) = 0;
  /// A client, before on_disconnected(): how the server's schema differs, as far as it told. Never empty.
  virtual void on_schema_differs(ConnectionHandle connection,
                                 const std::vector<serialization::SchemaDifference>& differences) {
    static_cast<void>(connection), static_cast<void>(differences);
  }
  /// `connection` stays readable until this call returns.
  virtual void on_disconnected(ConnectionHandle connection, connection::DisconnectReason reason,
                               uint64_t remote_schema_id, std::string_view text) = 0;
  /// The client of the connection has all of what was in its set when it joined. Once for each.
  virtual void on_loaded(ConnectionHandle connection) = 0;
  virtual void on_spawn(uint64_t network_id, uint32_t type_id) = 0;
  virtual void on_despawn(uint64_t network_id, replication::DespawnReason reason) = 0;
  /// `arguments` is the host structure and `bytes` its size; null and 0 without arguments.
  virtual void on_rpc(uint64_t network_id, uint16_t rpc_id, const void* arguments, size_t bytes) = 0;
  virtual void on_authority_changed(uint64_t network_id, uint64_t new_owner) = 0;
  /// One simulation step. `resimulating` is true while past ticks run again (S-04).
  virtual void on_tick(Tick tick, bool resimulating) = 0;
  /// `input` holds the last command; the game may replace it for `tick`.
  virtual void on_sample_input(Tick tick, void* input, size_t bytes) = 0;
  virtual void on_message(ConnectionHandle connection, uint8_t channel, std::span<const uint8_t> body) = 0;
  /// Tells whether a message sent with a receipt was acked; once per message, before on_disconnected().
  virtual void on_receipt(ConnectionHandle connection, uint32_t receipt, bool acked) = 0;
  /// Returns 0 to let the client in, else the reason of the refusal.
  virtual uint16_t on_admit(const Admission& who) = 0;
  /// What the client is told with the last refusal of on_admit(). Valid until the next on_admit().
  virtual std::string_view admit_text() const { return {}; }
  /// Whether more may be received in this phase: what was told so far is bounded by that.
  virtual bool takes_more() { return true; }
  /// The number of the tick jumped: on a client when its clock did, on an authority after a pause.
  virtual void on_resync(Tick from, Tick to) = 0;
  /// A client: snapshots come again, after so long without any.
  virtual void on_silence(uint64_t silent_ns) = 0;
  /// May the client have the object? Asked for objects whose rule says so.
  virtual bool on_relevant(ConnectionHandle connection, uint64_t network_id) = 0;
  /// A value that does not fit its member was clamped. Told once for each member of a type.
  virtual void on_value_clamped(uint64_t network_id, uint16_t prop_id, Tick tick) = 0;
  /// The same of an argument of a call that this side made, or of its input, where `rpc_id` is empty. Told
  /// once for each member.
  virtual void on_argument_clamped(std::optional<uint16_t> rpc_id, std::string_view member) = 0;
  /// The handler of large transfers. It lives as long as the observer.
  virtual transfer::TransferHandler& transfer_handler() = 0;
};

}  // namespace lattice::world
