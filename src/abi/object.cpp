// Types, objects, properties and input.
#include <cstring>
#include <string>

#include "abi/last_error.h"
#include "abi/struct_size.h"
#include "abi/world_instance.h"

namespace {

using namespace lattice;
using abi::fail;
using abi::WorldInstance;

/// The world and slot of a live object; null (with the error set) otherwise.
WorldInstance* require_object(lattice_world* world, lattice_netid object, uint32_t* slot) {
  WorldInstance* instance = abi::require_world(world);
  if (instance == nullptr) return nullptr;
  *slot = instance->world->objects().find(object);
  if (*slot != replication::kNoSlot) return instance;
  fail(LATTICE_ERROR_NOT_FOUND, "There is no object %llu here.", static_cast<unsigned long long>(object));
  return nullptr;
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

}  // namespace

extern "C" {

lattice_result lattice_register_type(lattice_world* world, const lattice_type_desc* desc) {
  WorldInstance* instance = abi::require_world(world);
  if (instance == nullptr) return LATTICE_ERROR_STALE_HANDLE;
  std::string error = "The type description is null.";
  if (desc == nullptr || !instance->world->schema().add_type(*desc, &error)) {
    return fail(LATTICE_ERROR_SCHEMA, "%s", error.c_str());
  }
  return LATTICE_OK;
}

lattice_result lattice_register_input(lattice_world* world, const lattice_input_desc* desc) {
  WorldInstance* instance = abi::require_world(world);
  if (instance == nullptr) return LATTICE_ERROR_STALE_HANDLE;
  std::string error = "The input description is null.";
  if (desc == nullptr || !instance->world->schema().set_input(*desc, &error)) {
    return fail(LATTICE_ERROR_SCHEMA, "%s", error.c_str());
  }
  return LATTICE_OK;
}

uint64_t lattice_world_schema_id(lattice_world* world) {
  WorldInstance* instance = abi::require_world(world);
  return instance == nullptr ? 0 : instance->world->schema().id();
}

lattice_netid lattice_spawn(lattice_world* world, uint32_t type_id, lattice_authority_mode mode) {
  return lattice_spawn_for(world, type_id, mode, 0);
}

lattice_netid lattice_spawn_for(lattice_world* world, uint32_t type_id, lattice_authority_mode mode,
                                lattice_peer_id owner) {
  WorldInstance* instance = abi::require_world(world);
  if (instance == nullptr) return 0;
  if (instance->authority == nullptr) {
    fail(LATTICE_ERROR_NOT_ALLOWED, "Only the authority spawns objects.");
    return 0;
  }
  if (mode != LATTICE_AUTHORITY_SERVER && mode != LATTICE_AUTHORITY_SHARED) {
    fail(LATTICE_ERROR_INVALID_ARGUMENT, "Authority mode %d does not exist.", static_cast<int>(mode));
    return 0;
  }
  const uint64_t id = instance->authority->spawn(type_id, mode, owner);
  if (id == 0 && instance->world->schema().find(type_id) == nullptr) {
    fail(LATTICE_ERROR_NOT_FOUND, "Type %u is not registered.", type_id);
  } else if (id == 0) {
    fail(LATTICE_ERROR_LIMIT, "The world holds %u objects already (lattice_world_config.max_objects).",
         instance->world->config().max_objects);
  }
  return id;
}

lattice_result lattice_despawn(lattice_world* world, lattice_netid object) {
  uint32_t slot = 0;
  WorldInstance* instance = require_object(world, object, &slot);
  if (instance == nullptr) return lattice_last_result();
  if (instance->authority == nullptr) {
    return fail(LATTICE_ERROR_NOT_ALLOWED, "Only the authority despawns objects.");
  }
  instance->authority->despawn(object);
  return LATTICE_OK;
}

lattice_result lattice_set_prop(lattice_world* world, lattice_netid object, uint16_t prop_id,
                                const void* data, size_t len) {
  uint32_t slot = 0;
  WorldInstance* instance = require_object(world, object, &slot);
  if (instance == nullptr) return lattice_last_result();
  switch (instance->world->set_prop(object, prop_id, data, len)) {
    case world::OpResult::kOk:
      return LATTICE_OK;
    case world::OpResult::kNotAllowed:
      return fail(
          LATTICE_ERROR_NOT_ALLOWED,
          "This peer may not write object %llu now: only the authority may, or its predicting owner inside "
          "on_tick.",
          static_cast<unsigned long long>(object));
    default:
      break;
  }
  return fail(LATTICE_ERROR_INVALID_ARGUMENT,
              "Property 0x%04x of object %llu does not exist or has not %zu bytes.", prop_id,
              static_cast<unsigned long long>(object), len);
}

size_t lattice_get_prop(lattice_world* world, lattice_netid object, uint16_t prop_id, void* out, size_t cap) {
  uint32_t slot = 0;
  WorldInstance* instance = require_object(world, object, &slot);
  return instance == nullptr ? 0 : instance->world->get_prop(object, prop_id, out, cap);
}

void* lattice_object_state(lattice_world* world, lattice_netid object, uint32_t behaviour) {
  WorldInstance* instance = abi::require_world(world);
  return instance == nullptr ? nullptr : instance->world->object_state(object, behaviour);
}

lattice_result lattice_object_get_info(lattice_world* world, lattice_netid object, lattice_object_info* out) {
  uint32_t slot = 0;
  WorldInstance* instance = require_object(world, object, &slot);
  if (instance == nullptr) return lattice_last_result();
  const replication::ObjectInfo& info = instance->world->objects().info(slot);
  lattice_object_info value{};
  value.struct_size = sizeof value;
  value.type_id = info.type->type_id;
  value.owner = info.owner;
  value.authority_mode = static_cast<uint32_t>(info.mode);
  value.spawn_tick = info.spawn_tick;
  world::Tick tick = 0;
  if (instance->world->confirmed(slot, &tick) != nullptr) value.confirmed_tick = tick;
  value.is_simulated = instance->world->simulated(slot) ? 1 : 0;
  if (!abi::write_struct(value, out)) {
    return fail(LATTICE_ERROR_INVALID_ARGUMENT, "lattice_object_info.struct_size is not set.");
  }
  return LATTICE_OK;
}

size_t lattice_objects(lattice_world* world, uint32_t type_id, lattice_netid* out, size_t cap) {
  WorldInstance* instance = abi::require_world(world);
  if (instance == nullptr) return 0;
  return list_objects(instance, type_id, out, cap, [](uint32_t) { return true; });
}

size_t lattice_simulated_objects(lattice_world* world, uint32_t type_id, lattice_netid* out, size_t cap) {
  WorldInstance* instance = abi::require_world(world);
  if (instance == nullptr) return 0;
  return list_objects(instance, type_id, out, cap,
                      [instance](uint32_t slot) { return instance->world->simulated(slot); });
}

lattice_result lattice_frame_begin(lattice_world* world) {
  WorldInstance* instance = abi::require_world(world);
  if (instance == nullptr) return LATTICE_ERROR_STALE_HANDLE;
  instance->world->begin_frame(instance->now());
  return LATTICE_OK;
}

size_t lattice_object_view(lattice_world* world, lattice_netid object, uint32_t behaviour, void* out,
                           size_t cap) {
  uint32_t slot = 0;
  WorldInstance* instance = require_object(world, object, &slot);
  if (instance == nullptr) return 0;
  const serialization::Layout& layout = *instance->world->objects().info(slot).type->layout;
  if (behaviour >= layout.behaviour_count() || layout.host_bytes(behaviour) > cap) return 0;
  const void* shown = instance->world->view(slot, behaviour, instance->now());
  if (shown == nullptr) return 0;
  std::memcpy(out, shown, layout.host_bytes(behaviour));
  return layout.host_bytes(behaviour);
}

size_t lattice_object_confirmed(lattice_world* world, lattice_netid object, uint32_t behaviour, void* out,
                                size_t cap, uint32_t* tick) {
  uint32_t slot = 0;
  WorldInstance* instance = require_object(world, object, &slot);
  return instance == nullptr ? 0 : instance->world->read_confirmed(slot, behaviour, out, cap, tick);
}

uint64_t lattice_world_state_hash(lattice_world* world) {
  WorldInstance* instance = abi::require_world(world);
  return instance == nullptr ? 0 : instance->world->state_hash();
}

lattice_result lattice_set_input(lattice_world* world, const void* input, size_t bytes) {
  WorldInstance* instance = abi::require_world(world);
  if (instance == nullptr) return LATTICE_ERROR_STALE_HANDLE;
  if (input == nullptr || instance->world->set_input(input, bytes) != world::OpResult::kOk) {
    return fail(LATTICE_ERROR_INVALID_ARGUMENT, "No input is registered, or its structure has not %zu bytes.",
                bytes);
  }
  return LATTICE_OK;
}

int lattice_get_input(lattice_world* world, lattice_peer_id peer, void* out, size_t bytes) {
  WorldInstance* instance = abi::require_world(world);
  return instance == nullptr || out == nullptr ? 0 : instance->world->get_input(peer, out, bytes);
}

}  // extern "C"
