#include "emit.h"
#include "serialization/layout.h"

namespace latticec {
namespace {

std::string quoted(const std::string& text) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out.append(1, '\\').append(1, c);
    } else if (byte < 0x20) {
      out.append("\\u00").append(1, kDigits[byte >> 4]).append(1, kDigits[byte & 15]);
    } else {
      out += c;
    }
  }
  return out + "\"";
}

/// Joins what `each` makes of the items of a list.
template <class List, class Each>
std::string list(const List& items, const Each& each) {
  std::string out;
  for (const auto& item : items) out += (out.empty() ? "" : ",") + ("\n    " + each(item));
  return "[" + out + "]";
}

std::string pair(const char* name, const std::string& value) {
  return "\"" + std::string(name) + "\":" + value;
}

std::string doc(const std::string& text) {
  return text.empty() ? "" : "," + pair("doc", quoted(text.substr(0, text.size() - 1)));
}

std::string json_enumeration(const Enum& e) {
  std::string values;
  for (const Enum::Value& value : e.values) {
    values +=
        (values.empty() ? "" : ",") + ("{" + pair("name", quoted(value.name)) + "," +
                                       pair("value", std::to_string(value.value)) + doc(value.doc) + "}");
  }
  return "{" + pair("name", quoted(e.name)) + "," + pair("base", quoted(e.base)) + doc(e.doc) + "," +
         pair("values", "[" + values + "]") + "}";
}

std::string member(const CheckedMember& m) {
  static constexpr const char* kShapes[] = {"one", "array", "list", "map"};
  std::string out =
      "{" + pair("name", quoted(m.source->name)) + "," + pair("type", quoted(m.source->type)) + ",";
  out += pair("shape", quoted(kShapes[static_cast<int>(m.source->shape)])) + "," +
         pair("count", std::to_string(m.source->count));
  return out + "," + pair("packing", quoted(m.annotations)) + doc(m.source->doc) + "}";
}

std::string json_structure(const CheckedStructure& s) {
  static constexpr const char* kKinds[] = {"struct", "union", "state", "input", "arguments"};
  return "{" + pair("name", quoted(s.name)) + "," +
         pair("kind", quoted(kKinds[static_cast<int>(s.source->kind)])) + "," +
         pair("delta", s.is_delta() ? "true" : "false") +
         (s.source->variant_of.empty() ? "" : "," + pair("variant_of", quoted(s.source->variant_of))) +
         doc(s.source->doc) + "," + pair("members", list(s.members, member)) + "}";
}

std::string json_object(const CheckedObject& o) {
  const auto state = [](const CheckedObject::State& s) {
    return "{" + pair("name", quoted(s.name)) + "," + pair("structure", quoted(s.structure->name)) + "}";
  };
  const auto rpc = [](const CheckedRpc& r) {
    return "{" + pair("id", std::to_string(r.desc.rpc_id)) + "," + pair("name", quoted(r.source->name)) +
           "," + pair("to", quoted(r.source->target)) + "," +
           pair("channel", std::to_string(r.desc.channel)) + "," +
           pair("owner_only", r.desc.owner_only != 0 ? "true" : "false") + "," +
           pair("tick_aligned", r.desc.delivery == LATTICE_RPC_TICK_ALIGNED ? "true" : "false") + "," +
           pair("arguments", r.arguments != nullptr ? quoted(r.arguments->name) : "null") +
           doc(r.source->doc) + "}";
  };
  return "{" + pair("name", quoted(o.source->name)) + "," + pair("id", std::to_string(o.type_id())) + "," +
         pair("flags", std::to_string(o.desc.flags)) + doc(o.source->doc) + "," +
         pair("states", list(o.states, state)) + "," + pair("rpcs", list(o.rpcs, rpc)) + "}";
}

}  // namespace

std::string emit_json(const Checked& checked) {
  return "{" + pair("namespace", quoted(checked.schema->name)) + ",\n  " +
         pair("enums", list(checked.schema->enums, json_enumeration)) + ",\n  " +
         pair("structures", list(checked.structures, json_structure)) + ",\n  " +
         pair("objects", list(checked.objects, json_object)) + ",\n  " +
         pair("input", checked.input != nullptr ? quoted(checked.input->name) : "null") + ",\n  " +
         pair("canonical", quoted(checked.canonical)) + "}\n";
}

}  // namespace latticec
