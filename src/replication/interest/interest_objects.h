// What decides about each object who may see it: its rule, owner, room, teams, place and parent (§15.1,
//
//
// The rules compose. From the strongest to the weakest:
//   owner     what a client owns is always in its set
//   relevance kOwner objects are for nobody else
//   teams     a client sees an object when they share a team, or the object names none
//   room      a client sees the objects of its room and those of kRoomAll
//   filter    the game may refuse the object (InterestSet asks)
//   distance  kAlways objects are seen from everywhere, kDistance ones from near
// An object without a place cannot be judged by distance: its whole room sees it. An attached object has no
// room, filter or distance of its own: it follows the root of its parents. Its own owner and teams count, and
// theirs.
//
// Cost: a change costs its object and what is attached to it. Nothing here visits the world or the clients.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/compiler.h"
#include "replication/interest/rule_changes.h"
#include "replication/interest/slot_lists.h"
#include "replication/interest/spatial_index.h"

namespace lattice::replication {

/// Rooms are 0..65534. An object of kRoomAll is in all of them.
inline constexpr uint16_t kRoomAll = 65535;
/// An attached object has at most so many parents above it.
inline constexpr uint32_t kMaxAttachDepth = 8;

enum class Relevance : uint8_t { kDistance, kAlways, kOwner };
enum class AttachResult : uint8_t {
  kOk,
  kCycle,
  kTooDeep,
  kFiltered,  // nobody would ask the game about it any more
};
enum class InterestKind : uint8_t { kNone, kGrid, kTree };

struct InterestRule {
  Relevance relevance = Relevance::kDistance;
  bool filtered = false;   // the game is asked about every client that may see the object
  bool full_rate = false;  // the distance does not slow its states
  uint16_t room = 0;
  uint32_t teams = 0;  // one bit each; 0: every team
};

/// The rule that hides an object from a viewer.
enum class HiddenBy : uint8_t { kNothing, kOwner, kTeams, kRoom };

/// The client for which is decided.
struct Viewer {
  uint64_t peer = 0;
  uint32_t teams = 0;
  uint16_t room = 0;  // not kRoomAll
  bool placed = false;
  Place place;

  friend bool operator==(const Viewer&, const Viewer&) = default;
};

/// Is told when an object that is judged by distance has moved by slack() or more.
class MovementListener {
 public:
  virtual ~MovementListener() = default;
  virtual void on_moved(uint32_t slot, uint16_t room, const Place& from, const Place& to) = 0;
};

class InterestObjects {
 public:
  static constexpr uint32_t kNone = SlotLists::kNone;

  struct Config {
    InterestKind kind = InterestKind::kGrid;
    double cell = 16.0;  // finite, above 0
  };
  /// What the rules say of an object and a viewer, apart from filter and distance.
  struct Verdict {
    bool allowed = false;
    bool pinned = false;  // the distance does not matter
    bool owned = false;   // the filter does not matter either
    HiddenBy hidden_by = HiddenBy::kNothing;
    uint32_t root = kNone;
  };

  /// `movements` is borrowed and may be null.
  InterestObjects(const Config& config, MovementListener* movements);

  /// `slot` must not be live.
  void add(uint32_t slot, const InterestRule& rule, uint64_t owner);
  /// What was attached to the object stays where it is and follows its own rule again.
  void remove(uint32_t slot);
  /// Movements below slack() are left out. False, without a change, when `place` is not a number.
  bool set_place(uint32_t slot, const Place& place);
  void set_rule(uint32_t slot, const InterestRule& rule);
  void set_owner(uint32_t slot, uint64_t owner);
  /// An object that is attached already changes its parent. Nothing changes when the object would follow
  /// itself, or when the chain would be longer than kMaxAttachDepth.
  AttachResult attach(uint32_t slot, uint32_t parent);
  void detach(uint32_t slot);

  bool live(uint32_t slot) const { return slot < objects_.size() && objects_[slot].live; }
  /// Differs for each object that ever had the slot.
  uint32_t generation(uint32_t slot) const { return objects_[slot].generation; }
  const InterestRule& rule(uint32_t slot) const { return objects_[slot].rule; }
  uint64_t owner(uint32_t slot) const { return objects_[slot].owner; }
  bool placed(uint32_t slot) const { return objects_[slot].placed; }
  /// Exact to slack().
  const Place& place(uint32_t slot) const { return objects_[slot].place; }
  uint32_t parent(uint32_t slot) const { return objects_[slot].parent; }
  /// The object at the top of the chain of parents: `slot` itself when it is not attached.
  uint32_t root(uint32_t slot) const;
  /// Asks for what is known of an object, if there is one. Only a hint.
  void prefetch(uint32_t slot) const {
    if (slot < objects_.size()) base::prefetch(&objects_[slot], sizeof(Object));
  }
  /// True when the object is attached, or something is attached to it.
  bool in_group(uint32_t slot) const {
    return objects_[slot].parent != kNone || objects_[slot].attached != 0;
  }
  bool any_attached() const { return attached_count_ != 0; }
  /// Changes with every attach() and detach().
  uint32_t attachments_version() const { return attachments_version_; }

  Verdict judge(uint32_t slot, const Viewer& viewer) const;

  const RuleChanges& changes() const { return changes_; }
  /// Null when nothing is judged by distance.
  const SpatialIndex* index() const { return index_.get(); }
  /// True when the index holds objects of kRoomAll.
  bool any_in_all_rooms() const { return indexed_in_all_rooms_ != 0; }
  /// True when the filter must be asked about some object.
  bool any_filtered() const { return filtered_ != 0; }
  /// The least movement that counts: an eighth of a cell.
  double slack() const { return slack_; }
  const PlaceLimits& limits() const { return limits_; }

  /// Calls visit(slot) for each object that `owner` owns.
  template <class Visit>
  void for_each_owned(uint64_t owner, Visit visit) const {
    for_each(owned_, owner, visit);
  }
  /// Calls visit(slot) for each object that all of the room sees, with or without a filter.
  template <class Visit>
  void for_each_pinned(uint16_t room, bool filtered, Visit visit) const {
    for_each(pinned_, pinned_key(room, filtered), visit);
  }
  /// Calls visit(slot) for each object attached to `slot`, parents before children.
  template <class Visit>
  void for_each_attached(uint32_t slot, Visit visit) const {
    for (uint32_t child = attached_.first(slot); child != kNone; child = attached_.next(child)) {
      visit(child);
      for_each_attached(child, visit);
    }
  }

 private:
  struct Object {
    uint64_t owner = 0;
    Place place;
    InterestRule rule;
    uint32_t parent = kNone;
    uint32_t generation = 0;
    uint32_t attached = 0;  // objects that are attached to it itself
    bool live = false;
    bool placed = false;
  };

  static uint64_t pinned_key(uint16_t room, bool filtered) { return room | (filtered ? 1u << 16 : 0u); }
  template <class Visit>
  static void for_each(const SlotLists& lists, uint64_t key, Visit visit) {
    for (uint32_t slot = lists.first(key); slot != kNone; slot = lists.next(slot)) visit(slot);
  }
  void hang(uint32_t slot, uint32_t parent);
  void unhang(uint32_t slot);
  void unlist(uint32_t slot);
  void list(uint32_t slot);
  void announce(uint32_t slot);
  uint32_t depth(uint32_t slot) const;
  uint32_t height(uint32_t slot) const;

  MovementListener* movements_;
  std::unique_ptr<SpatialIndex> index_;
  uint32_t indexed_in_all_rooms_ = 0;
  uint32_t filtered_ = 0;  // objects with a filter
  double slack_;
  PlaceLimits limits_;
  std::vector<Object> objects_;  // by slot
  SlotLists owned_;              // by owner
  SlotLists pinned_;             // by room and filter; roots that the index does not hold
  SlotLists attached_;           // by parent
  RuleChanges changes_;
  uint32_t attachments_version_ = 0;
  uint32_t attached_count_ = 0;
};

}  // namespace lattice::replication
