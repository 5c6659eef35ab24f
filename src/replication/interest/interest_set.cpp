// See interest_set.h.
#include "replication/interest/interest_set.h"

#include <algorithm>
#include <cmath>

#include "base/assert.h"
#include "replication/slot_index.h"

namespace lattice::replication {

using base::Tick;

namespace {

/// Between two evaluations among moving objects. More allocate once, up to kMaxHints.
constexpr size_t kUsualHints = 32;
constexpr size_t kUsualStays = 8;
/// Within InterestSet::Config::stay_ticks. More allocate, until they have left the list.
constexpr size_t kUsualArrivals = 24;

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
  LATTICE_ASSERT(config_.leave_radius >= config_.enter_radius);
  hints_.reserve(kUsualHints);
  stays_.reserve(kUsualStays);
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
  forget_arrivals(tick);
  const bool everything = must_read_everything(objects, viewer);
  const Place from = viewer_.place;
  const bool moved = has_moved(objects, viewer);
  viewer_ = viewer;
  if (!everything && !moved) viewer_.place = from;
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
  if (read_before_) {
    note_arrivals(scratch->entered, tick);
  } else {
    members_.reserve(room_for(members_.size()));
  }
  read_before_ = true;
  cancel_common(&scratch->entered, &scratch->left);
  return {scratch->entered, scratch->left};
}

size_t InterestSet::heap_bytes() const {
  return members_.heap_bytes() + (hints_.capacity() + stays_.capacity()) * sizeof(uint32_t) +
         arrivals_.capacity() * sizeof(Arrival);
}

// --- What to consider

bool InterestSet::has_news(const InterestObjects& objects, const Viewer& viewer, Tick tick,
                           bool asks_filter) const {
  return must_read_everything(objects, viewer) || has_moved(objects, viewer) ||
         changes_read_ != objects.changes().end() || !hints_.empty() || has_stays_to_end(tick) ||
         filter_from_ != 0 || (asks_filter && objects.any_filtered());
}

bool InterestSet::has_moved(const InterestObjects& objects, const Viewer& viewer) const {
  const double slack = objects.slack();
  return viewer.placed && distance_squared(viewer_.place, viewer.place) >= slack * slack;
}

bool InterestSet::must_read_everything(const InterestObjects& objects, const Viewer& viewer) const {
  return !read_before_ || hints_lost_ || viewer.peer != viewer_.peer || viewer.room != viewer_.room ||
         viewer.teams != viewer_.teams || viewer.placed != viewer_.placed ||
         !objects.changes().holds(changes_read_);
}

void InterestSet::read_everything(Pass& pass) {
  const auto visit = [&](uint32_t slot) { consider(pass, slot); };
  consider_members(pass);
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
  members_.for_each([&](uint32_t slot) { members.push_back(slot); });
  for (const uint32_t slot : members) enter_attached(pass, slot);
}

// Considers those that are members now, unless they leave with another one before their turn.
void InterestSet::consider_members(Pass& pass) {
  std::vector<uint32_t>& members = pass.scratch.members;
  members.clear();
  members_.for_each([&](uint32_t slot) { members.push_back(slot); });
  for (const uint32_t slot : members) {
    if (contains(slot)) consider(pass, slot);
  }
}

void InterestSet::read_news(Pass& pass) {
  const RuleChanges& changes = pass.objects.changes();
  for (uint64_t number = changes_read_; number < changes.end(); ++number) consider(pass, changes.at(number));
  for (const uint32_t slot : hints_) consider(pass, slot);
  if (!has_stays_to_end(pass.tick)) return;
  pass.scratch.waiting.assign(stays_.begin(), stays_.end());
  stays_.clear();
  for (const uint32_t slot : pass.scratch.waiting) {
    if (InterestMember* member = members_.find(slot)) member->stays = false;
  }
  for (const uint32_t slot : pass.scratch.waiting) consider(pass, slot);
}

// The game may change its mind about an object without a word.
void InterestSet::ask_filter(Pass& pass) {
  for (const uint16_t room : {viewer_.room, kRoomAll}) {
    pass.objects.for_each_pinned(room, true, [&](uint32_t slot) { consider(pass, slot); });
  }
  query(pass, 0, config_.leave_radius);
  pass.scratch.waiting.assign(stays_.begin(), stays_.end());
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
    consider_members(pass);
    query(pass, 0, config_.enter_radius);
    for (const Found& found : pass.scratch.found) consider(pass, found.slot);
    return;
  }
  query(pass, config_.enter_radius - moved, config_.leave_radius + moved);
  for (const Found& found : pass.scratch.found) {
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
    members_.remove(slot);
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
    if (squared > radius * radius && (member == nullptr || !stays(pass, slot, *member))) return false;
  }
  return admits(pass, slot, member != nullptr);
}

// True while a member that is too far away has not been in the set for long enough.
bool InterestSet::stays(Pass& pass, uint32_t slot, InterestMember& member) {
  const std::optional<Tick> arrival = arrival_of(pass, slot);
  if (!arrival) return false;
  const Tick ends = *arrival + config_.stay_ticks;
  if (!member.stays) {
    member.stays = true;
    stay_ends_ = stays_.empty() ? ends : std::min(stay_ends_, ends);
    stays_.push_back(slot);
  }
  return true;
}

void InterestSet::forget_arrivals(Tick tick) {
  const auto is_over = [&](Tick since) { return tick - since >= config_.stay_ticks; };
  first_is_over_ = first_is_over_ || is_over(first_tick_);
  const auto first = std::find_if(arrivals_.begin(), arrivals_.end(),
                                  [&](const Arrival& arrival) { return !is_over(arrival.tick); });
  arrivals_.erase(arrivals_.begin(), first);
  if (!arrivals_.empty() || arrivals_.capacity() <= 2 * kUsualArrivals) return;
  std::vector<Arrival>().swap(arrivals_);  // many came at once
  arrivals_.reserve(kUsualArrivals);
}

// Keeps what entered as arrivals of the tick.
void InterestSet::note_arrivals(std::span<const uint32_t> entered, Tick tick) {
  if (config_.stay_ticks == 0) return;
  for (const uint32_t slot : entered) {
    reserve_one(arrivals_);
    arrivals_.push_back({slot, tick});
  }
  const auto before = [](const Arrival& a, const Arrival& b) { return a.slot < b.slot; };
  std::sort(arrivals_.begin() + first_of(tick, arrivals_.size()), arrivals_.end(), before);
}

/// Where the arrivals of a tick begin that end at `end`.
std::ptrdiff_t InterestSet::first_of(Tick tick, size_t end) const {
  const auto is_other = [tick](const Arrival& arrival) { return arrival.tick != tick; };
  return std::partition_point(arrivals_.begin(), arrivals_.begin() + static_cast<std::ptrdiff_t>(end),
                              is_other) -
         arrivals_.begin();
}

// When a member came, unless that is long ago.
std::optional<Tick> InterestSet::arrival_of(const Pass& pass, uint32_t slot) const {
  const std::vector<uint32_t>& entered = pass.scratch.entered;
  if (std::find(entered.begin(), entered.end(), slot) != entered.end()) return pass.tick;
  const auto before = [](const Arrival& arrival, uint32_t other) { return arrival.slot < other; };
  for (size_t end = arrivals_.size(); end != 0;) {
    const Tick tick = arrivals_[end - 1].tick;
    const std::ptrdiff_t begin = first_of(tick, end);
    const auto last = arrivals_.begin() + static_cast<std::ptrdiff_t>(end);
    const auto found = std::lower_bound(arrivals_.begin() + begin, last, slot, before);
    if (found != last && found->slot == slot) return tick;
    end = static_cast<size_t>(begin);
  }
  if (first_is_over_) return std::nullopt;
  return first_tick_;
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
  members_.remove(slot);
  pass.scratch.left.push_back(slot);
  pass.objects.for_each_attached(slot, [&](uint32_t child) {
    const InterestMember* member = members_.find(child);
    if (member == nullptr || pass.objects.judge(child, viewer_).owned) return;
    members_.remove(child);
    pass.scratch.left.push_back(child);
  });
}

}  // namespace lattice::replication
