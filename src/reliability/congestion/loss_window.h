// The share of lost packets among those that were acknowledged or declared lost in the last second (C-01).
// Eight slots of 125 ms.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace lattice::reliability {

class LossWindow {
 public:
  struct Count {
    uint32_t packets = 0;  ///< Acknowledged or lost.
    uint32_t lost = 0;
  };

  /// Counts packets that were acknowledged or declared lost at `now_ns`. A spurious loss was counted as lost
  /// before; it is subtracted here, even if the count of this slot becomes negative.
  void add(uint64_t now_ns, uint32_t acked, uint32_t lost, uint32_t spurious) {
    Slot& slot = slots_[now_ns / kSlotNs % kSlots];
    if (slot.number != now_ns / kSlotNs) slot = {now_ns / kSlotNs, 0, 0};
    slot.packets += acked + lost;
    slot.lost += static_cast<int32_t>(lost) - static_cast<int32_t>(spurious);
  }

  Count last_second(uint64_t now_ns) const {
    uint32_t packets = 0;
    int64_t lost = 0;
    for (const Slot& slot : slots_) {
      if (slot.number + kSlots <= now_ns / kSlotNs) continue;
      packets += slot.packets;
      lost += slot.lost;
    }
    return {packets, lost > 0 ? static_cast<uint32_t>(lost) : 0};
  }

  void clear() { slots_ = {}; }

 private:
  static constexpr size_t kSlots = 8;
  static constexpr uint64_t kSlotNs = 125'000'000;
  struct Slot {
    uint64_t number = 0;
    uint32_t packets = 0;
    int32_t lost = 0;
  };
  std::array<Slot, kSlots> slots_{};
};

}  // namespace lattice::reliability
