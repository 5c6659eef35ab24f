// Memory for the host structures of objects. Objects of one type have cells of one size. A freed cell serves
// the next object of its type, so spawning does not allocate once a world is warm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "replication/object_type.h"

namespace lattice::replication {

inline constexpr size_t kHostAlignment = 64;  // the largest alignment that a description may ask for

class HostCells {
 public:
  HostCells() = default;
  HostCells(const HostCells&) = delete;
  HostCells& operator=(const HostCells&) = delete;

  /// A zeroed cell for one object: one pointer per behaviour, then the structures. It does not move.
  void* const* take(const ObjectType& type);
  void give_back(const ObjectType& type, void* const* cell);

 private:
  static constexpr size_t kCellsPerChunk = 64;
  struct AlignedFree {
    void operator()(std::byte* memory) const {
      ::operator delete[](memory, std::align_val_t{kHostAlignment});
    }
  };
  struct OfType {
    std::vector<size_t> offsets;  // of each behaviour
    size_t bytes = 0;
    std::vector<std::unique_ptr<std::byte[], AlignedFree>> chunks;
    std::vector<std::byte*> free;
  };
  OfType& of(const ObjectType& type);

  std::vector<OfType> types_;  // by ObjectType::index
};

}  // namespace lattice::replication
