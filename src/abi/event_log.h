// The events of lattice_world_events(): recorded inside the pump, taken outside of it. Their bytes lie one
// after another in one array, so a steady load allocates nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lattice/event.h"

namespace lattice::abi {

class EventLog {
 public:
  static constexpr size_t kMaxEvents = 65536;
  static constexpr size_t kMaxBytes = 16u << 20;

  /// Records an event. `data` is copied; `event.data` and `event.bytes` are not read.
  void record(const lattice_event& event, std::span<const uint8_t> data = {});
  /// Takes the oldest events. What their data points to stays until the next record().
  size_t take(std::span<lattice_event> out);

  bool empty() const { return taken_ == events_.size(); }
  /// So much waits that nothing more should be received.
  bool is_full() const {
    return events_.size() - taken_ >= kMaxEvents || bytes_.size() - taken_bytes_ >= kMaxBytes;
  }

 private:
  void forget_taken();
  void give_back();

  std::vector<lattice_event> events_;  // data: null until the event is taken
  std::vector<uint8_t> bytes_;         // of the events in turn, a zero behind each
  size_t most_events_ = 0;             // there were at a time since give_back()
  size_t most_bytes_ = 0;
  uint32_t rounds_ = 0;     // since then, in which all were taken
  size_t taken_ = 0;        // of events_
  size_t taken_bytes_ = 0;  // of bytes_
};

}  // namespace lattice::abi
