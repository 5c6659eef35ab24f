// See interest_hub.h.
#include "world/interest_hub.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "lattice/schema.h"
#include "serialization/layout.h"

namespace lattice::world {

using replication::kNoSlot;
using replication::Place;
using serialization::MotionMember;

namespace {

/// So fast the borders of a client follow its viewer, in radii: faster than a player moves who is to see what
/// is around.
constexpr uint32_t kFollowedRadiiPerS = 8;

replication::Interest::Config interest_config(const InterestConfig& config, uint32_t tick_rate_hz,
                                              uint32_t snapshot_interval_ticks) {
  replication::Interest::Config out;
  out.objects.kind = config.kind;
  out.objects.cell = config.cell;
  out.set.enter_radius = config.enter_radius;
  out.set.leave_radius = config.leave_radius;
  out.set.stay_ticks = static_cast<Tick>((uint64_t{config.stay_ms} * tick_rate_hz + 999) / 1000);
  out.set.follow_ticks = tick_rate_hz / kFollowedRadiiPerS;
  out.rates.near_radius = config.near_radius;
  out.rates.far_radius = config.enter_radius;
  out.rates.near_ticks = out.rates.far_ticks = snapshot_interval_ticks;
  if (config.far_rate_hz != 0) {
    out.rates.far_ticks = std::max(snapshot_interval_ticks, tick_rate_hz / config.far_rate_hz);
  }
  return out;
}

/// The member of a type that says where its objects are, or null.
const MotionMember* position_of(const replication::ObjectType& type) {
  for (const MotionMember& member : type.layout->motion()) {
    if (member.role == MotionMember::Role::kPosition) return &member;
  }
  return nullptr;
}

/// The first three components of a position in host memory; those that it has not are 0.
Place read_place(const MotionMember& member, const void* const* host) {
  const auto* at = static_cast<const std::byte*>(host[member.behaviour]) + member.host_offset;
  double axes[3] = {};
  for (uint32_t i = 0; i < 3 && i < member.component_count; ++i) {
    if (member.is_double) {
      std::memcpy(&axes[i], at + i * sizeof(double), sizeof(double));
    } else {
      float axis;
      std::memcpy(&axis, at + i * sizeof(float), sizeof(float));
      axes[i] = axis;
    }
  }
  return {axes[0], axes[1], axes[2]};
}

}  // namespace

InterestHub::InterestHub(const InterestConfig& config, uint32_t tick_rate_hz,
                         uint32_t snapshot_interval_ticks, const replication::ObjectTable& table,
                         Observer& observer)
    : table_(table),
      observer_(observer),
      interest_(interest_config(config, tick_rate_hz, snapshot_interval_ticks)) {}

// --- Objects

void InterestHub::spawned(uint32_t slot, bool always_relevant) {
  const replication::ObjectInfo& info = table_.info(slot);
  replication::InterestRule rule;
  if (always_relevant) rule.relevance = replication::Relevance::kAlways;
  interest_.objects().add(slot, rule, info.owner);
  if (slot >= named_.size()) named_.resize(size_t{slot} + 1);
  named_[slot] = false;
  follow(slot);
}

void InterestHub::removed(uint32_t slot) {
  interest_.objects().remove(slot);
}

void InterestHub::follow(uint32_t slot) {
  if (named_[slot]) return;
  const MotionMember* member = position_of(*table_.info(slot).type);
  if (member != nullptr) interest_.objects().set_place(slot, read_place(*member, table_.host(slot)));
}

void InterestHub::set_rule(uint32_t slot, const replication::InterestRule& rule) {
  interest_.objects().set_rule(slot, rule);
}

bool InterestHub::set_place(uint32_t slot, const Place& place) {
  if (!interest_.objects().set_place(slot, place)) return false;
  named_[slot] = true;
  return true;
}

replication::AttachResult InterestHub::attach(uint32_t slot, uint32_t parent) {
  if (parent != kNoSlot) return interest_.objects().attach(slot, parent);
  interest_.objects().detach(slot);
  return replication::AttachResult::kOk;
}

// --- Clients

void InterestHub::joined(ConnectionHandle connection, uint64_t peer) {
  if (connection.slot >= clients_.size()) clients_.resize(size_t{connection.slot} + 1);
  Client& client = clients_[connection.slot];
  client = Client{};
  client.connection = connection;
  client.viewer.peer = peer;
  interest_.add_client(connection.slot);
}

void InterestHub::left(ConnectionHandle connection) {
  interest_.remove_client(connection.slot);
  clients_[connection.slot] = Client{};
}

bool InterestHub::set_viewer(ConnectionHandle connection, const ViewerChoice& choice) {
  if (connection.slot >= clients_.size() || clients_[connection.slot].connection != connection) return false;
  Client& client = clients_[connection.slot];
  client.choice = choice;
  if (choice.kind == ViewerChoice::Kind::kObject) {
    // The object may be gone before the client's set is looked at.
    if (const uint32_t eye = eye_of(client); eye != kNoSlot) follow(interest_.objects().root(eye));
    aim(client);
  }
  return true;
}

/// The object that the client looks from, or kNoSlot.
uint32_t InterestHub::eye_of(const Client& client) const {
  if (client.choice.kind == ViewerChoice::Kind::kObject) return table_.find(client.choice.object);
  uint32_t first = kNoSlot;
  interest_.objects().for_each_owned(client.viewer.peer, [&](uint32_t slot) {
    if (!interest_.objects().placed(slot)) return;
    if (first == kNoSlot || table_.network_id(slot) < table_.network_id(first)) first = slot;
  });
  return first;
}

void InterestHub::aim(Client& client) {
  client.viewer.room = client.choice.room;
  client.viewer.teams = client.choice.teams;
  if (client.choice.kind == ViewerChoice::Kind::kPoint) {
    client.viewer.placed = true;
    client.viewer.place = client.choice.point;
    return;
  }
  const uint32_t eye = client.eye = eye_of(client);
  if (eye == kNoSlot) return;
  const uint32_t root = interest_.objects().root(eye);  // who sits in a car looks from the car
  const uint32_t from = interest_.objects().placed(root) ? root : eye;
  if (!interest_.objects().placed(from)) return;
  client.viewer.placed = true;
  client.viewer.place = interest_.objects().place(from);
}

bool InterestHub::allows(ConnectionHandle connection, uint32_t slot) const {
  const Client& client = clients_[connection.slot];
  replication::Viewer viewer = client.viewer;
  viewer.room = client.choice.room;
  viewer.teams = client.choice.teams;
  return interest_.objects().judge(slot, viewer).allowed;
}

bool InterestHub::has_news(ConnectionHandle connection, Tick tick) {
  Client& client = clients_[connection.slot];
  aim(client);
  return interest_.has_news(connection.slot, client.viewer, tick, true);
}

replication::InterestSet::Changes InterestHub::evaluate(ConnectionHandle connection, Tick tick) {
  Client& client = clients_[connection.slot];
  aim(client);
  asking_ = connection;
  return interest_.evaluate(connection.slot, client.viewer, tick, this);
}

InterestHub::Sight InterestHub::sight(ConnectionHandle connection, uint32_t slot) const {
  const replication::InterestObjects& objects = interest_.objects();
  const replication::InterestSet& set = interest_.set(connection.slot);
  Sight sight{objects.judge(slot, set.viewer()), set.viewer(), objects.root(slot)};
  sight.has_root = set.contains(sight.root);
  if (sight.viewer.placed && objects.placed(sight.root)) {
    sight.distance = std::sqrt(distance_squared(objects.place(sight.root), sight.viewer.place));
  }
  if (sight.verdict.allowed && !sight.verdict.pinned) {
    sight.border = set.contains(slot) ? set.config().leave_radius : set.config().enter_radius;
  }
  return sight;
}

bool InterestHub::relevant(const replication::Viewer&, uint32_t slot) {
  is_asking_ = true;
  const bool relevant = observer_.on_relevant(asking_, table_.network_id(slot));
  is_asking_ = false;
  return relevant;
}

}  // namespace lattice::world
