#include <algorithm>

#include "emit.h"
#include "emit_classes.h"
#include "names.h"

namespace latticec {
namespace {

// clang-format off
// Words that no class or enum may have as its name, and names that generated code uses.
const std::vector<std::string> kTypescriptTypes = {
    "any", "arguments", "async", "at", "await", "bigint", "boolean", "debugger", "declare", "eval", "exports", "extends",
    "finally", "from", "function", "implements", "import", "in", "instanceof", "interface", "lattice", "let", "never", "null",
    "number", "object", "package", "require", "schema", "super", "symbol", "to", "typeof", "undefined", "unknown", "var",
    "with", "yield"};
const std::vector<std::string> kTypescriptMembers = {"constructor", "pack", "packAt", "unpack", "unpackAt"};
// clang-format on

constexpr int64_t kMostExact = (int64_t{1} << 53) - 1;

class TypescriptEmitter : public ClassEmitter {
 public:
  using ClassEmitter::ClassEmitter;

 private:
  // ---- Names

  void check_names() override {
    std::vector<Declared> extra;
    for (const CheckedStructure& s : checked_.structures) {
      if (s.is_union()) extra.push_back({s.name + "Which", s.source->place});
    }
    for (const CheckedObject& o : checked_.objects)
      extra.push_back({o.source->name + "Object", o.source->place});
    check_types(extra);
    const std::string why = "cannot be the name of a type in TypeScript";
    for (const Enum& e : checked_.schema->enums) {
      refuse(e.name, e.place, kTypescriptTypes, why);
      for (const Enum::Value& v : e.values) {
        refuse(v.name, v.place, {"Infinity", "NaN"}, "cannot be the name of a value in TypeScript");
        if (v.value > kMostExact || v.value < -kMostExact)
          report_.error(v.place, "an enum of TypeScript holds whole numbers up to 9007199254740991 only");
      }
    }
    for (const CheckedStructure& s : checked_.structures) {
      refuse(s.name, s.source->place, kTypescriptTypes, why);
      for (const CheckedMember& m : s.members)
        refuse(m.source->name, m.source->place, kTypescriptMembers,
               "is a name that a class of TypeScript has already");
    }
  }

  // ---- Declarations

  static std::string comment(const std::string& doc, const std::string& indent) {
    std::string text = doc;
    for (size_t at = 0; (at = text.find("*/", at)) != std::string::npos;) text.replace(at, 2, "* /");
    if (text.empty()) return "";
    if (text.find('\n') + 1 == text.size()) {
      text.pop_back();
      return indent + "/** " + text + " */\n";
    }
    return indent + "/**\n" + lines(text, indent + " *") + indent + " */\n";
  }

  std::string enumeration(const Enum& e) override {
    std::string out = comment(e.doc, "") + "export enum " + e.name + " {\n";
    for (const Enum::Value& v : e.values)
      out += comment(v.doc, "  ") + "  " + v.name + " = " + number(v.value, 32) + ",\n";
    return out + "}\n\n";
  }

  static bool is_wide(const PlannedMember& m) {
    return m.type == LATTICE_WIRE_INT64 || m.type == LATTICE_WIRE_UINT64 || m.type == LATTICE_WIRE_FIXED64 ||
           m.type == LATTICE_WIRE_NETID;
  }
  static std::string element_type(const PlannedMember& m) {
    const std::string kind = element_class(m);
    if (m.structure != nullptr || m.enumeration != nullptr) return m.source->source->type;
    if (kind == "Vector") return "lattice.Vec" + std::to_string(m.leaves.size());
    if (kind == "Rotation") return "lattice.Quat";
    return kind == "Bool"   ? "boolean"
           : kind == "Text" ? "string"
           : kind == "Blob" ? "lattice.Bytes"
           : is_wide(m)     ? "bigint"
                            : "number";
  }
  /// The value of a field or an element of a new object.
  static std::string initial(const PlannedMember& m) {
    const std::string kind = element_class(m), type = element_type(m);
    if (m.structure != nullptr || kind == "Vector") return "new " + type + "()";
    if (m.enumeration != nullptr) return type + "." + first_value(*m.enumeration).name;
    return kind == "Rotation" ? "new lattice.Quat(0, 0, 0, 1)"
           : kind == "Bool"   ? "false"
           : kind == "Text"   ? "\"\""
           : kind == "Blob"   ? "lattice.noBytes()"
           : is_wide(m)       ? "0n"
                              : "0";
  }
  static std::string field_line(const PlannedMember& m) {
    const std::string name = m.source->source->name, type = element_type(m), first = initial(m);
    switch (m.source->source->shape) {
      case Member::Shape::kArray:
        return "readonly " + name + ": " + type + "[] = lattice.elements(" +
               std::to_string(m.source->source->count) + ", (): " + type + " => " + first + ");\n";
      case Member::Shape::kList:
      case Member::Shape::kMap:
        return "readonly " + name + ": " + type + "[] = [];\n";
      case Member::Shape::kOne:
        break;
    }
    const bool is_kept = first.starts_with("new ");
    return (is_kept ? "readonly " : "") + name + (is_kept ? "" : ": " + type) + " = " + first + ";\n";
  }

  std::string structure(const PlannedStructure& s) override {
    const std::string& name = s.source->name;
    const bool is_union = s.source->is_union();
    std::string out;
    if (is_union) {
      out += "export enum " + name + "Which {\n  none,\n";
      for (const PlannedMember& m : s.members) out += "  " + m.source->source->name + ",\n";
      out += "}\n\n";
    }
    out += comment(s.source->source->doc, "") + "export class " + name + " extends lattice.Structure {\n";
    if (is_union)
      out += "  /** Which alternative is active. */\n  which: " + name + "Which = " + name + "Which.none;\n";
    for (const PlannedMember& m : s.members)
      out += comment(m.source->source->doc, "  ") + "  " + field_line(m);
    return out + "\n" + codecs(s) + functions(s) + "}\n\n";
  }

  std::string codecs(const PlannedStructure& s) {
    std::string out;
    Strings all;
    if (!s.source->is_union()) all.push_back(s.source->is_delta() ? "true" : "false");
    for (const PlannedMember& m : s.members) {
      const std::string own = "_" + m.source->source->name;
      all.push_back(has_codec(m) ? s.source->name + "." + own : codec_of(*m.structure));
      if (has_codec(m)) out += "  private static readonly " + own + " = " + codec(m) + ";\n";
    }
    const std::string type = s.source->is_union() ? "UnionCodec" : "StructureCodec";
    return out + "  static readonly codec = " + make(type, "", all) + ";\n\n";
  }

  std::string functions(const PlannedStructure& s) {
    const bool is_union = s.source->is_union();
    const std::string& name = s.source->name;
    std::string packs, unpacks;
    for (const PlannedMember& m : s.members) {
      const std::string head = "      case " + name + "Which." + m.source->source->name + ":\n",
                        end = "        break;\n";
      packs += is_union ? head + pack(s, m, "        ") + end : pack(s, m, "    ");
      unpacks += is_union ? head + unpack(s, m, "        ") + end : unpack(s, m, "    ");
    }
    if (is_union) {
      packs = "    " + name + ".codec.begin(to, at, this.which);\n    switch (this.which) {\n" + packs +
              "    }\n";
      unpacks = "    this.which = " + name + ".codec.tag(from, at);\n    switch (this.which) {\n" + unpacks +
                "    }\n";
    }
    return "  override packAt(to: lattice.State, at: number): void {\n" + packs + "  }\n" +
           "  override unpackAt(from: lattice.State, at: number): void {\n" + unpacks + "  }\n";
  }

  std::string object(const CheckedObject& o) override {
    std::string out = comment(o.source->doc, "") + "export const " + o.source->name +
                      "Object = {\n  typeId: " + std::to_string(o.type_id()) + ",\n";
    Strings states;
    std::string places, rpcs;
    uint32_t place = 0;
    for (const CheckedObject::State& state : o.states) {
      states.push_back(codec_of(*state.structure));
      places += "    " + state.name + ": " + std::to_string(place) + ",\n";
      place += words_of(*state.structure);
    }
    for (const CheckedRpc& rpc : o.rpcs) {
      rpcs += comment(rpc_doc(rpc), "    ") + "    " + rpc.source->name + ": " +
              std::to_string(rpc.desc.rpc_id) + ",\n";
    }
    if (!rpcs.empty()) rpcs = "\n" + rpcs + "  ";
    return out + "  codec: " + make("ObjectCodec", "", states) +
           ",\n  /** The first word of each structure in a state of codec. */\n  place: {\n" + places +
           "  },\n  rpc: {" + rpcs + "},\n} as const;\n\n";
  }

  // ---- Codecs

  std::string call(const std::string& codec, const std::string& function, const Strings& arguments) override {
    std::string name = function;
    name[0] = static_cast<char>(name[0] + ('a' - 'A'));
    return "lattice." + codec + "." + name + "(" + join(arguments) + ")";
  }
  std::string make(const std::string& codec, const std::string&, const Strings& arguments) override {
    return "new lattice." + codec + "(" + join(arguments) + ")";
  }
  std::string integer(const std::string& function, unsigned width, const Strings& arguments) override {
    if (width == 64) return call("Long", function, arguments);
    Strings all = {std::to_string(width)};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return call("Integer", function, all);
  }
  std::string real(const std::string& function, bool is_float, const Strings& arguments) override {
    Strings all = {is_float ? "true" : "false"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return call("Real", function, all);
  }
  std::string number(int64_t value, unsigned width) override {
    return std::to_string(value) + (width == 64 ? "n" : "");
  }
  std::string codec_of(const CheckedStructure& structure) override { return structure.name + ".codec"; }

  // ---- Statements

  Value value(const PlannedStructure& s, const PlannedMember& m) override {
    const std::string own = s.source->name + "._" + m.source->source->name;
    return {m, "this." + m.source->source->name, own, place_of(m), own};
  }
  Value element(const Value& v) override {
    return {v.member, v.host + "[i]", v.codec, v.codec + ".at(" + v.at + ", i)", v.codec + ".each"};
  }
  std::string pack_one(const Value& v) override {
    if (v.member.structure != nullptr) return v.host + ".packAt(to, " + v.at + ")";
    return v.each + ".pack(to, " + v.at + ", " + v.host + ")";
  }
  std::string unpack_one(const Value& v) override {
    if (v.member.structure != nullptr) return v.host + ".unpackAt(from, " + v.at + ")";
    const std::string kind = element_class(v.member);
    if (kind == "Vector" || kind == "Rotation") return v.each + ".unpack(from, " + v.at + ", " + v.host + ")";
    return v.host + " = " + v.each + ".unpack(from, " + v.at + (kind == "Blob" ? ", " + v.host : "") + ")";
  }
  std::string pack_loop(const Value& v) override {
    if (v.member.source->source->shape == Member::Shape::kArray) return array_loop(v);
    return "for (let i = 0, n = " + v.codec + ".begin(to, " + v.at + ", " + v.host + ".length); i < n; ++i)";
  }
  std::string unpack_loop(const Value& v, const std::string& indent) override {
    if (v.member.source->source->shape == Member::Shape::kArray) return indent + array_loop(v);
    return indent + "lattice.resize(" + v.host + ", " + v.codec + ".length(from, " + v.at + "), () => " +
           initial(v.member) + ");\n" + indent + "for (let i = 0; i < " + v.host + ".length; ++i)";
  }
  static std::string array_loop(const Value& v) {
    return "for (let i = 0; i < " + std::to_string(v.member.source->source->count) + "; ++i)";
  }
  std::string sort(const Value& v) override { return v.codec + ".sort(to, " + v.at + ")"; }
};

}  // namespace

std::string emit_typescript(const Checked& checked, const std::string& from, Report& report) {
  std::string out =
      "// Made by latticec from " + from + ". Do not edit.\nimport * as lattice from \"./lattice.js\";\n\n";
  out +=
      "export const schema = {\n  /** The hash of the schema, in a world with the default channels (D-30). "
      "*/\n  id: " +
      hexadecimal(checked.schema_id) + "n,\n} as const;\n\n";
  out += TypescriptEmitter(checked, report).declarations();
  out.pop_back();
  return out;
}

}  // namespace latticec
