#include "transport/connection/lifecycle.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <tuple>

#include "transport/connection/disconnect_reason.h"

namespace lattice::connection {
namespace {

using Transition = std::tuple<State, Event, State>;

// Written from §4.1, H-11 and H-12, not from the table: everything not here must be refused.
const std::set<Transition> kLegal = {
    {State::kDisconnected, Event::kConnect, State::kConnecting},
    {State::kDisconnected, Event::kAdmit, State::kHandshake},
    {State::kConnecting, Event::kChallenge, State::kHandshake},
    {State::kConnecting, Event::kConfirm, State::kConnected},
    {State::kConnecting, Event::kRefuse, State::kDisconnected},
    {State::kConnecting, Event::kSilence, State::kTimeout},
    {State::kConnecting, Event::kDisconnect, State::kDisconnected},
    {State::kHandshake, Event::kChallenge, State::kHandshake},
    {State::kHandshake, Event::kFallBack, State::kConnecting},
    {State::kHandshake, Event::kConfirm, State::kConnected},
    {State::kHandshake, Event::kRefuse, State::kDisconnected},
    {State::kHandshake, Event::kSilence, State::kTimeout},
    {State::kHandshake, Event::kDisconnect, State::kDisconnected},
    {State::kHandshake, Event::kPeerDisconnect, State::kDisconnected},
    {State::kConnected, Event::kSilence, State::kTimeout},
    {State::kConnected, Event::kDisconnect, State::kDisconnecting},
    {State::kConnected, Event::kPeerDisconnect, State::kDisconnected},
    {State::kDisconnecting, Event::kPeerDisconnect, State::kDisconnected},
    {State::kDisconnecting, Event::kDisconnectFinish, State::kDisconnected},
    {State::kTimeout, Event::kReport, State::kDisconnected},
};

/// A lifecycle brought to `state` along legal transitions.
Lifecycle lifecycle_in(State state) {
  Lifecycle out;
  if (state == State::kDisconnected) return out;
  out.apply(Event::kConnect);
  if (state == State::kConnecting) return out;
  out.apply(Event::kChallenge);
  if (state == State::kHandshake) return out;
  out.apply(state == State::kTimeout ? Event::kSilence : Event::kConfirm);
  if (state == State::kDisconnecting) out.apply(Event::kDisconnect);
  return out;
}

TEST(Lifecycle, EveryPairOfStateAndEventIsAsWritten) {
  for (uint8_t s = 0; s < kStateCount; ++s) {
    for (uint8_t e = 0; e < kEventCount; ++e) {
      const State state = static_cast<State>(s);
      const Event event = static_cast<Event>(e);
      Lifecycle lifecycle = lifecycle_in(state);
      ASSERT_EQ(lifecycle.state(), state);
      const std::optional<State> next = next_state(state, event);
      EXPECT_EQ(lifecycle.allows(event), next.has_value());
      if (next) {
        EXPECT_EQ(kLegal.count({state, event, *next}), 1u) << state_name(state) << " " << event_name(event);
        lifecycle.apply(event);
        EXPECT_EQ(lifecycle.state(), *next);
      }
    }
  }
  size_t legal = 0;
  for (const auto& [state, event, next] : kLegal) {
    if (next_state(state, event) == next) ++legal;
  }
  EXPECT_EQ(legal, kLegal.size());
}

TEST(LifecycleDeathTest, EveryIllegalTransitionStopsTheProcess) {
  for (uint8_t s = 0; s < kStateCount; ++s) {
    for (uint8_t e = 0; e < kEventCount; ++e) {
      Lifecycle lifecycle = lifecycle_in(static_cast<State>(s));
      const Event event = static_cast<Event>(e);
      if (lifecycle.allows(event)) continue;
      EXPECT_DEATH(lifecycle.apply(event), "next.has_value")
          << state_name(lifecycle.state()) << " " << event_name(event);
    }
  }
}

TEST(Lifecycle, NamesAreDistinct) {
  std::set<std::string> names;
  for (uint8_t s = 0; s < kStateCount; ++s) names.insert(state_name(static_cast<State>(s)));
  EXPECT_EQ(names.size(), kStateCount);
  names.clear();
  for (uint8_t e = 0; e < kEventCount; ++e) names.insert(event_name(static_cast<Event>(e)));
  EXPECT_EQ(names.size(), kEventCount);
}

TEST(DisconnectReason, NumbersAreTheWires) {
  const char* names[] = {"none",           "requested",    "timeout",          "token_invalid",
                         "token_expired",  "token_reused", "version_mismatch", "schema_mismatch",
                         "server_full",    "kicked",       "protocol_error",   "resource_limit",
                         "internal_error", "host_left",    "config_mismatch",  "server_restarted",
                         "no_answer",      "unreachable",  "placed_mismatch"};
  constexpr uint16_t kCount = std::size(names);
  for (uint16_t i = 0; i < kCount; ++i) {
    EXPECT_STREQ(disconnect_reason_name(static_cast<DisconnectReason>(i)), names[i]);
  }
  EXPECT_STREQ(disconnect_reason_name(static_cast<DisconnectReason>(kCount)), "unknown");
  EXPECT_STREQ(disconnect_reason_name(static_cast<DisconnectReason>(255)), "unknown");
  EXPECT_STREQ(disconnect_reason_name(static_cast<DisconnectReason>(256)), "application");
}

TEST(DisconnectReason, APeerCannotClaimWhatOnlyThisSideFindsOut) {
  using enum DisconnectReason;
  for (const crypto::Role teller : {crypto::Role::kClient, crypto::Role::kServer}) {
    for (const DisconnectReason local : {kTimeout, kServerRestarted, kNoAnswer, kUnreachable}) {
      EXPECT_EQ(reason_from_peer(teller, static_cast<uint16_t>(local)), kProtocolError)
          << disconnect_reason_name(local);
    }
    EXPECT_EQ(reason_from_peer(teller, 19), kProtocolError);
    EXPECT_EQ(reason_from_peer(teller, 255), kProtocolError);
    for (const DisconnectReason told : {kNone, kRequested, kProtocolError, kResourceLimit, kInternalError}) {
      EXPECT_EQ(reason_from_peer(teller, static_cast<uint16_t>(told)), told);
    }
    EXPECT_EQ(reason_from_peer(teller, 256), static_cast<DisconnectReason>(256));
    EXPECT_EQ(reason_from_peer(teller, 65535), static_cast<DisconnectReason>(65535));
  }
}

TEST(DisconnectReason, AClientCannotTellWhatAServerDecides) {
  using enum DisconnectReason;
  for (const DisconnectReason decided :
       {kTokenInvalid, kTokenExpired, kTokenReused, kVersionMismatch, kSchemaMismatch, kServerFull, kKicked,
        kHostLeft, kConfigMismatch, kPlacedMismatch}) {
    const auto told = static_cast<uint16_t>(decided);
    EXPECT_EQ(reason_from_peer(crypto::Role::kServer, told), decided);
    EXPECT_EQ(reason_from_peer(crypto::Role::kClient, told), kProtocolError)
        << disconnect_reason_name(decided);
  }
}

}  // namespace
}  // namespace lattice::connection
