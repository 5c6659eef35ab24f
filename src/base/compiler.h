// What the compilers spell differently. No result depends on it: with another compiler, hints and checks are
// left out.
#pragma once

#include <cstddef>
#include <cstdint>

// The arguments from number `first` on are those of the printf format at number `text`. In a member
// function, `this` is number 1.
#if defined(__MINGW32__)
#define LATTICE_PRINTF(text, first) [[gnu::format(gnu_printf, text, first)]]
#elif defined(__GNUC__)
#define LATTICE_PRINTF(text, first) [[gnu::format(printf, text, first)]]
#else
#define LATTICE_PRINTF(text, first)
#endif

// Marks a function that runs seldom. The compiler puts the code that leads to it apart from the rest.
#if defined(__GNUC__)
#define LATTICE_COLD [[gnu::cold, gnu::noinline]]
#else
#define LATTICE_COLD
#endif

namespace lattice::base {

/// Asks for the cache line of `at`.
inline void prefetch(const void* at) {
#if defined(__GNUC__)
  __builtin_prefetch(at);
  // GCC takes a function that only prefetches for one without effect, and drops calls of it. The empty
  // statement is an effect, and no instruction.
  __asm__ volatile("");
#else
  static_cast<void>(at);
#endif
}

/// Asks for every cache line of [from, to).
inline void prefetch(const void* from, const void* to) {
  constexpr uintptr_t kLineBytes = 64;
  const auto* line = static_cast<const char*>(from);
  line -= reinterpret_cast<uintptr_t>(from) % kLineBytes;
  for (; line < static_cast<const char*>(to); line += kLineBytes) prefetch(line);
}

inline void prefetch(const void* from, size_t bytes) {
  prefetch(from, static_cast<const char*>(from) + bytes);
}

/// `value`, which mostly is `expected`. What follows then does not wait for `value`: the processor guesses
/// the branch and checks it later. For a value on which the next step of a loop depends.
template <class T>
T mostly(T value, T expected) {
#if defined(__GNUC__)
  if (value == expected) [[likely]] {
    __asm__ volatile("" : "+r"(expected));  // else the compiler sees that both are the same
    return expected;
  }
#else
  static_cast<void>(expected);
#endif
  return value;
}

}  // namespace lattice::base
