#include "names.h"

#include <algorithm>
#include <charconv>
#include <iterator>

namespace latticec {
namespace {

// Words of C++, and names that a generated structure has itself.
// clang-format off
constexpr const char* kReserved[] = {
    "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch", "char",
    "char8_t", "char16_t", "char32_t", "class", "compl", "concept", "const", "consteval", "constexpr", "constinit", "const_cast", "continue",
    "co_await", "co_return", "co_yield", "decltype", "default", "delete", "do", "double", "dynamic_cast",
    "else", "enum", "explicit", "export", "extern", "false", "float", "for", "friend", "goto", "if",
    "inline", "int", "long", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "operator", "or", "or_eq",
    "private", "protected", "public", "register", "reinterpret_cast", "requires", "return", "short",
    "signed", "sizeof", "static", "static_assert", "static_cast", "struct", "switch", "template", "this",
    "thread_local", "throw", "true", "try", "typedef", "typeid", "typename", "union", "unsigned", "using",
    "virtual", "void", "volatile", "wchar_t", "while", "xor", "xor_eq", "map", "vec2", "vec3", "vec4", "dvec2",
    "dvec3", "dvec4", "quat", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
    "byte", "string", "fixed_string", "blob", "fixed64", "netid", "nettick", "Member", "Which", "which",
    "Serialize", "Deserialize",
    // Macros of C and of compilers.
    "linux", "unix", "errno", "NULL", "EOF", "NAN", "INFINITY", "HUGE_VAL", "assert", "stdin", "stdout", "stderr", "major",
    "minor", "offsetof", "signbit", "isnan", "isinf", "isfinite"};
// clang-format on

}  // namespace

void check_name(const std::string& name, const Place& place, Report& report) {
  if (std::ranges::find(kReserved, name) != std::end(kReserved)) {
    report.error(place, "'" + name + "' is a word of C++ or of a generated structure", "give another name");
  } else if (name.starts_with("lattice_") || name.starts_with("kLattice") ||
             name.find("__") != std::string::npos || name.starts_with("_")) {
    report.error(place, "the name '" + name + "' is reserved",
                 "names begin with a letter, and not with lattice_; they hold no two _ in a row");
  }
}

std::string decimal(double v) {
  char text[40];
  const auto end = std::to_chars(text, text + sizeof text, v);
  return std::string(text, end.ptr);
}

std::string hexadecimal(uint64_t v) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out = "0x";
  for (int shift = 60; shift >= 0; shift -= 4) out += kDigits[v >> shift & 15];
  return out;
}

std::string camel(const std::string& name) {
  std::string out;
  bool is_begin = true;
  for (const char c : name) {
    if (c == '_') {
      is_begin = true;
      continue;
    }
    out += static_cast<char>(is_begin && c >= 'a' && c <= 'z' ? c - 32 : c);
    is_begin = false;
  }
  return out;
}

}  // namespace latticec
