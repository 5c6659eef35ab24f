// Who sees what: lattice_object_set_interest() and its neighbours.
#include "lattice/interest.h"

#include <cmath>

#include "abi/call.h"
#include "abi/struct_size.h"

namespace {

using namespace lattice;
using abi::fail;
using abi::WorldInstance;

/// Interest management of the world; null with an error when it has none.
world::InterestHub* hub_of(WorldInstance& instance) {
  if (!instance.listens()) {
    fail(LATTICE_ERROR_NOT_ALLOWED, "Only the authority decides who sees what.");
    return nullptr;
  }
  world::InterestHub* hub = instance.world->interest();
  if (hub == nullptr) {
    fail(LATTICE_ERROR_NOT_ALLOWED,
         "Every client gets every object. Set lattice_world_config.interest_kind to another value than "
         "LATTICE_INTEREST_NONE.");
    return nullptr;
  }
  return hub;
}

/// The same to change something; null with an error too when nothing must be changed now.
world::InterestHub* changing_hub_of(WorldInstance& instance) {
  world::InterestHub* hub = hub_of(instance);
  if (hub != nullptr && hub->is_asking()) {
    fail(LATTICE_ERROR_OUT_OF_ORDER, "on_relevant must not change who sees what. Change it in on_tick.");
    return nullptr;
  }
  return hub;
}

/// The slot of an object; kNoSlot with an error when there is none.
uint32_t slot_of(const WorldInstance& instance, lattice_netid object) {
  const uint32_t slot = instance.world->objects().find(object);
  if (slot == replication::kNoSlot) {
    fail(LATTICE_ERROR_NOT_FOUND, "There is no object %llu.", static_cast<unsigned long long>(object));
  }
  return slot;
}

lattice_result out_of_range(const char* field, uint32_t value, uint32_t max) {
  return fail(LATTICE_ERROR_INVALID_ARGUMENT, "%s is %u. Give a value in 0..%u.", field, value, max);
}

bool is_number(double x, double y, double z) {
  return !std::isnan(x) && !std::isnan(y) && !std::isnan(z);
}

}  // namespace

extern "C" {

lattice_result lattice_object_set_interest(lattice_world* world, lattice_netid object,
                                           const lattice_object_interest* interest) {
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return call.result();
  lattice_object_interest value;
  lattice_object_interest_init(&value);
  if (const lattice_result bad = abi::read_struct(interest, &value, "lattice_object_interest")) return bad;
  auto* hub = changing_hub_of(*instance);
  if (hub == nullptr) return call.result();
  const uint32_t slot = slot_of(*instance, object);
  if (slot == replication::kNoSlot) return call.result();
  if (value.relevance > LATTICE_RELEVANCE_OWNER) {
    return out_of_range("lattice_object_interest.relevance", value.relevance, LATTICE_RELEVANCE_OWNER);
  }
  if (value.room > LATTICE_ROOM_ALL) {
    return out_of_range("lattice_object_interest.room", value.room, LATTICE_ROOM_ALL);
  }
  if (value.is_filtered > 1) {
    return out_of_range("lattice_object_interest.is_filtered", value.is_filtered, 1);
  }
  if (value.is_full_rate > 1) {
    return out_of_range("lattice_object_interest.is_full_rate", value.is_full_rate, 1);
  }
  if (value.is_filtered != 0 && hub->is_attached(slot)) {
    return fail(
        LATTICE_ERROR_NOT_ALLOWED,
        "Object %llu is attached, and comes with what it hangs on: on_relevant would not be asked. Hide "
        "it by team_mask or LATTICE_RELEVANCE_OWNER, or detach it first.",
        static_cast<unsigned long long>(object));
  }
  replication::InterestRule rule;
  rule.relevance = static_cast<replication::Relevance>(value.relevance);
  rule.filtered = value.is_filtered != 0;
  rule.full_rate = value.is_full_rate != 0;
  rule.room = static_cast<uint16_t>(value.room);
  rule.teams = value.team_mask;
  hub->set_rule(slot, rule);
  return LATTICE_OK;
}

lattice_result lattice_object_get_interest(lattice_world* world, lattice_netid object,
                                           lattice_object_interest* out) {
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return call.result();
  if (abi::caller_size(out, "lattice_object_interest") == 0) return call.result();
  auto* hub = hub_of(*instance);
  if (hub == nullptr) return call.result();
  const uint32_t slot = slot_of(*instance, object);
  if (slot == replication::kNoSlot) return call.result();
  const replication::InterestRule& rule = hub->rule(slot);
  lattice_object_interest value;
  lattice_object_interest_init(&value);
  value.relevance = static_cast<uint32_t>(rule.relevance);
  value.room = rule.room;
  value.team_mask = rule.teams;
  value.is_filtered = rule.filtered ? 1 : 0;
  value.is_full_rate = rule.full_rate ? 1 : 0;
  return abi::write_struct(value, out, "lattice_object_interest");
}

lattice_result lattice_object_set_position(lattice_world* world, lattice_netid object, double x, double y,
                                           double z) {
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return call.result();
  auto* hub = changing_hub_of(*instance);
  if (hub == nullptr) return call.result();
  const uint32_t slot = slot_of(*instance, object);
  if (slot == replication::kNoSlot) return call.result();
  if (!hub->set_place(slot, {x, y, z})) {
    return fail(LATTICE_ERROR_INVALID_ARGUMENT, "The position (%g, %g, %g) is not a place.", x, y, z);
  }
  return LATTICE_OK;
}

lattice_result lattice_object_attach(lattice_world* world, lattice_netid object, lattice_netid parent) {
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return call.result();
  auto* hub = changing_hub_of(*instance);
  if (hub == nullptr) return call.result();
  const uint32_t slot = slot_of(*instance, object);
  if (slot == replication::kNoSlot) return call.result();
  uint32_t above = replication::kNoSlot;
  if (parent != 0) {
    above = slot_of(*instance, parent);
    if (above == replication::kNoSlot) return call.result();
  }
  switch (hub->attach(slot, above)) {
    case replication::AttachResult::kOk:
      return LATTICE_OK;
    case replication::AttachResult::kCycle:
      return fail(LATTICE_ERROR_INVALID_ARGUMENT, "Object %llu would hang on itself.",
                  static_cast<unsigned long long>(object));
    case replication::AttachResult::kFiltered:
      return fail(
          LATTICE_ERROR_NOT_ALLOWED,
          "Object %llu has is_filtered, and attached it would come with what it hangs on: on_relevant "
          "would not be asked. Set another rule first, such as team_mask or LATTICE_RELEVANCE_OWNER.",
          static_cast<unsigned long long>(object));
    case replication::AttachResult::kTooDeep:
      return fail(LATTICE_ERROR_LIMIT, "The chain would be longer than %u parents.",
                  LATTICE_MAX_ATTACHED_DEPTH);
  }
  return LATTICE_OK;
}

lattice_result lattice_conn_set_viewer(lattice_conn* conn, const lattice_viewer* viewer) {
  abi::ConnectionCall call(conn);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return call.result();
  lattice_viewer value;
  lattice_viewer_init(&value);
  if (const lattice_result bad = abi::read_struct(viewer, &value, "lattice_viewer")) return bad;
  auto* hub = changing_hub_of(*instance);
  if (hub == nullptr) return call.result();
  if (value.kind > LATTICE_VIEWER_POINT) {
    return out_of_range("lattice_viewer.kind", value.kind, LATTICE_VIEWER_POINT);
  }
  if (value.room >= LATTICE_ROOM_ALL) {
    return out_of_range("lattice_viewer.room", value.room, LATTICE_ROOM_ALL - 1);
  }
  if (value.kind == LATTICE_VIEWER_POINT && !is_number(value.x, value.y, value.z)) {
    return fail(LATTICE_ERROR_INVALID_ARGUMENT, "The point (%g, %g, %g) is not a place.", value.x, value.y,
                value.z);
  }
  if (value.kind == LATTICE_VIEWER_OBJECT && slot_of(*instance, value.object) == replication::kNoSlot) {
    return call.result();
  }
  world::ViewerChoice choice;
  choice.kind = static_cast<world::ViewerChoice::Kind>(value.kind);
  choice.room = static_cast<uint16_t>(value.room);
  choice.teams = value.team_mask;
  choice.object = value.object;
  choice.point = {value.x, value.y, value.z};
  if (!hub->set_viewer(call.connection(), choice)) {
    return fail(LATTICE_ERROR_NOT_CONNECTED, "The connection is not established.");
  }
  return LATTICE_OK;
}

int lattice_conn_has_object(lattice_conn* conn, lattice_netid object) {
  abi::ConnectionCall call(conn);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return 0;
  if (!instance->listens()) {
    fail(LATTICE_ERROR_NOT_ALLOWED, "Only the authority knows what a client has.");
    return 0;
  }
  const uint32_t slot = slot_of(*instance, object);
  if (slot == replication::kNoSlot) return 0;
  return instance->world->sees(call.connection(), slot) ? 1 : 0;
}

}  // extern "C"
