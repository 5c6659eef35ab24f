// Placed objects: lattice_place() and what belongs to it.
#include <cinttypes>
#include <utility>

#include "abi/call.h"

namespace {

using namespace lattice;
using abi::fail;
using abi::WorldInstance;

lattice_result out_of_order(const WorldInstance& instance) {
  if (instance.listens()) {
    return fail(LATTICE_ERROR_OUT_OF_ORDER,
                "The world runs already. Place the objects of the level before the first pump and the first "
                "lattice_spawn().");
  }
  return fail(LATTICE_ERROR_OUT_OF_ORDER,
              "There is a connection. Place the objects of the level before lattice_connect(), and after a "
              "session outside of on_disconnected.");
}

/// The caller's structures, or zeroed ones where there are none.
class States {
 public:
  States(const serialization::Layout& layout, const void* const* states) : zeros_(layout), states_(states) {
    if (states_ == nullptr) states_ = std::as_const(zeros_).behaviours();
  }
  const void* const* get() const { return states_; }

 private:
  world::HostScratch zeros_;
  const void* const* states_;
};

lattice_result check_states(const serialization::Layout& layout, const void* const* states, size_t count) {
  if (states == nullptr && count == 0) return LATTICE_OK;
  if (count != layout.behaviour_count()) {
    return fail(LATTICE_ERROR_INVALID_ARGUMENT, "The type has %zu behaviours, and there are %zu states.",
                layout.behaviour_count(), count);
  }
  for (size_t i = 0; i < count; ++i) {
    if (states == nullptr || states[i] == nullptr) {
      return fail(LATTICE_ERROR_INVALID_ARGUMENT, "lattice_place: the state of behaviour %zu is NULL.", i);
    }
  }
  return LATTICE_OK;
}

lattice_result place(WorldInstance& instance, uint64_t key, const serialization::TypeInfo& type,
                     const void* const* states) {
  using Result = world::Session::PlaceResult;
  switch (instance.world->place(key, type.type_id, states)) {
    case Result::kOk:
    case Result::kUnknownType:  // looked up by the caller
      return LATTICE_OK;
    case Result::kOutOfOrder:
      return out_of_order(instance);
    case Result::kDuplicate:
      return fail(LATTICE_ERROR_INVALID_ARGUMENT, "Another object was placed with the key %" PRIu64 ".", key);
    case Result::kFull:
      return fail(LATTICE_ERROR_LIMIT, "%u objects are placed already (lattice_world_config.max_objects).",
                  instance.world->config().max_objects);
    case Result::kDoesNotFit:
      return fail(LATTICE_ERROR_INVALID_ARGUMENT,
                  "A value of the object with the key %" PRIu64 " does not fit its member: %s.", key,
                  type.layout.first_misfit(states).c_str());
  }
  return LATTICE_OK;
}

}  // namespace

extern "C" {

lattice_result lattice_place(lattice_world* world, uint64_t key, uint32_t type_id, const void* const* states,
                             size_t state_count) {
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return call.result();
  if (key == 0) return fail(LATTICE_ERROR_INVALID_ARGUMENT, "The key 0 is for objects that were not placed.");
  const serialization::TypeInfo* type = instance->world->schema().find(type_id);
  if (type == nullptr) return fail(LATTICE_ERROR_NOT_FOUND, "Type %u is not registered.", type_id);
  if (const lattice_result bad = check_states(type->layout, states, state_count)) return bad;
  return place(*instance, key, *type, States(type->layout, states).get());
}

lattice_netid lattice_placed(lattice_world* world, uint64_t key) {
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return 0;
  if (instance->listens()) instance->world->fix_schema();
  const uint64_t id = instance->world->placed().network_id(key);
  if (id != 0 && instance->world->objects().find(id) != replication::kNoSlot) return id;
  if (instance->world->local_peer() == 0) {
    abi::fail_not_connected(*instance, "Placed objects are here from on_connected to on_disconnected.");
  } else {
    fail(LATTICE_ERROR_NOT_FOUND, "There is no placed object with the key %" PRIu64 " here.", key);
  }
  return 0;
}

lattice_result lattice_clear_placed(lattice_world* world) {
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return call.result();
  return instance->world->clear_placed() ? LATTICE_OK : out_of_order(*instance);
}

}  // extern "C"
