// The scenes of the replication bench in which clients see a part of the world.
#pragma once

#include <cstdint>
#include <string>

#include "registry.h"
#include "replication_run.h"
#include "replication_search.h"

namespace bench {

class InterestScenes {
 public:
  InterestScenes(const ReplicationPlan& plan, bool quick, Report& report);

  /// Runs each scene once. "" or one sentence of cause and one of action.
  std::string repetition();

 private:
  struct Amounts {
    uint32_t first_clients, least_clients, most_clients;
    uint32_t objects, in_set;            // open world
    uint32_t few_clients, more_clients;  // state per client
    uint32_t resting, resting_in_set, spectators;
    uint32_t rooms, room_players;
    double search_window_s, search_warmup_s;
  };
  static const Amounts kAmounts, kQuickAmounts;

  SceneResult open_world(uint32_t clients, double warmup_s, double window_s) const;
  bool carries(uint32_t clients);
  std::string open_clients();
  std::string state_per_client();
  std::string resting();
  std::string rooms();

  const ReplicationPlan& plan_;
  Report& report_;
  const Amounts& amounts_;
  LargestCrowd search_;
  SceneResult carried_;  // of the largest open world that was carried
};

}  // namespace bench
