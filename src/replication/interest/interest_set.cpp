// See interest_set.h.
#include "replication/interest/interest_set.h"

#include <algorithm>
#include <cmath>

#include "base/assert.h"
#include "base/compiler.h"
#include "replication/slot_index.h"

namespace lattice::replication {

using base::Tick;

namespace {

/// Between two evaluations among moving objects. More allocate once, up to kMaxHints.
constexpr size_t kUsualHints = 32;
/// Within InterestSet::Config::stay_ticks. More allocate, until they have left the list.
constexpr size_t kUsualArrivals = 24;
/// A jump changes a set no more than a way of so many radii.
constexpr double kJumpRadii = 2.0;
/// What else moves the borders of a client, such as a change of its room, never counts as more.
constexpr double kMostRadii = kFollowAtOnce + kJumpRadii;

// An object that changes its root may enter with the new one and leave with the old one, or the other way
// round, in one evaluation. That is no news. Both lists ascend.
void cancel_common(std::vector<uint32_t>* a, std::vector<uint32_t>* b) {
  size_t kept_a = 0;
  size_t kept_b = 0;
  size_t j = 0;
  for (size_t i = 0; i < a->size(); ++i) {
    while (j < b->size() && (*b)[j] < (*a)[i]) (*b)[kept_b++] = (*b)[j++];
    if (j < b->size() && (*b)[j] == (*a)[i]) {
      ++j;
    } else {
      (*a)[kept_a++] = (*a)[i];
    }
  }
  while (j < b->size()) (*b)[kept_b++] = (*b)[j++];
  a->resize(kept_a);
  b->resize(kept_b);
}

}  // namespace

struct InterestSet::Pass {
  const InterestObjects& objects;
  Tick tick;
  InterestFilter* filter;
  InterestScratch& scratch;
  uint32_t filtered = 0;  // filtered objects met so far
};

InterestSet::InterestSet(const Config& config) : config_(config) {
  LATTICE_ASSERT(config_.leave_radius >= config_.enter_radius && config_.follow_ticks < 1000);
  hints_.reserve(kUsualHints);
  arrivals_.reserve(kUsualArrivals);
}

void InterestSet::hint(uint32_t slot) {
  if (hints_.size() < kMaxHints) {
    hints_.push_back(slot);
  } else {
    hints_lost_ = true;
  }
}

InterestSet::Changes InterestSet::evaluate(const InterestObjects& objects, const Viewer& viewer, Tick tick,
                                           InterestFilter* filter, InterestScratch* scratch) {
  LATTICE_ASSERT(viewer.room != kRoomAll);
  scratch->entered.clear();
  scratch->left.clear();
  Pass pass{objects, tick, filter, *scratch};
  if (!read_before_) first_tick_ = tick;
  end_arrivals(pass);
  const bool everything = must_read_everything(objects, viewer);
  const Place from = viewer_.place;
  const bool moved = has_moved(objects, viewer, tick);
  viewer_ = viewer;
  if (!everything && !moved) viewer_.place = from;
  if (read_before_) note_follow(from, tick);
  if (everything) {
    read_everything(pass);
  } else {
    read_news(pass);
    if (moved) follow_viewer(pass, from);
    if (filter != nullptr && objects.any_filtered()) ask_filter(pass);
  }
  drop_rootless(pass);
  hints_.clear();
  hints_lost_ = false;
  changes_read_ = objects.changes().end();
  filter_from_ = filter_from_ + kMaxFilterCalls < pass.filtered ? filter_from_ + kMaxFilterCalls : 0;
  std::sort(scratch->entered.begin(), scratch->entered.end());
  std::sort(scratch->left.begin(), scratch->left.end());
  note_arrivals(scratch->entered, tick);
  if (!read_before_) members_.reserve(room_for(members_.size()));
  read_before_ = true;
  cancel_common(&scratch->entered, &scratch->left);
  return {scratch->entered, scratch->left};
}

size_t InterestSet::heap_bytes() const {
  return members_.heap_bytes() + hints_.capacity() * sizeof(uint32_t) +
         arrivals_.capacity() * sizeof(Arrival);
}

// --- What to consider

bool InterestSet::has_news(const InterestObjects& objects, const Viewer& viewer, Tick tick,
                           bool asks_filter) const {
  return must_read_everything(objects, viewer) || has_moved(objects, viewer, tick) ||
         changes_read_ != objects.changes().end() || !hints_.empty() || has_stays_to_end(tick) ||
         filter_from_ != 0 || (asks_filter && objects.any_filtered());
}

bool InterestSet::has_moved(const InterestObjects& objects, const Viewer& viewer, Tick tick) const {
  const double slack = objects.slack();
  return viewer.placed && distance_squared(viewer_.place, viewer.place) >= slack * slack && may_follow(tick);
}

// What was followed lasts until followed_until_. A tick beyond kMostRadii is of a time before ticks wrapped.
bool InterestSet::may_follow(Tick tick) const {
  const double ahead = base::tick_distance(followed_until_, tick);
  return ahead <= (kFollowAtOnce - kJumpRadii) * config_.follow_ticks ||
         ahead > kMostRadii * config_.follow_ticks;
}

void InterestSet::note_follow(const Place& from, Tick tick) {
  if (from == viewer_.place || config_.follow_ticks == 0) return;
  const double radii = std::sqrt(distance_squared(from, viewer_.place)) / config_.enter_radius;
  const double ahead = base::tick_distance(followed_until_, tick);
  const double most = kMostRadii * config_.follow_ticks;
  const double used = ahead > 0 && ahead <= most ? ahead : 0;
  const double ticks = used + std::min(radii, kJumpRadii) * config_.follow_ticks;
  followed_until_ = tick + static_cast<Tick>(std::ceil(std::min(ticks, most)));
}

bool InterestSet::must_read_everything(const InterestObjects& objects, const Viewer& viewer) const {
  return !read_before_ || hints_lost_ || viewer.peer != viewer_.peer || viewer.room != viewer_.room ||
         viewer.teams != viewer_.teams || viewer.placed != viewer_.placed ||
         !objects.changes().holds(changes_read_);
}

void InterestSet::read_everything(Pass& pass) {
  const auto visit = [&](uint32_t slot) { consider(pass, slot); };
  consider_members(pass, true);
  pass.objects.for_each_owned(viewer_.peer, visit);
  for (const uint16_t room : {viewer_.room, kRoomAll}) {
    pass.objects.for_each_pinned(room, false, visit);
    pass.objects.for_each_pinned(room, true, visit);
  }
  query(pass, 0, config_.enter_radius);
  for (const Found& found : pass.scratch.found) visit(found.slot);
  // What hangs on a root that stays may be visible now.
  std::vector<uint32_t>& members = pass.scratch.members;
  members.clear();
  members_.for_each([&](const InterestMember& member) { members.push_back(member.slot); });
  for (const uint32_t slot : members) enter_attached(pass, slot);
}

// Considers those that are members now, unless they leave with another one before their turn.
void InterestSet::consider_members(Pass& pass, bool with_stays) {
  std::vector<uint32_t>& members = pass.scratch.members;
  members.clear();
  members_.for_each([&](const InterestMember& member) {
    if (with_stays || !member.stays) members.push_back(member.slot);
  });
  for (const uint32_t slot : members) {
    if (contains(slot)) consider(pass, slot);
  }
}

void InterestSet::read_news(Pass& pass) {
  const RuleChanges& changes = pass.objects.changes();
  for (uint64_t number = changes_read_; number < changes.end(); ++number) consider(pass, changes.at(number));
  for (const uint32_t slot : hints_) consider(pass, slot);
  for (const uint32_t slot : pass.scratch.waiting) consider(pass, slot);
}

// The game may change its mind about an object without a word.
void InterestSet::ask_filter(Pass& pass) {
  for (const uint16_t room : {viewer_.room, kRoomAll}) {
    pass.objects.for_each_pinned(room, true, [&](uint32_t slot) { consider(pass, slot); });
  }
  query(pass, 0, config_.leave_radius);
  pass.scratch.waiting.clear();
  if (staying_ != 0) {
    members_.for_each([&](const InterestMember& member) {
      if (member.stays) pass.scratch.waiting.push_back(member.slot);
    });
  }
  for (const Found& found : pass.scratch.found) pass.scratch.waiting.push_back(found.slot);
  for (const uint32_t slot : pass.scratch.waiting) {
    if (pass.objects.live(slot) && pass.objects.rule(slot).filtered) consider(pass, slot);
  }
}

// Considers what crossed a border because the viewer moved. Every border of the client lies around the
// viewer's place of the last evaluation, so what was not near one of the two places has crossed nothing.
void InterestSet::follow_viewer(Pass& pass, const Place& from) {
  const double leave_squared = config_.leave_radius * config_.leave_radius;
  const double enter_squared = config_.enter_radius * config_.enter_radius;
  const double moved = std::sqrt(distance_squared(from, viewer_.place));
  if (moved > config_.enter_radius) {  // the two regions have little in common
    consider_members(pass, false);     // who stays, stays wherever the viewer is
    query(pass, 0, config_.enter_radius);
    for (const Found& found : pass.scratch.found) consider(pass, found.slot);
    return;
  }
  query(pass, config_.enter_radius - moved, config_.leave_radius + moved);
  const std::vector<Found>& all = pass.scratch.found;
  for (size_t i = 0; i < all.size(); ++i) {
    constexpr size_t kAhead = 6;
    if (i + kAhead < all.size()) base::prefetch(&pass.objects.place(all[i + kAhead].slot));
    const Found& found = all[i];
    const Place& place = pass.objects.place(found.slot);
    const double before = distance_squared(place, from);
    const double now = distance_squared(place, viewer_.place);
    const bool enters = now <= enter_squared && before > enter_squared;
    const bool leaves = now > leave_squared && before <= leave_squared;
    if (enters || leaves) consider(pass, found.slot);
  }
}

// Fills scratch.found with what may lie between the two distances, and with a little more: the index computes
// with floats.
void InterestSet::query(Pass& pass, double inner, double outer) {
  pass.scratch.found.clear();
  if (pass.objects.index() == nullptr || !viewer_.placed) return;
  const SpatialIndex& index = *pass.objects.index();
  const double margin = outer * 0.001;
  const Shell shell{viewer_.place, std::max(inner - margin, 0.0), outer + margin};
  index.query(viewer_.room, shell, &pass.scratch.found, &pass.scratch.work);
  if (pass.objects.any_in_all_rooms()) {
    index.query(kRoomAll, shell, &pass.scratch.found, &pass.scratch.work);
  }
}

// --- One object

void InterestSet::consider(Pass& pass, uint32_t slot) {
  ++pass.scratch.considered;
  InterestMember* member = members_.find(slot);
  const bool live = pass.objects.live(slot);
  const auto is_former = [&] {
    return member->generation != pass.objects.generation(slot) % InterestMember::kGenerations;
  };
  if (member != nullptr && (!live || is_former())) {
    remove_member(*member);
    member = nullptr;
  }
  if (!live) return;
  const InterestObjects::Verdict verdict = pass.objects.judge(slot, viewer_);
  if (verdict.allowed && !verdict.owned && verdict.root != slot) {
    consider_attached(pass, slot, verdict.root);
    return;
  }
  if (wanted(pass, verdict, slot, member)) {
    const Hold hold = verdict.pinned ? Hold::kPinned : Hold::kDistance;
    if (member != nullptr) {
      member->hold = hold;
    } else {
      enter(pass, slot, hold);
    }
  } else if (member != nullptr) {
    leave(pass, slot);
  }
}

// The root may enter or leave later in this evaluation, so a member whose root is missing waits for
// drop_rootless().
void InterestSet::consider_attached(Pass& pass, uint32_t slot, uint32_t root) {
  if (InterestMember* member = members_.find(slot)) {
    member->hold = Hold::kAttached;
    pass.scratch.rootless.push_back(slot);
  } else if (members_.find(root) != nullptr) {
    enter(pass, slot, Hold::kAttached);
  }
}

bool InterestSet::wanted(Pass& pass, const InterestObjects::Verdict& verdict, uint32_t slot,
                         InterestMember* member) {
  if (!verdict.allowed) return false;
  if (verdict.owned) return true;
  if (!verdict.pinned) {
    if (!viewer_.placed) return false;
    const double squared = distance_squared(pass.objects.place(slot), viewer_.place);
    const double radius = member != nullptr ? config_.leave_radius : config_.enter_radius;
    if (squared > radius * radius && (member == nullptr || !stays(*member))) return false;
  }
  return admits(pass, slot, member != nullptr);
}

// True while a member that is too far away has not been in the set for long enough.
bool InterestSet::stays(InterestMember& member) {
  if (member.recent && !member.stays) ++staying_;
  member.stays = member.recent;
  return member.recent;
}

bool InterestSet::first_arrival_ends(Tick tick) const {
  return arrivals() > kMaxArrivals || (arrivals() != 0 && is_over(arrivals_[arrivals_over_].tick, tick));
}

// Fills scratch.waiting with the members that may leave from now on, of those that stayed in spite of the
// distance.
void InterestSet::end_arrivals(Pass& pass) {
  pass.scratch.waiting.clear();
  if (!first_is_over_ && read_before_ && is_over(first_tick_, pass.tick)) end_first_arrivals(pass);
  for (; first_arrival_ends(pass.tick); ++arrivals_over_) {
    InterestMember* member = members_.find(arrivals_[arrivals_over_].slot);
    LATTICE_ASSERT(member != nullptr && member->recent);
    end_arrival(pass, *member);
  }
}

// Those of the first evaluation are the recent members without an arrival.
void InterestSet::end_first_arrivals(Pass& pass) {
  first_is_over_ = true;
  const auto later = std::span(arrivals_).subspan(arrivals_over_);
  for (const Arrival& arrival : later) members_.find(arrival.slot)->recent = false;
  members_.for_each([&](InterestMember& member) {
    if (member.recent) end_arrival(pass, member);
  });
  for (const Arrival& arrival : later) members_.find(arrival.slot)->recent = true;
}

void InterestSet::end_arrival(Pass& pass, InterestMember& member) {
  member.recent = false;
  if (!member.stays) return;
  member.stays = false;
  --staying_;
  pass.scratch.waiting.push_back(member.slot);
}

// Keeps what entered as arrivals of the tick.
void InterestSet::note_arrivals(std::span<const uint32_t> entered, Tick tick) {
  if (arrivals_gone_) forget_gone_arrivals();
  fit_arrivals();
  if (config_.stay_ticks == 0) return;
  if (read_before_) entered = entered.last(std::min(entered.size(), kMaxArrivals));
  for (const uint32_t slot : entered) {
    InterestMember* member = members_.find(slot);
    if (member == nullptr || member->recent) continue;  // it left again, or entered twice
    member->recent = true;
    if (!read_before_) continue;
    reserve_one(arrivals_);
    arrivals_.push_back({slot, tick});
  }
}

// Who entered in this evaluation is not recent yet.
void InterestSet::forget_gone_arrivals() {
  arrivals_gone_ = false;
  const auto is_gone = [this](const Arrival& arrival) {
    const InterestMember* member = members_.find(arrival.slot);
    return member == nullptr || !member->recent;
  };
  const auto first = arrivals_.begin() + static_cast<ptrdiff_t>(arrivals_over_);
  arrivals_.erase(std::remove_if(first, arrivals_.end(), is_gone), arrivals_.end());
}

// Drops what is over, and memory that a moment needed when much came at once.
void InterestSet::fit_arrivals() {
  const size_t count = arrivals();
  const bool is_roomy = arrivals_.capacity() > 2 * kUsualArrivals && 8 * count < arrivals_.capacity();
  if (!is_roomy && arrivals_over_ <= count) return;
  arrivals_.erase(arrivals_.begin(), arrivals_.begin() + static_cast<ptrdiff_t>(arrivals_over_));
  arrivals_over_ = 0;
  if (!is_roomy) return;
  std::vector<Arrival> fewer;
  fewer.reserve(std::max(2 * count, kUsualArrivals));
  fewer.assign(arrivals_.begin(), arrivals_.end());
  arrivals_.swap(fewer);
}

bool InterestSet::admits(Pass& pass, uint32_t slot, bool present) {
  if (pass.filter == nullptr || !pass.objects.rule(slot).filtered) return true;
  const uint32_t number = pass.filtered++;
  if (number < filter_from_ || number >= filter_from_ + kMaxFilterCalls) return present;
  return pass.filter->relevant(viewer_, slot);
}

void InterestSet::drop_rootless(Pass& pass) {
  for (const uint32_t slot : pass.scratch.rootless) {
    const InterestMember* member = members_.find(slot);
    if (member == nullptr || member->hold != Hold::kAttached) continue;
    if (members_.find(pass.objects.root(slot)) == nullptr) leave(pass, slot);
  }
  pass.scratch.rootless.clear();
}

// --- Members

void InterestSet::enter(Pass& pass, uint32_t slot, Hold hold) {
  add_member(pass, slot, hold);
  enter_attached(pass, slot);
}

void InterestSet::enter_attached(Pass& pass, uint32_t slot) {
  pass.objects.for_each_attached(slot, [&](uint32_t child) {
    if (members_.find(child) == nullptr && pass.objects.judge(child, viewer_).allowed) {
      add_member(pass, child, Hold::kAttached);
    }
  });
}

void InterestSet::add_member(Pass& pass, uint32_t slot, Hold hold) {
  InterestMember& member = members_.add(slot, hold);
  member.generation = pass.objects.generation(slot) % InterestMember::kGenerations;
  pass.scratch.entered.push_back(slot);
}

// What hangs on the object leaves with it, unless the client owns it.
void InterestSet::leave(Pass& pass, uint32_t slot) {
  remove_member(*members_.find(slot));
  pass.scratch.left.push_back(slot);
  pass.objects.for_each_attached(slot, [&](uint32_t child) {
    const InterestMember* member = members_.find(child);
    if (member == nullptr || pass.objects.judge(child, viewer_).owned) return;
    remove_member(*member);
    pass.scratch.left.push_back(child);
  });
}

void InterestSet::remove_member(const InterestMember& member) {
  arrivals_gone_ = arrivals_gone_ || member.recent;
  staying_ -= member.stays ? 1 : 0;
  members_.remove(member.slot);
}

}  // namespace lattice::replication
