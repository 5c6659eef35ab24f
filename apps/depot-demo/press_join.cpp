#include "press_join.h"

#include <algorithm>

namespace app {

void PressJoin::client_press(size_t client, uint64_t pawn, const ClientPress& press) {
  pawns_[client] = pawn;
  presses_[client] = press;
}

void PressJoin::server_press(size_t client, const ServerPress& press) {
  applied_[client] = press;
}

void PressJoin::server_tick(uint32_t tick, double unix_ms) {
  ticks_[tick % kTicks] = {tick, unix_ms};
  newest_tick_ = tick;
}

void PressJoin::seen(size_t client, const Seen& seen) {
  seen_[client].push_back(seen);
  if (seen_[client].size() > kSeen) seen_[client].pop_front();
}

double PressJoin::time_of(uint32_t tick) const {
  const Tick& at = ticks_[tick % kTicks];
  return at.tick == tick ? at.unix_ms : 0;
}

double PressJoin::server_time_ms(double tick) const {
  const Tick& newest = ticks_[newest_tick_ % kTicks];
  if (newest.unix_ms == 0) return 0;
  if (tick >= 0 && tick < static_cast<double>(newest_tick_)) {
    const auto whole = static_cast<uint32_t>(tick);
    if (const double before_ms = time_of(whole); before_ms != 0) {
      return before_ms + (tick - static_cast<double>(whole)) * tick_ms_;
    }
  }
  return newest.unix_ms + (tick - static_cast<double>(newest.tick)) * tick_ms_;
}

PressJoin::View PressJoin::view_of(size_t client, uint64_t pawn, uint32_t applied_tick) const {
  const auto first = std::ranges::find_if(
      seen_[client], [&](const Seen& seen) { return seen.pawn == pawn && seen.tick >= applied_tick; });
  if (first == seen_[client].end()) return {};
  // The first snapshot with the press may be of a later tick than `applied_tick`. The picture then contained
  // `applied_tick` earlier, by the difference of the two ticks.
  const double drawn_ms = first->drawn_ms - static_cast<double>(first->tick - applied_tick) * tick_ms_;
  return {time_of(first->tick), first->heard_ms, std::max(first->heard_ms, drawn_ms)};
}

std::optional<PressJoin::Joined> PressJoin::last() const {
  const size_t client = presses_[1].heard_ms > presses_[0].heard_ms ? 1 : 0;
  if (presses_[client].id == 0) return std::nullopt;
  Joined joined;
  joined.client = client;
  joined.press = presses_[client];
  if (applied_[client].id == joined.press.id) {
    joined.server = applied_[client];
    for (size_t i = 0; i < kClients; ++i)
      joined.views[i] = view_of(i, pawns_[client], joined.server.applied_tick);
  }
  return joined;
}

}  // namespace app
