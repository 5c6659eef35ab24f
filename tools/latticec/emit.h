// What is made of a checked schema. Every text is the same for the same schema.
#pragma once

#include <string>

#include "check.h"

namespace latticec {

/// A C++ header: the declared structures, the descriptions of the objects, and register_schema(). `from` is
/// the name of the schema file, for the head of the text.
std::string emit_cpp(const Checked& checked, const std::string& from);

/// C# and TypeScript: a class for each structure. Both stand on a runtime (runtime.h). A name that the
/// language cannot have is an error in the report; then the text is of no use.
std::string emit_csharp(const Checked& checked, const std::string& from, Report& report);
std::string emit_typescript(const Checked& checked, const std::string& from, Report& report);

/// Everything as JSON, for other tools: enums, structures, objects, each member with its bits.
std::string emit_json(const Checked& checked);

/// A reference for people, in Markdown.
std::string emit_docs(const Checked& checked, const std::string& from);

/// A table in Lua with which the Wireshark dissector shows the members of this schema.
std::string emit_wireshark(const Checked& checked, const std::string& from);

}  // namespace latticec
