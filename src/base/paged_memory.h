// Raw memory for a table at its full size. A page that is never touched costs address space only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include "platform/large_pages.h"

namespace lattice::base {

enum class PageSize : uint8_t {
  kSmall,
  kLarge,  ///< If the system has large pages. The first touch makes a whole large page resident.
};

class PagedMemory {
 public:
  /// Uninitialised, aligned to 64 bytes, or to `alignment_bytes`, a power of two, if that is more. data() is
  /// null when the system has no memory.
  PagedMemory(size_t bytes, PageSize pages, size_t alignment_bytes = kSmallAlignment)
      : memory_(nullptr,
                Delete{std::max(pages == PageSize::kLarge ? platform::kLargePageBytes : kSmallAlignment,
                                alignment_bytes)}) {
    const size_t alignment = memory_.get_deleter().alignment;
    const size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    memory_.reset(
        static_cast<uint8_t*>(::operator new[](rounded, std::align_val_t{alignment}, std::nothrow)));
    if (memory_ != nullptr && pages == PageSize::kLarge) platform::prefer_large_pages(memory_.get(), rounded);
  }

  uint8_t* data() const { return memory_.get(); }

 private:
  static constexpr size_t kSmallAlignment = 64;
  struct Delete {
    size_t alignment;
    void operator()(uint8_t* memory) const { ::operator delete[](memory, std::align_val_t{alignment}); }
  };
  std::unique_ptr<uint8_t[], Delete> memory_;
};

}  // namespace lattice::base
