/// @file
/// Values of networked members that C++ has no plain type for: bounded text, blobs, lists, maps, references
/// to objects, moments. Their memory layout is the one that lattice/schema.h states. All are trivially
/// copyable, and all-zero when empty.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

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

/// A moment as the number of a simulation tick, for a member of type nettick.
struct NetTick {
  /// The tick; it wraps after 2^32.
  uint32_t value = 0;
  /// The tick.
  constexpr operator uint32_t() const { return value; }
  /// Equal when the ticks are.
  friend bool operator==(const NetTick&, const NetTick&) = default;
};

/// 0 to `Capacity` elements in a row, for a member with LIST(Capacity). Pointers and references to elements
/// stay valid until elements before them go.
template <typename T, size_t Capacity>
struct List {
  static_assert(Capacity >= 1 && Capacity <= 1024);
  /// What it holds.
  using Element = T;
  /// Most elements.
  static constexpr size_t kCapacity = Capacity;
  /// The elements, `count` of them; what is behind does not count.
  T items[Capacity] = {};
  /// How many elements there are.
  uint16_t count = 0;

  /// How many elements there are, at most `Capacity`.
  size_t size() const { return count < Capacity ? count : Capacity; }
  /// True without elements.
  bool empty() const { return count == 0; }
  /// True when no other element fits.
  bool full() const { return count >= Capacity; }
  /// An element; `index` is below size().
  T& operator[](size_t index) { return items[index]; }
  /// An element; `index` is below size().
  const T& operator[](size_t index) const { return items[index]; }
  /// The first element.
  T* begin() { return items; }
  /// Behind the last element.
  T* end() { return items + size(); }
  /// The first element.
  const T* begin() const { return items; }
  /// Behind the last element.
  const T* end() const { return items + size(); }
  /// Appends a copy. False, and nothing happens, when the list is full.
  bool push_back(const T& value) {
    if (full()) return false;
    items[count++] = value;
    return true;
  }
  /// Removes the last element, if there is one.
  void pop_back() {
    if (count != 0) --count;
  }
  /// Removes an element and keeps the order of the others: all behind it change, and travel. `index` is below
  /// size().
  void erase(size_t index) {
    for (size_t i = index + 1; i < size(); ++i) items[i - 1] = items[i];
    pop_back();
  }
  /// Removes an element and puts the last one in its place, so that only one element changes. `index` is
  /// below size().
  void swap_erase(size_t index) {
    items[index] = items[size() - 1];
    pop_back();
  }
  /// Removes all elements.
  void clear() { count = 0; }
  /// Equal when the lengths and all elements are.
  friend bool operator==(const List& a, const List& b) requires std::equality_comparable<T> {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i) {
      if (!(a.items[i] == b.items[i])) return false;
    }
    return true;
  }
};

/// 0 to `Capacity` entries that are found by their keys, for a member with MAP(Capacity). `Entry` is a
/// declared structure whose first member is the key. Entries lie in ascending order of their keys, enums by
/// their numbers.
template <typename Entry, size_t Capacity>
struct Map {
  static_assert(Capacity >= 1 && Capacity <= 1024);
  /// What it holds.
  using Element = Entry;
  /// Most entries.
  static constexpr size_t kCapacity = Capacity;
  /// The entries, `count` of them; what is behind does not count.
  Entry items[Capacity] = {};
  /// How many entries there are.
  uint16_t count = 0;

  /// How many entries there are, at most `Capacity`.
  size_t size() const { return count < Capacity ? count : Capacity; }
  /// True without entries.
  bool empty() const { return count == 0; }
  /// True when no other entry fits.
  bool full() const { return count >= Capacity; }
  /// The entry with the least key. Its key must not be changed through it.
  Entry* begin() { return items; }
  /// Behind the last entry.
  Entry* end() { return items + size(); }
  /// The entry with the least key.
  const Entry* begin() const { return items; }
  /// Behind the last entry.
  const Entry* end() const { return items + size(); }
  /// The entry with a key, or null. Valid until an entry is inserted or erased. The key must not be changed
  /// through it.
  template <typename Key>
  Entry* find(const Key& key) {
    Entry* at = place_of(key);
    return at != end() && !is_less(key, at->lattice_key()) ? at : nullptr;
  }
  /// The entry with a key, or null. Valid until an entry is inserted or erased.
  template <typename Key>
  const Entry* find(const Key& key) const {
    return const_cast<Map*>(this)->find(key);
  }
  /// Inserts an entry, or replaces the one with its key. Returns it, or null when the map is full; nothing
  /// happens then.
  Entry* insert(const Entry& entry) {
    Entry* at = place_of(entry.lattice_key());
    if (at == end() || is_less(entry.lattice_key(), at->lattice_key())) {
      if (full()) return nullptr;
      for (Entry* to = end(); to != at; --to) *to = to[-1];
      ++count;
    }
    *at = entry;
    return at;
  }
  /// Removes the entry with a key. False when there is none.
  template <typename Key>
  bool erase(const Key& key) {
    Entry* at = find(key);
    if (at == nullptr) return false;
    for (; at + 1 != end(); ++at) *at = at[1];
    --count;
    return true;
  }
  /// Removes all entries.
  void clear() { count = 0; }
  /// Equal when both have the same entries.
  friend bool operator==(const Map& a, const Map& b) requires std::equality_comparable<Entry> {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i) {
      if (!(a.items[i] == b.items[i])) return false;
    }
    return true;
  }

 private:
  // Integers as they are; enums by their numbers, with a sign, as the schema holds them.
  template <typename A, typename B>
  static bool is_less(const A& a, const B& b) {
    if constexpr (std::is_enum_v<A>) {
      using Signed = std::make_signed_t<std::underlying_type_t<A>>;
      return static_cast<Signed>(a) < static_cast<Signed>(b);
    } else {
      return std::cmp_less(number(a), number(b));
    }
  }
  static uint64_t number(NetId id) { return id.value; }
  template <typename T>
  static T number(T v) {
    return v;
  }
  // The first entry whose key is not below `key`.
  template <typename Key>
  Entry* place_of(const Key& key) {
    size_t low = 0, high = size();
    while (low < high) {
      const size_t middle = (low + high) / 2;
      if (is_less(items[middle].lattice_key(), key)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return items + low;
  }
};

}  // namespace lattice
