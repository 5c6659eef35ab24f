// A schema of any bytes, as latticec takes it: split, parsed, checked, put in form, made into text.
//
// Must hold: the bytes are a schema, or an error names a place; what is made of a schema is the same each
// time; the form of a schema is its own form, and means the same.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "check.h"
#include "emit.h"
#include "parser.h"
#include "tools.h"

namespace {

using namespace latticec;

void require(bool condition) {
  if (!condition) std::abort();
}

struct Compiled {
  Schema schema;
  Checked checked;
  Report report;
  bool ok = false;
};

void compile(const std::string& text, Compiled& out) {
  parse(
      "a.lattice",
      [&](const std::string& path, std::string* why) -> std::optional<std::string> {
        if (path == "a.lattice") return text;
        if (path == "b.lattice") return "enum E { a, b } struct B { E e; uint8 n[<=3]; }";
        *why = "none";
        return std::nullopt;
      },
      out.schema, out.report);
  out.ok = check(out.schema, out.checked, out.report);
  require(out.ok == out.report.text().empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 16'384) return 0;
  const std::string text(reinterpret_cast<const char*>(data), size);
  Compiled compiled;
  compile(text, compiled);
  if (!compiled.ok) {
    require(compiled.report.text().find("error: ") != std::string::npos);
    return 0;
  }
  require(!emit_cpp(compiled.checked, "a").empty() && !emit_docs(compiled.checked, "a").empty());
  require(!emit_json(compiled.checked).empty());
  require(differences(compiled.checked.canonical, compiled.checked.canonical).empty());
  Report report;
  const std::string formed = in_form(Source("a", text), report);
  require(report.ok() && in_form(Source("a", formed), report) == formed);
  Compiled again;
  compile(formed, again);
  require(again.ok && again.checked.canonical == compiled.checked.canonical);
  return 0;
}
