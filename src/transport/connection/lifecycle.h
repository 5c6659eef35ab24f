// The states of a connection and all legal transitions (§4.1, H-11, H-12), as a table. An event without an
// entry in the table is a broken invariant of this library; a peer cannot cause it, because callers ask
// allows() before bytes from the network become an event.
//
//                    connect        challenge      confirm      disconnect      silence
//   Disconnected ─▶ Connecting ─▶ Handshake ─▶ Connected ─▶ Disconnecting    (any) ─▶ Timeout ─▶ Disconnected
//                        ◀── fall back ──┘          └─ peer left ─▶ Disconnected ◀── acked, grace over
//   A server's entry starts with `admit`, in Handshake (half-open); its first authenticated packet confirms.
#pragma once

#include <cstdint>
#include <optional>

namespace lattice::connection {

enum class State : uint8_t { kDisconnected, kConnecting, kHandshake, kConnected, kDisconnecting, kTimeout };
inline constexpr uint8_t kStateCount = 6;

enum class Event : uint8_t {
  kConnect,           ///< Client: connect() was called; the first request goes out.
  kAdmit,             ///< Server: message 3 verified, an entry was made.
  kChallenge,         ///< Client: a Challenge was answered.
  kFallBack,          ///< Client: three unanswered responses; a fresh request goes out (H-12).
  kConfirm,           ///< Client: message 4 opened. Server: first authenticated packet (H-11).
  kRefuse,            ///< The handshake ended with a named refusal.
  kSilence,           ///< Budget, half-open time or timeout ran out.
  kDisconnect,        ///< This side ends it.
  kPeerDisconnect,    ///< An authenticated Disconnect arrived, or a reset.
  kDisconnectFinish,  ///< Acknowledged, or the grace is over.
  kReport,            ///< The timeout was reported to the layer above.
};
inline constexpr uint8_t kEventCount = 11;

/// The state after `event` in `state`; empty when the transition is illegal.
std::optional<State> next_state(State state, Event event);

const char* state_name(State state);
const char* event_name(Event event);

class Lifecycle {
 public:
  State state() const { return state_; }
  bool allows(Event event) const { return next_state(state_, event).has_value(); }
  /// Makes the transition of `event`. allows(event) must hold; checked in every build.
  void apply(Event event);

 private:
  State state_ = State::kDisconnected;
};

}  // namespace lattice::connection
