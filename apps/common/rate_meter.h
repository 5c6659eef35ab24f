// The most bytes that a counter grew by in any second, over many counters that are read a few times a second.
// A reading that comes late makes its window longer than a second; its bytes then count in proportion.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>

namespace app {

class RateMeter {
 public:
  static constexpr uint64_t kIntervalNs = 100'000'000;

  /// Takes the reading of one counter, which never falls. Read each counter every kIntervalNs.
  void add(uint64_t counter_id, uint64_t now_ns, uint64_t bytes) {
    Readings& readings = counters_[counter_id];
    // The window ends now and begins with the newest reading that is a second old.
    while (readings.count > 1 && now_ns - readings.at(1).at_ns >= kSecondNs) readings.drop_first();
    if (readings.count > 0) {
      const Reading& first = readings.at(0);
      const uint64_t took_ns = now_ns - first.at_ns;
      if (took_ns >= kSecondNs) {
        const double rate = static_cast<double>(bytes - first.bytes) * 1e9 / static_cast<double>(took_ns);
        most_ = std::max(most_, rate);
        newest_most_ = std::max(newest_most_, rate);
      }
    }
    readings.push({now_ns, bytes});
  }
  void forget(uint64_t counter_id) { counters_.erase(counter_id); }

  /// Bytes per second, of the fastest counter in its fastest second.
  double most() const { return most_; }
  /// The same since the last call.
  double take_recent_most() {
    const double most = newest_most_;
    newest_most_ = 0;
    return most;
  }

 private:
  static constexpr uint64_t kSecondNs = 1'000'000'000;
  static constexpr size_t kReadings = 16;  // more than a second holds

  struct Reading {
    uint64_t at_ns = 0, bytes = 0;
  };
  struct Readings {
    std::array<Reading, kReadings> ring{};
    size_t first = 0, count = 0;

    const Reading& at(size_t index) const { return ring[(first + index) % kReadings]; }
    void drop_first() {
      first = (first + 1) % kReadings;
      --count;
    }
    void push(const Reading& reading) {
      if (count == kReadings) drop_first();
      ring[(first + count) % kReadings] = reading;
      ++count;
    }
  };

  std::map<uint64_t, Readings> counters_;
  double most_ = 0, newest_most_ = 0;
};

}  // namespace app
