#include "transport/crypto/locked.h"

#include <sodium.h>

#include "base/assert.h"

namespace lattice::crypto {

void* allocate_locked(size_t bytes) {
  LATTICE_CHECK(sodium_init() >= 0);
  void* memory = sodium_malloc(bytes);
  LATTICE_CHECK(memory != nullptr);
  return memory;
}

void free_locked(void* memory) {
  sodium_free(memory);
}

}  // namespace lattice::crypto
