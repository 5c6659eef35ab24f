// Byte-aligned reading and writing with sticky failure: after the first overrun every value read is zero,
// nothing more is written, and ok() is false. The caller checks once, before it uses the values. Scalars are
// little-endian (§20.3). The varint is Y-02: base-128 groups, low first, ninth byte whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "platform/byte_order.h"

namespace lattice::base {

class ByteReader {
 public:
  explicit ByteReader(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  bool ok() const { return ok_; }
  size_t remaining() const { return bytes_.size() - position_; }
  size_t position() const { return position_; }
  /// Marks the input as malformed; used by codecs for values that are out of range.
  void fail() { ok_ = false, position_ = bytes_.size(); }

  uint8_t u8() {
    const uint8_t* p = take(1);
    return p ? *p : uint8_t{0};
  }
  uint16_t u16() {
    const uint8_t* p = take(2);
    return p ? platform::load_u16_le(p) : uint16_t{0};
  }
  uint32_t u32() {
    const uint8_t* p = take(4);
    return p ? platform::load_u32_le(p) : uint32_t{0};
  }
  uint64_t u64() {
    const uint8_t* p = take(8);
    return p ? platform::load_u64_le(p) : uint64_t{0};
  }
  /// A minimal varint of 1 to 9 bytes (Y-02); overlong forms fail.
  uint64_t varint() {
    uint64_t value = 0;
    for (unsigned i = 0; i < 8; ++i) {
      const uint8_t byte = u8();
      value |= static_cast<uint64_t>(byte & 0x7F) << (7 * i);
      if ((byte & 0x80) == 0) {
        if (i > 0 && byte == 0) fail();
        return ok_ ? value : 0;
      }
    }
    const uint8_t last = u8();
    if (last == 0) fail();
    value |= static_cast<uint64_t>(last) << 56;
    return ok_ ? value : 0;
  }
  /// The next `n` bytes in place, or an empty span and failure.
  std::span<const uint8_t> bytes(size_t n) {
    const uint8_t* p = take(n);
    return p ? std::span<const uint8_t>(p, n) : std::span<const uint8_t>();
  }
  /// Copies `n` bytes to `out`; zero-fills on failure.
  void copy(void* out, size_t n) {
    const uint8_t* p = take(n);
    if (p) {
      std::memcpy(out, p, n);
    } else {
      std::memset(out, 0, n);
    }
  }

 private:
  const uint8_t* take(size_t n) {
    if (!ok_ || n > remaining()) {
      fail();
      return nullptr;
    }
    const uint8_t* p = bytes_.data() + position_;
    position_ += n;
    return p;
  }

  std::span<const uint8_t> bytes_;
  size_t position_ = 0;
  bool ok_ = true;
};

/// Bytes a varint takes (Y-02).
inline size_t varint_bytes(uint64_t v) {
  size_t n = 1;
  while (n < 9 && (v >>= 7) != 0) ++n;
  return n;
}

class ByteWriter {
 public:
  explicit ByteWriter(std::span<uint8_t> out) : out_(out) {}

  bool ok() const { return ok_; }
  size_t size() const { return position_; }
  size_t remaining() const { return out_.size() - position_; }
  std::span<uint8_t> written() const { return out_.first(position_); }

  /// The next `n` bytes, to be filled by the caller; null, and failure, when they do not fit.
  uint8_t* take(size_t n) {
    if (!ok_ || n > remaining()) {
      ok_ = false;
      return nullptr;
    }
    uint8_t* p = out_.data() + position_;
    position_ += n;
    return p;
  }

  void u8(uint8_t v) {
    if (uint8_t* p = take(1)) *p = v;
  }
  void u16(uint16_t v) {
    if (uint8_t* p = take(2)) platform::store_u16_le(p, v);
  }
  void u32(uint32_t v) {
    if (uint8_t* p = take(4)) platform::store_u32_le(p, v);
  }
  void u64(uint64_t v) {
    if (uint8_t* p = take(8)) platform::store_u64_le(p, v);
  }
  void varint(uint64_t v) {
    for (unsigned i = 0; i < 8; ++i) {
      if (v < 0x80) {
        u8(static_cast<uint8_t>(v));
        return;
      }
      u8(static_cast<uint8_t>(v | 0x80));
      v >>= 7;
    }
    u8(static_cast<uint8_t>(v));
  }
  void bytes(std::span<const uint8_t> v) {
    if (v.empty()) return;
    if (uint8_t* p = take(v.size())) std::memcpy(p, v.data(), v.size());
  }
  void zeros(size_t n) {
    if (n == 0) return;
    if (uint8_t* p = take(n)) std::memset(p, 0, n);
  }

 private:
  std::span<uint8_t> out_;
  size_t position_ = 0;
  bool ok_ = true;
};

}  // namespace lattice::base
