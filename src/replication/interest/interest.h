// Interest management of one world: the objects with their rules, and a set for each client (§15).
//
// An object that moves asks which clients are around it, and tells those whose border it crossed. So a
// movement costs the clients nearby, a client's turn costs what was told it, and neither costs the world.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/compiler.h"
#include "replication/interest/interest_grid.h"
#include "replication/interest/interest_objects.h"
#include "replication/interest/interest_set.h"
#include "replication/send_terms.h"

namespace lattice::replication {

class Interest final : private MovementListener {
 public:
  /// How the rate of an object's states falls with its distance: from `near_ticks` between two states at
  /// near_radius and nearer, in proportion to the distance, to `far_ticks` at far_radius and farther.
  struct Rates {
    double near_radius = 0;
    double far_radius = 64;  // at least near_radius
    uint32_t near_ticks = 1;
    uint32_t far_ticks = 1;  // near_ticks or less: the distance slows nothing
  };
  struct Config {
    InterestObjects::Config objects;
    InterestSet::Config set;
    Rates rates;
  };

  explicit Interest(const Config& config);
  Interest(const Interest&) = delete;
  Interest& operator=(const Interest&) = delete;

  InterestObjects& objects() { return objects_; }
  const InterestObjects& objects() const { return objects_; }

  /// `client` is a small number that no present client has.
  void add_client(uint32_t client);
  void remove_client(uint32_t client);
  /// InterestSet::has_news() for one client.
  bool has_news(uint32_t client, const Viewer& viewer, base::Tick tick, bool asks_filter) const {
    return watches_[client].set->has_news(objects_, viewer, tick, asks_filter);
  }
  /// InterestSet::evaluate() for one client.
  InterestSet::Changes evaluate(uint32_t client, const Viewer& viewer, base::Tick tick,
                                InterestFilter* filter);
  const InterestSet& set(uint32_t client) const { return *watches_[client].set; }

  /// How the states of an object leave to a client. What is attached is as near as its root, and in a group
  /// with it. nearness is 1 near, a half at one cell, towards 0 far. Where either side has no place
  /// the object counts as near, and so it does for the interval where its rule or that of a parent says
  /// full_rate.
  void terms(uint32_t client, uint32_t slot, bool with_nearness, SendTerms* out) const;
  /// True, with the terms, where terms() says the same of all objects but for nearness.
  bool common_terms(SendTerms* out) const {
    out->interval_ticks = config_.rates.near_ticks;
    return !slows() && !objects_.any_attached();
  }
  /// True when the distance slows anything.
  bool slows() const { return config_.rates.far_ticks > config_.rates.near_ticks; }

  /// Fetches a client, and then its set, into the cache. Only hints.
  void prefetch(uint32_t client) const { base::prefetch(&watches_[client]); }
  void prefetch_set(uint32_t client) const {
    if (const InterestSet* set = watches_[client].set.get()) base::prefetch(set, sizeof *set);
  }

  /// Work done by all evaluations and movements so far.
  struct Work {
    IndexWork index;
    uint64_t considered = 0;  // objects judged for a client
    uint64_t watched = 0;     // clients that a movement looked at
  };
  Work work() const { return {scratch_.work, scratch_.considered, watched_}; }

 private:
  /// A client as a movement sees it.
  struct Watch {
    Place place;  // that of InterestSet::viewer()
    uint16_t room = 0;
    bool placed = false;  // is in watch_index_
    std::unique_ptr<InterestSet> set;
  };

  std::optional<double> distance(uint32_t client, uint32_t root) const;
  uint32_t interval_ticks(double distance) const;
  bool has_full_rate(uint32_t slot) const;
  void on_moved(uint32_t slot, uint16_t room, const Place& from, const Place& to) override;
  void tell(Watch& watch, uint32_t slot, const Place& from, const Place& to);
  void watch(uint32_t client);

  Config config_;
  InterestObjects objects_;
  std::vector<Watch> watches_;  // by client
  InterestGrid watch_index_;    // clients instead of objects
  InterestScratch scratch_;
  std::vector<Found> nearby_;
  uint64_t watched_ = 0;
};

}  // namespace lattice::replication
