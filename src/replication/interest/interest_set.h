// The objects that one client is to see, kept up to date by what changed (§15.1, X-07).
//
// Three kinds of news reach a client, and each names the objects to consider:
//   a rule, owner, room, team or parent changed     InterestObjects::changes()
//   an object crossed a border of the client        hint(), from InterestWatches
//   the viewer moved                                a query around it, for what crossed a border by that
// Nothing else is looked at, so a client that stands in a resting world costs nothing, and no cost follows
// the world. An object enters within `enter_radius` and leaves beyond `leave_radius`. It stays for at least
// `stay_ticks` unless a rule hides it: on the border it would come and go, each time with its whole state.
//
// Left and destroyed differ: evaluate() reports an object that left the set. It drops one that no longer
// exists without a word, because its removal was announced when it happened.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "replication/interest/interest_members.h"
#include "replication/interest/interest_objects.h"

namespace lattice::replication {

/// The game's own say about an object with InterestRule::filtered.
class InterestFilter {
 public:
  virtual ~InterestFilter() = default;
  virtual bool relevant(const Viewer& viewer, uint32_t slot) = 0;
};

/// One evaluation asks the filter at most so often. The objects after that keep what they had until the next
/// one, which goes on where this one ended.
inline constexpr uint32_t kMaxFilterCalls = 512;
/// A client with more hints than this considers everything instead.
inline constexpr size_t kMaxHints = 512;
/// The borders of a client follow its viewer by so many radii at once: four jumps.
inline constexpr uint32_t kFollowAtOnce = 8;
/// So many objects that came not long ago may not leave for the distance.
inline constexpr size_t kMaxArrivals = 512;

/// Memory of an evaluation. One for each thread serves all clients.
struct InterestScratch {
  std::vector<Found> found;
  std::vector<uint32_t> entered;
  std::vector<uint32_t> left;
  std::vector<uint32_t> waiting;
  std::vector<uint32_t> members;
  std::vector<uint32_t> rootless;
  IndexWork work;
  uint64_t considered = 0;  // objects that were judged for the client
};

class InterestSet {
 public:
  struct Config {
    double enter_radius = 64;
    double leave_radius = 77;  // at least enter_radius
    base::Tick stay_ticks = 60;
    /// The borders follow a viewer by enter_radius in so many ticks, and by kFollowAtOnce times that at once.
    /// 0: always at once. Below 1000.
    base::Tick follow_ticks = 0;
  };
  /// Slots in ascending order, valid until the next use of the scratch memory. No slot is in both.
  struct Changes {
    std::span<const uint32_t> entered;
    std::span<const uint32_t> left;
  };

  explicit InterestSet(const Config& config);

  /// The object may have crossed a border: the next evaluate() considers it.
  void hint(uint32_t slot);
  /// False when evaluate() would find the set as it is. `asks_filter`: it would be given a filter.
  bool has_news(const InterestObjects& objects, const Viewer& viewer, base::Tick tick,
                bool asks_filter) const;
  /// Brings the set up to date for `tick`. `filter` may be null: every filtered object is relevant then.
  Changes evaluate(const InterestObjects& objects, const Viewer& viewer, base::Tick tick,
                   InterestFilter* filter, InterestScratch* scratch);

  bool contains(uint32_t slot) const { return members_.find(slot) != nullptr; }
  size_t size() const { return members_.size(); }
  const Config& config() const { return config_; }
  /// The viewer of the last evaluation. Its place is the one that the borders lie around: the viewer may be
  /// up to InterestObjects::slack() away, and farther while the borders do not follow.
  const Viewer& viewer() const { return viewer_; }
  size_t heap_bytes() const;

 private:
  struct Pass;

  /// A member that came not long ago.
  struct Arrival {
    uint32_t slot = 0;
    base::Tick tick = 0;
  };

  bool must_read_everything(const InterestObjects& objects, const Viewer& viewer) const;
  bool has_moved(const InterestObjects& objects, const Viewer& viewer, base::Tick tick) const;
  bool may_follow(base::Tick tick) const;
  void note_follow(const Place& from, base::Tick tick);
  size_t arrivals() const { return arrivals_.size() - arrivals_over_; }
  bool first_arrival_ends(base::Tick tick) const;
  bool is_over(base::Tick arrival, base::Tick tick) const { return tick - arrival >= config_.stay_ticks; }
  bool has_stays_to_end(base::Tick tick) const {
    return staying_ != 0 && (first_arrival_ends(tick) || (!first_is_over_ && is_over(first_tick_, tick)));
  }
  void end_arrivals(Pass& pass);
  void end_first_arrivals(Pass& pass);
  void end_arrival(Pass& pass, InterestMember& member);
  void forget_gone_arrivals();
  void note_arrivals(std::span<const uint32_t> entered, base::Tick tick);
  void fit_arrivals();
  void consider_members(Pass& pass, bool with_stays);
  void read_everything(Pass& pass);
  void read_news(Pass& pass);
  void ask_filter(Pass& pass);
  void follow_viewer(Pass& pass, const Place& from);
  void query(Pass& pass, double inner, double outer);
  void consider(Pass& pass, uint32_t slot);
  void consider_attached(Pass& pass, uint32_t slot, uint32_t root);
  bool wanted(Pass& pass, const InterestObjects::Verdict& verdict, uint32_t slot, InterestMember* member);
  bool stays(InterestMember& member);
  bool admits(Pass& pass, uint32_t slot, bool present);
  void drop_rootless(Pass& pass);
  void enter(Pass& pass, uint32_t slot, Hold hold);
  void enter_attached(Pass& pass, uint32_t slot);
  void add_member(Pass& pass, uint32_t slot, Hold hold);
  void leave(Pass& pass, uint32_t slot);
  void remove_member(const InterestMember& member);

  Config config_;
  InterestMembers members_;
  /// The members with InterestMember::recent, each once, as they came, but for those of the first evaluation.
  /// The first arrivals_over_ are over.
  std::vector<Arrival> arrivals_;
  uint32_t arrivals_over_ = 0;
  base::Tick first_tick_ = 0;   // of the first evaluation
  bool first_is_over_ = false;  // what came with it has been in the set for long enough
  uint32_t staying_ = 0;        // members with InterestMember::stays
  bool arrivals_gone_ = false;  // some of arrivals_ are no members any more
  Viewer viewer_;
  base::Tick followed_until_ =
      0;                         // the distances that the borders followed last so long, at follow_ticks each
  bool read_before_ = false;     // evaluate() has run
  bool hints_lost_ = false;      // there were more than kMaxHints
  uint64_t changes_read_ = 0;    // in RuleChanges
  std::vector<uint32_t> hints_;  // slots to consider, with repetitions
  uint32_t filter_from_ = 0;     // filtered objects before this one were asked about last time
};

}  // namespace lattice::replication
