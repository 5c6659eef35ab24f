/// @file
/// Values of networked members that C++ has no plain type for: bounded text, blobs and object references.
/// Their memory layout is the one that lattice/schema.h states. All are trivially copyable, and all-zero when
/// empty.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "lattice/types.h"

namespace lattice {

/// UTF-8 text of at most `Capacity` bytes with a final zero, for a member of type string.
template <size_t Capacity>
struct String {
  static_assert(Capacity >= 1 && Capacity <= 65535);
  /// Most bytes of text.
  static constexpr size_t kCapacity = Capacity;
  /// The text, then zeros.
  char data[Capacity + 1] = {};

  /// The text up to its final zero. Valid as long as this object.
  std::string_view view() const {
    const void* end = std::memchr(data, 0, Capacity);
    return std::string_view(
        data, end != nullptr ? static_cast<size_t>(static_cast<const char*>(end) - data) : Capacity);
  }
  /// The text as a C string.
  const char* c_str() const { return data; }
  /// Copies as much of `text` as fits, up to its first zero byte. It may cut a character: what is not valid
  /// UTF-8 then does not travel.
  String& operator=(std::string_view text) {
    size_t n = 0;
    for (; n < text.size() && n < Capacity && text[n] != 0; ++n) data[n] = text[n];
    std::memset(data + n, 0, sizeof data - n);
    return *this;
  }
  /// Equal when the texts are.
  friend bool operator==(const String& a, const String& b) { return a.view() == b.view(); }
  /// Equal when the texts are.
  friend bool operator==(const String& a, std::string_view b) { return a.view() == b; }
};

/// At most `Capacity` bytes of any encoding, for a member of type fixed_string. No byte of the text is zero;
/// zeros fill what is left.
template <size_t Capacity>
struct FixedString {
  static_assert(Capacity >= 1 && Capacity <= 65535);
  /// Most bytes of text.
  static constexpr size_t kCapacity = Capacity;
  /// The text, then zeros. A full one has no final zero.
  char data[Capacity] = {};

  /// The text up to its first zero. Valid as long as this object.
  std::string_view view() const {
    size_t n = 0;
    while (n < Capacity && data[n] != 0) ++n;
    return std::string_view(data, n);
  }
  /// Copies as much of `text` as fits, up to its first zero byte.
  FixedString& operator=(std::string_view text) {
    size_t n = 0;
    for (; n < text.size() && n < Capacity && text[n] != 0; ++n) data[n] = text[n];
    std::memset(data + n, 0, Capacity - n);
    return *this;
  }
  /// Equal when the texts are.
  friend bool operator==(const FixedString& a, const FixedString& b) { return a.view() == b.view(); }
};

/// At most `Capacity` bytes of any value, for a member of type blob.
template <size_t Capacity>
struct Bytes {
  static_assert(Capacity >= 1 && Capacity <= 65535);
  /// Most bytes.
  static constexpr size_t kCapacity = Capacity;
  /// How many bytes there are.
  uint16_t size = 0;
  /// The bytes, then zeros.
  uint8_t data[Capacity] = {};

  /// The bytes, at most `Capacity`. Valid as long as this object.
  std::span<const uint8_t> view() const { return {data, size < Capacity ? size : Capacity}; }
  /// Copies as much of `bytes` as fits.
  Bytes& operator=(std::span<const uint8_t> bytes) {
    size = static_cast<uint16_t>(bytes.size() < Capacity ? bytes.size() : Capacity);
    if (size != 0) std::memcpy(data, bytes.data(), size);
    std::memset(data + size, 0, Capacity - size);
    return *this;
  }
  /// Equal when the bytes are. Neither `size` may be above `Capacity`.
  friend bool operator==(const Bytes& a, const Bytes& b) {
    const std::span<const uint8_t> left = a.view();
    const std::span<const uint8_t> right = b.view();
    return left.size() == right.size() &&
           (left.empty() || std::memcmp(left.data(), right.data(), left.size()) == 0);
  }
};

/// A reference to an object by its id, for a member of type netid. It refers to nothing while the object is
/// not here.
struct NetId {
  /// The id; 0 is "none".
  lattice_netid value = 0;
  /// The id.
  constexpr operator lattice_netid() const { return value; }
  /// Equal when the ids are.
  friend bool operator==(const NetId&, const NetId&) = default;
};

}  // namespace lattice
