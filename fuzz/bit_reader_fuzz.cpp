// BitReader against any bytes: the first bytes choose the reads, the rest is read. Checks the sticky failure
// (Y-12): after a bad read every value is zero and the end is never reached. Checks also that accepted values
// write back to the same bits.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "lattice/authoring/bit_reader.h"
#include "lattice/authoring/bit_writer.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

constexpr size_t kScriptBytes = 16;

void step(uint8_t choice, lattice::BitReader& r, lattice::BitWriter& w) {
  const int bits = choice % 65;
  switch (choice % 9) {
    case 0:
      return w.WriteBits(r.ReadBits(bits), bits);
    case 1:
      return w.WriteVarint(r.ReadVarint());
    case 2:
      return w.WriteInt(r.ReadInt());
    case 3:
      return w.WriteRangedLong(r.ReadRangedLong(-5, bits), -5, bits);
    case 4: {
      const std::string text = r.ReadString(64);
      return w.WriteString(text);
    }
    case 5: {
      uint8_t data[32];
      return w.WriteBytes(data, r.ReadBytes(data, sizeof data));
    }
    case 6: {
      const lattice::Quaternion q = r.ReadQuaternion(4 + bits % 17);
      require(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w < 1.001f);
      return w.WriteBits(0, 2 + 3 * (4 + bits % 17));  // any unit rotation is accepted; its codes may differ
    }
    case 7:
      return w.WriteCompressedFloat(r.ReadCompressedFloat(-512, 512, 0.01f), -512, 512, 0.01f);
    default:
      return w.WriteU64(r.ReadU64());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < kScriptBytes || size > 4096) return 0;
  const std::span<const uint8_t> body(data + kScriptBytes, size - kScriptBytes);
  lattice::BitReader r(body);
  static uint8_t buffer[8192];
  lattice::BitWriter w(buffer);
  for (size_t i = 0; i < kScriptBytes; ++i) {
    const size_t before = r.position_bits();
    const lattice::BitWriter::Mark mark = w.mark();
    step(data[i], r, w);
    if (!r.ok()) {
      require(r.bits_left() == 0 && !r.at_end());
      require(r.ReadBits(7) == 0 && !r.ReadBool() && r.ReadVarint() == 0);
      return 0;
    }
    require(w.ok() && w.bit_count() - mark.bit_count == r.position_bits() - before);
    if (data[i] % 9 == 6) continue;
    lattice::BitReader read(body), written(w.finish());
    read.Skip(before);
    written.Skip(before);
    for (size_t bit = before; bit < r.position_bits(); ++bit) require(read.ReadBool() == written.ReadBool());
  }
  return 0;
}
