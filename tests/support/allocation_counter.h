// Counts heap allocations of the whole process, the library included: global operator new is replaced in a
// test program that links allocation_counter, and the shared library resolves to it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lattice::test {

/// Allocations made by this thread so far.
uint64_t allocation_count();
/// While one lives, this thread's allocations do not count: for test code that runs inside callbacks.
class PauseCounting {
 public:
  PauseCounting();
  ~PauseCounting();
};
/// While one lives, this thread gets no memory from `new (std::nothrow)` for `bytes` or more: as on a system
/// that has none.
class NoMemory {
 public:
  explicit NoMemory(size_t bytes);
  ~NoMemory();
  NoMemory(const NoMemory&) = delete;
  NoMemory& operator=(const NoMemory&) = delete;
};
/// Bytes live now, over all threads.
int64_t live_bytes();

}  // namespace lattice::test
