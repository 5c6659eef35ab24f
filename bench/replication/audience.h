// Who sees what in the scenes with interest: spectators that look around themselves in a wide world, or
// players in rooms. In the other scenes everybody sees everything.
#pragma once

#include <vector>

#include "lattice/lattice.hpp"
#include "replication/processes.h"

namespace bench {

class Audience {
 public:
  explicit Audience(const EndArguments& arguments) : arguments_(arguments) {}

  /// Turns interest on where the scene has it.
  void set_up(lattice::WorldConfig& config) const;
  /// Says from where a new client looks: from one of the objects that move, several clients from the same
  /// one; from a place of its own where nothing moves; from the room that is not full.
  void seat(const lattice::World& world, lattice::Connection conn, const std::vector<lattice_netid>& moving);
  /// Puts the player of the client that came last into its room.
  void place(const lattice::World& world, lattice_netid player) const;
  /// How many objects a client has, the mean over some clients.
  double mean_set(const lattice::World& world) const;

 private:
  bool is_wide() const { return arguments_.in_set != 0 && arguments_.objects != 0; }
  uint32_t room_of_last() const { return (seated_ - 1) / arguments_.room_players; }
  void look_around(const lattice::World& world, const std::vector<lattice_netid>& moving,
                   lattice_viewer& viewer);

  const EndArguments& arguments_;
  uint32_t seated_ = 0;
  size_t next_moving_ = 0;
  std::vector<lattice::Connection> sample_;
};

}  // namespace bench
