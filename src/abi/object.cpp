// Types, objects, properties and input.
#include <cstring>
#include <string>

#include "abi/call.h"
#include "abi/struct_size.h"

namespace {

using namespace lattice;
using abi::fail;
using abi::WorldInstance;

const serialization::Layout& layout_of(const WorldInstance& instance, uint32_t slot) {
  return *instance.world->objects().info(slot).type->layout;
}

/// Finds a live object; false with the error set otherwise.
bool find_object(const WorldInstance& instance, lattice_netid object, uint32_t* slot) {
  *slot = instance.world->objects().find(object);
  if (*slot != replication::kNoSlot) return true;
  fail(LATTICE_ERROR_NOT_FOUND, "There is no object %llu here.", static_cast<unsigned long long>(object));
  return false;
}

lattice_result no_behaviour(const WorldInstance& instance, uint32_t slot, uint32_t behaviour) {
  return fail(LATTICE_ERROR_NOT_FOUND, "The object has %zu behaviours, and none has the index %u.",
              layout_of(instance, slot).behaviour_count(), behaviour);
}

lattice_result null_argument(const char* function, const char* argument) {
  return fail(LATTICE_ERROR_INVALID_ARGUMENT, "%s: %s is NULL.", function, argument);
}

/// Finds an object with a behaviour whose structure fits `cap` bytes; false with the error set otherwise.
bool find_behaviour(const WorldInstance& instance, lattice_netid object, uint32_t behaviour, size_t cap,
                    uint32_t* slot) {
  if (!find_object(instance, object, slot)) return false;
  const serialization::Layout& layout = layout_of(instance, *slot);
  if (behaviour >= layout.behaviour_count()) {
    no_behaviour(instance, *slot, behaviour);
    return false;
  }
  if (layout.host_bytes(behaviour) <= cap) return true;
  fail(LATTICE_ERROR_BUFFER_TOO_SMALL, "The structure has %zu bytes and the buffer %zu.",
       static_cast<size_t>(layout.host_bytes(behaviour)), cap);
  return false;
}

template <class Wanted>
size_t list_objects(WorldInstance* instance, uint32_t type_id, lattice_netid* out, size_t cap,
                    Wanted wanted) {
  size_t count = 0;
  const replication::ObjectTable& objects = instance->world->objects();
  for (const uint32_t slot : objects.ascending()) {
    if (type_id != 0 && objects.info(slot).type->type_id != type_id) continue;
    if (!wanted(slot)) continue;
    if (count < cap) out[count] = objects.network_id(slot);
    ++count;
  }
  return count;
}

lattice_result no_types() {
  return fail(LATTICE_ERROR_NOT_ALLOWED,
              "lattice_world_config.transport_only is 1: this world has no types, no objects and no inputs.");
}

lattice_result shared_unsupported() {
  return fail(LATTICE_ERROR_UNSUPPORTED,
              "LATTICE_AUTHORITY_SHARED does nothing in this version. Give LATTICE_AUTHORITY_SERVER and an "
              "owner, who may predict the object.");
}

lattice_netid spawn(WorldInstance& instance, uint32_t type_id, lattice_authority_mode mode,
                    lattice_peer_id owner) {
  if (!instance.listens()) {
    fail(LATTICE_ERROR_NOT_ALLOWED, "Only the authority spawns objects.");
    return 0;
  }
  if (mode == LATTICE_AUTHORITY_SHARED) {
    shared_unsupported();
    return 0;
  }
  if (mode != LATTICE_AUTHORITY_SERVER) {
    fail(LATTICE_ERROR_INVALID_ARGUMENT, "Authority mode %d does not exist.", static_cast<int>(mode));
    return 0;
  }
  const world::InterestHub* interest = instance.world->interest();
  if (interest != nullptr && interest->is_asking()) {
    fail(LATTICE_ERROR_OUT_OF_ORDER, "on_relevant must not spawn. Spawn in on_tick.");
    return 0;
  }
  if (!instance.world->is_owner(owner)) {
    fail(LATTICE_ERROR_NOT_FOUND,
         "Peer %llu cannot own an object: it is not connected. Spawn it in or after on_connected, or for 0.",
         static_cast<unsigned long long>(owner));
    return 0;
  }
  const uint64_t id = instance.world->spawn(type_id, mode, owner);
  if (id == 0 && instance.world->schema().find(type_id) == nullptr) {
    fail(LATTICE_ERROR_NOT_FOUND, "Type %u is not registered.", type_id);
  } else if (id == 0) {
    fail(LATTICE_ERROR_LIMIT, "The world holds %u objects already (lattice_world_config.max_objects).",
         instance.world->config().max_objects);
  }
  return id;
}

/// LATTICE_OK when an input of `bytes` bytes is registered.
lattice_result check_input(const WorldInstance& instance, size_t bytes) {
  const serialization::Layout* layout = instance.world->schema().input();
  if (layout == nullptr) return fail(LATTICE_ERROR_NOT_FOUND, "No input is registered in this world.");
  if (layout->host_bytes(0) == bytes) return LATTICE_OK;
  return fail(LATTICE_ERROR_INVALID_ARGUMENT, "The input's structure has %zu bytes, not %zu.",
              static_cast<size_t>(layout->host_bytes(0)), bytes);
}

}  // namespace

extern "C" {

lattice_result lattice_register_type(lattice_world* world, const lattice_type_desc* desc) {
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return call.result();
  if (desc == nullptr) return null_argument("lattice_register_type", "desc");
  if (instance->world->config().transport_only) return no_types();
  // The registry refuses a description of another size.
  if (desc->struct_size >= sizeof *desc && desc->authority == LATTICE_AUTHORITY_SHARED) {
    return shared_unsupported();
  }
  std::string error;
  if (instance->world->schema().add_type(*desc, &error)) return LATTICE_OK;
  return fail(LATTICE_ERROR_SCHEMA, "%s", error.c_str());
}

lattice_result lattice_register_input(lattice_world* world, const lattice_input_desc* desc) {
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return call.result();
  if (desc == nullptr) return null_argument("lattice_register_input", "desc");
  if (instance->world->config().transport_only) return no_types();
  std::string error;
  if (instance->world->schema().set_input(*desc, &error)) return LATTICE_OK;
  return fail(LATTICE_ERROR_SCHEMA, "%s", error.c_str());
}

uint64_t lattice_world_schema_id(lattice_world* world) {
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  return instance == nullptr ? 0 : instance->world->schema().id();
}

lattice_netid lattice_spawn(lattice_world* world, uint32_t type_id, lattice_authority_mode mode) {
  abi::WorldCall call(world);
  return call.world() == nullptr ? 0 : spawn(*call.world(), type_id, mode, 0);
}

lattice_netid lattice_spawn_for(lattice_world* world, uint32_t type_id, lattice_authority_mode mode,
                                lattice_peer_id owner) {
  abi::WorldCall call(world);
  return call.world() == nullptr ? 0 : spawn(*call.world(), type_id, mode, owner);
}

lattice_result lattice_despawn(lattice_world* world, lattice_netid object) {
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return call.result();
  if (!instance->listens()) {
    return fail(LATTICE_ERROR_NOT_ALLOWED, "Only the authority despawns objects.");
  }
  uint32_t slot = 0;
  if (!find_object(*instance, object, &slot)) return call.result();
  instance->world->despawn(object);
  return LATTICE_OK;
}

lattice_despawn_reason lattice_object_despawn_reason(lattice_world* world) {
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return LATTICE_DESPAWN_NONE;
  if (instance->despawn_reason == LATTICE_DESPAWN_NONE) {
    fail(LATTICE_ERROR_OUT_OF_ORDER, "No object disappears now. Ask from inside on_despawn.");
  }
  return instance->despawn_reason;
}

lattice_result lattice_set_prop(lattice_world* world, lattice_netid object, uint16_t prop_id,
                                const void* data, size_t len) {
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return call.result();
  if (data == nullptr) return null_argument("lattice_set_prop", "data");
  uint32_t slot = 0;
  if (!find_object(*instance, object, &slot)) return call.result();
  switch (instance->world->set_prop(object, prop_id, data, len)) {
    case world::OpResult::kOk:
      return LATTICE_OK;
    case world::OpResult::kNotAllowed:
      return fail(
          LATTICE_ERROR_NOT_ALLOWED,
          "This peer may not write object %llu now: only its writer may (lattice_object_writer()), or its "
          "predicting owner inside on_tick.",
          static_cast<unsigned long long>(object));
    default:
      break;
  }
  const serialization::Layout& layout = layout_of(*instance, slot);
  const serialization::LayoutNode* member = layout.member(prop_id);
  if (member == nullptr) {
    return fail(LATTICE_ERROR_INVALID_ARGUMENT, "Object %llu has no property 0x%04x.",
                static_cast<unsigned long long>(object), prop_id);
  }
  return fail(LATTICE_ERROR_INVALID_ARGUMENT, "Property 0x%04x (%s) has %zu bytes, and the call gives %zu.",
              prop_id, layout.member_name(prop_id).c_str(), static_cast<size_t>(member->host_bytes), len);
}

size_t lattice_get_prop(lattice_world* world, lattice_netid object, uint16_t prop_id, void* out, size_t cap) {
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return 0;
  if (out == nullptr) {
    null_argument("lattice_get_prop", "out");
    return 0;
  }
  uint32_t slot = 0;
  if (!find_object(*instance, object, &slot)) return 0;
  const serialization::LayoutNode* member = layout_of(*instance, slot).member(prop_id);
  if (member == nullptr) {
    fail(LATTICE_ERROR_NOT_FOUND, "Object %llu has no property 0x%04x.",
         static_cast<unsigned long long>(object), prop_id);
    return 0;
  }
  const size_t bytes = instance->world->get_prop(object, prop_id, out, cap);
  if (bytes == 0) {
    fail(LATTICE_ERROR_BUFFER_TOO_SMALL, "Property 0x%04x has %zu bytes and the buffer %zu.", prop_id,
         static_cast<size_t>(member->host_bytes), cap);
  }
  return bytes;
}

void* lattice_object_state(lattice_world* world, lattice_netid object, uint32_t behaviour) {
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return nullptr;
  uint32_t slot = 0;
  if (!find_object(*instance, object, &slot)) return nullptr;
  void* state = instance->world->object_state(slot, behaviour);
  if (state == nullptr) no_behaviour(*instance, slot, behaviour);
  return state;
}

const void* lattice_object_read(lattice_world* world, lattice_netid object, uint32_t behaviour) {
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return nullptr;
  uint32_t slot = 0;
  if (!find_object(*instance, object, &slot)) return nullptr;
  const void* state = instance->world->read_state(slot, behaviour);
  if (state == nullptr) no_behaviour(*instance, slot, behaviour);
  return state;
}

lattice_result lattice_object_wake(lattice_world* world, lattice_netid object) {
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return call.result();
  uint32_t slot = 0;
  if (!find_object(*instance, object, &slot)) return call.result();
  instance->world->announce_write(slot);
  return LATTICE_OK;
}

lattice_result lattice_object_sleep(lattice_world* world, lattice_netid object) {
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return call.result();
  if (!instance->listens()) {
    return fail(LATTICE_ERROR_NOT_ALLOWED, "Only the authority lets objects sleep.");
  }
  uint32_t slot = 0;
  if (!find_object(*instance, object, &slot)) return call.result();
  if (instance->world->let_sleep(slot)) return LATTICE_OK;
  return fail(LATTICE_ERROR_NOT_ALLOWED, "Another peer writes object %llu.",
              static_cast<unsigned long long>(object));
}

lattice_result lattice_object_get_info(lattice_world* world, lattice_netid object, lattice_object_info* out) {
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return call.result();
  if (out == nullptr) return null_argument("lattice_object_get_info", "out");
  uint32_t slot = 0;
  if (!find_object(*instance, object, &slot)) return call.result();
  const replication::ObjectInfo& info = instance->world->objects().info(slot);
  lattice_object_info value{};
  value.struct_size = sizeof value;
  value.type_id = info.type->type_id;
  value.owner = info.owner;
  value.authority_mode = static_cast<uint32_t>(info.mode);
  value.placed_key = instance->world->placed().key_of(object);
  value.spawn_tick = value.placed_key != 0 ? 0 : info.spawn_tick;
  world::Tick tick = 0;
  if (instance->world->confirmed(slot, &tick) != nullptr) value.confirmed_tick = tick;
  value.is_simulated = instance->world->simulated(slot) ? 1 : 0;
  return abi::write_struct(value, out, "lattice_object_info");
}

lattice_peer_id lattice_object_writer(lattice_world* world, lattice_netid object, uint32_t* since_tick) {
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return 0;
  uint32_t slot = 0;
  if (!find_object(*instance, object, &slot)) return 0;
  const replication::Authority& authority = instance->world->objects().info(slot).authority;
  if (since_tick != nullptr) *since_tick = authority.since_tick;
  return authority.writer;
}

size_t lattice_objects(lattice_world* world, uint32_t type_id, lattice_netid* out, size_t cap) {
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return 0;
  if (out == nullptr && cap != 0) {
    null_argument("lattice_objects", "out");
    return 0;
  }
  return list_objects(instance, type_id, out, cap, [](uint32_t) { return true; });
}

size_t lattice_simulated_objects(lattice_world* world, uint32_t type_id, lattice_netid* out, size_t cap) {
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return 0;
  if (out == nullptr && cap != 0) {
    null_argument("lattice_simulated_objects", "out");
    return 0;
  }
  return list_objects(instance, type_id, out, cap,
                      [instance](uint32_t slot) { return instance->world->simulated(slot); });
}

size_t lattice_object_view(lattice_world* world, lattice_netid object, uint32_t behaviour, void* out,
                           size_t cap) {
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return 0;
  if (out == nullptr) {
    null_argument("lattice_object_view", "out");
    return 0;
  }
  uint32_t slot = 0;
  if (!find_behaviour(*instance, object, behaviour, cap, &slot)) return 0;
  const world::Now* frame = instance->world->frame();
  const void* shown = instance->world->view(slot, behaviour, frame != nullptr ? *frame : instance->now());
  if (shown == nullptr) {
    fail(LATTICE_ERROR_NOT_FOUND, "No state of the object has arrived yet.");
    return 0;
  }
  const size_t bytes = layout_of(*instance, slot).host_bytes(behaviour);
  std::memcpy(out, shown, bytes);
  return bytes;
}

size_t lattice_object_confirmed(lattice_world* world, lattice_netid object, uint32_t behaviour, void* out,
                                size_t cap, uint32_t* tick) {
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return 0;
  if (out == nullptr) {
    null_argument("lattice_object_confirmed", "out");
    return 0;
  }
  uint32_t slot = 0;
  if (!find_behaviour(*instance, object, behaviour, cap, &slot)) return 0;
  const size_t bytes = instance->world->read_confirmed(slot, behaviour, out, cap, tick);
  if (bytes == 0) fail(LATTICE_ERROR_NOT_FOUND, "No state of the object is confirmed yet.");
  return bytes;
}

uint64_t lattice_world_state_hash(lattice_world* world) {
  abi::WorldCall call(world);
  return call.world() == nullptr ? 0 : call.world()->world->state_hash();
}

lattice_result lattice_set_input(lattice_world* world, const void* input, size_t bytes) {
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return call.result();
  if (input == nullptr) return null_argument("lattice_set_input", "input");
  if (const lattice_result bad = check_input(*instance, bytes)) return bad;
  if (instance->world->set_input(input, bytes) == world::OpResult::kNotAllowed) {
    return fail(LATTICE_ERROR_NOT_ALLOWED,
                "A dedicated server has no player and no input. Give LATTICE_ROLE_HOST for one that plays.");
  }
  return LATTICE_OK;
}

int lattice_get_input(lattice_world* world, lattice_peer_id peer, void* out, size_t bytes) {
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return 0;
  if (out == nullptr) {
    null_argument("lattice_get_input", "out");
    return 0;
  }
  if (check_input(*instance, bytes) != LATTICE_OK) return 0;
  const int source = instance->world->get_input(peer, out, bytes);
  if (source == 0) {
    fail(LATTICE_ERROR_NOT_FOUND, "There is no input of peer %llu for this tick.",
         static_cast<unsigned long long>(peer));
  }
  return source;
}

lattice_result lattice_get_input_sight(lattice_world* world, lattice_peer_id peer, lattice_input_sight* out) {
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return call.result();
  if (out == nullptr) return null_argument("lattice_get_input_sight", "out");
  world::InputSight seen;
  if (!instance->world->input_sight(peer, &seen)) {
    return fail(LATTICE_ERROR_NOT_FOUND, "There is no input of peer %llu for this tick.",
                static_cast<unsigned long long>(peer));
  }
  lattice_input_sight value{};
  value.input_tick = seen.input_tick;
  value.view_tick = seen.sight.view_tick;
  value.view_fraction = seen.sight.view_fraction;
  value.snapshot_tick = seen.sight.snapshot_tick;
  value.lead_quarter_ticks = seen.lead_quarter_ticks;
  value.is_clamped = seen.is_clamped ? 1 : 0;
  return abi::write_struct(value, out, "lattice_input_sight");
}

}  // extern "C"
