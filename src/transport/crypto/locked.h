// Memory for the secrets that live as long as a server: its static key and the key of its resets. Whoever has
// one of them can pretend to be the server until the operator replaces it.
//
// The memory is apart from all other: it is not in core dumps (MADV_DONTDUMP) and not swapped out (mlock, as
// far as the limit of the process allows), and the pages before and after it cannot be accessed. Each object
// takes some pages of its own, so keys of connections and of buckets stay in ordinary memory: there are
// thousands of the former, and all of them reveal one session or ten seconds of handshakes, no more.
#pragma once

#include <cstddef>
#include <new>
#include <utility>

namespace lattice::crypto {

/// `bytes` of such memory. Ends the process when the system has none. Called at creation only.
void* allocate_locked(size_t bytes);
/// Wipes and returns the memory.
void free_locked(void* memory);

/// A T in such memory.
template <class T>
class Locked {
 public:
  explicit Locked(T value) : value_(new (allocate_locked(sizeof(T))) T(std::move(value))) {}
  ~Locked() {
    value_->~T();
    free_locked(value_);
  }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

  const T& operator*() const { return *value_; }
  const T* operator->() const { return value_; }

 private:
  T* value_;
};

}  // namespace lattice::crypto
