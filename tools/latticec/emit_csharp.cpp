#include <algorithm>

#include "emit.h"
#include "emit_classes.h"
#include "names.h"

namespace latticec {
namespace {

// clang-format off
const std::vector<std::string> kCsharpWords = {
    "abstract", "as", "base", "bool", "break", "byte", "case", "catch", "char", "checked", "class", "const", "continue",
    "decimal", "default", "delegate", "do", "double", "else", "enum", "event", "explicit", "extern", "false", "finally",
    "fixed", "float", "for", "foreach", "goto", "if", "implicit", "in", "int", "interface", "internal", "is", "lock",
    "long", "namespace", "new", "null", "object", "operator", "out", "override", "params", "private", "protected",
    "public", "readonly", "ref", "return", "sbyte", "sealed", "short", "sizeof", "stackalloc", "static", "string",
    "struct", "switch", "this", "throw", "true", "try", "typeof", "uint", "ulong", "unchecked", "unsafe", "ushort",
    "using", "virtual", "void", "volatile", "while",
    // Words in some places only, and of later versions.
    "async", "await", "dynamic", "file", "nint", "nuint", "partial", "record", "required", "scoped", "var", "where", "yield"};
// What every class has, and what a generated one has.
const std::vector<std::string> kCsharpMembers = {
    "Equals", "Finalize", "GetHashCode", "GetType", "MemberwiseClone", "ReferenceEquals", "ToString",
    "Pack", "Unpack", "Codec", "Tag"};
// clang-format on

constexpr const char* kIn = "        ";        // a member of a class
constexpr const char* kDeep = "            ";  // a statement in it

std::string csharp_id(const std::string& name) {
  return std::ranges::find(kCsharpWords, name) == kCsharpWords.end() ? name : "@" + name;
}

/// What an integer, an enum's base, or another simple type is in C#.
std::string csharp_type(const std::string& type) {
  static constexpr const char* kTypes[][2] = {{"int8", "sbyte"},
                                              {"uint8", "byte"},
                                              {"int16", "short"},
                                              {"uint16", "ushort"},
                                              {"int32", "int"},
                                              {"uint32", "uint"},
                                              {"int64", "long"},
                                              {"uint64", "ulong"},
                                              {"fixed64", "long"},
                                              {"netid", "ulong"},
                                              {"tick", "uint"},
                                              {"bytes", "byte[]"},
                                              {"bool", "bool"},
                                              {"float", "float"},
                                              {"double", "double"},
                                              {"fixed_string", "byte[]"},
                                              {"string", "string"},
                                              {"vec2", "lattice::Vec2"},
                                              {"vec3", "lattice::Vec3"},
                                              {"vec4", "lattice::Vec4"},
                                              {"dvec2", "lattice::DVec2"},
                                              {"dvec3", "lattice::DVec3"},
                                              {"dvec4", "lattice::DVec4"},
                                              {"quat", "lattice::Quat"}};
  for (const auto& [ours, theirs] : kTypes) {
    if (type == ours) return theirs;
  }
  return csharp_id(type);
}

class CsharpEmitter : public ClassEmitter {
 public:
  using ClassEmitter::ClassEmitter;

 private:
  // ---- Names

  void check_names() override {
    const std::string& space = checked_.schema->name;
    refuse(space, checked_.schema->name_place, {"Lattice", "System", "generic", "global", "lattice"},
           "is a namespace that generated C# uses");
    std::vector<Declared> extra;
    for (const CheckedObject& o : checked_.objects)
      extra.push_back({o.source->name + "Object", o.source->place});
    const Strings types = check_types(extra);
    for (const Enum& e : checked_.schema->enums) refuse_type(e.name, e.place);
    for (const CheckedStructure& s : checked_.structures) {
      refuse_type(s.name, s.source->place);
      for (const CheckedMember& m : s.members) {
        const std::string& name = m.source->name;
        refuse(name, m.source->place, kCsharpMembers, "is a name that a class of C# has already");
        refuse(name, m.source->place, types, "is the name of a type too, which C# would not tell apart");
      }
    }
    const std::string inner = "is a name that is taken within the object's class of C#";
    for (const CheckedObject& o : checked_.objects) {
      for (const Object::State& state : o.source->states) {
        refuse(state.name, state.place, kCsharpMembers, inner);
        refuse(state.name, state.place, {"Place"}, inner);
      }
      for (const CheckedRpc& rpc : o.rpcs) {
        refuse(rpc.source->name, rpc.source->place, kCsharpMembers, inner);
        refuse(rpc.source->name, rpc.source->place, {"Rpc"}, inner);
      }
    }
  }

  // Where generated code says the name of a type, nothing nearer may have it.
  void refuse_type(const std::string& name, const Place& place) {
    const std::string why = "cannot be the name of a type in C#: generated code uses it";
    refuse(name, place, kCsharpMembers, why);
    refuse(name, place, {"Place", "Rpc", "Schema", "System", "lattice"}, why);
  }

  // ---- Declarations

  static std::string summary(const std::string& doc, const std::string& indent) {
    std::string text;
    for (const char c : doc)
      text += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
    if (text.empty()) return "";
    if (text.find('\n') + 1 == text.size()) {
      text.pop_back();
      return indent + "/// <summary>" + text + "</summary>\n";
    }
    return indent + "/// <summary>\n" + lines(text, indent + "///") + indent + "/// </summary>\n";
  }

  std::string enumeration(const Enum& e) override {
    std::string out = summary(e.doc, "    ") + "    public enum " + csharp_id(e.name) + " : " +
                      csharp_type(e.base) + "\n    {\n";
    for (const Enum::Value& v : e.values) {
      out += summary(v.doc, kIn) + kIn + csharp_id(v.name) + " = " + number(v.value, 64) + ",\n";
    }
    return out + "    }\n\n";
  }

  static std::string element_type(const PlannedMember& m) { return csharp_type(m.source->source->type); }

  /// The value of a field or an element of a new object; "" for zero.
  static std::string initial(const PlannedMember& m) {
    if (m.structure != nullptr) return "new " + element_type(m) + "()";
    if (m.type == LATTICE_WIRE_QUATERNION) return "new lattice::Quat(0, 0, 0, 1)";
    if (m.type == LATTICE_WIRE_STRING) return "\"\"";
    if (m.type == LATTICE_WIRE_FIXED_STRING || m.type == LATTICE_WIRE_BYTES) return "new byte[0]";
    if (m.enumeration == nullptr || first_value(*m.enumeration).value == 0) return "";
    return element_type(m) + "." + csharp_id(first_value(*m.enumeration).name);
  }

  static std::string field_line(const PlannedMember& m) {
    const std::string name = csharp_id(m.source->source->name), type = element_type(m), first = initial(m);
    const std::string count = std::to_string(m.source->source->count);
    switch (m.source->source->shape) {
      case Member::Shape::kArray:
        return "public readonly " + type + "[] " + name + " = " +
               (first.empty() ? "new " + type + "[" + count + "]"
                              : "lattice::Elements.Make(" + count + ", () => " + first + ")") +
               ";\n";
      case Member::Shape::kList:
      case Member::Shape::kMap:
        return "public readonly generic::List<" + type + "> " + name + " = new generic::List<" + type +
               ">();\n";
      case Member::Shape::kOne:
        break;
    }
    return std::string("public ") + (m.structure != nullptr ? "readonly " : "") + type + " " + name +
           (first.empty() ? "" : " = " + first) + ";\n";
  }

  std::string structure(const PlannedStructure& s) override {
    const bool is_union = s.source->is_union();
    std::string out = summary(s.source->source->doc, "    ") + "    public sealed class " +
                      csharp_id(s.source->name) + " : lattice::Structure\n    {\n";
    if (is_union) {
      out += std::string(kIn) + "/// <summary>Which alternative is active.</summary>\n" + kIn +
             "public enum Tag : byte\n" + kIn + "{\n" + kDeep + "none,\n";
      for (const PlannedMember& m : s.members) out += kDeep + csharp_id(m.source->source->name) + ",\n";
      out += std::string(kIn) + "}\n" + kIn + "public Tag which;\n";
    }
    for (const PlannedMember& m : s.members) out += summary(m.source->source->doc, kIn) + kIn + field_line(m);
    return out + "\n" + codecs(s) + functions(s) + "    }\n\n";
  }

  std::string codecs(const PlannedStructure& s) {
    std::string out;
    Strings all;
    if (!s.source->is_union()) all.push_back(s.source->is_delta() ? "true" : "false");
    for (const PlannedMember& m : s.members) {
      all.push_back(has_codec(m) ? "_" + m.source->source->name : codec_of(*m.structure));
      if (!has_codec(m)) continue;
      const bool is_generic = !m.is_one() && m.source->source->shape != Member::Shape::kMap;
      out += std::string(kIn) + "static readonly lattice::" + codec_class(m) +
             (is_generic ? "<lattice::" + element_class(m) + ">" : "") + " " + all.back() + " = " + codec(m) +
             ";\n";
    }
    const std::string type = s.source->is_union() ? "UnionCodec" : "StructureCodec";
    return out + kIn + "public static readonly lattice::" + type + " Codec = " + make(type, "", all) +
           ";\n\n";
  }

  std::string functions(const PlannedStructure& s) {
    const bool is_union = s.source->is_union();
    const std::string indent = is_union ? std::string(kDeep) + "    " : kDeep;
    std::string packs, unpacks;
    for (const PlannedMember& m : s.members) {
      const std::string head = kDeep + ("case Tag." + csharp_id(m.source->source->name) + ":\n");
      packs += is_union ? head + pack(s, m, indent) + indent + "break;\n" : pack(s, m, indent);
      unpacks += is_union ? head + unpack(s, m, indent) + indent + "break;\n" : unpack(s, m, indent);
    }
    const std::string open = std::string(kDeep) + "switch (this.which)\n" + kDeep + "{\n",
                      close = std::string(kDeep) + "}\n";
    return std::string(kIn) + "public override void Pack(lattice::State to, int at)\n" + kIn + "{\n" +
           (is_union ? std::string(kDeep) + "Codec.Begin(to, at, (int)this.which);\n" + open + packs + close
                     : packs) +
           kIn + "}\n" + kIn + "public override void Unpack(lattice::State from, int at)\n" + kIn + "{\n" +
           (is_union
                ? std::string(kDeep) + "this.which = (Tag)Codec.Tag(from, at);\n" + open + unpacks + close
                : unpacks) +
           kIn + "}\n";
  }

  std::string object(const CheckedObject& o) override {
    std::string out = summary(o.source->doc, "    ") + "    public static class " + o.source->name +
                      "Object\n    {\n" + kIn + "public const uint TypeId = " + std::to_string(o.type_id()) +
                      ";\n";
    Strings states;
    std::string places, rpcs;
    uint32_t place = 0;
    for (const CheckedObject::State& state : o.states) {
      states.push_back(codec_of(*state.structure));
      places += kDeep + ("public const int " + csharp_id(state.name) + " = " + std::to_string(place) + ";\n");
      place += words_of(*state.structure);
    }
    for (const CheckedRpc& rpc : o.rpcs) {
      rpcs += summary(rpc_doc(rpc), kDeep) + kDeep + "public const ushort " + csharp_id(rpc.source->name) +
              " = " + std::to_string(rpc.desc.rpc_id) + ";\n";
    }
    out += std::string(kIn) +
           "public static readonly lattice::ObjectCodec Codec = " + make("ObjectCodec", "", states) + ";\n" +
           kIn + "/// <summary>The first word of each structure in a state of Codec.</summary>\n" + kIn +
           "public static class Place\n" + kIn + "{\n" + places + kIn + "}\n";
    if (!rpcs.empty())
      out += std::string(kIn) + "public static class Rpc\n" + kIn + "{\n" + rpcs + kIn + "}\n";
    return out + "    }\n\n";
  }

  // ---- Codecs

  std::string call(const std::string& codec, const std::string& function, const Strings& arguments) override {
    return "lattice::" + codec + "." + function + "(" + join(arguments) + ")";
  }
  std::string make(const std::string& codec, const std::string& of, const Strings& arguments) override {
    return "new lattice::" + codec + (of.empty() ? "" : "<lattice::" + of + ">") + "(" + join(arguments) +
           ")";
  }
  std::string integer(const std::string& function, unsigned width, const Strings& arguments) override {
    Strings all = {std::to_string(width)};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return call("Integer", function, all);
  }
  std::string real(const std::string& function, bool, const Strings& arguments) override {
    return call("Real", function, arguments);
  }
  std::string number(int64_t value, unsigned) override {
    return value == INT64_MIN ? "long.MinValue" : std::to_string(value);
  }
  std::string codec_of(const CheckedStructure& structure) override {
    return csharp_id(structure.name) + ".Codec";
  }

  // ---- Statements

  Value value(const PlannedStructure&, const PlannedMember& m) override {
    const std::string own = "_" + m.source->source->name;
    return {m, "this." + csharp_id(m.source->source->name), own, place_of(m), own};
  }
  Value element(const Value& v) override {
    return {v.member, v.host + "[i]", v.codec, v.codec + ".At(" + v.at + ", i)", v.codec + ".Each"};
  }
  std::string pack_one(const Value& v) override {
    if (v.member.structure != nullptr) return v.host + ".Pack(to, " + v.at + ")";
    const std::string cast = v.member.enumeration != nullptr ? "(long)" : "";
    return v.each + ".Pack(to, " + v.at + ", " + cast + v.host + ")";
  }
  std::string unpack_one(const Value& v) override {
    if (v.member.structure != nullptr) return v.host + ".Unpack(from, " + v.at + ")";
    const std::string type = element_type(v.member), kind = element_class(v.member);
    std::string function = ".Unpack", cast, now;
    if (kind == "Vector") function += type.substr(type.find("::") + 2);
    if (kind == "Text" || kind == "Blob") now = ", " + v.host;
    if (type == "ulong") function += "Unsigned";
    const bool is_wide = type == "long" || type == "ulong" || type == "double";
    if (kind == "Ordinal" || ((kind == "Integer" || kind == "Real") && !is_wide)) cast = "(" + type + ")";
    return v.host + " = " + cast + v.each + function + "(from, " + v.at + now + ")";
  }
  std::string pack_loop(const Value& v) override {
    if (v.member.source->source->shape == Member::Shape::kArray) return array_loop(v);
    return "for (int i = 0, n = " + v.codec + ".Begin(to, " + v.at + ", " + v.host + ".Count); i < n; ++i)";
  }
  std::string unpack_loop(const Value& v, const std::string& indent) override {
    if (v.member.source->source->shape == Member::Shape::kArray) return indent + array_loop(v);
    const std::string first = initial(v.member);
    return indent + "lattice::Elements.Resize(" + v.host + ", " + v.codec + ".Count(from, " + v.at +
           "), () => " + (first.empty() ? "default(" + element_type(v.member) + ")" : first) + ");\n" +
           indent + "for (int i = 0; i < " + v.host + ".Count; ++i)";
  }
  static std::string array_loop(const Value& v) {
    return "for (int i = 0; i < " + std::to_string(v.member.source->source->count) + "; ++i)";
  }
  std::string sort(const Value& v) override { return v.codec + ".Sort(to, " + v.at + ")"; }
};

}  // namespace

std::string emit_csharp(const Checked& checked, const std::string& from, Report& report) {
  const std::string body = CsharpEmitter(checked, report).declarations();
  const std::string& name = checked.schema->name;
  std::string out =
      "// Made by latticec from " + from +
      ". Do not edit.\n"
      "using generic = global::System.Collections.Generic;\nusing lattice = global::Lattice;\n\n";
  out += "namespace " + csharp_id(name.empty() ? "Schemas" : name) + "\n{\n";
  out +=
      "    public static class Schema\n    {\n        /// <summary>The hash of the schema, in a world with "
      "the default "
      "channels (D-30).</summary>\n        public const ulong Id = " +
      hexadecimal(checked.schema_id) + ";\n    }\n\n";
  out += body;
  out.pop_back();
  return out + "}\n";
}

}  // namespace latticec
