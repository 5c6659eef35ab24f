// The recording of 901 physics cubes that `bench snapshots` reads: frames of records of eight 32-bit integers
// (largest, a, b, c, x, y, z, interacting), little-endian. It is not part of this repository; a path names
// it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bench {

struct CubeRecord {
  int32_t largest, a, b, c;  // the dropped component of the rotation, and 9 bits of each of the others
  int32_t x, y, z;           // 1/512 m
  int32_t interacting;

  friend bool operator==(const CubeRecord&, const CubeRecord&) = default;
};
static_assert(sizeof(CubeRecord) == 32);

class Recording {
 public:
  static constexpr size_t kCubes = 901;

  /// Reads a whole file, through `xz -dc` when its name ends in .xz. "" or what is wrong.
  std::string read(const std::string& path);

  size_t frames() const { return records_.size() / kCubes; }
  std::span<const CubeRecord> frame(size_t index) const {
    return std::span(records_).subspan(index * kCubes, kCubes);
  }

 private:
  std::vector<CubeRecord> records_;
};

}  // namespace bench
