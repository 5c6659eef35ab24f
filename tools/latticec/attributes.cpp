#include "attributes.h"

#include <string>
#include <vector>

#include "names.h"

namespace latticec {
namespace {

bool is_float(lattice_wire_type type) {
  return (type >= LATTICE_WIRE_FLOAT && type <= LATTICE_WIRE_VECTOR4) ||
         (type >= LATTICE_WIRE_DVECTOR2 && type <= LATTICE_WIRE_DVECTOR4);
}

unsigned components(lattice_wire_type type) {
  if (type >= LATTICE_WIRE_DVECTOR2) return static_cast<unsigned>(type - LATTICE_WIRE_DVECTOR2) + 2;
  return type >= LATTICE_WIRE_VECTOR2 ? static_cast<unsigned>(type - LATTICE_WIRE_VECTOR2) + 2 : 1;
}

class Attributes {
 public:
  Attributes(const Member& member, lattice_member_desc& desc, std::string& cpp, Report& report)
      : member_(member), desc_(desc), cpp_(cpp), report_(report) {}

  void apply() {
    for (const Attribute& attribute : member_.attributes) {
      if (!report_.ok()) return;
      one(attribute);
    }
  }

 private:
  struct Word {
    const char* name;
    void (Attributes::*apply)(const Attribute&);
    size_t least, most;  // arguments
    uint32_t value;      // a flag or an encoding
  };
  static const std::vector<Word>& words() {
    static const std::vector<Word> kWords = {
        {"bounds", &Attributes::bounds, 3, 3, 0},
        {"range", &Attributes::range, 2, 2, 0},
        {"bits", &Attributes::bits, 1, 1, 0},
        {"smallest_three", &Attributes::smallest_three, 1, 1, 0},
        {"fixed", &Attributes::encoding, 0, 0, LATTICE_ENCODING_FIXED},
        {"varint", &Attributes::encoding, 0, 0, LATTICE_ENCODING_VARINT},
        {"full", &Attributes::encoding, 0, 0, LATTICE_ENCODING_FULL},
        {"half", &Attributes::encoding, 0, 0, LATTICE_ENCODING_HALF},
        {"position", &Attributes::flag, 0, 0, LATTICE_MEMBER_POSITION},
        {"velocity", &Attributes::flag, 0, 0, LATTICE_MEMBER_VELOCITY},
        {"acceleration", &Attributes::flag, 0, 0, LATTICE_MEMBER_ACCELERATION},
        {"rotation", &Attributes::flag, 0, 0, LATTICE_MEMBER_ROTATION},
        {"angular_velocity", &Attributes::flag, 0, 0, LATTICE_MEMBER_ANGULAR_VELOCITY},
        {"angle", &Attributes::flag, 0, 0, LATTICE_MEMBER_ANGLE},
        {"teleport", &Attributes::flag, 0, 0, LATTICE_MEMBER_TELEPORT},
        {"snap", &Attributes::flag, 0, 0, LATTICE_MEMBER_SNAP},
        {"not_predicted", &Attributes::flag, 0, 0, LATTICE_MEMBER_NOT_PREDICTED},
        {"owner_only", &Attributes::flag, 0, 0, LATTICE_MEMBER_OWNER_ONLY},
        {"skip_owner", &Attributes::flag, 0, 0, LATTICE_MEMBER_SKIP_OWNER},
        {"predicted_only", &Attributes::flag, 0, 0, LATTICE_MEMBER_PREDICTED_ONLY},
        {"initial_only", &Attributes::flag, 0, 0, LATTICE_MEMBER_INITIAL_ONLY},
        {"extrapolate", &Attributes::flag, 0, 0, LATTICE_MEMBER_EXTRAPOLATE},
        {"priority", &Attributes::priority, 1, 1, 0},
    };
    return kWords;
  }

  void one(const Attribute& attribute) {
    for (const Word& word : words()) {
      if (attribute.name != word.name) continue;
      if (attribute.arguments.size() < word.least || attribute.arguments.size() > word.most) {
        return report_.error(attribute.place,
                             "@" + attribute.name + " takes " + std::to_string(word.least) + " values");
      }
      for (const Argument& argument : attribute.arguments) {
        if (!argument.is_number) return report_.error(argument.place, "this must be a number");
      }
      value_ = word.value;
      return (this->*word.apply)(attribute);
    }
    std::vector<std::string> known;
    for (const Word& word : words()) known.emplace_back(word.name);
    report_.error(attribute.place, "there is no attribute '" + attribute.name + "' of a member",
                  did_you_mean(attribute.name, known));
  }

  void add(const std::string& annotation) { cpp_ += (cpp_.empty() ? "" : ", ") + annotation; }

  bool take_encoding(const Attribute& attribute, lattice_encoding encoding) {
    if (desc_.encoding != LATTICE_ENCODING_DEFAULT && desc_.encoding != encoding) {
      report_.error(attribute.place,
                    "@" + attribute.name + " after another way to pack '" + member_.name + "'");
      return false;
    }
    desc_.encoding = encoding;
    return true;
  }
  bool whole(const Attribute& attribute, size_t i, int64_t low, int64_t high) {
    const Argument& argument = attribute.arguments[i];
    if (argument.is_whole && argument.whole >= low && argument.whole <= high) return true;
    report_.error(argument.place,
                  "this must be a whole number from " + std::to_string(low) + " to " + std::to_string(high));
    return false;
  }

  void bounds(const Attribute& attribute) {
    if (!is_float(desc_.type)) {
      return report_.error(attribute.place, "@bounds is for float, double and vectors",
                           "@range(low, high) is for integers");
    }
    if (bounds_ == components(desc_.type))
      return report_.error(attribute.place, "more @bounds than components");
    if (!take_encoding(attribute, LATTICE_ENCODING_COMPRESSED)) return;
    double low = attribute.arguments[0].number, high = attribute.arguments[1].number;
    const double step = attribute.arguments[2].number;
    add("BOUNDS(" + decimal(low) + ", " + decimal(high) + ", " + decimal(step) + ")");
    const bool is_double = desc_.type == LATTICE_WIRE_DOUBLE || desc_.type >= LATTICE_WIRE_DVECTOR2;
    if (!is_double) {  // as the macros do
      low = static_cast<double>(static_cast<float>(low));
      high = static_cast<double>(static_cast<float>(high));
    }
    for (unsigned i = bounds_; i < 4; ++i) desc_.quant[i] = {low, high, step};
    ++bounds_;
  }
  void range(const Attribute& attribute) {
    if (!whole(attribute, 0, INT64_MIN, INT64_MAX) || !whole(attribute, 1, INT64_MIN, INT64_MAX)) return;
    if (!take_encoding(attribute, LATTICE_ENCODING_RANGED)) return;
    desc_.min_value = attribute.arguments[0].whole;
    desc_.max_value = attribute.arguments[1].whole;
    add("RANGED(" + literal(desc_.min_value) + ", " + literal(desc_.max_value) + ")");
  }
  void bits(const Attribute& attribute) {
    if (!whole(attribute, 0, 1, 64) || !take_encoding(attribute, LATTICE_ENCODING_BITS)) return;
    desc_.bits = static_cast<uint32_t>(attribute.arguments[0].whole);
    add("BITS(" + std::to_string(desc_.bits) + ")");
  }
  void smallest_three(const Attribute& attribute) {
    if (!whole(attribute, 0, 4, 20) || !take_encoding(attribute, LATTICE_ENCODING_SMALLEST_THREE)) return;
    desc_.bits = static_cast<uint32_t>(attribute.arguments[0].whole);
    add("SMALLEST_THREE(" + std::to_string(desc_.bits) + ")");
  }
  void encoding(const Attribute& attribute) {
    if (take_encoding(attribute, static_cast<lattice_encoding>(value_))) add(upper(attribute.name));
  }
  void priority(const Attribute& attribute) {
    const double times = attribute.arguments[0].number;
    if (!(static_cast<float>(times) > 0) || !(times <= 1000)) {
      return report_.error(attribute.arguments[0].place, "a priority is above 0 and at most 1000");
    }
    desc_.priority = static_cast<float>(times);
    add("PRIORITY(" + decimal(times) + ")");
  }
  void flag(const Attribute& attribute) {
    desc_.flags |= value_;
    add(upper(attribute.name));
  }

  // The least 64-bit number has no literal of its own.
  static std::string literal(int64_t v) { return v == INT64_MIN ? "INT64_MIN" : std::to_string(v); }
  static std::string upper(std::string text) {
    for (char& c : text) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
    return text;
  }

  const Member& member_;
  lattice_member_desc& desc_;
  std::string& cpp_;
  Report& report_;
  unsigned bounds_ = 0;
  uint32_t value_ = 0;
};

}  // namespace

void apply_attributes(const Member& member, lattice_member_desc& desc, std::string& annotations,
                      Report& report) {
  Attributes(member, desc, annotations, report).apply();
}

}  // namespace latticec
