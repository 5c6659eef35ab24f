#include "press_trace.h"

#include <algorithm>

#include "press_marker.h"
#include "process.h"

namespace app {

void PressTrace::pressed(uint32_t press_id, double pressed_ms) {
  press_ = {.id = press_id, .pressed_ms = pressed_ms, .heard_ms = unix_time_ms()};
  is_waiting_ = true;
  markers_left_ = 0;
}

void PressTrace::sampled(lattice_conn* conn, uint32_t tick) {
  if (is_waiting_) {
    is_waiting_ = false;
    press_.tick = tick;
    press_.sampled_ms = unix_time_ms();
    markers_left_ = kMarkerTicks;
  }
  if (markers_left_ == 0 || conn == nullptr) return;
  --markers_left_;
  const PressMarkerBytes bytes = encode_press_marker({press_.id, press_.tick});
  lattice_send(conn, LATTICE_CHANNEL_UNRELIABLE, bytes.data(), bytes.size());
}

void PressTrace::ticked(uint32_t tick, bool is_predicting) {
  const bool is_next = press_.tick != 0 && tick == press_.tick + 1;
  if (is_next && is_predicting) press_.predicted_ms = unix_time_ms();
}

bool PressTrace::note_heard(lattice_netid pawn, uint32_t tick) {
  auto entry = std::ranges::find(newest_, pawn, &Seen::pawn);
  if (entry == newest_.end()) entry = std::ranges::find(newest_, lattice_netid{0}, &Seen::pawn);
  // The table is full when there are more players than the demo ever has: the first ones are followed.
  if (entry == newest_.end() || entry->tick == tick) return false;
  entry->pawn = pawn;
  entry->tick = tick;
  return true;
}

void PressTrace::watch(depot::Game& game, double drawn_tick) {
  const double now_ms = unix_time_ms();
  for (const auto& pawn : game.scene().pawns) {
    if (pawn.state->is_bot) continue;
    lattice_object_info info{};
    info.struct_size = sizeof info;
    if (lattice_object_get_info(game.world(), pawn.id, &info) != LATTICE_OK) continue;
    newest_heard_tick_ = std::max(newest_heard_tick_, info.confirmed_tick);
    if (seen_.size() < kMaxSeen && note_heard(pawn.id, info.confirmed_tick)) {
      seen_.push_back({pawn.id, info.confirmed_tick, now_ms, 0});
    }
  }
  for (Seen& seen : seen_) {
    if (seen.drawn_ms == 0 && drawn_tick >= static_cast<double>(seen.tick)) seen.drawn_ms = now_ms;
  }
}

void PressTrace::write(JsonWriter& json) {
  if (press_.id != 0) {
    json.key("press").begin_object();
    json.member("id", press_.id);
    json.member("tick", press_.tick);
    json.member("pressed_ms", press_.pressed_ms);
    json.member("heard_ms", press_.heard_ms);
    json.member("sampled_ms", press_.sampled_ms);
    json.member("predicted_ms", press_.predicted_ms);
    json.end_object();
  }
  json.key("seen").begin_array();
  for (const Seen& seen : seen_) {
    if (seen.drawn_ms == 0) continue;
    json.begin_array();
    json.value(seen.pawn);
    json.value(seen.tick);
    json.value(seen.heard_ms);
    json.value(seen.drawn_ms);
    json.end_array();
  }
  json.end_array();
  std::erase_if(seen_, [](const Seen& seen) { return seen.drawn_ms != 0; });
}

}  // namespace app
