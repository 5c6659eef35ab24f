#include <vector>

#include "random.h"

namespace languages {
namespace {

std::string text_of(uint64_t v) {
  return std::to_string(v);
}

class SchemaMaker {
 public:
  SchemaMaker(Random& random, const std::string& name) : random_(random) {
    out_ = "namespace " + name + ";\n\n";
  }

  std::string make() {
    for (uint64_t i = 0, n = 1 + random_.below(2); i < n; ++i) add_enum(i);
    for (uint64_t i = 0, n = 1 + random_.below(3); i < n; ++i)
      add_structure("struct", "Part" + text_of(i), 4);
    if (random_.one_in(2)) add_entry();
    if (random_.one_in(2)) add_structure("union", "Choice", 5);
    if (random_.one_in(3)) add_structure("struct", "Whole", 4);
    add_structure("state", "Body", 9);
    const bool has_variant = random_.one_in(2);
    if (has_variant) add_variant("Sketch", "Body");
    add_structure("state", "Mind", 4);
    add_structure("input", "Command", 4);
    names_.clear();
    out_ += "object Thing {\n  state Body;\n  state Mind mind;\n  rpc call(";
    members(3, ", ");
    out_ += ") to server;\n}\n";
    if (has_variant) out_ += "object Far {\n  state Sketch;\n}\n";
    return out_;
  }

 private:
  std::string pick(const std::vector<std::string>& from) { return from[random_.below(from.size())]; }

  void add_enum(uint64_t i) {
    static const std::vector<std::string> kBases = {"int8",  "uint8",  "int16", "uint16",
                                                    "int32", "uint32", "int64", "uint64"};
    const std::string base = pick(kBases), name = "Kind" + text_of(i);
    out_ += "enum " + name + " : " + base + " { ";
    const uint64_t count = 1 + random_.below(9);
    int64_t value =
        random_.one_in(2) ? 0 : static_cast<int64_t>(random_.below(20)) - (base[0] == 'u' ? 0 : 10);
    for (uint64_t k = 0; k < count; ++k) {
      out_ += (k == 0 ? "" : ", ") + std::string("v") + text_of(k) + " = " + std::to_string(value);
      value += 1 + static_cast<int64_t>(random_.one_in(2) ? 0 : random_.below(12));
    }
    out_ += " }\n\n";
    types_.push_back(name);
    keys_.push_back(name);
  }

  // A structure with a key, for maps.
  void add_entry() {
    names_.clear();
    out_ += random_.one_in(2) ? "@delta\nstruct Entry {\n  " : "struct Entry {\n  ";
    static const std::vector<std::string> kKeys = {"uint8",
                                                   "@fixed int16",
                                                   "int32",
                                                   "@varint uint32",
                                                   "@fixed int64",
                                                   "@bits(5) uint16",
                                                   "@range(-9, 30) int8",
                                                   "netid",
                                                   "int64",
                                                   "@fixed netid",
                                                   "@range(-5000000000, 5000000000) int64"};
    out_ += (random_.one_in(3) ? keys_[random_.below(keys_.size())] : pick(kKeys)) + " key;\n  ";
    names_.push_back("key");
    members(1 + random_.below(3), ";\n  ");
    out_ += ";\n}\n\n";
    has_entry_ = true;
  }

  void add_structure(const std::string& kind, const std::string& name, uint64_t most) {
    names_.clear();
    if (kind == "struct" && random_.one_in(2)) out_ += "/// Each member by itself.\n@delta\n";
    out_ += kind + " " + name + " {\n  ";
    members(1 + random_.below(most), ";\n  ");
    out_ += ";\n}\n\n";
    if (kind == "struct" || kind == "union") types_.push_back(name);
  }

  // Of the state whose members names_ has. At least one member stays.
  void add_variant(const std::string& name, const std::string& of) {
    out_ += "variant " + name + " of " + of + " {\n";
    const uint64_t stays = random_.below(names_.size());
    for (uint64_t i = 0; i < names_.size(); ++i) {
      if (i != stays && random_.one_in(3))
        out_ += "  omit " + names_[i] + ";\n";
      else if (i == stays || random_.one_in(3))
        out_ += "  @priority(3) " + names_[i] + ";\n";
    }
    out_ += "}\n\n";
  }

  void members(uint64_t count, const std::string& between) {
    for (uint64_t i = 0; i < count; ++i) out_ += (i == 0 ? "" : between) + member();
  }

  std::string member_name() {
    static const std::vector<std::string> kNames = {
        "health", "in",        "out",    "ref",   "base", "object", "function", "var",    "await",
        "params", "event",     "lock",   "at",    "to",   "from",   "i",        "n",      "let",
        "yield",  "is",        "length", "value", "null", "items",  "words",    "number", "delta",
        "name",   "arguments", "unsafe", "w",     "as",   "codec"};
    for (;;) {
      std::string name = pick(kNames) + (random_.one_in(3) ? "_" + text_of(random_.below(9)) : "");
      bool is_new = true;
      for (const std::string& other : names_) is_new = is_new && other != name;
      if (!is_new) continue;
      names_.push_back(name);
      return name;
    }
  }

  std::string bounds(bool is_float) {
    static const std::vector<std::string> kFloat = {"@bounds(-512, 512, 0.01) ", "@bounds(0, 1, 1e-3) ",
                                                    "@bounds(-1, 1, 0.002) ", "@bounds(3, 10, 3) ",
                                                    "@bounds(-9, -2, 0.5) "};
    static const std::vector<std::string> kDouble = {"@bounds(-1km, 1km, 1e-7) ", "@bounds(-4, 4, 1e-12) ",
                                                     "@bounds(0, 100, 0.1) "};
    return pick(is_float ? kFloat : kDouble);
  }

  std::string scalar() {
    static const std::vector<std::string> kPlain = {"bool",
                                                    "bool",
                                                    "int8",
                                                    "uint8",
                                                    "int16",
                                                    "uint16",
                                                    "int32",
                                                    "uint32",
                                                    "int64",
                                                    "uint64",
                                                    "@fixed int32",
                                                    "@fixed uint64",
                                                    "@fixed int64",
                                                    "@fixed uint32",
                                                    "@varint uint64",
                                                    "fixed64",
                                                    "@varint fixed64",
                                                    "netid",
                                                    "@fixed netid",
                                                    "tick",
                                                    "@fixed tick",
                                                    "float",
                                                    "double",
                                                    "@half float",
                                                    "vec2",
                                                    "vec3",
                                                    "vec4",
                                                    "dvec2",
                                                    "dvec3",
                                                    "@half vec3",
                                                    "@half vec2",
                                                    "quat",
                                                    "quat",
                                                    "@full quat",
                                                    "@angle float",
                                                    "@angle double",
                                                    "@bounds(0, 360, 0.1) @angle float",
                                                    "@bounds(-180, 180, 1e-9) @angle double",
                                                    "@bits(64) uint64",
                                                    "@bits(33) uint64",
                                                    "@bits(1) uint8",
                                                    "@bits(31) uint32",
                                                    "@range(-100, 27) int8",
                                                    "@range(5, 5) uint16",
                                                    "@range(5, 5) int64",
                                                    "@range(-2147483648, 2147483647) int32",
                                                    "@range(-3, 1000000000000) int64",
                                                    "@range(7, 9000000000000000000) uint64",
                                                    "@range(-9223372036854775808, 9223372036854775807) int64",
                                                    "@range(-40, -20) int32"};
    switch (random_.below(12)) {
      case 0:
        return pick({"string(1)", "string(9)", "string(40)", "string(200)"});
      case 1:
        return pick({"bytes(1)", "bytes(12)", "fixed_string(7)", "fixed_string(30)"});
      case 2:
        return bounds(true) + pick({"float", "vec2", "vec3", "vec4"});
      case 3:
        return bounds(false) + pick({"double", "dvec2", "dvec3", "dvec4"});
      case 4:
        return "@smallest_three(" + text_of(4 + random_.below(17)) + ") quat";
      default:
        return pick(kPlain);
    }
  }

  std::string member() {
    const bool is_declared = random_.one_in(3);
    if (has_entry_ && random_.one_in(5)) {
      return "map Entry " + member_name() + "[<=" + text_of(1 + random_.below(9)) + "]";
    }
    const std::string type = is_declared ? pick(types_) : scalar();
    const std::string doc = random_.one_in(8) ? "/// One of <these> & \"those\" */.\n  " : "";
    const uint64_t most = is_declared ? 4 : 12;
    switch (random_.below(6)) {
      case 0:
        return doc + type + " " + member_name() + "[" + text_of(2 + random_.below(most)) + "]";
      case 1:
        return doc + type + " " + member_name() + "[<=" + text_of(1 + random_.below(most)) + "]";
      default:
        return doc + type + " " + member_name();
    }
  }

  Random& random_;
  std::string out_;
  std::vector<std::string> types_, keys_, names_;
  bool has_entry_ = false;
};

}  // namespace

std::string random_schema(Random& random, const std::string& name) {
  return SchemaMaker(random, name).make();
}

}  // namespace languages
