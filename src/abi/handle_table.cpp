// The tables of live worlds and simulated networks; see handle_table.h for the rules.
//
//   63 62 | 61 .. 50 | 49 .. 36   | 35 .. 22  | 21 .. 0
//   kind  | slot     | generation | conn slot | conn generation
#include "abi/handle_table.h"

#include <array>
#include <atomic>
#include <bit>

namespace lattice::abi {
namespace {

static_assert(sizeof(void*) == 8, "handles pack two slots and two generations into 64 bits");

constexpr uint64_t kKindWorld = 1;
constexpr uint64_t kKindConnection = 2;
constexpr uint64_t kKindNetsim = 3;
constexpr uint32_t kGenerationMask = (1u << 14) - 1;
constexpr uint32_t kConnectionSlotMask = (1u << 14) - 1;
constexpr uint32_t kConnectionGenerationMask = (1u << 22) - 1;
static_assert(kMaxWorlds == 1u << 12);
static_assert(kMaxConnectionSlots == 1u << 14);

uint64_t pack(uint64_t kind, uint32_t slot, uint32_t generation, ConnectionRef connection) {
  return (kind << 62) | (static_cast<uint64_t>(slot) << 50) |
         (static_cast<uint64_t>(generation & kGenerationMask) << 36) |
         (static_cast<uint64_t>(connection.slot & kConnectionSlotMask) << 22) |
         (connection.generation & kConnectionGenerationMask);
}
uint32_t slot_of(uint64_t bits) {
  return static_cast<uint32_t>(bits >> 50) & (kMaxWorlds - 1);
}
uint32_t generation_of(uint64_t bits) {
  return static_cast<uint32_t>(bits >> 36) & kGenerationMask;
}

template <class Instance>
class SlotTable {
 public:
  /// The packed handle, or 0 when every slot is taken.
  uint64_t claim(uint64_t kind, Instance* instance) {
    for (uint32_t tries = 0; tries < kMaxWorlds; ++tries) {
      // Round robin, so that a freed slot stays unused for as long as possible.
      const uint32_t index = next_.fetch_add(1, std::memory_order_relaxed) % kMaxWorlds;
      Slot& slot = slots_[index];
      bool expected = false;
      if (!slot.claimed.compare_exchange_strong(expected, true)) continue;
      slot.instance.store(instance, std::memory_order_release);
      return pack(kind, index, slot.generation.load(), {});
    }
    return 0;
  }
  void release(uint64_t bits) {
    Slot& slot = slots_[slot_of(bits)];
    slot.instance.store(nullptr, std::memory_order_release);
    slot.generation.fetch_add(1, std::memory_order_release);
    slot.owner.store(nullptr, std::memory_order_release);
    slot.claimed.store(false, std::memory_order_release);
  }
  Entry enter(uint64_t bits, const void* thread, Instance** out) {
    *out = nullptr;
    Slot& slot = slots_[slot_of(bits)];
    // Checked before the slot is entered: a stale handle must not keep out the slot's present owner.
    if (!holds(slot, bits)) return Entry::kStale;
    if (slot.owner.load(std::memory_order_relaxed) == thread) {
      *out = slot.instance.load(std::memory_order_relaxed);
      return Entry::kNested;
    }
    const void* nobody = nullptr;
    if (!slot.owner.compare_exchange_strong(nobody, thread, std::memory_order_acquire)) return Entry::kBusy;
    // Checked again: between the first check and entering, the owner may have destroyed the instance.
    if (holds(slot, bits)) {
      *out = slot.instance.load(std::memory_order_relaxed);
      return Entry::kEntered;
    }
    slot.owner.store(nullptr, std::memory_order_release);
    return Entry::kStale;
  }
  void leave(uint64_t bits) { slots_[slot_of(bits)].owner.store(nullptr, std::memory_order_release); }

 private:
  struct Slot {
    std::atomic<Instance*> instance{nullptr};
    std::atomic<uint32_t> generation{1};
    std::atomic<bool> claimed{false};
    std::atomic<const void*> owner{nullptr};  // the thread inside
  };
  static bool holds(const Slot& slot, uint64_t bits) {
    const uint32_t generation = slot.generation.load(std::memory_order_acquire) & kGenerationMask;
    return generation == generation_of(bits) && slot.instance.load(std::memory_order_acquire) != nullptr;
  }
  std::array<Slot, kMaxWorlds> slots_;
  std::atomic<uint32_t> next_{0};
};

SlotTable<WorldInstance> g_worlds;
SlotTable<NetsimInstance> g_netsims;

template <class Handle>
uint64_t bits_of(const Handle* handle) {
  return std::bit_cast<uint64_t>(handle);
}
bool has_kind(uint64_t bits, uint64_t kind) {
  return bits >> 62 == kind;
}

}  // namespace

lattice_world* register_world(WorldInstance* instance) {
  return std::bit_cast<lattice_world*>(g_worlds.claim(kKindWorld, instance));
}
void unregister_world(lattice_world* handle) {
  g_worlds.release(bits_of(handle));
}
Entry enter_world(const lattice_world* handle, const void* thread, WorldInstance** out) {
  *out = nullptr;
  const uint64_t bits = bits_of(handle);
  return has_kind(bits, kKindWorld) ? g_worlds.enter(bits, thread, out) : Entry::kStale;
}
void leave_world(const lattice_world* handle) {
  g_worlds.leave(bits_of(handle));
}

lattice_netsim* register_netsim(NetsimInstance* instance) {
  return std::bit_cast<lattice_netsim*>(g_netsims.claim(kKindNetsim, instance));
}
void unregister_netsim(lattice_netsim* handle) {
  g_netsims.release(bits_of(handle));
}
Entry enter_netsim(const lattice_netsim* handle, const void* thread, NetsimInstance** out) {
  *out = nullptr;
  const uint64_t bits = bits_of(handle);
  return has_kind(bits, kKindNetsim) ? g_netsims.enter(bits, thread, out) : Entry::kStale;
}
void leave_netsim(const lattice_netsim* handle) {
  g_netsims.leave(bits_of(handle));
}

lattice_conn* make_connection_handle(const lattice_world* world, ConnectionRef connection) {
  const uint64_t bits = bits_of(world);
  return std::bit_cast<lattice_conn*>(pack(kKindConnection, slot_of(bits), generation_of(bits), connection));
}

const lattice_world* world_of(const lattice_conn* handle) {
  const uint64_t bits = bits_of(handle);
  return std::bit_cast<const lattice_world*>(has_kind(bits, kKindConnection)
                                                 ? pack(kKindWorld, slot_of(bits), generation_of(bits), {})
                                                 : kKindNetsim << 62);
}

ConnectionRef connection_of(const lattice_conn* handle) {
  const uint64_t bits = bits_of(handle);
  return {static_cast<uint32_t>(bits >> 22) & kConnectionSlotMask,
          static_cast<uint32_t>(bits) & kConnectionGenerationMask};
}

}  // namespace lattice::abi
