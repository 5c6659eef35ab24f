// From the text of a schema, and of those it imports, to its tree.
//
//     schema     = { "import" TEXT ";" | "namespace" NAME ";" | declaration }
//     declaration = attributes ( "enum" NAME [ ":" TYPE ] "{" NAME [ "=" NUMBER ] { "," … } [ "," ] "}"
//                              | ( "struct" | "union" | "state" | "input" ) NAME "{" { member } "}"
//                              | "object" NAME "{" { "state" NAME [ NAME ] ";" | attributes rpc } "}" )
//     member     = attributes [ "map" ] TYPE [ "(" NUMBER ")" ] NAME [ "[" [ "<=" ] NUMBER "]" ] ";"
//     rpc        = "rpc" NAME "(" [ argument { "," argument } ] ")" "to" ( "server" | "owner" | "all" |
//     "peer" ) ";" argument   = a member without its ";" attributes = { "@" NAME [ "(" value { "," value }
//     ")" ] }
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "source.h"
#include "tree.h"

namespace latticec {

/// Reads a file: its text, or nothing, and then `why` is set.
using ReadFile = std::function<std::optional<std::string>(const std::string& path, std::string* why)>;

/// Adds what `path` and its imports declare to `out`. Errors are in `report`; then the tree is of no use.
void parse(const std::string& path, const ReadFile& read, Schema& out, Report& report);

}  // namespace latticec
