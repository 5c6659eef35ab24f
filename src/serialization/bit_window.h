// Reads bits where one load serves several fields: a decoder of many short entries looks at the next bits and
// takes them field by field. It asks once per entry whether the bits were there. BitReader loads and asks at
// every read, which costs more than the reading.
//
// Must stay true: nothing behind the last byte is read, whatever the position is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "lattice/authoring/bit_reader.h"
#include "lattice/authoring/byte_order.h"

namespace lattice::serialization {

class BitWindow {
 public:
  /// What look() makes ready.
  static constexpr unsigned kLookBits = 57;

  /// Looks at the first `bit_count` bits of `bytes`, which are borrowed, from bit `position` on.
  BitWindow(std::span<const uint8_t> bytes, size_t position, size_t bit_count)
      : data_(bytes.data()),
        size_(bytes.size()),
        end_(bit_count),
        whole_loads_end_(bytes.size() < 8 ? 0 : (bytes.size() - 7) * 8),
        position_(position) {}
  BitWindow(std::span<const uint8_t> bytes, size_t position) : BitWindow(bytes, position, bytes.size() * 8) {}

  /// False once more bits were taken than there are: nothing that was read since is true.
  bool ok() const { return position_ <= end_; }
  size_t position_bits() const { return position_; }

  /// Makes the next kLookBits bits ready, so that the fields in them cost no load each.
  void look() { ahead_ = load(); }
  /// What look() made ready and skip() left of it: the next bits, the first one highest.
  uint64_t ahead() const { return ahead_; }
  /// Moves past `bits` bits, at most 63.
  void skip(unsigned bits) {
    ahead_ <<= bits;
    position_ += bits;
  }

  /// The same for any number of bits. Nothing is ready after it.
  void skip_all(unsigned bits) { position_ += bits; }
  /// Goes to bit `position`. Nothing is ready there.
  void move_to(size_t position) { position_ = position; }

  /// A field of `bits` bits, 0 to 64. Nothing is ready after it.
  uint64_t read(unsigned bits) {
    if (bits <= kLookBits) [[likely]]
      return read_short(bits);
    const uint64_t first = read_short(32);
    return first << (bits - 32) | read_short(bits - 32);
  }
  bool read_bool() { return read(1) != 0; }

  /// Lets `read` take a BitReader from here on, and moves to where it stops. Its result is read's. Nothing is
  /// ready after it.
  template <class Read>
  auto with_reader(Read read) {
    BitReader reader({data_, size_}, end_);
    reader.Skip(position_);
    const auto result = read(reader);
    position_ = reader.ok() ? reader.position_bits() : end_ + 1;
    return result;
  }

 private:
  uint64_t read_short(unsigned bits) {
    const uint64_t field = load() >> 1 >> (63 - bits);
    position_ += bits;
    return field;
  }
  uint64_t load() const {
    const size_t byte = position_ / 8;
    uint64_t head = 0;
    if (position_ < whole_loads_end_) [[likely]] {
      std::memcpy(&head, data_ + byte, sizeof head);
      head = detail::big_endian(head);
    } else {
      head = near_end(data_, size_, byte);
    }
    return head << (position_ % 8);
  }
  // The 8 bytes from `byte` on, with zeros behind the last.
  [[gnu::noinline]] static uint64_t near_end(const uint8_t* data, size_t size, size_t byte) {
    uint64_t head = 0;
    for (size_t i = 0; i < 8 && byte + i < size; ++i) head |= uint64_t{data[byte + i]} << (56 - 8 * i);
    return head;
  }

  const uint8_t* data_;
  size_t size_;
  size_t end_;
  size_t whole_loads_end_;  // where 8 bytes are left, the position is below it
  size_t position_;
  uint64_t ahead_ = 0;
};

}  // namespace lattice::serialization
