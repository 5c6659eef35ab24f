#include "emit.h"
#include "serialization/layout.h"
#include "serialization/lone_structure.h"

namespace latticec {
namespace {

using lattice::serialization::Layout;

/// Only the name of a file needs the escapes.
std::string lua_text(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
  }
  return out + "\"";
}

/// The words of a member in the schema text (D-30), behind its name: "vector2 compressed 8 0 1 200". Of an
/// array, a list or a map those of one element.
std::string canonical_words(const lattice_member_desc& member, const lattice_struct_desc& of) {
  lattice_member_desc one = member;
  one.array_count = 0;
  one.container = LATTICE_CONTAINER_ARRAY;
  one.count_offset = one.container_bytes = 0;
  lattice_struct_desc alone = of;
  alone.flags = alone.tag_offset = 0;
  alone.members = &one;
  alone.member_count = 1;
  Layout layout;
  std::string error;
  const lattice::serialization::LoneStructure lone(alone);
  if (!Layout::compile_structure(lone.desc(), false, &layout, &error)) return "";
  const std::string text = layout.canonical_members();
  const size_t name = text.find(" member ") + 8;
  const size_t begin = text.find(' ', name) + 1;
  return text.substr(begin, text.rfind(" flags ") - begin);
}

std::string lua_member(const CheckedMember& m, const lattice_member_desc& desc,
                       const lattice_struct_desc& of) {
  static constexpr const char* kShapes[] = {"", "array", "list", "map"};
  std::string type = m.source->type, packing;
  if (desc.type != LATTICE_WIRE_STRUCT) {
    const std::string words = canonical_words(desc, of);
    const size_t space = words.find(' ');
    if (desc.type != LATTICE_WIRE_ENUM) type = words.substr(0, space);
    if (space != std::string::npos) packing = ", " + lua_text(words.substr(space + 1));
  }
  std::string shape;
  if (m.source->shape != Member::Shape::kOne) {
    shape = std::string(", ") + kShapes[static_cast<int>(m.source->shape)] + " = " +
            std::to_string(m.source->count);
  }
  return "      { " + lua_text(m.source->name) + ", " + lua_text(type) + packing + shape + " },\n";
}

std::string lua_structure(const CheckedStructure& s) {
  std::string out = "    { name = " + lua_text(s.name) + ", kind = " +
                    lua_text(s.is_union()   ? "union"
                             : s.is_delta() ? "delta"
                                            : "whole") +
                    ",\n";
  for (size_t i = 0; i < s.members.size(); ++i) out += lua_member(s.members[i], s.descs[i], s.desc);
  return out + "    },\n";
}

std::string lua_enumeration(const Enum& e) {
  std::string out = "    { name = " + lua_text(e.name);
  for (const Enum::Value& value : e.values)
    out += ", { " + lua_text(value.name) + ", \"" + std::to_string(value.value) + "\" }";
  return out + " },\n";
}

std::string lua_object(const CheckedObject& o) {
  std::string out =
      "    { id = " + std::to_string(o.type_id()) + ", name = " + lua_text(o.source->name) + ",\n";
  for (const CheckedObject::State& state : o.states) {
    out += "      { state = " + lua_text(state.name) + ", structure = " + lua_text(state.structure->name) +
           " },\n";
  }
  for (const CheckedRpc& rpc : o.rpcs) {
    out += "      { rpc = " + lua_text(rpc.source->name) + ", id = " + std::to_string(rpc.desc.rpc_id) +
           ", target = " + std::to_string(rpc.desc.target) +
           (rpc.arguments != nullptr ? ", arguments = " + lua_text(rpc.arguments->name) : "") + " },\n";
  }
  return out + "    },\n";
}

template <class List, class Each>
std::string lua_list(const char* name, const List& items, const Each& each) {
  std::string out = std::string("  ") + name + " = {\n";
  for (const auto& item : items) out += each(item);
  return out + "  },\n";
}

}  // namespace

std::string emit_wireshark(const Checked& checked, const std::string& from) {
  const std::string& name = checked.schema->name.empty() ? from : checked.schema->name;
  std::string shown = from;
  for (char& c : shown) c = static_cast<unsigned char>(c) < 0x20 ? '?' : c;
  return "-- Made by latticec from " + shown +
         ". Do not edit.\n"
         "-- Names for the Wireshark dissector of Lattice (docs/capture.md). A member is { name, type, "
         "packing "
         "}; the words\n"
         "-- of a packing are those of the schema text (docs/spec/data.md, Schema hash).\n"
         "_G.lattice_games = _G.lattice_games or {}\n"
         "_G.lattice_games[" +
         lua_text(name) + "] = {\n  from = " + lua_text(from) + ",\n" +
         lua_list("enums", checked.schema->enums, lua_enumeration) +
         lua_list("structures", checked.structures, lua_structure) +
         lua_list("types", checked.objects, lua_object) +
         (checked.input != nullptr ? "  input = " + lua_text(checked.input->name) + ",\n" : "") +
         "  -- With the channels before it, what the schema hash is made of.\n  schema = [[\n" +
         checked.canonical + "]],\n}\n";
}

}  // namespace latticec
