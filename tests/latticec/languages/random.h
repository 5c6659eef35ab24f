// Numbers that are the same in every run.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

namespace languages {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u + 1) {}
  uint64_t next() {
    state_ += 0x9E3779B97F4A7C15u;
    uint64_t v = state_;
    v = (v ^ (v >> 30)) * 0xBF58476D1CE4E5B9u;
    v = (v ^ (v >> 27)) * 0x94D049BB133111EBu;
    return v ^ (v >> 31);
  }
  /// 0 to count - 1.
  uint64_t below(uint64_t count) { return next() % count; }
  bool one_in(uint64_t count) { return below(count) == 0; }
  /// In [0, 1).
  double part() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

 private:
  uint64_t state_;
};

/// The text of a schema with members of every type, among them names that are words of C# and TypeScript.
std::string random_schema(Random& random, const std::string& name);

}  // namespace languages
