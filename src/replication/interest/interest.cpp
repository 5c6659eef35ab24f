// See interest.h.
#include "replication/interest/interest.h"

#include <algorithm>
#include <cmath>

#include "base/assert.h"

namespace lattice::replication {

Interest::Interest(const Config& config)
    : config_(config), objects_(config.objects, this), watch_index_(config.objects.cell) {}

void Interest::add_client(uint32_t client) {
  if (client >= watches_.size()) watches_.resize(size_t{client} + 1);
  LATTICE_ASSERT(!watches_[client].set);
  watches_[client].set = std::make_unique<InterestSet>(config_.set);
}

void Interest::remove_client(uint32_t client) {
  LATTICE_ASSERT(watches_[client].set);
  if (watches_[client].placed) watch_index_.remove(client);
  watches_[client] = Watch{};
}

InterestSet::Changes Interest::evaluate(uint32_t client, const Viewer& viewer, base::Tick tick,
                                        InterestFilter* filter) {
  if (!has_news(client, viewer, tick, filter != nullptr)) return {};
  const InterestSet::Changes changes =
      watches_[client].set->evaluate(objects_, viewer, tick, filter, &scratch_);
  watch(client);
  return changes;
}

// Moves the client in the index to where its borders are.
void Interest::watch(uint32_t client) {
  Watch& watch = watches_[client];
  const Viewer& viewer = watch.set->viewer();
  if (watch.placed && viewer.placed && watch.room == viewer.room) {
    if (watch.place == viewer.place) return;
    watch.place = viewer.place;
    watch_index_.move(client, viewer.place);
    return;
  }
  if (watch.placed) watch_index_.remove(client);
  watch.placed = viewer.placed;
  watch.room = viewer.room;
  watch.place = viewer.place;
  if (watch.placed) watch_index_.insert(client, watch.room, watch.place);
}

void Interest::on_moved(uint32_t slot, uint16_t room, const Place& from, const Place& to) {
  if (room == kRoomAll) {
    for (Watch& watch : watches_) {
      if (watch.placed) tell(watch, slot, from, to);
    }
    return;
  }
  const double moved = std::sqrt(distance_squared(from, to));
  // Only a client whose distance passes one of the two radii has news. A little more, for the index has
  // floats.
  const double margin = config_.set.leave_radius * 0.001;
  const double inner = config_.set.enter_radius - margin;
  const double outer = config_.set.leave_radius + margin;
  nearby_.clear();
  if (moved < config_.set.enter_radius) {
    const Shell shell{to, std::max(inner - moved, 0.0), outer + moved};
    watch_index_.query(room, shell, &nearby_, &scratch_.work);
  } else {
    watch_index_.query(room, {from, 0, outer}, &nearby_, &scratch_.work);
    watch_index_.query(room, {to, 0, outer}, &nearby_, &scratch_.work);
  }
  for (const Found& client : nearby_) tell(watches_[client.slot], slot, from, to);
}

void Interest::tell(Watch& watch, uint32_t slot, const Place& from, const Place& to) {
  ++watched_;
  const double enter_squared = config_.set.enter_radius * config_.set.enter_radius;
  const double leave_squared = config_.set.leave_radius * config_.set.leave_radius;
  const double before = distance_squared(from, watch.place);
  const double now = distance_squared(to, watch.place);
  const bool enters = now <= enter_squared && before > enter_squared;
  const bool leaves = now > leave_squared && before <= leave_squared;
  if (enters || leaves) watch.set->hint(slot);
}

std::optional<double> Interest::distance(uint32_t client, uint32_t root) const {
  const Viewer& viewer = watches_[client].set->viewer();
  if (!viewer.placed || !objects_.placed(root)) return std::nullopt;
  return std::sqrt(distance_squared(objects_.place(root), viewer.place));
}

bool Interest::has_full_rate(uint32_t slot) const {
  for (; slot != InterestObjects::kNone; slot = objects_.parent(slot)) {
    if (objects_.rule(slot).full_rate) return true;
  }
  return false;
}

uint32_t Interest::interval_ticks(double distance) const {
  const Rates& rates = config_.rates;
  if (distance <= rates.near_radius) return rates.near_ticks;
  if (distance >= rates.far_radius) return rates.far_ticks;
  const double share = (distance - rates.near_radius) / (rates.far_radius - rates.near_radius);
  return rates.near_ticks + static_cast<uint32_t>(share * (rates.far_ticks - rates.near_ticks));
}

void Interest::terms(uint32_t client, uint32_t slot, bool with_nearness, SendTerms* out) const {
  if (common_terms(out) && !with_nearness) return;  // with no look at the object
  const uint32_t root = objects_.root(slot);
  const bool slowed = slows() && !has_full_rate(slot);
  const double far = with_nearness || slowed ? distance(client, root).value_or(0) : 0;
  if (with_nearness) out->nearness = static_cast<float>(1.0 / (1.0 + far / config_.objects.cell));
  if (slowed) out->interval_ticks = interval_ticks(far);
  if (objects_.in_group(slot)) out->group = root;
}

}  // namespace lattice::replication
