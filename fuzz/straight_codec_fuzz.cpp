// Straight code and the interpreter against the same bytes, over every kind of number: both accept or refuse
// them, with the same state, and neither reads behind them. Numbers only, because what stands between them
// ends a run of straight code.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "lattice/authoring/networked.h"
#include "serialization/layout.h"

namespace fuzz {

enum class Mood : int8_t { kCalm = 3, kAngry = -7, kSad = 0 };
LATTICE_ENUM(Mood, kCalm, kAngry, kSad)

// clang-format off
struct Pair {
  LATTICE_NETSTRUCT(Pair, (first, int32), (second, float, BOUNDS(-1, 1, 0.01)))
};
LATTICE_NETWORKED(Numbers,
  (a, uint32), (b, uint32), (c, int32), (d, uint32), (e, uint32), (f, uint32), (g, int32), (h, uint32),
  (i64, int64), (u64, uint64), (target, netid), (since, nettick), (until, nettick), (drift, fixed64, VARINT),
  (flag, bool), (mood, Mood), (position, vec3, BOUNDS(-4096, 4096, 0.001)), (place, dvec3, BOUNDS(-1e9, 1e9, 1e-4)),
  (small, quat, SMALLEST_THREE(4)), (fine, quat, SMALLEST_THREE(20)), (turn, quat, FULL), (yaw, float, ANGLE),
  (heat, vec2, HALF), (full, float), (wide, double), (u8, uint8), (u16, uint16), (bits, uint64, BITS(61)),
  (ranged, int64, RANGED(-3, 1'000'000'000'000)), (pair, Pair), (lit, bool))
// clang-format on

}  // namespace fuzz

namespace {

using lattice::BitReader;
using lattice::serialization::Layout;
using Words = std::vector<lattice::serialization::Word>;

void require(bool condition) {
  if (!condition) std::abort();
}

Layout compile(bool straight) {
  lattice_behaviour_desc behaviours[] = {lattice::behaviour_desc<fuzz::Numbers>()};
  if (!straight) behaviours[0].codec = nullptr;
  Layout layout;
  std::string error;
  require(Layout::compile_object(lattice::type_desc("Thing", behaviours), &layout, &error));
  require(layout.is_straight() == straight);
  return layout;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Layout straight = compile(true), interpreted = compile(false);
  if (size > 1024) return 0;
  const std::vector<uint8_t> exactly(data, data + size);  // so that a read behind the end is seen
  BitReader a(exactly), b(exactly);
  Words base(straight.word_count()), out_a(base.size()), out_b(base.size());
  straight.zero_baseline(base.data());
  for (int i = 0; i < 8; ++i) {  // a chain of deltas, each against the last
    const bool read = straight.decode_delta(a, base.data(), out_a.data());
    require(interpreted.decode_delta(b, base.data(), out_b.data()) == read);
    require(out_a == out_b && a.position_bits() == b.position_bits());
    if (!read) return 0;
    fuzz::Numbers host_a, host_b;
    void *to_a[] = {&host_a}, *to_b[] = {&host_b};
    straight.dequantize(out_a.data(), to_a), interpreted.dequantize(out_a.data(), to_b);
    require(straight.quantize(to_a, out_a.data()) == interpreted.quantize(to_b, out_b.data()));
    require(out_a == out_b);
    base = out_a;
  }
  return 0;
}
