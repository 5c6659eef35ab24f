// The tables of live worlds and simulated networks; see handle_table.h for the rules.
#include "abi/handle_table.h"

#include <array>
#include <atomic>
#include <bit>

namespace lattice::abi {
namespace {

template <class Instance>
class SlotTable {
 public:
  /// The bits of the handle, or 0 when every slot is taken.
  uintptr_t claim(HandleKind kind, Instance* instance) {
    for (uint32_t tries = 0; tries < kMaxWorlds; ++tries) {
      // Round robin, so that a freed slot stays unused for as long as possible.
      const uint32_t index = next_.fetch_add(1, std::memory_order_relaxed) % kMaxWorlds;
      Slot& slot = slots_[index];
      bool expected = false;
      if (!slot.claimed.compare_exchange_strong(expected, true)) continue;
      slot.instance.store(instance, std::memory_order_release);
      return Handle{.kind = kind, .slot = index, .generation = slot.generation.load()}.pack();
    }
    return 0;
  }
  void release(Handle handle) {
    Slot& slot = slots_[handle.slot];
    slot.instance.store(nullptr, std::memory_order_release);
    slot.generation.fetch_add(1, std::memory_order_release);
    slot.owner.store(nullptr, std::memory_order_release);
    slot.claimed.store(false, std::memory_order_release);
  }
  Entry enter(Handle handle, const void* thread, Instance** out) {
    *out = nullptr;
    Slot& slot = slots_[handle.slot];
    // Checked before the slot is entered: a stale handle must not keep out the slot's present owner.
    if (!holds(slot, handle)) return Entry::kStale;
    if (slot.owner.load(std::memory_order_relaxed) == thread) {
      *out = slot.instance.load(std::memory_order_relaxed);
      return Entry::kNested;
    }
    const void* nobody = nullptr;
    if (!slot.owner.compare_exchange_strong(nobody, thread, std::memory_order_acquire)) return Entry::kBusy;
    // Checked again: between the first check and entering, the owner may have destroyed the instance.
    if (holds(slot, handle)) {
      *out = slot.instance.load(std::memory_order_relaxed);
      return Entry::kEntered;
    }
    slot.owner.store(nullptr, std::memory_order_release);
    return Entry::kStale;
  }
  void leave(Handle handle) { slots_[handle.slot].owner.store(nullptr, std::memory_order_release); }

 private:
  struct Slot {
    std::atomic<Instance*> instance{nullptr};
    std::atomic<uint32_t> generation{1};
    std::atomic<bool> claimed{false};
    std::atomic<const void*> owner{nullptr};  // the thread inside
  };
  static bool holds(const Slot& slot, Handle handle) {
    return Handle::same_generation(slot.generation.load(std::memory_order_acquire), handle.generation) &&
           slot.instance.load(std::memory_order_acquire) != nullptr;
  }
  std::array<Slot, kMaxWorlds> slots_;
  std::atomic<uint32_t> next_{0};
};

SlotTable<WorldInstance> g_worlds;
SlotTable<NetsimInstance> g_netsims;

template <class Pointer>
Handle unpack(const Pointer* handle) {
  return Handle::unpack(std::bit_cast<uintptr_t>(handle));
}

}  // namespace

lattice_world* register_world(WorldInstance* instance) {
  return std::bit_cast<lattice_world*>(g_worlds.claim(HandleKind::kWorld, instance));
}
void unregister_world(lattice_world* handle) {
  g_worlds.release(unpack(handle));
}
Entry enter_world(const lattice_world* handle, const void* thread, WorldInstance** out) {
  *out = nullptr;
  const Handle named = unpack(handle);
  return named.is_of(HandleKind::kWorld) ? g_worlds.enter(named, thread, out) : Entry::kStale;
}
void leave_world(const lattice_world* handle) {
  g_worlds.leave(unpack(handle));
}

lattice_netsim* register_netsim(NetsimInstance* instance) {
  return std::bit_cast<lattice_netsim*>(g_netsims.claim(HandleKind::kNetsim, instance));
}
void unregister_netsim(lattice_netsim* handle) {
  g_netsims.release(unpack(handle));
}
Entry enter_netsim(const lattice_netsim* handle, const void* thread, NetsimInstance** out) {
  *out = nullptr;
  const Handle named = unpack(handle);
  return named.is_of(HandleKind::kNetsim) ? g_netsims.enter(named, thread, out) : Entry::kStale;
}
void leave_netsim(const lattice_netsim* handle) {
  g_netsims.leave(unpack(handle));
}

lattice_conn* make_connection_handle(const lattice_world* world, ConnectionRef connection) {
  Handle handle = unpack(world);
  handle.kind = HandleKind::kConnection;
  handle.connection_slot = connection.slot;
  handle.connection_generation = connection.generation;
  return std::bit_cast<lattice_conn*>(handle.pack());
}

const lattice_world* world_of(const lattice_conn* handle) {
  Handle world = unpack(handle);
  world.kind = world.kind == HandleKind::kConnection ? HandleKind::kWorld : HandleKind::kNetsim;
  world.connection_slot = world.connection_generation = 0;
  return std::bit_cast<const lattice_world*>(world.pack());
}

ConnectionRef connection_of(const lattice_conn* handle) {
  const Handle connection = unpack(handle);
  return {connection.connection_slot, connection.connection_generation};
}

}  // namespace lattice::abi
