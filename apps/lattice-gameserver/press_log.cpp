#include "press_log.h"

#include <algorithm>

#include "process.h"

namespace app {

void PressLog::arrived(const depot::Player& player, const PressMarker& marker) {
  auto entry = std::ranges::find(entries_, player.peer, &Entry::peer);
  if (entry == entries_.end()) {
    if (entries_.size() == kMaxPlayers) return;
    entry = entries_.insert(entries_.end(), Entry{});
  }
  if (entry->marker.press_id == marker.press_id) return;  // a repetition
  *entry = {.peer = player.peer,
            .marker = marker,
            .fresh_before = player.inputs_fresh,
            .arrived_ms = unix_time_ms()};
}

void PressLog::ticked(uint32_t tick, std::span<const depot::Player> players) {
  for (Entry& entry : entries_) {
    const auto player = std::ranges::find(players, entry.peer, &depot::Player::peer);
    if (player == players.end() || entry.applied_tick != 0) continue;
    const bool is_fresh = player->inputs_fresh != entry.fresh_before;
    entry.fresh_before = player->inputs_fresh;
    if (!is_fresh || tick < entry.marker.tick) continue;
    entry.applied_tick = tick;
    entry.applied_ms = unix_time_ms();
  }
  std::erase_if(entries_, [&](const Entry& entry) {
    return std::ranges::find(players, entry.peer, &depot::Player::peer) == players.end();
  });
}

void PressLog::write(JsonWriter& json) {
  json.key("presses").begin_array();
  for (Entry& entry : entries_) {
    if (entry.applied_tick == 0 || entry.is_written) continue;
    entry.is_written = true;
    json.begin_object();
    json.member("peer", entry.peer);
    json.member("id", entry.marker.press_id);
    json.member("arrived_ms", entry.arrived_ms);
    json.member("applied_tick", entry.applied_tick);
    json.member("applied_ms", entry.applied_ms);
    json.end_object();
  }
  json.end_array();
}

}  // namespace app
