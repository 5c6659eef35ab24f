// A member that is constructed later than its object. Like std::optional, but the flag stands in front of the
// value: asking whether a large value exists does not fetch the cache lines behind the flag.
#pragma once

#include <memory>
#include <utility>

#include "base/assert.h"

namespace lattice::base {

template <class T>
class Late {
 public:
  Late() {}
  ~Late() { reset(); }
  Late(const Late&) = delete;
  Late& operator=(const Late&) = delete;

  /// Makes the value, once.
  template <class... Args>
  T& emplace(Args&&... args) {
    LATTICE_CHECK(!has_value_);
    std::construct_at(&value_, std::forward<Args>(args)...);
    has_value_ = true;
    return value_;
  }
  void reset() {
    if (has_value_) std::destroy_at(&value_);
    has_value_ = false;
  }

  explicit operator bool() const { return has_value_; }
  T& operator*() { return value_; }
  const T& operator*() const { return value_; }
  T* operator->() { return &value_; }
  const T* operator->() const { return &value_; }

 private:
  bool has_value_ = false;
  union {
    T value_;
  };
};

}  // namespace lattice::base
