// A structure with every wire type and encoding, and ways to fill it: the subject of the layout tests.
#pragma once

#include <cstring>
#include <vector>

#include "base/random.h"
#include "lattice/authoring/networked.h"
#include "serialization/layout.h"

namespace lattice::test {

enum class Mood : int8_t { kCalm = 3, kAngry = -7, kSad = 0 };
LATTICE_ENUM(Mood, kCalm, kAngry, kSad)
enum class Single : uint8_t { kOnly = 9 };
LATTICE_ENUM(Single, kOnly)

/// A hand-written member: a count and that many 5-bit numbers.
struct Runs {
  static constexpr const char* kSerializerName = "runs.v1";
  uint8_t count = 0;
  uint8_t values[7] = {};

  void Serialize(BitWriter& w) const {
    const uint8_t n = count < 7 ? count : uint8_t{7};
    w.WriteRangedInt(n, 0, 7);
    for (uint8_t i = 0; i < n; ++i) w.WriteBits(values[i], 5);
  }
  void Deserialize(BitReader& r) {
    *this = Runs{};
    count = static_cast<uint8_t>(r.ReadRangedInt(0, 7));
    for (uint8_t i = 0; i < count; ++i) values[i] = static_cast<uint8_t>(r.ReadBits(5));
  }
  friend bool operator==(const Runs&, const Runs&) = default;
};

struct Inner {
  LATTICE_NETSTRUCT(Inner, (on, bool), (level, int16, RANGED(-5, 250)), (aim, vec2, BOUNDS(-1, 1, 0.001f)))
};
struct Slots {
  LATTICE_NETSTRUCT_DELTA(Slots, (first, uint8), (open, bool), (inner, Inner), (amount, uint32))
};

// clang-format off
LATTICE_NETWORKED(Everything,
  (flag, bool), (mood, Mood), (single, Single),
  (i8, int8), (u8, uint8), (i16, int16), (u16, uint16),
  (i32, int32), (u32, uint32), (i64, int64), (u64, uint64),
  (ranged, int64, RANGED(-3, 1'000'000'000'000)), (bits, uint16, BITS(10)),
  (full, float), (small, float, BOUNDS(-10, 10, 0.01f)),
  (wide, double), (fine, double, BOUNDS(-1e6, 1e6, 1e-6)),
  (v2, vec2, BOUNDS(-1, 1, 0.01f)), (v3, vec3, BOUNDS(-4096, 4096, 0.001f)), (v4, vec4),
  (quat10, quat), (quat4, quat, SMALLEST_THREE(4)), (quat20, quat, SMALLEST_THREE(20)), (quat_full, quat, FULL),
  (text, string, STRING(20)), (fixed_text, fixed_string, STRING(9)), (data, blob, BYTES(11)),
  (fx, fixed64), (fx_difference, fixed64, VARINT), (target, netid),
  (slots, Slots), (runs, Runs, CUSTOM(8)))

LATTICE_NETWORKED(Mover,
  (position, vec3, BOUNDS(-100, 100, 0.01f), POSITION), (velocity, vec3, BOUNDS(-50, 50, 0.01f), VELOCITY),
  (rotation, quat, SMALLEST_THREE(12), ROTATION), (spin, vec3, BOUNDS(-10, 10, 0.01f), ANGULAR_VELOCITY),
  (height, float, POSITION), (climb, float, VELOCITY), (gravity, float, ACCELERATION),
  (jumps, uint8, TELEPORT), (ammo, uint8, SNAP), (health, uint16), (alive, bool), (score, int64))
// clang-format on

/// Compiles or fails the test.
inline serialization::Layout layout_of(const lattice_struct_desc& desc) {
  serialization::Layout layout;
  std::string error;
  if (!serialization::Layout::compile_structure(desc, false, &layout, &error)) {
    ADD_FAILURE() << error;
  }
  return layout;
}

/// An object of several behaviours.
template <typename... Behaviours>
serialization::Layout object_layout_of() {
  const lattice_behaviour_desc behaviours[] = {behaviour_desc<Behaviours>()...};
  const lattice_type_desc desc = type_desc("Thing", behaviours);
  serialization::Layout layout;
  std::string error;
  if (!serialization::Layout::compile_object(desc, &layout, &error)) ADD_FAILURE() << error;
  return layout;
}

/// Garbage bytes: NaN, infinities, undeclared enum values, text that is not UTF-8 and never ends.
template <typename T>
void fill_garbage(base::Random& random, T* out) {
  uint8_t bytes[sizeof(T)];
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random.next_u64());
  std::memcpy(static_cast<void*>(out), bytes, sizeof bytes);
}

inline float uniform(base::Random& random, float low, float high) {
  return low + static_cast<float>(random.next_unit()) * (high - low);
}

inline Quaternion random_rotation(base::Random& random) {
  Quaternion q{uniform(random, -1, 1), uniform(random, -1, 1), uniform(random, -1, 1),
               uniform(random, -1, 1)};
  if (random.chance(0.3)) q.y = q.x;  // near ties are where rotations are delicate
  if (random.chance(0.3)) q.z = -q.x;
  if (random.chance(0.3)) q.w = q.x;
  return q;
}

/// Values a game might have.
inline Everything plausible(base::Random& random) {
  Everything e;
  const auto u64 = [&] { return random.next_u64() >> random.next_below(64); };
  e.flag = random.chance(0.5);
  e.mood = EnumTraits<Mood>::value(random.next_below(3));
  e.i8 = static_cast<int8_t>(u64()), e.u8 = static_cast<uint8_t>(u64());
  e.i16 = static_cast<int16_t>(u64()), e.u16 = static_cast<uint16_t>(u64());
  e.i32 = static_cast<int32_t>(u64()), e.u32 = static_cast<uint32_t>(u64());
  e.i64 = static_cast<int64_t>(u64()), e.u64 = u64();
  e.ranged = static_cast<int64_t>(random.next_below(1'000'000'000'004)) - 3;
  e.bits = static_cast<uint16_t>(random.next_below(1024));
  e.full = uniform(random, -1e9f, 1e9f), e.small = uniform(random, -11, 11);
  e.wide = random.next_unit() * 1e300, e.fine = (random.next_unit() - 0.5) * 2e6;
  e.v2 = {uniform(random, -1, 1), uniform(random, -1, 1)};
  e.v3 = {uniform(random, -4096, 4096), uniform(random, -1, 1), uniform(random, 4095.9f, 4096.1f)};
  e.v4 = {uniform(random, -1, 1), uniform(random, -1e-30f, 1e-30f), 0.0f, -0.0f};
  e.quat10 = random_rotation(random), e.quat4 = random_rotation(random);
  e.quat20 = random_rotation(random), e.quat_full = random_rotation(random);
  static constexpr const char* kTexts[] = {"", "a", "Grüße aus Köln", "\xF0\x9F\x8E\xAE games",
                                           "exactly twenty bytes"};
  e.text = std::string_view(kTexts[random.next_below(5)]);
  e.fixed_text = std::string_view(kTexts[random.next_below(5)]);
  e.data.size = static_cast<uint16_t>(random.next_below(12));
  for (size_t i = 0; i < e.data.size; ++i) e.data.data[i] = static_cast<uint8_t>(random.next_u64());
  e.fx.raw = static_cast<int64_t>(u64()), e.fx_difference.raw = static_cast<int64_t>(u64());
  e.target.value = u64();
  e.slots.first = static_cast<uint8_t>(u64()), e.slots.open = random.chance(0.5);
  e.slots.inner.on = random.chance(0.5);
  e.slots.inner.level = static_cast<int16_t>(static_cast<int>(random.next_below(256)) - 5);
  e.slots.inner.aim = {uniform(random, -1, 1), uniform(random, -1, 1)};
  e.slots.amount = static_cast<uint32_t>(u64());
  e.runs.count = static_cast<uint8_t>(random.next_below(8));
  for (uint8_t i = 0; i < e.runs.count; ++i) e.runs.values[i] = static_cast<uint8_t>(random.next_below(32));
  return e;
}

/// Words of plausible state, or of garbage.
inline std::vector<serialization::Word> words_of(const serialization::Layout& layout, base::Random& random) {
  Everything e = plausible(random);
  if (random.chance(0.3)) fill_garbage(random, &e);
  std::vector<serialization::Word> words(layout.word_count());
  const void* host[] = {&e};
  layout.quantize(host, words.data());
  return words;
}

}  // namespace lattice::test
