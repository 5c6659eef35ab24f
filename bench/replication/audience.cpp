#include "replication/audience.h"

#include <cmath>
#include <cstdio>
#include <numbers>

#include "replication/scene.h"

namespace bench {
namespace {

constexpr double kEdgeM = (kLastXY + 1) * kStepM;  // of the square on which the objects stand
/// Viewers stay so far from the borders of the square, as a part of its edge: beyond them there is nothing to
/// see.
constexpr double kMargin = 0.12;
constexpr size_t kSampled = 16;

bool is_inside(double x) {
  return x > kMargin * kEdgeM && x < (1 - kMargin) * kEdgeM;
}

/// A place inside the margins; `dice` is 32 random bits.
double inside(uint64_t dice) {
  return kEdgeM * (kMargin + (1 - 2 * kMargin) * static_cast<double>(dice & 0xffffffff) / 0x1p32);
}

}  // namespace

void Audience::set_up(lattice::WorldConfig& config) const {
  if (arguments_.room_players != 0) config.interest_kind = LATTICE_INTEREST_RULES;
  if (!is_wide()) return;
  config.interest_kind = LATTICE_INTEREST_GRID;
  config.interest_radius =
      kEdgeM * std::sqrt(static_cast<double>(arguments_.in_set) / arguments_.objects / std::numbers::pi);
}

void Audience::seat(const lattice::World& world, lattice::Connection conn,
                    const std::vector<lattice_netid>& moving) {
  ++seated_;
  if (sample_.size() < kSampled) sample_.push_back(conn);
  if (arguments_.room_players == 0 && !is_wide()) return;
  lattice_viewer viewer;
  lattice_viewer_init(&viewer);
  if (arguments_.room_players != 0) viewer.room = room_of_last();
  if (is_wide()) look_around(world, moving, viewer);
  if (lattice_conn_set_viewer(conn, &viewer) != LATTICE_OK)
    std::fprintf(stderr, "replication-end: %s\n", lattice_last_error());
}

void Audience::look_around(const lattice::World& world, const std::vector<lattice_netid>& moving,
                           lattice_viewer& viewer) {
  for (size_t tried = 0; tried < moving.size(); ++tried) {
    const lattice_netid id = moving[next_moving_++ % moving.size()];
    const Walker* walker = world.read<Walker>(id);
    if (walker == nullptr || !is_inside(walker->position.x) || !is_inside(walker->position.y)) continue;
    viewer.kind = LATTICE_VIEWER_OBJECT, viewer.object = id;
    return;
  }
  viewer.kind = LATTICE_VIEWER_POINT;
  viewer.x = inside(dice_of(seated_, 1)), viewer.y = inside(dice_of(seated_, 2));
}

void Audience::place(const lattice::World& world, lattice_netid player) const {
  if (arguments_.room_players == 0) return;
  lattice_object_interest interest;
  lattice_object_interest_init(&interest);
  interest.room = room_of_last();
  if (lattice_object_set_interest(world, player, &interest) != LATTICE_OK)
    std::fprintf(stderr, "replication-end: %s\n", lattice_last_error());
}

double Audience::mean_set(const lattice::World& world) const {
  std::vector<lattice_netid> ids(lattice_objects(world, 0, nullptr, 0));
  lattice_objects(world, 0, ids.data(), ids.size());
  double seen = 0;
  for (const lattice::Connection& conn : sample_) {
    for (const lattice_netid id : ids) seen += lattice_conn_has_object(conn, id);
  }
  return sample_.empty() ? 0 : seen / static_cast<double>(sample_.size());
}

}  // namespace bench
