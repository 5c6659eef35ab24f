// LayoutCompiler: turns one member into its leaves, and checks the bounds of every encoding.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/assert.h"
#include "serialization/layout_compiler.h"
#include "serialization/word_bytes.h"

namespace lattice::serialization {
namespace {

bool is_signed(lattice_wire_type type) {
  return type == LATTICE_WIRE_INT8 || type == LATTICE_WIRE_INT16 || type == LATTICE_WIRE_INT32 ||
         type == LATTICE_WIRE_INT64;
}

HostKind integer_host(unsigned bytes, bool is_signed) {
  switch (bytes) {
    case 1:
      return is_signed ? HostKind::kI8 : HostKind::kU8;
    case 2:
      return is_signed ? HostKind::kI16 : HostKind::kU16;
    case 4:
      return is_signed ? HostKind::kI32 : HostKind::kU32;
    default:
      return is_signed ? HostKind::kI64 : HostKind::kU64;
  }
}

unsigned integer_bytes(lattice_wire_type type) {
  switch (type) {
    case LATTICE_WIRE_INT8:
    case LATTICE_WIRE_UINT8:
      return 1;
    case LATTICE_WIRE_INT16:
    case LATTICE_WIRE_UINT16:
      return 2;
    case LATTICE_WIRE_INT32:
    case LATTICE_WIRE_UINT32:
    case LATTICE_WIRE_TICK:
      return 4;
    default:
      return 8;
  }
}

Leaf leaf_at(LeafKind kind, HostKind host, unsigned bits, uint32_t offset) {
  Leaf leaf;
  leaf.kind = kind;
  leaf.host = host;
  leaf.bits = static_cast<uint8_t>(bits);
  leaf.host_offset = offset;
  leaf.max_code = bits >= 64 ? UINT64_MAX : (uint64_t{1} << bits) - 1;
  return leaf;
}

// The distance between neighbouring floats just below `magnitude`.
double float_spacing(double magnitude) {
  const float m = static_cast<float>(magnitude);
  return static_cast<double>(m) - static_cast<double>(std::nextafterf(m, 0.0f));
}

std::string encoding_name(lattice_encoding encoding) {
  static constexpr const char* kNames[] = {"default",    "fixed", "varint",         "ranged", "bits",
                                           "compressed", "full",  "smallest_three", "half"};
  const auto index = static_cast<size_t>(encoding);
  return index < std::size(kNames) ? kNames[index] : "unknown";
}

const char* type_name(lattice_wire_type type) {
  static constexpr const char* kNames[] = {
      "bool",    "enum",       "int8",   "uint8",        "int16",    "uint16",  "int32",
      "uint32",  "int64",      "uint64", "float",        "double",   "vector2", "vector3",
      "vector4", "quaternion", "string", "fixed_string", "bytes",    "fixed64", "netid",
      "struct",  "custom",     "tick",   "dvector2",     "dvector3", "dvector4"};
  const auto index = static_cast<size_t>(type);
  return index < std::size(kNames) ? kNames[index] : "unknown";
}

// Beside the default, which is one of them.
const char* fitting_encodings(lattice_wire_type type) {
  switch (type) {
    case LATTICE_WIRE_INT8:
    case LATTICE_WIRE_INT16:
      return "fixed or ranged does";
    case LATTICE_WIRE_UINT8:
    case LATTICE_WIRE_UINT16:
      return "fixed, bits or ranged does";
    case LATTICE_WIRE_INT32:
    case LATTICE_WIRE_INT64:
      return "fixed, varint or ranged does";
    case LATTICE_WIRE_UINT32:
    case LATTICE_WIRE_UINT64:
      return "fixed, varint, bits or ranged does";
    case LATTICE_WIRE_FIXED64:
    case LATTICE_WIRE_NETID:
    case LATTICE_WIRE_TICK:
      return "fixed or varint does";
    case LATTICE_WIRE_FLOAT:
    case LATTICE_WIRE_VECTOR2:
    case LATTICE_WIRE_VECTOR3:
    case LATTICE_WIRE_VECTOR4:
      return "compressed, half or full does";
    case LATTICE_WIRE_DOUBLE:
    case LATTICE_WIRE_DVECTOR2:
    case LATTICE_WIRE_DVECTOR3:
    case LATTICE_WIRE_DVECTOR4:
      return "compressed or full does";
    case LATTICE_WIRE_QUATERNION:
      return "smallest_three or full does";
    case LATTICE_WIRE_ENUM:
      return "ranged does";
    default:
      return "it has only its own";
  }
}

}  // namespace

std::string shortest_decimal(double v) {
  char text[32];
  const std::to_chars_result end = std::to_chars(text, text + sizeof text, v);
  return std::string(text, end.ptr);
}

size_t max_leaf_bits(const Leaf& leaf) {
  switch (leaf.kind) {
    case LeafKind::kVarintUnsigned:
    case LeafKind::kVarintSigned:
      return leaf.bits == 32 ? 40 : 72;
    case LeafKind::kFixed64Difference:
      return 72;
    case LeafKind::kTickDifference:
      return 40;
    case LeafKind::kQuaternionFull:
      return 128;
    case LeafKind::kString:
    case LeafKind::kFixedString:
    case LeafKind::kBytes:
      return (leaf.capacity < 128 ? 8u : leaf.capacity < 16384 ? 16u : 24u) + size_t{leaf.capacity} * 8;
    case LeafKind::kCustom:
      return size_t{leaf.capacity} * 8;
    default:
      return leaf.bits;
  }
}

bool LayoutCompiler::refuse_encoding(const lattice_member_desc& member, const Scope& scope) {
  return refuse(scope, "encoding " + encoding_name(member.encoding) + " does not fit type " +
                           type_name(member.type) + "; " + fitting_encodings(member.type));
}

bool LayoutCompiler::add_leaves(const lattice_member_desc& member, const Scope& scope) {
  if ((member.flags & LATTICE_MEMBER_ANGLE) != 0) return add_angle(member, scope);
  switch (member.type) {
    case LATTICE_WIRE_BOOL:
      if (member.encoding != LATTICE_ENCODING_DEFAULT) return refuse_encoding(member, scope);
      return push_leaf(leaf_at(LeafKind::kBool, HostKind::kOther, 1, scope.host_offset), {}, scope);
    case LATTICE_WIRE_ENUM:
      return add_enum(member, scope);
    case LATTICE_WIRE_FLOAT:
    case LATTICE_WIRE_DOUBLE:
    case LATTICE_WIRE_VECTOR2:
    case LATTICE_WIRE_VECTOR3:
    case LATTICE_WIRE_VECTOR4:
    case LATTICE_WIRE_DVECTOR2:
    case LATTICE_WIRE_DVECTOR3:
    case LATTICE_WIRE_DVECTOR4:
      return add_floats(member, scope);
    case LATTICE_WIRE_QUATERNION:
      return add_rotation(member, scope);
    case LATTICE_WIRE_STRING:
    case LATTICE_WIRE_FIXED_STRING:
    case LATTICE_WIRE_BYTES:
      return add_text(member, scope);
    case LATTICE_WIRE_CUSTOM:
      return add_custom(member, scope);
    default:
      return add_integer(member, scope);
  }
}

bool LayoutCompiler::add_integer(const lattice_member_desc& member, const Scope& scope) {
  const unsigned bytes = integer_bytes(member.type);
  const bool fixed64 = member.type == LATTICE_WIRE_FIXED64;
  const bool signed_host = is_signed(member.type) || fixed64;
  const bool tick = member.type == LATTICE_WIRE_TICK;
  const bool plain = !fixed64 && !tick && member.type != LATTICE_WIRE_NETID;
  lattice_encoding encoding = member.encoding;
  if (encoding == LATTICE_ENCODING_DEFAULT) {
    encoding = bytes <= 2 || fixed64 ? LATTICE_ENCODING_FIXED : LATTICE_ENCODING_VARINT;
  }
  Leaf leaf = leaf_at(LeafKind::kFixed, integer_host(bytes, signed_host), bytes * 8, scope.host_offset);
  leaf.interpolates =
      (plain || fixed64) && (member.flags & (LATTICE_MEMBER_SNAP | LATTICE_MEMBER_TELEPORT)) == 0;
  LeafExtra extra;
  extra.measure = fixed64 ? Measure::kFixed64
                  : tick  ? Measure::kTick
                  : plain ? Measure::kNumber
                          : Measure::kNone;
  switch (encoding) {
    case LATTICE_ENCODING_FIXED:
      return push_leaf(leaf, std::move(extra), scope);
    case LATTICE_ENCODING_VARINT:
      if (bytes < 4) return refuse_encoding(member, scope);
      leaf.kind = fixed64       ? LeafKind::kFixed64Difference
                  : tick        ? LeafKind::kTickDifference
                  : signed_host ? LeafKind::kVarintSigned
                                : LeafKind::kVarintUnsigned;
      return push_leaf(leaf, std::move(extra), scope);
    case LATTICE_ENCODING_BITS:
      if (signed_host || !plain) return refuse_encoding(member, scope);
      if (member.bits < 1 || member.bits > bytes * 8) {
        return refuse(scope,
                      "bits is " + std::to_string(member.bits) + "; must be 1.." + std::to_string(bytes * 8));
      }
      leaf.kind = LeafKind::kBits;
      leaf.bits = static_cast<uint8_t>(member.bits);
      leaf.max_code = member.bits >= 64 ? UINT64_MAX : (uint64_t{1} << member.bits) - 1;
      return push_leaf(leaf, std::move(extra), scope);
    case LATTICE_ENCODING_RANGED:
      if (!plain) return refuse_encoding(member, scope);
      return add_ranged(member, leaf, scope);
    default:
      return refuse_encoding(member, scope);
  }
}

bool LayoutCompiler::add_ranged(const lattice_member_desc& member, Leaf leaf, const Scope& scope) {
  const unsigned bits = integer_bytes(member.type) * 8;
  int64_t low = 0;
  int64_t high = INT64_MAX;
  if (is_signed(member.type)) {
    low = bits == 64 ? INT64_MIN : -(int64_t{1} << (bits - 1));
    high = bits == 64 ? INT64_MAX : (int64_t{1} << (bits - 1)) - 1;
  } else if (bits < 64) {
    high = (int64_t{1} << bits) - 1;
  }
  if (member.min_value > member.max_value || member.min_value < low || member.max_value > high) {
    return refuse(scope, "range is " + std::to_string(member.min_value) + ".." +
                             std::to_string(member.max_value) + "; must lie in " + std::to_string(low) +
                             ".." + std::to_string(high));
  }
  LeafExtra extra;
  extra.min_value = member.min_value;
  leaf.kind = LeafKind::kRanged;
  leaf.max_code = range_span(member.min_value, member.max_value);
  leaf.bits = static_cast<uint8_t>(bits_for_span(leaf.max_code));
  return push_leaf(leaf, std::move(extra), scope);
}

bool LayoutCompiler::add_enum(const lattice_member_desc& member, const Scope& scope) {
  if (member.encoding != LATTICE_ENCODING_DEFAULT && member.encoding != LATTICE_ENCODING_RANGED) {
    return refuse_encoding(member, scope);
  }
  const uint32_t bytes = member.host_bytes != 0 ? member.host_bytes : 4;
  if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) {
    return refuse(scope, "host_bytes is " + std::to_string(bytes) + "; an enum takes 1, 2, 4 or 8");
  }
  if (member.enum_count < 1 || member.enum_count > 65536) {
    return refuse(scope, "enum_count is " + std::to_string(member.enum_count) + "; must be 1..65536");
  }
  Leaf leaf = leaf_at(LeafKind::kEnum, integer_host(bytes, true), bits_for_count(member.enum_count),
                      scope.host_offset);
  leaf.max_code = member.enum_count - 1;
  const int64_t high = bytes == 8 ? INT64_MAX : (int64_t{1} << (bytes * 8 - 1)) - 1;
  LeafExtra extra;
  bool plain = member.enum_values == nullptr;
  if (plain && static_cast<int64_t>(leaf.max_code) > high) {
    return refuse(scope, "enum_count passes what " + std::to_string(bytes) + " signed bytes can hold");
  }
  if (!plain) {
    plain = true;
    extra.enum_values.assign(member.enum_values, member.enum_values + member.enum_count);
    std::vector<int64_t> sorted = extra.enum_values;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
      return refuse(scope, "enum_values names one value twice");
    }
    if (sorted.front() < -high - 1 || sorted.back() > high) {
      return refuse(scope, "an enum value does not fit " + std::to_string(bytes) + " signed bytes");
    }
    for (size_t i = 0; i < sorted.size(); ++i)
      plain = plain && extra.enum_values[i] == static_cast<int64_t>(i);
    if (plain) extra.enum_values.clear();
  }
  return push_leaf(leaf, std::move(extra), scope);
}

bool LayoutCompiler::add_floats(const lattice_member_desc& member, const Scope& scope) {
  const bool is_wide = member.type >= LATTICE_WIRE_DVECTOR2;
  const bool is_double = is_wide || member.type == LATTICE_WIRE_DOUBLE;
  const uint32_t bytes = is_double ? 8 : 4;
  const uint32_t count = is_wide ? 2u + static_cast<uint32_t>(member.type - LATTICE_WIRE_DVECTOR2)
                         : member.type >= LATTICE_WIRE_VECTOR2
                             ? 2u + static_cast<uint32_t>(member.type - LATTICE_WIRE_VECTOR2)
                             : 1u;
  lattice_encoding encoding = member.encoding;
  if (encoding == LATTICE_ENCODING_DEFAULT) {
    encoding = member.quant[0].precision > 0.0 ? LATTICE_ENCODING_COMPRESSED : LATTICE_ENCODING_FULL;
  }
  const bool half = encoding == LATTICE_ENCODING_HALF && !is_double;
  if (encoding != LATTICE_ENCODING_COMPRESSED && encoding != LATTICE_ENCODING_FULL && !half) {
    return refuse_encoding(member, scope);
  }
  lattice_quant quant = {};
  for (uint32_t i = 0; i < count; ++i) {
    Leaf leaf = leaf_at(LeafKind::kFloatFull, is_double ? HostKind::kF64 : HostKind::kF32, bytes * 8,
                        scope.host_offset + bytes * i);
    leaf.interpolates = (member.flags & LATTICE_MEMBER_SNAP) == 0;
    if (encoding == LATTICE_ENCODING_FULL) {
      if (!push_leaf(leaf, {}, scope)) return false;
      continue;
    }
    if (half) {
      leaf.kind = LeafKind::kHalf;
      leaf.bits = 16;
      leaf.max_code = UINT16_MAX;
      if (!push_leaf(leaf, {}, scope)) return false;
      continue;
    }
    const lattice_quant& given = member.quant[i];
    if (i == 0 || given.min != 0.0 || given.max != 0.0 || given.precision != 0.0) quant = given;
    if (!add_compressed(quant, leaf, scope)) return false;
  }
  return true;
}

bool LayoutCompiler::add_compressed(const lattice_quant& quant, Leaf leaf, const Scope& scope) {
  if (!check_quant(quant, leaf, scope)) return false;
  LeafExtra extra;
  extra.quant = CompressedFloat(quant.min, quant.max, quant.precision);
  leaf.kind = LeafKind::kCompressed;
  leaf.max_code = extra.quant.steps;
  leaf.bits = static_cast<uint8_t>(extra.quant.bits);
  return push_leaf(leaf, std::move(extra), scope);
}

bool LayoutCompiler::add_angle(const lattice_member_desc& member, const Scope& scope) {
  if (member.encoding != LATTICE_ENCODING_DEFAULT && member.encoding != LATTICE_ENCODING_COMPRESSED) {
    return refuse(scope, "encoding " + encoding_name(member.encoding) + " does not fit flag ANGLE");
  }
  LeafExtra extra;
  lattice_quant quant = member.quant[0];
  if (quant.min == 0.0 && quant.max == 0.0 && quant.precision == 0.0) {
    quant = {extra.angle.min, extra.angle.max, extra.angle.turn() / static_cast<double>(extra.angle.steps)};
  }
  const HostKind host = member.type == LATTICE_WIRE_DOUBLE ? HostKind::kF64 : HostKind::kF32;
  Leaf leaf = leaf_at(LeafKind::kAngle, host, 0, scope.host_offset);
  leaf.interpolates = (member.flags & LATTICE_MEMBER_SNAP) == 0;
  if (!check_quant(quant, leaf, scope)) return false;
  if (quant.precision > (quant.max - quant.min) / 2) {
    return refuse(scope, "precision is " + shortest_decimal(quant.precision) +
                             "; an angle's must be at most half a turn, " +
                             shortest_decimal((quant.max - quant.min) / 2));
  }
  extra.angle = AngleQuant(quant.min, quant.max, quant.precision);
  leaf.max_code = extra.angle.steps - 1;
  leaf.bits = static_cast<uint8_t>(extra.angle.bits);
  return push_leaf(leaf, std::move(extra), scope);
}

bool LayoutCompiler::check_quant(const lattice_quant& quant, const Leaf& leaf, const Scope& scope) {
  const bool finite = std::isfinite(quant.min) && std::isfinite(quant.max) && std::isfinite(quant.precision);
  if (!finite || !(quant.min < quant.max)) {
    return refuse(scope, "bounds are " + shortest_decimal(quant.min) + ".." + shortest_decimal(quant.max) +
                             "; min must be below max, both finite");
  }
  const double range = quant.max - quant.min;
  if (!(quant.precision > 0.0) || !(quant.precision <= range) || !std::isfinite(range)) {
    return refuse(scope, "precision is " + shortest_decimal(quant.precision) +
                             "; must be above 0 and at most " + shortest_decimal(range));
  }
  const uint64_t steps = CompressedFloat::step_count(quant.min, quant.max, quant.precision);
  const double step = range / static_cast<double>(steps);
  // A code must survive as a host number: neighbouring host numbers must be closer together than the steps.
  const double magnitude = std::max(std::fabs(quant.min), std::fabs(quant.max));
  const double spacing = leaf.host == HostKind::kF64 ? magnitude * 0x1.0p-48 : float_spacing(magnitude);
  const bool too_fine = spacing > 0.9 * step || step < std::numeric_limits<double>::min();
  if (!std::isfinite(spacing) || too_fine || range / quant.precision >= kMaxCompressedSteps) {
    return refuse(scope, "precision is " + shortest_decimal(quant.precision) +
                             "; the host number near the bounds has steps of " + shortest_decimal(spacing));
  }
  return true;
}

bool LayoutCompiler::add_rotation(const lattice_member_desc& member, const Scope& scope) {
  Leaf leaf;
  leaf.host_offset = scope.host_offset;
  leaf.interpolates = (member.flags & LATTICE_MEMBER_SNAP) == 0;
  if (member.encoding == LATTICE_ENCODING_FULL) {
    leaf.kind = LeafKind::kQuaternionFull;
    leaf.bits = 128;
    leaf.word_count = 4;
    return push_leaf(leaf, {}, scope);
  }
  if (member.encoding != LATTICE_ENCODING_DEFAULT && member.encoding != LATTICE_ENCODING_SMALLEST_THREE) {
    return refuse_encoding(member, scope);
  }
  const uint32_t n = member.bits != 0 ? member.bits : 10;
  if (n < kMinRotationBits || n > kMaxRotationBits) {
    return refuse(scope, "bits is " + std::to_string(n) + "; a rotation takes 4..20 per component");
  }
  leaf.kind = LeafKind::kSmallestThree;
  leaf.bits = static_cast<uint8_t>(2 + 3 * n);
  return push_leaf(leaf, {}, scope);
}

bool LayoutCompiler::add_text(const lattice_member_desc& member, const Scope& scope) {
  if (member.encoding != LATTICE_ENCODING_DEFAULT) return refuse_encoding(member, scope);
  const uint32_t capacity = member.capacity != 0 ? member.capacity : LATTICE_DEFAULT_STRING_BYTES;
  if (capacity > LATTICE_MAX_STRING_BYTES) {
    return refuse(scope, "capacity is " + std::to_string(capacity) + "; must be at most 65535");
  }
  Leaf leaf;
  leaf.kind = member.type == LATTICE_WIRE_STRING         ? LeafKind::kString
              : member.type == LATTICE_WIRE_FIXED_STRING ? LeafKind::kFixedString
                                                         : LeafKind::kBytes;
  leaf.bits = 0;
  leaf.host_offset = scope.host_offset;
  leaf.capacity = capacity;
  leaf.word_count = static_cast<uint16_t>(byte_string_words(capacity));
  return push_leaf(leaf, {}, scope);
}

bool LayoutCompiler::add_custom(const lattice_member_desc& member, const Scope& scope) {
  if (member.encoding != LATTICE_ENCODING_DEFAULT) return refuse_encoding(member, scope);
  LeafExtra extra;
  lattice_custom_desc& custom = extra.custom;
  if (!read_desc(member.custom, &custom))
    return refuse(scope, "custom has a bad struct_size; call its init first");
  if (!valid_name(custom.name)) return refuse(scope, "custom has no valid name");
  if (!custom.serialize || !custom.deserialize) return refuse(scope, "custom lacks a function");
  if (member.capacity < 1 || member.capacity > LATTICE_MAX_CUSTOM_BYTES) {
    return refuse(scope, "capacity is " + std::to_string(member.capacity) + "; must be 1..1024");
  }
  if (custom.host_bytes > LATTICE_MAX_HOST_BYTES) return refuse(scope, "custom's host_bytes passes 65536");
  Leaf leaf;
  leaf.kind = LeafKind::kCustom;
  leaf.bits = 0;
  leaf.host_offset = scope.host_offset;
  leaf.capacity = member.capacity;
  leaf.word_count = static_cast<uint16_t>(byte_string_words(member.capacity));
  leaf.interpolates = custom.interpolate != nullptr && (member.flags & LATTICE_MEMBER_SNAP) == 0;

  // The zero value must serialize and read back. It is the baseline, and it is sent for a value that does not
  // fit.
  std::vector<uint8_t> zeros(custom.host_bytes + 64u, 0);
  const uint8_t* zero = zeros.data() + (64 - reinterpret_cast<uintptr_t>(zeros.data()) % 64) % 64;
  uint8_t packed[LATTICE_MAX_CUSTOM_BYTES + 8] = {};
  const size_t bits = custom.serialize(zero, packed, member.capacity);
  if (bits > size_t{member.capacity} * 8 || custom.deserialize(packed, bits, nullptr) != bits) {
    return refuse(scope, "its all-zero value does not serialize and read back within " +
                             std::to_string(member.capacity) + " bytes");
  }
  const size_t bytes = (bits + 7) / 8;
  if (bits % 8 != 0) packed[bytes - 1] &= static_cast<uint8_t>(0xFF00u >> (bits % 8));
  extra.custom_zero.resize(leaf.word_count);
  pack_word_bytes(extra.custom_zero.data(), leaf.word_count, bits, packed, bytes);
  return push_leaf(leaf, std::move(extra), scope);
}

std::string LayoutCompiler::member_text(const lattice_member_desc& member) const {
  const char* kind = member.container == LATTICE_CONTAINER_LIST  ? " list "
                     : member.container == LATTICE_CONTAINER_MAP ? " map "
                     : member.array_count > 1                    ? " array "
                                                                 : nullptr;
  return std::string("member ") + member.name + (kind ? kind + std::to_string(member.array_count) : "");
}

void LayoutCompiler::line(unsigned depth, const std::string& text) {
  if (silent_ == 0) layout_.canonical_members_.append(depth, ' ').append(text).append("\n");
}

// Y-15: name, wire type, encoding, then for each component the parameters that decide its bits.
void LayoutCompiler::describe(const lattice_member_desc& member, const Scope& scope, uint16_t first_leaf) {
  if (silent_ != 0) return;
  std::string text = member_text(member) + " " + type_name(member.type);
  for (size_t i = first_leaf; i < layout_.leaves_.size(); ++i) {
    const Leaf& leaf = layout_.leaves_[i];
    const LeafExtra& extra = layout_.extras_[i];
    const std::string bits = std::to_string(leaf.bits);
    switch (leaf.kind) {
      case LeafKind::kBool:
      case LeafKind::kCount:
      case LeafKind::kTag:
        break;
      case LeafKind::kHalf:
        text += " half " + bits;
        break;
      case LeafKind::kEnum:
        text += " ordinal " + bits + " " + std::to_string(leaf.max_code + 1);
        for (int64_t value : extra.enum_values) text.append(1, ' ').append(std::to_string(value));
        break;
      case LeafKind::kRanged:
        text += " ranged " + bits + " " + std::to_string(extra.min_value) + " " +
                std::to_string(ranged_value(leaf.max_code, extra.min_value));
        break;
      case LeafKind::kBits:
        text += " bits " + bits;
        break;
      case LeafKind::kCompressed:
        text += " compressed " + bits + " " + shortest_decimal(extra.quant.min) + " " +
                shortest_decimal(extra.quant.max) + " " + std::to_string(extra.quant.steps);
        break;
      case LeafKind::kAngle:
        text += " angle " + bits + " " + shortest_decimal(extra.angle.min) + " " +
                shortest_decimal(extra.angle.max) + " " + std::to_string(extra.angle.steps);
        break;
      case LeafKind::kSmallestThree:
        text += " smallest_three " + bits;
        break;
      case LeafKind::kFixed:
        text += " fixed " + bits;
        break;
      case LeafKind::kFloatFull:
      case LeafKind::kQuaternionFull:
        text += " full " + bits;
        break;
      case LeafKind::kVarintUnsigned:
      case LeafKind::kVarintSigned:
        text += " varint " + bits;
        break;
      case LeafKind::kFixed64Difference:
      case LeafKind::kTickDifference:
        text += " difference " + bits;
        break;
      case LeafKind::kString:
      case LeafKind::kFixedString:
      case LeafKind::kBytes:
        text += " capacity " + std::to_string(leaf.capacity);
        break;
      case LeafKind::kCustom:
        text += std::string(" ") + extra.custom.name + " capacity " + std::to_string(leaf.capacity);
        break;
    }
  }
  // A client understands the bits without these flags.
  constexpr uint32_t kLeftOut = LATTICE_MEMBER_NOT_PREDICTED | LATTICE_MEMBER_EXTRAPOLATE | kSendConditions;
  line(scope.depth, text + " flags " + std::to_string(member.flags & ~kLeftOut));
}

}  // namespace lattice::serialization
