// Layout::decode_delta and decode_whole against any bytes, over every wire type and encoding. Refused bytes
// leave a whole state. Accepted bytes are exactly the bytes that the encoder writes for that state; the state
// survives host memory unchanged and can be drawn.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "lattice/authoring/networked.h"
#include "serialization/layout.h"

namespace fuzz {

enum class Mood : int8_t { kCalm = 3, kAngry = -7, kSad = 0 };
LATTICE_ENUM(Mood, kCalm, kAngry, kSad)

struct Runs {
  static constexpr const char* kSerializerName = "runs.v1";
  uint8_t count = 0;
  uint8_t values[7] = {};
  void Serialize(lattice::BitWriter& w) const {
    w.WriteRangedInt(count, 0, 7);
    for (uint8_t i = 0; i < count; ++i) w.WriteBits(values[i], 5);
  }
  void Deserialize(lattice::BitReader& r) {
    *this = Runs{};
    count = static_cast<uint8_t>(r.ReadRangedInt(0, 7));
    for (uint8_t i = 0; i < count; ++i) values[i] = static_cast<uint8_t>(r.ReadBits(5));
  }
  static double Distance(const Runs& a, const Runs& b) { return a.count > b.count ? 0 : b.count - a.count; }
  static Runs Interpolate(const Runs& a, const Runs& b, double t) { return t < 0.5 ? a : b; }
};

// clang-format off
struct Inner {
  LATTICE_NETSTRUCT(Inner, (on, bool), (level, int16, RANGED(-5, 250)), (fx, fixed64, VARINT))
};
struct Slots {
  LATTICE_NETSTRUCT_DELTA(Slots, (first, uint8), (open, bool), (inner, Inner), (amount, uint32))
};
LATTICE_NETWORKED(Head,
  (position, vec3, BOUNDS(-4096, 4096, 0.001f), POSITION), (velocity, vec3, BOUNDS(-50, 50, 0.03f), VELOCITY),
  (rotation, quat, ROTATION), (spin, vec3, ANGULAR_VELOCITY), (jumps, uint8, TELEPORT), (flag, bool), (mood, Mood))
LATTICE_NETWORKED(Lists,
  (bits, bool, ARRAY(70)), (numbers, uint16, ARRAY(4), BITS(10)), (names, string, STRING(6), ARRAY(2)),
  (points, vec3, ARRAY(2), BOUNDS(-10, 10, 0.01f)), (slots, Slots, ARRAY(2)), (inner, Inner, ARRAY(2)),
  (runs, Runs, CUSTOM(8), ARRAY(2)), (drift, fixed64, ARRAY(2), VARINT), (yaws, float, ANGLE, ARRAY(2)),
  (heading, double, BOUNDS(0, 360, 0.01), ANGLE), (turn, float, ANGULAR_VELOCITY), (score, int32, NOT_PREDICTED))
struct Pick {
  LATTICE_NETUNION(Pick, (slots, Slots), (heat, float, HALF), (lit, bool), (numbers, uint8, LIST(4)))
};
struct Deal {
  LATTICE_NETSTRUCT(Deal, (price, int32), (inner, Inner, LIST(2)), (pick, Pick))
};
struct Ammo {
  LATTICE_NETSTRUCT_DELTA(Ammo, (kind, Mood), (rounds, uint16, BITS(10)), (hot, bool))
};
LATTICE_NETWORKED(Bag,
  (slots, Slots, LIST(5)), (bits, bool, LIST(70)), (points, vec3, LIST(3), BOUNDS(-10, 10, 0.01f)),
  (names, string, STRING(6), LIST(2)), (ammo, Ammo, MAP(3)), (deals, Deal, MAP(5)), (pick, Pick), (picks, Pick, LIST(3)),
  (heat, vec2, HALF), (since, nettick), (place, dvec3, BOUNDS(-1e6, 1e6, 1e-4)), (score, int32, LIST(2), NOT_PREDICTED))
LATTICE_NETWORKED(Body,
  (i16, int16, EXTRAPOLATE), (i32, int32), (u32, uint32, EXTRAPOLATE), (i64, int64, EXTRAPOLATE), (u64, uint64, EXTRAPOLATE),
  (bits, uint16, BITS(10), EXTRAPOLATE), (full, float, EXTRAPOLATE), (wide, double, EXTRAPOLATE),
  (quat4, quat, SMALLEST_THREE(4), EXTRAPOLATE), (quat_full, quat, FULL, EXTRAPOLATE),
  (text, string, STRING(70)), (fixed_text, fixed_string, STRING(9)), (data, blob, BYTES(11)),
  (fx, fixed64, EXTRAPOLATE), (fx_difference, fixed64, VARINT, EXTRAPOLATE), (target, netid), (slots, Slots),
  (runs, Runs, CUSTOM(8), EXTRAPOLATE))
// clang-format on

}  // namespace fuzz

namespace {

using lattice::BitReader;
using lattice::BitWriter;
using lattice::serialization::Layout;
using lattice::serialization::LeafKind;
using Words = std::vector<lattice::serialization::Word>;

void require(bool condition) {
  if (!condition) std::abort();
}

Layout compile() {
  static constexpr lattice_behaviour_desc kBehaviours[] = {
      lattice::behaviour_desc<fuzz::Head>(), lattice::behaviour_desc<fuzz::Body>(),
      lattice::behaviour_desc<fuzz::Lists>(), lattice::behaviour_desc<fuzz::Bag>()};
  Layout layout;
  std::string error;
  require(Layout::compile_object(lattice::type_desc("Thing", kBehaviours), &layout, &error));
  return layout;
}

void same_bits(const uint8_t* a, BitWriter& w, size_t bits) {
  require(w.ok() && w.bit_count() == bits);
  BitReader x({a, (bits + 7) / 8}, bits), y(w.finish(), bits);
  for (size_t i = 0; i < bits; ++i) require(x.ReadBool() == y.ReadBool());
}

void use(const Layout& layout, const Words& before, const Words& words) {
  fuzz::Head head;
  fuzz::Body body;
  fuzz::Lists lists;
  fuzz::Bag bag;
  void* host[] = {&head, &body, &lists, &bag};
  layout.dequantize(words.data(), host);
  Words again(layout.word_count());
  layout.quantize(host, again.data());
  const auto& last = layout.behaviours().back();  // the only one with elements that may not count
  require(std::memcmp(&again[last.first_word], &words[last.first_word],
                      last.word_count * sizeof(lattice::serialization::Word)) == 0);
  // A rotation within a step of a tie may settle on a neighbour.
  for (const auto& leaf : layout.leaves().first(last.first_leaf)) {
    if (leaf.kind == LeafKind::kSmallestThree) continue;
    require(std::memcmp(&again[leaf.word], &words[leaf.word],
                        leaf.word_count * sizeof(lattice::serialization::Word)) == 0);
  }
  layout.interpolate(before.data(), words.data(), 0.3, host);
  layout.extrapolate(words.data(), {.seconds = 0.1, .before = before.data(), .steps = 2.5}, host);
  static_cast<void>(layout.moving(words.data(), before.data()));
  layout.dequantize_not_predicted(words.data(), host);
  require(layout.approx_equal(words.data(), words.data()));
  require(layout.prediction_equal(words.data(), words.data()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Layout layout = compile();
  if (size < 1 || size > 2048) return 0;
  Words zero(layout.word_count()), out(layout.word_count());
  layout.zero_baseline(zero.data());
  std::vector<uint8_t> buffer(layout.max_delta_bits() / 8 + layout.max_whole_bits() / 8 + 2);
  BitReader r({data + 1, size - 1});
  if ((data[0] & 1) != 0) {
    if (!layout.decode_whole(r, out.data())) {
      require(out == zero && !r.ok());
      return 0;
    }
    BitWriter w(buffer);
    layout.encode_whole(w, out.data());
    same_bits(data + 1, w, r.position_bits());
    use(layout, zero, out);
    return 0;
  }
  Words base = zero;  // a chain of deltas, each against the last
  for (int i = 0; i < 8; ++i) {
    const size_t before = r.position_bits();
    if (!layout.decode_delta(r, base.data(), out.data())) {
      require(out == base && !r.ok());
      return 0;
    }
    BitWriter w(buffer);
    layout.encode_delta(w, base.data(), out.data());
    std::vector<uint8_t> consumed(size + 8);
    BitReader from({data + 1, size - 1});
    from.Skip(before);
    from.ReadBitSpan(consumed.data(), r.position_bits() - before);
    same_bits(consumed.data(), w, r.position_bits() - before);
    use(layout, base, out);
    base = out;
  }
  return 0;
}
