#include "write_loads.h"

#include <algorithm>
#include <array>

#include "names.h"

namespace languages {
namespace {

using latticec::CheckedObject;
using latticec::CheckedStructure;
using latticec::Member;

std::string num(uint64_t v) {
  return std::to_string(v);
}

/// How the two languages write the same down.
struct Tongue {
  bool is_csharp;
  std::string space;
  // A class of the generated code.
  std::string type(const std::string& name) const { return space + "." + (is_csharp ? "@" : "") + name; }
  std::string field(const std::string& name) const { return (is_csharp ? "o.@" : "o.") + name; }
  std::string loop(const std::string& count) const {
    return std::string(is_csharp ? "for (int i = 0; i < " : "for (let i = 0; i < ") + count + "; ++i) ";
  }
};

/// The function of Image that reads a number.
std::string reader(const lattice_member_desc& m, bool is_signed_enum) {
  switch (m.type) {
    case LATTICE_WIRE_BOOL:
      return "Bool";
    case LATTICE_WIRE_INT8:
      return "I8";
    case LATTICE_WIRE_UINT8:
      return "U8";
    case LATTICE_WIRE_INT16:
      return "I16";
    case LATTICE_WIRE_UINT16:
      return "U16";
    case LATTICE_WIRE_INT32:
      return "I32";
    case LATTICE_WIRE_UINT32:
    case LATTICE_WIRE_TICK:
      return "U32";
    case LATTICE_WIRE_INT64:
    case LATTICE_WIRE_FIXED64:
      return "I64";
    case LATTICE_WIRE_UINT64:
    case LATTICE_WIRE_NETID:
      return "U64";
    case LATTICE_WIRE_FLOAT:
      return "F32";
    case LATTICE_WIRE_DOUBLE:
      return "F64";
    case LATTICE_WIRE_ENUM:
      return (is_signed_enum ? "I" : "U") + num(m.host_bytes * 8);
    case LATTICE_WIRE_STRING:
      return "Text";
    case LATTICE_WIRE_FIXED_STRING:
      return "FixedText";
    case LATTICE_WIRE_BYTES:
      return "Blob";
    case LATTICE_WIRE_QUATERNION:
      return "Quat";
    default:
      return m.type >= LATTICE_WIRE_DVECTOR2
                 ? "DVec" + num(static_cast<unsigned>(m.type - LATTICE_WIRE_DVECTOR2) + 2)
                 : "Vec" + num(static_cast<unsigned>(m.type - LATTICE_WIRE_VECTOR2) + 2);
  }
}

class LoadWriter {
 public:
  LoadWriter(const latticec::Checked& checked, Tongue tongue)
      : checked_(checked), tongue_(std::move(tongue)) {}

  std::string function(const CheckedStructure& s) {
    const std::string head = tongue_.is_csharp
                                 ? "static void Load_" + tongue_.space + "_" + s.name + "(Image m, int at, " +
                                       tongue_.type(s.name) + " o)"
                                 : "function Load_" + tongue_.space + "_" + s.name +
                                       "(m: Image, at: number, o: " + tongue_.type(s.name) + "): void";
    std::string out = head + "\n{\n";
    if (s.is_union()) {
      const std::string tag =
          tongue_.is_csharp ? "(" + tongue_.type(s.name) + ".Tag)m.U8(at + " : "m.U8(at + ";
      out += "  o.which = " + tag + num(s.desc.tag_offset) + ");\n";
    }
    for (size_t i = 0; i < s.members.size(); ++i) {
      if (s.is_union()) out += "  if ((int)o.which == " + num(i + 1) + ") {\n";
      out += member(*s.members[i].source, s.descs[i]);
      if (s.is_union()) out += "  }\n";
    }
    if (!tongue_.is_csharp) {
      for (size_t p = 0; (p = out.find("(int)", p)) != std::string::npos;) out.erase(p, 5);
    }
    return out + "}\n";
  }

 private:
  std::string member(const Member& source, const lattice_member_desc& m) {
    const std::string host = tongue_.field(source.name), at = "at + " + num(m.offset);
    if (source.shape == Member::Shape::kOne) return "  " + value(source, m, host, at) + ";\n";
    std::string out;
    std::string count = num(source.count);
    if (source.shape != Member::Shape::kArray) {
      count = "m.U16(at + " + num(m.offset + m.count_offset) + ")";
      const std::string fresh = initial(source, m);
      out = tongue_.is_csharp
                ? "  Lattice.Elements.Resize(" + host + ", " + count + ", () => " + fresh + ");\n"
                : "  lattice.resize<any>(" + host + ", " + count + ", () => " + fresh + ");\n";
    }
    return out + "  " + tongue_.loop(count) + value(source, m, host + "[i]", at + " + i * " + num(bytes(m))) +
           ";\n";
  }

  // What an element is before it is loaded.
  std::string initial(const Member& source, const lattice_member_desc& m) const {
    if (m.type == LATTICE_WIRE_STRUCT) return "new " + tongue_.type(source.type) + "()";
    if (tongue_.is_csharp) return "default(" + csharp_type(source, m) + ")";
    const std::string read = reader(m, false);
    const size_t vec = read.find("Vec");
    return vec != std::string::npos ? "new lattice." + read.substr(vec) + "()"
           : read == "Quat"         ? "new lattice.Quat()"
                                    : "0";
  }
  std::string csharp_type(const Member& source, const lattice_member_desc& m) const {
    static constexpr const char* kTypes[][2] = {
        {"Bool", "bool"},  {"I8", "sbyte"},    {"U8", "byte"},          {"I16", "short"},  {"U16", "ushort"},
        {"I32", "int"},    {"U32", "uint"},    {"I64", "long"},         {"U64", "ulong"},  {"F32", "float"},
        {"F64", "double"}, {"Text", "string"}, {"FixedText", "byte[]"}, {"Blob", "byte[]"}};
    if (m.type == LATTICE_WIRE_ENUM) return tongue_.type(source.type);
    const std::string read = reader(m, false);
    for (const auto& [ours, theirs] : kTypes) {
      if (read == ours) return theirs;
    }
    return "Lattice." + read;
  }

  std::string value(const Member& source, const lattice_member_desc& m, const std::string& host,
                    const std::string& at) {
    if (m.type == LATTICE_WIRE_STRUCT)
      return "Load_" + tongue_.space + "_" + source.type + "(m, " + at + ", " + host + ")";
    bool is_signed = true;
    for (const latticec::Enum& e : checked_.schema->enums) {
      if (e.name == source.type) is_signed = e.base[0] == 'i';
    }
    const std::string read = reader(m, is_signed);
    const bool has_parts = read.find("Vec") != std::string::npos || read == "Quat";
    if (!tongue_.is_csharp && has_parts) return "m." + read + "(" + at + ", " + host + ")";
    const bool takes_capacity = m.type == LATTICE_WIRE_STRING || m.type == LATTICE_WIRE_FIXED_STRING;
    std::string call = "m." + read + "(" + at + (takes_capacity ? ", " + num(m.capacity) : "") + ")";
    if (m.type == LATTICE_WIRE_ENUM)
      call = tongue_.is_csharp ? "(" + tongue_.type(source.type) + ")" + call : "Number(" + call + ")";
    return host + " = " + call;
  }

  static uint64_t bytes(const lattice_member_desc& m) {
    if (m.type == LATTICE_WIRE_STRUCT) return m.structure->host_bytes;
    return m.host_bytes;
  }

  const latticec::Checked& checked_;
  Tongue tongue_;
};

Loads loads(const latticec::Checked& checked, const Tongue& tongue) {
  Loads out;
  LoadWriter writer(checked, tongue);
  for (const CheckedStructure& s : checked.structures) out.functions += writer.function(s);
  for (const Tested& t : tested_of(checked)) {
    const std::string name = "\"" + tongue.space + "." + t.name + "\"";
    const std::string codec = tongue.type(t.object != nullptr ? t.name + "Object" : t.name) +
                              (tongue.is_csharp ? ".Codec" : ".codec");
    out.adds += "    all." + std::string(tongue.is_csharp ? "Add(new Tested(" : "push(new Tested(") + name +
                ", " + codec;
    for (size_t i = 0; i < t.structures.size(); ++i) {
      const std::string type = tongue.type(t.structures[i]->name),
                        load = "Load_" + tongue.space + "_" + t.structures[i]->name;
      const std::string place = t.object == nullptr ? "0"
                                                    : tongue.type(t.name + "Object") +
                                                          (tongue.is_csharp ? ".Place.@" : ".place.") +
                                                          t.object->states[i].name;
      const std::string offset = num(t.offset(i));
      out.adds += tongue.is_csharp
                      ? ",\n        new Part(" + place + ", " + offset + ", () => new " + type +
                            "(), (m, at, o) => " + load + "(m, at, (" + type + ")o))"
                      : ",\n        { place: " + place + ", offset: " + offset + ", make: () => new " + type +
                            "(), load: (m, at, o) => " + load + "(m, at, o as " + type + ") }";
    }
    out.adds += "));\n";
  }
  return out;
}

}  // namespace

std::vector<Tested> tested_of(const latticec::Checked& checked) {
  std::vector<Tested> out;
  for (const CheckedStructure& s : checked.structures) {
    if (!s.is_union()) out.push_back({s.name, {&s}, nullptr});
  }
  for (const CheckedObject& o : checked.objects) {
    Tested& t = out.emplace_back(Tested{o.source->name, {}, &o});
    for (const CheckedObject::State& state : o.states) t.structures.push_back(state.structure);
  }
  return out;
}

Loads csharp_loads(const latticec::Checked& checked, const std::string& space) {
  return loads(checked, {true, space});
}

Loads typescript_loads(const latticec::Checked& checked, const std::string& space) {
  return loads(checked, {false, space});
}

std::string cpp_adds(const latticec::Checked& checked, const std::string& space) {
  std::string out;
  for (const Tested& t : tested_of(checked)) {
    const std::string name = "\"" + space + "." + t.name + "\", ";
    out +=
        t.object != nullptr
            ? "    add_object(all, " + name + space + "::k" + latticec::camel(t.name) + ");\n"
            : "    add_structure(all, " + name + "lattice::struct_desc<" + space + "::" + t.name + ">());\n";
  }
  return out;
}

}  // namespace languages
