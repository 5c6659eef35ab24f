#include "random_values.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace languages {
namespace {

template <class T>
void put(uint8_t* at, T v) {
  std::memcpy(at, &v, sizeof v);
}

struct Shape {
  uint32_t bytes;  // of one element
  unsigned components = 1;
};

Shape shape_of(const lattice_member_desc& m) {
  switch (m.type) {
    case LATTICE_WIRE_BOOL:
    case LATTICE_WIRE_INT8:
    case LATTICE_WIRE_UINT8:
      return {1};
    case LATTICE_WIRE_INT16:
    case LATTICE_WIRE_UINT16:
      return {2};
    case LATTICE_WIRE_INT64:
    case LATTICE_WIRE_UINT64:
    case LATTICE_WIRE_DOUBLE:
    case LATTICE_WIRE_FIXED64:
    case LATTICE_WIRE_NETID:
      return {8};
    case LATTICE_WIRE_VECTOR2:
    case LATTICE_WIRE_VECTOR3:
    case LATTICE_WIRE_VECTOR4: {
      const auto n = static_cast<unsigned>(m.type - LATTICE_WIRE_VECTOR2) + 2;
      return {4 * n, n};
    }
    case LATTICE_WIRE_DVECTOR2:
    case LATTICE_WIRE_DVECTOR3:
    case LATTICE_WIRE_DVECTOR4: {
      const auto n = static_cast<unsigned>(m.type - LATTICE_WIRE_DVECTOR2) + 2;
      return {8 * n, n};
    }
    case LATTICE_WIRE_STRUCT:
      return {m.structure->host_bytes};
    default:
      return {m.host_bytes != 0 ? m.host_bytes : 4};
  }
}

void put_integer(uint8_t* at, uint32_t bytes, uint64_t v) {
  std::memcpy(at, &v, bytes);  // little-endian
}

void fill_integer(Random& random, const lattice_member_desc& m, uint32_t bytes, uint8_t* at) {
  uint64_t v = random.next();
  switch (random.below(4)) {
    case 0:
      v %= 20;
      break;
    case 1:
      v = ~(v % 20);
      break;
    case 2:
      v >>= random.below(64);
      break;
    default:
      break;
  }
  if (m.encoding == LATTICE_ENCODING_RANGED && !random.one_in(6)) {
    const uint64_t span = static_cast<uint64_t>(m.max_value) - static_cast<uint64_t>(m.min_value);
    v = static_cast<uint64_t>(m.min_value) + (span == UINT64_MAX ? v : v % (span + 1));
  }
  put_integer(at, bytes, v);
}

double draw_real(Random& random, const lattice_member_desc& m, unsigned component) {
  const lattice_quant& q = m.quant[component];
  const bool has_bounds = q.precision > 0;
  const double low = has_bounds ? q.min : -3.2, high = has_bounds ? q.max : 3.2;
  switch (random.below(13)) {
    case 0:
      return random.one_in(2) ? std::numeric_limits<double>::quiet_NaN()
                              : std::numeric_limits<double>::infinity();
    case 1:
      return random.one_in(2) ? 0.0 : -0.0;
    case 2:
      return random.one_in(2) ? low : high;
    case 3:
      return (random.part() - 0.5) * 200000;
    case 4:
      return std::ldexp(random.part() - 0.5, static_cast<int>(random.below(120)) - 60);
    case 5:  // where halves end
      return (random.one_in(2) ? 1 : -1) * (65500 + static_cast<double>(random.below(50)));
    case 6:  // between two codes
      return low + (high - low) * (std::floor(random.part() * 1000) + 0.5) / 1000;
    default:
      return low + (high - low) * random.part();
  }
}

void fill_rotation(Random& random, uint8_t* at) {
  double q[4];
  for (double& c : q) c = random.part() * 2 - 1;
  switch (random.below(8)) {
    case 0:  // ties
      for (double& c : q) c = c > 0 ? 0.5 : -0.5;
      break;
    case 1:
      q[random.below(4)] = q[random.below(4)];
      break;
    case 2:
      for (double& c : q) c = std::floor(c * 2);
      break;
    case 3:
      if (random.one_in(3)) q[1] = std::numeric_limits<double>::infinity();
      break;
    default: {
      const double length = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
      for (double& c : q) c /= length;
    }
  }
  for (unsigned i = 0; i < 4; ++i) put(at + 4 * i, static_cast<float>(q[i]));
}

void fill_text(Random& random, const lattice_member_desc& m, uint8_t* at, uint32_t bytes) {
  std::memset(at, 0, bytes);
  const uint64_t wanted = random.below(m.capacity + 1);
  if (m.type == LATTICE_WIRE_BYTES) {
    put(at, static_cast<uint16_t>(wanted));
    for (uint64_t i = 0; i < wanted; ++i) at[2 + i] = static_cast<uint8_t>(random.next());
    return;
  }
  for (uint64_t i = 0; i < wanted;) {
    if (m.type == LATTICE_WIRE_FIXED_STRING) {
      at[i++] = static_cast<uint8_t>(1 + random.below(255));
      continue;
    }
    static constexpr uint32_t kFirst[] = {1, 0x20, 0x80, 0x800, 0xE000, 0x10000},
                              kCount[] = {0x7F, 0x5F, 0x780, 0xD000, 0x2000, 0x100000};
    const uint64_t group = random.below(6);
    const auto c = static_cast<uint32_t>(kFirst[group] + random.below(kCount[group]));
    const unsigned n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    if (i + n > wanted) break;
    if (n == 1) {
      at[i++] = static_cast<uint8_t>(c);
      continue;
    }
    at[i++] = static_cast<uint8_t>((0xF00u >> n) | c >> (6 * (n - 1)));
    for (unsigned k = n - 1; k > 0; --k) at[i++] = static_cast<uint8_t>(0x80 | (c >> (6 * (k - 1)) & 0x3F));
  }
}

void fill_element(Random& random, const lattice_member_desc& m, uint8_t* at) {
  const Shape shape = shape_of(m);
  const bool is_double = m.type == LATTICE_WIRE_DOUBLE || m.type >= LATTICE_WIRE_DVECTOR2;
  switch (m.type) {
    case LATTICE_WIRE_BOOL:
      *at = static_cast<uint8_t>(random.below(2));
      return;
    case LATTICE_WIRE_ENUM: {
      const auto known = static_cast<uint64_t>(m.enum_values[random.below(m.enum_count)]);
      return put_integer(at, shape.bytes, random.one_in(10) ? random.below(100) : known);
    }
    case LATTICE_WIRE_FLOAT:
    case LATTICE_WIRE_DOUBLE:
    case LATTICE_WIRE_VECTOR2:
    case LATTICE_WIRE_VECTOR3:
    case LATTICE_WIRE_VECTOR4:
    case LATTICE_WIRE_DVECTOR2:
    case LATTICE_WIRE_DVECTOR3:
    case LATTICE_WIRE_DVECTOR4:
      for (unsigned i = 0; i < shape.components; ++i) {
        const double v = draw_real(random, m, i);
        if (is_double) {
          put(at + 8 * i, v);
        } else {
          put(at + 4 * i, static_cast<float>(v));
        }
      }
      return;
    case LATTICE_WIRE_QUATERNION:
      return fill_rotation(random, at);
    case LATTICE_WIRE_STRING:
    case LATTICE_WIRE_FIXED_STRING:
    case LATTICE_WIRE_BYTES:
      return fill_text(random, m, at, shape.bytes);
    case LATTICE_WIRE_STRUCT:
      std::memset(at, 0, shape.bytes);
      return fill(random, *m.structure, at);
    default:
      return fill_integer(random, m, shape.bytes, at);
  }
}

uint64_t length_of(const lattice_member_desc& m, const uint8_t* at) {
  if (m.container == LATTICE_CONTAINER_ARRAY) return std::max(m.array_count, 1u);
  uint16_t length;
  std::memcpy(&length, at + m.count_offset, sizeof length);
  return length;
}

void fill_member(Random& random, const lattice_member_desc& m, uint8_t* at) {
  const uint32_t bytes = shape_of(m).bytes;
  if (m.container != LATTICE_CONTAINER_ARRAY) {
    put(at + m.count_offset, static_cast<uint16_t>(random.below(m.array_count + 1)));
  }
  for (uint64_t i = 0, n = length_of(m, at); i < n; ++i) {
    fill_element(random, m, at + i * bytes);
    // Keys that meet again: low numbers.
    if (m.container == LATTICE_CONTAINER_MAP && random.one_in(2)) {
      const lattice_member_desc& key = m.structure->members[0];
      if (key.type != LATTICE_WIRE_ENUM)
        put_integer(at + i * bytes + key.offset, shape_of(key).bytes, random.below(12));
    }
  }
}

void change_member(Random& random, const lattice_member_desc& m, uint8_t* at) {
  if (random.one_in(3)) return fill_member(random, m, at);
  const uint32_t bytes = shape_of(m).bytes;
  uint64_t length = length_of(m, at);
  if (m.container != LATTICE_CONTAINER_ARRAY && random.one_in(2)) {
    const uint64_t now =
        random.one_in(2) && length < m.array_count ? length + 1 : length - (length != 0 ? 1 : 0);
    if (now > length) fill_element(random, m, at + length * bytes);
    if (now < length) std::memmove(at, at + bytes, now * bytes);
    put(at + m.count_offset, static_cast<uint16_t>(now));
    length = now;
  }
  for (uint64_t i = 0; i < length; ++i) {
    if (!random.one_in(2)) continue;
    if (m.type == LATTICE_WIRE_STRUCT) {
      change(random, *m.structure, at + i * bytes);
    } else {
      fill_element(random, m, at + i * bytes);
    }
  }
}

}  // namespace

void fill(Random& random, const lattice_struct_desc& structure, uint8_t* host) {
  if ((structure.flags & LATTICE_STRUCT_UNION) != 0) {
    const uint64_t tag = random.below(structure.member_count + 1);
    host[structure.tag_offset] = static_cast<uint8_t>(tag);
    if (tag != 0) fill_member(random, structure.members[tag - 1], host + structure.members[tag - 1].offset);
    return;
  }
  for (uint32_t i = 0; i < structure.member_count; ++i) {
    fill_member(random, structure.members[i], host + structure.members[i].offset);
  }
}

void change(Random& random, const lattice_struct_desc& structure, uint8_t* host) {
  if ((structure.flags & LATTICE_STRUCT_UNION) != 0) {
    const uint8_t tag = host[structure.tag_offset];
    if (tag == 0 || random.one_in(2)) {
      std::memset(host, 0, structure.host_bytes);
      return fill(random, structure, host);
    }
    return change_member(random, structure.members[tag - 1], host + structure.members[tag - 1].offset);
  }
  for (uint32_t i = 0; i < structure.member_count; ++i) {
    if (random.one_in(3)) change_member(random, structure.members[i], host + structure.members[i].offset);
  }
}

}  // namespace languages
