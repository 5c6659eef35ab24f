// One index over all refusal counters of a session: the reasons why it did not act on bytes from the network,
// or could not send.
#include <iterator>

#include "base/events.h"
#include "transfer/transfer_refusal.h"
#include "world/session.h"

namespace lattice::world {
namespace {

using socket::SocketStats;

struct SocketLoss {
  const char* name;
  uint64_t SocketStats::*value;
};
constexpr SocketLoss kSocketLosses[] = {
#define LATTICE_EVENT_SOCKET(id, name, text) {name, &SocketStats::id},
#include "base/events.def"
};

enum class WorldEvent : uint8_t {
#define LATTICE_EVENT_WORLD(id, name, text) id,
#include "base/events.def"
  kCount,
};

const char* world_event_name(WorldEvent event) {
  static constexpr const char* kNames[] = {
#define LATTICE_EVENT_WORLD(id, name, text) name,
#include "base/events.def"
  };
  return base::event_name(kNames, event);
}

/// Finds one counter by its index, among groups of counters that follow one another.
class Search {
 public:
  Search(uint32_t index, uint64_t* value) : left_(index), value_(value) {}

  /// A group: the reasons of an enumeration from `first` to its end, their names, and their counts.
  template <class Reason, class Count>
  void group(Reason first, const char* (*name_of)(Reason), Count count) {
    const uint32_t size = static_cast<uint32_t>(Reason::kCount) - static_cast<uint32_t>(first);
    if (!enter(size)) return;
    const auto reason = static_cast<Reason>(static_cast<uint32_t>(first) + left_);
    name_ = name_of(reason);
    *value_ = count(reason);
  }
  void socket(const SocketStats& stats) {
    if (!enter(std::size(kSocketLosses))) return;
    name_ = kSocketLosses[left_].name;
    *value_ = stats.*kSocketLosses[left_].value;
  }
  const char* name() const { return name_; }

 private:
  bool enter(uint32_t size) {
    if (name_ != nullptr) return false;
    if (left_ < size) return true;
    left_ -= size;
    return false;
  }

  uint32_t left_;
  uint64_t* value_;
  const char* name_ = nullptr;
};

}  // namespace

const char* Session::refusal(uint32_t index, uint64_t* value) const {
  using connection::ClientDrop;
  using connection::ServerRefusal;
  using replication::RpcRefusal;
  using replication::SnapshotRefusal;
  using simulation::InputRefusal;
  using transfer::TransferRefusal;
  const connection::ServerHandshake* server = endpoint_ ? endpoint_->server_handshake() : nullptr;
  Search search(index, value);
  search.group(reliability::Refusal{}, reliability::refusal_name, [this](reliability::Refusal reason) {
    return endpoint_ ? endpoint_->stats().refusals.get(reason) : 0;
  });
  // The first value of the enumerations below is kNone, which is left out.
  search.group(ServerRefusal{1}, connection::server_refusal_name, [server](ServerRefusal reason) {
    return server != nullptr ? server->refusal_count(reason) : 0;
  });
  search.group(RpcRefusal{1}, replication::rpc_refusal_name,
               [this](RpcRefusal reason) { return rpcs_.refused(reason); });
  search.group(TransferRefusal{1}, transfer::transfer_refusal_name, [this](TransferRefusal reason) {
    return transfers_ ? transfers_->transfers().refused(reason) : 0;
  });
  search.group(ClientDrop{1}, connection::client_drop_name, [this](ClientDrop reason) {
    return endpoint_ ? endpoint_->stats().client_drops.get(reason) : 0;
  });
  search.group(SnapshotRefusal{1}, replication::snapshot_refusal_name,
               [this](SnapshotRefusal reason) { return receiver_ ? receiver_->refusals(reason) : 0; });
  search.group(InputRefusal{1}, simulation::input_refusal_name, [this](InputRefusal reason) {
    return input_receiver_ ? input_receiver_->refusals(reason) : 0;
  });
  search.group(WorldEvent{}, world_event_name, [this](WorldEvent event) {
    switch (event) {
      case WorldEvent::kSightFuture:
        return input_stats().sights_future;
      case WorldEvent::kInputRate:
        return input_stats().over_rate;
      case WorldEvent::kSightOld:
        return input_stats().sights_old;
      case WorldEvent::kOverBudget:
        return sender_ ? sender_->over_budget() : 0;
      case WorldEvent::kGroupsCut:
        return sender_ ? sender_->groups_cut() : 0;
      case WorldEvent::kUnannouncedWrites:
        return unannounced_writes_;
      case WorldEvent::kClockWentBack:
        return clock_steps_;
      case WorldEvent::kValuesClamped:
        return (sender_ ? sender_->store().clamps().values() : 0) + clamped_inputs_.values() +
               rpcs_.clamped_arguments();
      case WorldEvent::kCount:
        break;
    }
    return uint64_t{0};
  });
  search.socket(socket_->back_end_stats());
  return search.name();
}

}  // namespace lattice::world
