#include "emit.h"

namespace latticec {
namespace {

std::string one_line(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '\n' ? ' ' : c == '|' ? '/' : c;
  while (out.ends_with(' ')) out.pop_back();
  return out;
}

std::string type_text(const CheckedMember& m) {
  const std::string count = std::to_string(m.source->count);
  const std::string capacity = m.source->capacity ? "(" + std::to_string(*m.source->capacity) + ")" : "";
  switch (m.source->shape) {
    case Member::Shape::kArray:
      return count + " × " + m.source->type + capacity;
    case Member::Shape::kList:
      return "up to " + count + " × " + m.source->type + capacity;
    case Member::Shape::kMap:
      return "map of up to " + count + " × " + m.source->type;
    case Member::Shape::kOne:
      break;
  }
  return m.source->type + capacity;
}

std::string docs_structure(const CheckedStructure& s) {
  std::string out = "### " + s.name + "\n\n";
  if (!s.source->doc.empty()) out += s.source->doc + "\n";
  out += s.is_union() ? "One of these at a time, or none:\n\n" : "";
  if (!s.source->variant_of.empty()) out += "A variant of " + s.source->variant_of + ":\n\n";
  out += "| member | type | packing | |\n|---|---|---|---|\n";
  for (const CheckedMember& m : s.members) {
    out += "| `" + m.source->name + "` | " + type_text(m) + " | " +
           (m.annotations.empty() ? "" : "`" + m.annotations + "`") + " | " + one_line(m.source->doc) +
           " |\n";
  }
  return out + "\n";
}

}  // namespace

std::string emit_docs(const Checked& checked, const std::string& from) {
  std::string out = "<!-- Made by latticec from " + from +
                    ". Change that file, not this one. -->\n\n# Schema " +
                    (checked.schema->name.empty() ? from : checked.schema->name) + "\n\n";
  if (!checked.objects.empty()) out += "## Objects\n\n";
  for (const CheckedObject& o : checked.objects) {
    out += "### " + o.source->name + "\n\n" + (o.source->doc.empty() ? "" : o.source->doc + "\n");
    out += "State:";
    for (const CheckedObject::State& state : o.states) {
      out +=
          " " + state.name + (state.name == state.structure->name ? "" : " (" + state.structure->name + ")");
    }
    out += ".\n\n";
    if (!o.rpcs.empty()) out += "| rpc | to | arguments | |\n|---|---|---|---|\n";
    for (const CheckedRpc& rpc : o.rpcs) {
      out += "| `" + rpc.source->name + "` (" + std::to_string(rpc.desc.rpc_id) + ") | " +
             rpc.source->target + " | " + (rpc.arguments != nullptr ? rpc.arguments->name : "") + " | " +
             one_line(rpc.source->doc) + " |\n";
    }
    out += o.rpcs.empty() ? "" : "\n";
  }
  if (!checked.schema->enums.empty()) out += "## Enums\n\n";
  for (const Enum& e : checked.schema->enums) {
    out += "### " + e.name + "\n\n" + (e.doc.empty() ? "" : e.doc + "\n") +
           "| value | number | |\n|---|---|---|\n";
    for (const Enum::Value& value : e.values) {
      out += "| `" + value.name + "` | " + std::to_string(value.value) + " | " + one_line(value.doc) + " |\n";
    }
    out += "\n";
  }
  if (!checked.structures.empty()) out += "## Structures\n\n";
  for (const CheckedStructure& s : checked.structures) out += docs_structure(s);
  return out;
}

}  // namespace latticec
