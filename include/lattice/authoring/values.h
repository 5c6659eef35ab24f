// Host values of the type table that C++ has no plain type for: bounded text, blobs and object references.
// Their memory layout is the one lattice/schema.h states; all are trivially copyable and all-zero when empty.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "lattice/types.h"

namespace lattice {

/// UTF-8 text of at most `Capacity` bytes, zero-terminated.
template <size_t Capacity>
struct String {
  static_assert(Capacity >= 1 && Capacity <= 65535);
  static constexpr size_t kCapacity = Capacity;
  char data[Capacity + 1] = {};

  std::string_view view() const { return std::string_view(data, std::strlen(data)); }
  const char* c_str() const { return data; }
  /// Copies as much of `text` as fits, up to its first zero byte.
  String& operator=(std::string_view text) {
    size_t n = 0;
    for (; n < text.size() && n < Capacity && text[n] != 0; ++n) data[n] = text[n];
    std::memset(data + n, 0, sizeof data - n);
    return *this;
  }
  friend bool operator==(const String& a, const String& b) { return a.view() == b.view(); }
  friend bool operator==(const String& a, std::string_view b) { return a.view() == b; }
};

/// At most `Capacity` bytes without a zero among them; zero-padded.
template <size_t Capacity>
struct FixedString {
  static_assert(Capacity >= 1 && Capacity <= 65535);
  static constexpr size_t kCapacity = Capacity;
  char data[Capacity] = {};

  std::string_view view() const {
    size_t n = 0;
    while (n < Capacity && data[n] != 0) ++n;
    return std::string_view(data, n);
  }
  FixedString& operator=(std::string_view text) {
    size_t n = 0;
    for (; n < text.size() && n < Capacity && text[n] != 0; ++n) data[n] = text[n];
    std::memset(data + n, 0, Capacity - n);
    return *this;
  }
  friend bool operator==(const FixedString& a, const FixedString& b) { return a.view() == b.view(); }
};

/// A blob of at most `Capacity` bytes.
template <size_t Capacity>
struct Bytes {
  static_assert(Capacity >= 1 && Capacity <= 65535);
  static constexpr size_t kCapacity = Capacity;
  uint16_t size = 0;
  uint8_t data[Capacity] = {};

  std::span<const uint8_t> view() const { return {data, size < Capacity ? size : Capacity}; }
  /// Copies as much of `bytes` as fits.
  Bytes& operator=(std::span<const uint8_t> bytes) {
    size = static_cast<uint16_t>(bytes.size() < Capacity ? bytes.size() : Capacity);
    if (size != 0) std::memcpy(data, bytes.data(), size);
    std::memset(data + size, 0, Capacity - size);
    return *this;
  }
  friend bool operator==(const Bytes& a, const Bytes& b) {
    return a.size == b.size && std::memcmp(a.data, b.data, a.size) == 0;
  }
};

/// A reference to an object: an id, resolved when used, to nothing while the object is not here.
struct NetId {
  lattice_netid value = 0;
  constexpr operator lattice_netid() const { return value; }
  friend bool operator==(const NetId&, const NetId&) = default;
};

}  // namespace lattice
