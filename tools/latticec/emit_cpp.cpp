#include "emit.h"
#include "names.h"

namespace latticec {
namespace {

std::string comment(const std::string& doc, const std::string& indent) {
  std::string out;
  for (size_t at = 0; at < doc.size();) {
    const size_t end = doc.find('\n', at);
    const std::string line = doc.substr(at, end - at);
    out += indent + "///" + (line.empty() ? "" : " ") + line + "\n";
    at = end + 1;
  }
  return out;
}

// A comment inside the list of a macro: the list is one line to the preprocessor.
std::string block_comment(const std::string& doc, const std::string& indent) {
  std::string text;
  for (const char c : doc) text += c == '\n' ? ' ' : c;
  while (text.ends_with(' ')) text.pop_back();
  for (size_t at = 0; (at = text.find("*/", at)) != std::string::npos;) text.replace(at, 2, "* /");
  return text.empty() ? "" : indent + "/* " + text + " */\n";
}

std::string members(const CheckedStructure& structure, const std::string& indent) {
  std::string out;
  for (size_t i = 0; i < structure.members.size(); ++i) {
    const CheckedMember& member = structure.members[i];
    out += ",\n" + block_comment(member.source->doc, indent) + indent + "(" + member.source->name + ", " +
           member.type + (member.annotations.empty() ? "" : ", " + member.annotations) + ")";
  }
  return out;
}

std::string variant(const CheckedStructure& s) {
  std::string out;
  for (const CheckedMember& member : s.members) {
    if (!member.source->is_varied) continue;
    out += ",\n    (" + member.source->name + (member.annotations.empty() ? "" : ", " + member.annotations) +
           (member.source->is_for_everyone ? ", EVERYONE)" : ")");
  }
  for (const std::string& name : s.source->omitted) out += ",\n    (" + name + ", OMIT)";
  return out;
}

std::string cpp_structure(const CheckedStructure& s) {
  std::string out = comment(s.source->doc, "");
  if (!s.source->variant_of.empty()) {
    return out + "LATTICE_VARIANT(" + s.name + ", " + s.source->variant_of + variant(s) + ")\n\n";
  }
  const bool is_alone = s.source->kind != Structure::Kind::kStruct && !s.is_union();
  if (is_alone) return out + "LATTICE_NETWORKED(" + s.name + members(s, "    ") + ")\n\n";
  const char* macro = s.is_union()   ? "LATTICE_NETUNION"
                      : s.is_delta() ? "LATTICE_NETSTRUCT_DELTA"
                                     : "LATTICE_NETSTRUCT";
  return out + "struct " + s.name + " {\n  " + macro + "(" + s.name + members(s, "      ") + ")\n};\n\n";
}

std::string cpp_enumeration(const Enum& e) {
  std::string out = comment(e.doc, "");
  out += "enum class " + e.name + " : std::" + e.base + "_t {\n";
  std::string list;
  for (const Enum::Value& value : e.values) {
    const std::string number = value.value == INT64_MIN ? "INT64_MIN" : std::to_string(value.value);
    out += comment(value.doc, "  ") + "  " + value.name + " = " + number + ",\n";
    list += ", " + value.name;
  }
  return out + "};\nLATTICE_ENUM(" + e.name + list + ")\n\n";
}

std::string flags_text(uint32_t flags) {
  static constexpr struct {
    uint32_t flag;
    const char* name;
  } kFlags[] = {{LATTICE_TYPE_PREDICTED, "LATTICE_TYPE_PREDICTED"},
                {LATTICE_TYPE_ALWAYS_RELEVANT, "LATTICE_TYPE_ALWAYS_RELEVANT"},
                {LATTICE_TYPE_QUANTIZE_SIMULATION, "LATTICE_TYPE_QUANTIZE_SIMULATION"},
                {LATTICE_TYPE_COMPARE_ALWAYS, "LATTICE_TYPE_COMPARE_ALWAYS"},
                {LATTICE_TYPE_EXACT_SIMULATION, "LATTICE_TYPE_EXACT_SIMULATION"}};
  std::string out;
  for (const auto& flag : kFlags) {
    if ((flags & flag.flag) != 0) out += (out.empty() ? "" : " | ") + std::string(flag.name);
  }
  return out.empty() ? "0" : out;
}

std::string rpc_line(const CheckedRpc& rpc) {
  static constexpr const char* kTargets[] = {"LATTICE_RPC_TO_SERVER", "LATTICE_RPC_TO_OWNER",
                                             "LATTICE_RPC_TO_ALL", "LATTICE_RPC_TO_PEER"};
  static constexpr const char* kChannels[] = {
      "LATTICE_CHANNEL_UNRELIABLE", "LATTICE_CHANNEL_UNRELIABLE_SEQUENCED",
      "LATTICE_CHANNEL_RELIABLE_UNORDERED", "LATTICE_CHANNEL_RELIABLE_ORDERED"};
  return "    lattice::rpc_desc" +
         std::string(rpc.arguments != nullptr ? "<" + rpc.arguments->name + ">" : "") + "(" +
         std::to_string(rpc.desc.rpc_id) + ", \"" + rpc.source->name + "\", " + kTargets[rpc.desc.target] +
         ", " + kChannels[rpc.desc.channel] + ", " + (rpc.desc.owner_only != 0 ? "true" : "false") + ", " +
         (rpc.desc.delivery == LATTICE_RPC_TICK_ALIGNED ? "LATTICE_RPC_TICK_ALIGNED"
                                                        : "LATTICE_RPC_IMMEDIATE") +
         "),\n";
}

std::string cpp_object(const CheckedObject& o) {
  const std::string k = "k" + camel(o.source->name);
  std::string out;
  for (const CheckedRpc& rpc : o.rpcs) {
    out += comment(rpc.source->doc, "") + "inline constexpr uint16_t " + k + camel(rpc.source->name) +
           "Rpc = " + std::to_string(rpc.desc.rpc_id) + ";\n";
  }
  out += "inline constexpr lattice_behaviour_desc " + k + "States[] = {\n";
  for (const CheckedObject::State& state : o.states) {
    out += "    lattice::behaviour_desc<" + state.structure->name + ">(" +
           (state.name == state.structure->name ? "" : "\"" + state.name + "\"") + "),\n";
  }
  out += "};\n";
  if (!o.rpcs.empty()) {
    out += "inline constexpr lattice_rpc_desc " + k + "Rpcs[] = {\n";
    for (const CheckedRpc& rpc : o.rpcs) out += rpc_line(rpc);
    out += "};\n";
  }
  out += comment(o.source->doc, "") + "inline constexpr lattice_type_desc " + k + " = [] {\n";
  out += "  lattice_type_desc type = lattice::type_desc(\"" + o.source->name + "\", " + k + "States, " +
         (o.rpcs.empty() ? "" : k + "Rpcs, ") + flags_text(o.desc.flags) + ");\n";
  if (o.desc.type_id != 0) out += "  type.type_id = " + std::to_string(o.desc.type_id) + ";\n";
  if (o.desc.base_priority != 1.0) out += "  type.base_priority = " + decimal(o.desc.base_priority) + ";\n";
  return out + "  return type;\n}();\n\n";
}

std::string registration(const Checked& checked) {
  std::string out =
      "/// Registers every object and the input. Stops at the first that is refused: lattice_last_error() "
      "says why.\n"
      "inline lattice_result register_schema(lattice_world* world) {\n";
  if (!checked.objects.empty()) {
    out += "  for (const lattice_type_desc* type : {";
    for (size_t i = 0; i < checked.objects.size(); ++i) {
      out += (i == 0 ? "&k" : ", &k") + camel(checked.objects[i].source->name);
    }
    out += "}) {\n    if (const lattice_result bad = lattice_register_type(world, type)) return bad;\n  }\n";
  }
  if (checked.input != nullptr) {
    out += "  static constexpr lattice_input_desc kInput = lattice::input_desc<" + checked.input->name +
           ">();\n  if (const lattice_result bad = lattice_register_input(world, &kInput)) return bad;\n";
  }
  if (checked.objects.empty() && checked.input == nullptr) out += "  static_cast<void>(world);\n";
  return out + "  return LATTICE_OK;\n}\n";
}

}  // namespace

std::string emit_cpp(const Checked& checked, const std::string& from) {
  std::string out = "// Made by latticec from " + from +
                    ". Change that file, not this one.\n#pragma once\n\n#include <cstdint>\n\n"
                    "#include <lattice/authoring/networked.h>\n#include <lattice/lattice.h>\n\n";
  const std::string& name = checked.schema->name;
  if (!name.empty()) out += "namespace " + name + " {\n\n";
  for (const Enum& e : checked.schema->enums) out += cpp_enumeration(e);
  out += "// clang-format off\n";
  for (const CheckedStructure& s : checked.structures) out += cpp_structure(s);
  out += "// clang-format on\n\n";
  for (const CheckedObject& o : checked.objects) out += cpp_object(o);
  out += registration(checked);
  if (!name.empty()) out += "\n}  // namespace " + name + "\n";
  return out;
}

}  // namespace latticec
