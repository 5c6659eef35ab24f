#include "transport/connection/lifecycle.h"

#include <array>

#include "base/assert.h"

namespace lattice::connection {
namespace {

constexpr uint8_t kIllegal = 0xFF;

constexpr uint8_t to(State state) {
  return static_cast<uint8_t>(state);
}

constexpr uint8_t kDis = to(State::kDisconnected);
constexpr uint8_t kCon = to(State::kConnecting);
constexpr uint8_t kHan = to(State::kHandshake);
constexpr uint8_t kOn = to(State::kConnected);
constexpr uint8_t kEnd = to(State::kDisconnecting);
constexpr uint8_t kOut = to(State::kTimeout);
constexpr uint8_t kNo = kIllegal;

using Row = std::array<uint8_t, kEventCount>;
// clang-format off
constexpr std::array<Row, kStateCount> kNext = {{
    //             connect admit challenge fallback confirm refuse silence disconnect peer-disc finish report
    /* Disconn. */ {kCon,  kHan, kNo,      kNo,     kNo,    kNo,   kNo,    kNo,       kNo,      kNo,   kNo},
    /* Connect. */ {kNo,   kNo,  kHan,     kNo,     kOn,    kDis,  kOut,   kDis,      kNo,      kNo,   kNo},
    /* Handsh.  */ {kNo,   kNo,  kHan,     kCon,    kOn,    kDis,  kOut,   kDis,      kDis,     kNo,   kNo},
    /* Connect. */ {kNo,   kNo,  kNo,      kNo,     kNo,    kNo,   kOut,   kEnd,      kDis,     kNo,   kNo},
    /* Disconn. */ {kNo,   kNo,  kNo,      kNo,     kNo,    kNo,   kNo,    kNo,       kDis,     kDis,  kNo},
    /* Timeout  */ {kNo,   kNo,  kNo,      kNo,     kNo,    kNo,   kNo,    kNo,       kNo,      kNo,   kDis},
}};
// clang-format on

}  // namespace

std::optional<State> next_state(State state, Event event) {
  const uint8_t next = kNext[static_cast<size_t>(state)][static_cast<size_t>(event)];
  if (next == kIllegal) return std::nullopt;
  return static_cast<State>(next);
}

const char* state_name(State state) {
  constexpr std::array<const char*, kStateCount> kNames = {"disconnected", "connecting",    "handshake",
                                                           "connected",    "disconnecting", "timeout"};
  return kNames[static_cast<size_t>(state)];
}

const char* event_name(Event event) {
  constexpr std::array<const char*, kEventCount> kNames = {
      "connect", "admit",      "challenge",       "fall_back",         "confirm", "refuse",
      "silence", "disconnect", "peer_disconnect", "disconnect_finish", "report"};
  return kNames[static_cast<size_t>(event)];
}

void Lifecycle::apply(Event event) {
  const std::optional<State> next = next_state(state_, event);
  LATTICE_CHECK(next.has_value());
  state_ = *next;
}

}  // namespace lattice::connection
