// Prefetches memory into the cache before it is needed. Hints only: no result depends on them.
#pragma once

namespace lattice::base {

/// Prefetches every cache line of [from, to).
inline void prefetch(const void* from, const void* to) {
  constexpr int kLineBytes = 64;
  for (auto* line = static_cast<const char*>(from); line < static_cast<const char*>(to); line += kLineBytes) {
    __builtin_prefetch(line);
  }
}

}  // namespace lattice::base
