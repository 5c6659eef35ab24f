// Reads bits where one load serves several fields: a decoder of many short entries looks at the next 64 bits
// and takes them field by field. It asks once per entry whether the bits were there. BitReader loads and asks
// at every read, which costs more than the reading.
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
  /// Looks at the first `bit_count` bits of `bytes`, which are borrowed, from bit `position` on.
  BitWindow(std::span<const uint8_t> bytes, size_t position, size_t bit_count)
      : data_(bytes.data()), size_(bytes.size()), end_(bit_count), seen_(position) {}
  BitWindow(std::span<const uint8_t> bytes, size_t position) : BitWindow(bytes, position, bytes.size() * 8) {}

  /// False once more bits were taken than there are: nothing that was read since is true.
  bool ok() const { return position_bits() <= end_; }
  size_t position_bits() const { return seen_ - held_; }

  /// A field of `bits` bits, 0 to 64.
  uint64_t read(unsigned bits) {
    if (bits == 0) return 0;
    const uint64_t field = ahead(bits) >> (64 - bits);
    skip(bits);
    return field;
  }
  /// Moves past `bits` bits, 1 to 64, that ahead() gave.
  void skip(unsigned bits) {
    ahead_ = ahead_ << 1 << (bits - 1);
    held_ -= bits;
  }
  bool read_bool() { return read(1) != 0; }
  /// The next bits, the first one highest: `bits` or more of them, which is 64 at most.
  uint64_t ahead(unsigned bits) {
    if (bits > held_) [[unlikely]]
      look();
    return ahead_;
  }
  /// Makes the next 64 bits ready, so that the fields in them cost no look each.
  void look() {
    seen_ -= held_;
    const size_t byte = seen_ / 8;
    const auto skip = static_cast<unsigned>(seen_ % 8);
    seen_ += 64;
    held_ = 64;
    if (byte + 9 > size_) [[unlikely]] {
      ahead_ = near_end(byte) << skip;
      return;
    }
    uint64_t head = 0;
    std::memcpy(&head, data_ + byte, sizeof head);
    ahead_ = detail::big_endian(head) << skip | uint64_t{data_[byte + 8]} >> (8 - skip);
  }

  /// Lets `read` take a BitReader from here on, and moves to where it stops. Its result is read's.
  template <class Read>
  auto with_reader(Read read) {
    BitReader reader({data_, size_}, end_);
    reader.Skip(position_bits());
    const auto result = read(reader);
    seen_ = reader.ok() ? reader.position_bits() : end_ + 1;
    held_ = 0;
    return result;
  }

 private:
  // The 8 bytes from `byte` on, with zeros behind the last. A ninth byte is not there.
  uint64_t near_end(size_t byte) const {
    uint64_t head = 0;
    for (size_t i = 0; i < 8 && byte + i < size_; ++i) head |= uint64_t{data_[byte + i]} << (56 - 8 * i);
    return head;
  }

  const uint8_t* data_;
  size_t size_;
  size_t end_;
  size_t seen_;         // the first bit that is not in ahead_
  uint64_t ahead_ = 0;  // the next held_ bits, the first one highest
  unsigned held_ = 0;
};

}  // namespace lattice::serialization
