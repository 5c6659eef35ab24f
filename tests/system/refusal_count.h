// One refusal counter of a world, by name.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "lattice/lattice.h"

namespace lattice::test {

inline uint64_t refusals(lattice_world* world, const std::string& name) {
  uint64_t value = 0;
  for (uint32_t i = 0; const char* found = lattice_world_refusal(world, i, &value); ++i) {
    if (name == found) return value;
  }
  ADD_FAILURE() << "no refusal counter " << name;
  return 0;
}

}  // namespace lattice::test
