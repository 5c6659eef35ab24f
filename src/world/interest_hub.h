// Interest management of an authority: what the game said of objects and viewers, turned into a set for each
// client (§15). Clients are numbered by their connection slot.
//
// A client looks from the object or point that the game names. When the game names none, it looks from the
// object with the lowest id that it owns and that has a place. When that object is gone, the last place
// stays.
//
// An object is where its first member with LATTICE_MEMBER_POSITION says, until the game names a place.
#pragma once

#include <cstdint>
#include <vector>

#include "base/compiler.h"
#include "replication/interest/interest.h"
#include "replication/object_table.h"
#include "replication/snapshot_builder.h"
#include "world/observer.h"
#include "world/world_config.h"

namespace lattice::world {

/// Where a client looks from, as the game said.
struct ViewerChoice {
  enum class Kind : uint8_t { kOwned, kObject, kPoint };
  Kind kind = Kind::kOwned;
  uint16_t room = 0;
  uint32_t teams = 0;
  uint64_t object = 0;
  replication::Place point;
};

class InterestHub final : private replication::InterestFilter {
 public:
  /// Clients get a snapshot every `snapshot_interval_ticks`.
  InterestHub(const InterestConfig& config, uint32_t tick_rate_hz, uint32_t snapshot_interval_ticks,
              const replication::ObjectTable& table, Observer& observer);

  void spawned(uint32_t slot, bool always_relevant);
  /// Call it before the table frees the slot.
  void removed(uint32_t slot);
  /// Reads the place of an object from its state. Call it once for each object written in the tick.
  void follow(uint32_t slot);

  const replication::InterestRule& rule(uint32_t slot) const { return interest_.objects().rule(slot); }
  bool is_attached(uint32_t slot) const { return interest_.objects().parent(slot) != replication::kNoSlot; }
  /// An attached object cannot be filtered.
  void set_rule(uint32_t slot, const replication::InterestRule& rule);
  /// The object is there from now on, whatever its state says. False when the place is not a number.
  bool set_place(uint32_t slot, const replication::Place& place);
  /// `parent` kNoSlot detaches the object.
  replication::AttachResult attach(uint32_t slot, uint32_t parent);

  void joined(ConnectionHandle connection, uint64_t peer);
  void left(ConnectionHandle connection);
  /// False for a connection that is not established.
  bool set_viewer(ConnectionHandle connection, const ViewerChoice& choice);
  /// False when a rule of room, team or owner hides the object from the client now, whatever its set says.
  bool allows(ConnectionHandle connection, uint32_t slot) const;
  /// Whether the object is in the client's set, as of its last evaluation.
  bool contains(ConnectionHandle connection, uint32_t slot) const {
    return interest_.set(connection.slot).contains(slot);
  }
  /// Fetches what has_news() and evaluate() read into the cache, in two steps with some work in between. Only
  /// hints. `client` is the slot of its connection.
  void prefetch(uint32_t client) const {
    base::prefetch(&clients_[client], sizeof(Client));
    interest_.prefetch(client);
  }
  void prefetch_set(uint32_t client) const {
    interest_.prefetch_set(client);
    table_.prefetch(clients_[client].choice.object);
    interest_.objects().prefetch(clients_[client].eye);
  }
  /// False when evaluate() would find the client's set as it is.
  bool has_news(ConnectionHandle connection, Tick tick);
  /// What entered and left the client's set since the last call. Valid until the next call.
  replication::InterestSet::Changes evaluate(ConnectionHandle connection, Tick tick);

  /// How the states of objects leave to a client.
  class SendRules final : public replication::SendRules {
   public:
    SendRules(const replication::Interest& interest, uint32_t client)
        : interest_(interest), client_(client) {}
    void terms(uint32_t slot, bool with_nearness, replication::SendTerms* out) const override {
      interest_.terms(client_, slot, with_nearness, out);
    }
    bool common_terms(replication::SendTerms* out) const override { return interest_.common_terms(out); }
    bool slows() const override { return interest_.slows(); }
    uint32_t groups_version() const override { return interest_.objects().attachments_version(); }
    void add_members(uint32_t group, std::vector<uint32_t>* out) const override {
      out->push_back(group);
      interest_.objects().for_each_attached(group, [out](uint32_t slot) { out->push_back(slot); });
    }

   private:
    const replication::Interest& interest_;
    uint32_t client_;
  };
  SendRules send_rules(ConnectionHandle connection) const { return {interest_, connection.slot}; }

  /// What the rules say of an object and a client, as of the client's last evaluation.
  struct Sight {
    replication::InterestObjects::Verdict verdict;
    const replication::Viewer& viewer;
    uint32_t root = replication::kNoSlot;
    bool has_root = false;  // the root is in the client's set
    double distance = -1;   // from the viewer to the root; below 0: one of them has no place
    double border = 0;      // 0: the distance does not matter
  };
  Sight sight(ConnectionHandle connection, uint32_t slot) const;

  /// True inside Observer::on_relevant(): nothing may be changed here then.
  bool is_asking() const { return is_asking_; }

 private:
  struct Client {
    ConnectionHandle connection;
    ViewerChoice choice;
    replication::Viewer viewer;
    uint32_t eye = replication::kNoSlot;  // where it last looked from. Only a hint
  };

  bool relevant(const replication::Viewer& viewer, uint32_t slot) override;
  void aim(Client& client);
  uint32_t eye_of(const Client& client) const;

  const replication::ObjectTable& table_;
  Observer& observer_;
  replication::Interest interest_;
  std::vector<Client> clients_;  // by connection slot
  ConnectionHandle asking_;      // the client of the present evaluate()
  bool is_asking_ = false;
  std::vector<bool> named_;  // by slot: the game named the place
};

}  // namespace lattice::world
