// The schema compiler: what it makes is what the macros make; what is wrong has a place and advice.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>

#include "check.h"
#include "emit.h"
#include "everything.lattice.h"
#include "everything_macros.h"
#include "names.h"
#include "parser.h"
#include "schema_id.h"
#include "tools.h"

namespace latticec {
namespace {

using Files = std::map<std::string, std::string>;

struct Result {
  Schema schema;
  Checked checked;
  Report report;
  bool ok = false;
};

void compile(const Files& files, Result& out) {
  const ReadFile read = [&files](const std::string& path, std::string* why) -> std::optional<std::string> {
    const auto at = files.find(path);
    if (at != files.end()) return at->second;
    *why = "No such file or directory";
    return std::nullopt;
  };
  parse("a.lattice", read, out.schema, out.report);
  out.ok = check(out.schema, out.checked, out.report);
}

std::string errors_of(const std::string& text, Files files = {}) {
  files["a.lattice"] = text;
  Result result;
  compile(files, result);
  EXPECT_EQ(result.ok, result.report.text().empty());
  return result.report.text();
}

TEST(Latticec, EveryTypeIsTheSameWithMacrosAndAsASchema) {
  const uint64_t of_macros =
      schema_id([](lattice_world* world) { return with_macros::register_schema(world); });
  const uint64_t generated =
      schema_id([](lattice_world* world) { return everything::register_schema(world); });
  EXPECT_EQ(generated, of_macros);
  EXPECT_NE(generated, 0u);
  EXPECT_EQ(sizeof(everything::Holder), sizeof(with_macros::Holder));
  EXPECT_EQ(everything::kThingFireAtRpc, 7);
}

namespace in_memory {

// clang-format off
struct Item {
  LATTICE_NETSTRUCT(Item, (kind, uint16), (worn, bool))
};
struct Cost {
  LATTICE_NETSTRUCT(Cost, (mood, with_macros::Mood), (price, int64))
};
struct Choice {
  LATTICE_NETUNION(Choice, (item, Item), (heat, double), (numbers, uint8, LIST(4)),
                   (name, string, STRING(5)), (data, blob, BYTES(3)))
};
struct Mixed {
  LATTICE_NETSTRUCT(Mixed, (a, bool), (b, int64), (c, blob, BYTES(4)), (d, uint8, ARRAY(3)),
                    (e, Item, LIST(3)), (f, Cost, MAP(2)), (g, Choice), (h, vec3), (i, dvec2), (j, nettick),
                    (k, string, STRING(7)), (l, bool, LIST(5)), (m, Choice, ARRAY(2)),
                    (n, fixed_string, STRING(3)), (o, quat))
};
// clang-format on

}  // namespace in_memory

// The compiler works out where members lie in host memory; the C++ compiler must agree.
TEST(Latticec, KnowsTheLayoutInMemory) {
  Result result;
  compile({{"a.lattice", R"(
enum Mood : int8 { calm = 3, angry = -7 }
struct Item { uint16 kind; bool worn; }
struct Cost { Mood mood; int64 price; }
union Choice { Item item; double heat; uint8 numbers[<=4]; string(5) name; bytes(3) data; }
state Mixed {
  bool a; int64 b; bytes(4) c; uint8 d[3]; Item e[<=3]; map Cost f[<=2]; Choice g; vec3 h; dvec2 i; tick j; string(7) k;
  bool l[<=5]; Choice m[2]; fixed_string(3) n; quat o;
})"}},
          result);
  ASSERT_TRUE(result.ok) << result.report.text();
  const lattice_struct_desc& ours = result.checked.structures.back().desc;
  const lattice_struct_desc& theirs = lattice::struct_desc<in_memory::Mixed>();
  EXPECT_EQ(ours.host_bytes, theirs.host_bytes);
  EXPECT_EQ(ours.host_align, theirs.host_align);
  ASSERT_EQ(ours.member_count, theirs.member_count);
  for (uint32_t i = 0; i < ours.member_count; ++i) {
    SCOPED_TRACE(ours.members[i].name);
    EXPECT_EQ(ours.members[i].offset, theirs.members[i].offset);
    EXPECT_EQ(ours.members[i].host_bytes, theirs.members[i].host_bytes);
    EXPECT_EQ(ours.members[i].count_offset, theirs.members[i].count_offset);
    EXPECT_EQ(ours.members[i].container_bytes, theirs.members[i].container_bytes);
  }
  EXPECT_EQ(result.checked.structures[2].desc.tag_offset,
            lattice::struct_desc<in_memory::Choice>().tag_offset);
}

TEST(Latticec, ErrorsHaveAPlaceTheLineAndAdvice) {
  EXPECT_EQ(errors_of("state A {\n  @bitz(10)\n  uint16 health;\n}\n"),
            "a.lattice:2:4: error: there is no attribute 'bitz' of a member\n"
            "    2 |   @bitz(10)\n"
            "      |    ^~~~\n"
            "      = did you mean 'bits'?\n");
  EXPECT_EQ(errors_of("state A {\n\tuint61 health;\n}\n"),
            "a.lattice:2:2: error: there is no type 'uint61'\n"
            "    2 | \tuint61 health;\n"
            "      | \t^~~~~~\n"
            "      = did you mean 'uint64'?\n");
  EXPECT_EQ(errors_of("state A { uint8 health }"),
            "a.lattice:1:24: error: expected ';', and found '}'\n"
            "    1 | state A { uint8 health }\n"
            "      |                        ^\n");
}

// What hangs on a mistake, or stands behind it, is no mistake.
TEST(Latticec, EveryMistakeOfAFileIsTold) {
  const auto lines_of = [](const std::string& text, const Files& files = {}) {
    std::string out;
    std::istringstream errors(errors_of(text, files));
    for (std::string line; std::getline(errors, line);) {
      const size_t at = line.find(": error: ");
      if (at != std::string::npos) out += line.substr(0, at) + line.substr(at + 8) + "\n";
    }
    return out;
  };
  EXPECT_EQ(lines_of("struct P {\n  uint8 a\n  uint8 b;\n  uint8 c;\n}\n"
                     "enum E { one, }\nenum F { 1 }\n"
                     "state S {\n  P p\n}\n"
                     "variant V of S { p; q; }\n"
                     "object O {\n  state S\n  rpc f( to all;\n  rpc g() to nobody;\n  rpc h() to all;\n}\n"),
            "a.lattice:3:3 expected ';', and found 'uint8'\n"
            "a.lattice:7:10 expected the name of a value, or '}', and found '1'\n"
            "a.lattice:10:1 expected ';', and found '}'\n"
            "a.lattice:14:7 expected ';', and found 'f'\n"
            "a.lattice:15:14 expected server, owner, all or peer, and found 'nobody'\n");
  EXPECT_EQ(
      lines_of("struct P {\n  uint61 a;\n  @bits(9) uint8 b;\n  @bitz(1) uint8 c;\n}\n"
               "enum E { a, a }\n"
               "state S {\n  P p;\n  E e;\n  string s;\n}\n"
               "state T { @bits(9) uint8 x; }\n"
               "variant V of T { omit x; }\n"
               "state U { T t; bool good; }\n"
               "@shiny\nobject O { state S; rpc f(P p) to all; @channel(fast) rpc g(uint6 x) to all; }\n"),
      "a.lattice:13:9 'V' has no member\n");
  EXPECT_EQ(
      lines_of("struct P {\n  uint61 a;\n  @bits(9) uint8 b;\n  @bitz(1) uint8 c;\n}\n"
               "enum E { a, a }\n"
               "state S {\n  P p;\n  E e;\n  string s;\n}\n"
               "state T { @bits(9) uint8 x; uint8 y; }\n"
               "variant V of T { y; }\n"
               "state U { T t; bool good; }\n"
               "@shiny\nobject O { state S; rpc f(P p) to all; @channel(fast) rpc g(uint6 x) to all; }\n"),
      "a.lattice:2:3 there is no type 'uint61'\n"
      "a.lattice:4:4 there is no attribute 'bitz' of a member\n"
      "a.lattice:6:13 'a' is there already\n"
      "a.lattice:10:3 how many bytes at most? string(16)\n"
      "a.lattice:12:26 bits is 9; must be 1..8\n"
      "a.lattice:15:2 there is no attribute 'shiny' of an object\n"
      "a.lattice:16:41 @channel takes unreliable, sequenced, reliable or ordered\n");
  EXPECT_EQ(
      lines_of("import \"b.lattice\";\nstate S { X x; }\nbanana\nstate T { bool x }\n",
               {{"b.lattice", "state B { int8 8; }\nstruct X { int8 a; }\n"}}),
      "b.lattice:1:16 expected the name of the member, and found '8'\n"
      "a.lattice:3:1 expected import, namespace, enum, struct, union, state, variant, input or object, and "
      "found 'banana'\n"
      "a.lattice:4:18 expected ';', and found '}'\n");
}

TEST(Latticec, EachMistakeIsNamed) {
  const std::pair<const char*, const char*> kCases[] = {
      {"state A { }", "'A' has no member"},
      {"state A { uint8 a; uint8 a; }", "there is a member 'a' already"},
      {"state A { uint8 class; }", "'class' is a word of C++"},
      {"state A { uint8 lattice_x; }", "is reserved"},
      {"state A { string name; }", "how many bytes at most? string(16)"},
      {"state A { uint8(3) n; }", "'uint8' has no length"},
      {"state A { @bounds(0, 1) float x; }", "@bounds takes 3 values"},
      {"state A { @bounds(1, 0, 0.1) float x; }", "min must be below max"},
      {"state A { @bounds(0, 1, 0.1) uint8 x; }", "@bounds is for float, double and vectors"},
      {"state A { @bits(65) uint64 x; }", "a whole number from 1 to 64"},
      {"state A { @bits(9) uint8 x; }", "bits is 9; must be 1..8"},
      {"state A { @bits(3) @fixed uint8 x; }", "after another way to pack 'x'"},
      {"state A { @range(0, 300) uint8 x; }", "range is 0..300; must lie in 0..255"},
      {"state A { @position uint8 x; }", "a motion flag needs a float"},
      {"state A { @position vec3 x[<=3]; }", "cannot be inside a list"},
      {"state A { @bounds(0, 1, 3parsec) float x; }", "there is no unit 'parsec'"},
      {"state A { uint8 a[1]; }", "an array has 2 to 256 elements"},
      {"state A { uint8 a[<=1025]; }", "room for 1 to 1024 elements"},
      {"state A { map uint8 a[<=3]; }", "an entry of a map is a structure of a key"},
      {"struct E { float k; bool v; } state A { map E a[<=3]; }", "the key of a map, member 'k'"},
      {"struct E { uint8 k; bool v; } state A { map E a; }", "a map has room for so many entries"},
      {"struct E { uint8 k; bool v; } state A { map E a[3]; }", "the size of a map is its room"},
      {"state A { B b; } struct B { bool x; }", "'B' is declared later"},
      {"struct A { A a; }", "'A' is declared later"},
      {"state A { bool x; } state B { A a; }", "is a state or an input"},
      {"union U { uint8 none; }", "'none' is the union without an alternative"},
      {"enum E : float { a }", "is no integer type"},
      {"enum E : uint8 { a = 256 }", "256 does not fit uint8"},
      {"enum E { a, a }", "'a' is there already"},
      {"enum E { a = 1, b = 1 }", "another value is 1 too"},
      {"enum E { a = 9223372036854775807, b }", "no number is left"},
      {"enum E { }", "an enum without a value"},
      {"input A { bool x; } input B { bool x; }", "there is one input, and 'A' is it"},
      {"object O { }", "an object has a state"},
      {"state S { bool x; } object O { state T; }", "there is no state 'T'"},
      {"state S { bool x; } object O { state S; state S; }", "two behaviours of one type have this name"},
      {"state S { bool x; } object O { state S; rpc f() to nobody; }", "expected server, owner, all or peer"},
      {"state S { bool x; } object O { state S; rpc f() to all; rpc f() to all; }", "the name is taken"},
      {"state S { bool x; } @id(5) object O { state S; } @id(5) object P { state S; }",
       "type_id 5 is taken by 'O'"},
      {"state S { bool x; } @shiny object O { state S; }", "there is no attribute 'shiny' of an object"},
      {"state S { bool x; } @predicted object O { state S; string(9) x; }", "expected state, rpc or '}'"},
      {"state S { bool x; } object O { state S; @channel(fast) rpc f() to all; }",
       "@channel takes unreliable"},
      {"import \"b.lattice\";", "cannot read 'b.lattice': No such file"},
      {"state A { uint8 a; } $", "this character has no meaning"},
      {"import \"b", "a text without its closing"},
      {"banana", "expected import, namespace, enum"},
      {"state A { bool x; } struct A { bool x; }", "'A' is declared already"},
      {"state A { @owner_only @skip_owner uint8 x; }", "flags name two of OWNER_ONLY, SKIP_OWNER"},
      {"struct S { @owner_only uint8 x; } state A { S s; }", "belongs to a member of a behaviour itself"},
      {"input I { @initial_only uint8 x; }", "belongs to a member of a behaviour itself"},
      {"state A { @predicted_only uint8 x; } object O { state A; }",
       "needs a type with LATTICE_TYPE_PREDICTED"},
      {"state A { @priority(0) uint8 x; }", "a priority is above 0 and at most 1000"},
      {"struct S { @priority(2) uint8 x; } state A { S s; }",
       "a priority belongs to a member of a behaviour"},
      {"state A { @extrapolate bool x; }", "flag EXTRAPOLATE needs a member that is interpolated"},
      {"struct S { uint8 x; } variant V of S { x; }", "there is no state 'S' before this line"},
      {"variant V of S { x; } state S { uint8 x; }", "there is no state 'S' before this line"},
      {"state S { uint8 xy; } variant V of S { xi; }", "'S' has no member 'xi'"},
      {"state S { uint8 x; uint8 y; } variant V of S { omit x; x; }", "'x' is omitted already"},
      {"state S { uint8 x; } variant V of S { @bits(3) x; x; }", "'x' is there already"},
      {"state S { uint8 x; } variant V of S { omit x; }", "'V' has no member"},
      {"state S { uint8 x; } variant V of S { uint8 y; }",
       "a variant names a member of 'S' without its type"},
      {"state S { uint8 x; } variant V of S { @bits(9) x; }", "bits is 9; must be 1..8"},
      {"state S { uint8 x; } variant S of S { x; }", "'S' is declared already"},
      {"state S { uint8 x; } variant V of S { x; } variant W of V { x; }", "'V' is a variant itself"},
      {"state S { uint8 x; } variant V { x; }", "expected 'of', and found '{'"},
      {"state S { uint8 x; } variant V of S { }", "'V' changes nothing of 'S'"},
      {"state S { @bits(3) @bits(4) uint8 x; }", "@bits is there already"},
      {"state S { uint8 x; } @id(1) @id(2) object O { state S; }", "@id is there already"},
      {"struct T { uint8 x; } state S { uint8 T; }", "'T' is the name of a type"},
      {"state S { uint8 S; }", "'S' is the name of a type"},
      {"state S { uint8 linux; }", "is a word of C++"},
      {"state S { @priority(1e-60) uint8 x; }", "a priority is above 0"},
      {"/// \xe2\x80\xa8 code\nstate S { uint8 x; }",
       "this character may not be in a comment that comes along"},
      {"/// ends with \\\nstate S { uint8 x; }", "a comment must not end with"},
      {"state S { @everyone uint8 x; }", "there is no attribute 'everyone' of a member"},
      {"state S { uint8 x; } @predicted @exact_simulation object O { state S; }",
       "EXACT_SIMULATION excludes"},
  };
  for (const auto& [text, expected] : kCases) {
    const std::string errors = errors_of(text);
    EXPECT_NE(errors.find(expected), std::string::npos) << text << "\n" << errors;
    EXPECT_TRUE(errors.starts_with("a.lattice:1:")) << errors;
  }
}

TEST(Latticec, SaysWhoGetsAMember) {
  Result result;
  compile({{"a.lattice",
            "state A { @owner_only uint8 a; @skip_owner uint8 b; @predicted_only uint8 c; @initial_only "
            "uint8 d; }"
            "@predicted object O { state A; }"}},
          result);
  ASSERT_TRUE(result.ok) << result.report.text();
  const lattice_struct_desc& state = result.checked.structures[0].desc;
  const uint32_t kExpected[] = {LATTICE_MEMBER_OWNER_ONLY, LATTICE_MEMBER_SKIP_OWNER,
                                LATTICE_MEMBER_PREDICTED_ONLY, LATTICE_MEMBER_INITIAL_ONLY};
  for (uint32_t i = 0; i < 4; ++i) EXPECT_EQ(state.members[i].flags, kExpected[i]);
  EXPECT_EQ(result.checked.structures[0].members[2].annotations, "PREDICTED_ONLY");
}

TEST(Latticec, AVariantIsItsStateWithOtherAttributes) {
  Result result;
  compile({{"a.lattice",
            "state S { /// How far.\n @bounds(0, 1, 0.1) float x; bool y; uint8 z[3]; }"
            "variant V of S { omit y; @bounds(0, 1, 0.5) @priority(2) x; }"
            "object Near { state S; } object Far { state V; }"}},
          result);
  ASSERT_TRUE(result.ok) << result.report.text();
  const CheckedStructure& variant = result.checked.structures[1];
  ASSERT_EQ(variant.members.size(), 2u);
  EXPECT_EQ(variant.members[0].annotations, "BOUNDS(0, 1, 0.5), PRIORITY(2)");
  EXPECT_EQ(variant.members[0].source->doc, "How far.\n");
  EXPECT_EQ(variant.descs[0].priority, 2);
  EXPECT_EQ(variant.members[1].annotations, "ARRAY(3)");
  EXPECT_EQ(result.checked.structures[0].members[0].annotations, "BOUNDS(0, 1, 0.1)");
  EXPECT_NE(emit_cpp(result.checked, "a.lattice")
                .find("LATTICE_VARIANT(V, S,\n    (x, BOUNDS(0, 1, 0.5), "
                      "PRIORITY(2)),\n    (y, OMIT))"),
            std::string::npos);
  Result secret;
  compile({{"a.lattice",
            "state S { @owner_only uint8 x; @owner_only @bits(3) uint8 y; @initial_only uint8 z; }"
            "variant V of S { @bits(2) x; @everyone y; @skip_owner z; } @exact_simulation object O { state "
            "V; }"}},
          secret);
  ASSERT_TRUE(secret.ok) << secret.report.text();
  const std::vector<lattice_member_desc>& descs = secret.checked.structures[1].descs;
  EXPECT_EQ(descs[0].flags, uint32_t{LATTICE_MEMBER_OWNER_ONLY}) << "what is secret stays so";
  EXPECT_EQ(descs[1].flags, 0u);
  EXPECT_EQ(descs[2].flags, uint32_t{LATTICE_MEMBER_SKIP_OWNER});
  EXPECT_NE(emit_cpp(secret.checked, "a.lattice").find("(y, EVERYONE)"), std::string::npos);
  std::string many = "state S {";
  for (int i = 0; i < 256; ++i) many += "bool m" + std::to_string(i) + ";";
  many += "}\n";
  for (int i = 0; i < 300; ++i) many += "variant V" + std::to_string(i) + " of S { m0; }\n";
  EXPECT_NE(errors_of(many).find("variants of more than 65536 members in all"), std::string::npos);
}

TEST(Latticec, ImportsAreReadOnceAndNeverInACircle) {
  Result result;
  compile({{"a.lattice", "import \"p/b.lattice\"; import \"p/c.lattice\"; state S { B b; C c; }"},
           {"p/b.lattice", "import \"c.lattice\"; struct B { C c; }"},
           {"p/c.lattice", "struct C { bool x; }"}},
          result);
  EXPECT_TRUE(result.ok) << result.report.text();
  EXPECT_EQ(result.schema.sources.size(), 3u);
  EXPECT_NE(
      errors_of("import \"b.lattice\";", {{"b.lattice", "import \"a.lattice\";"}}).find("imports itself"),
      std::string::npos);
  EXPECT_NE(errors_of("import \"a.lattice\";").find("imports itself"), std::string::npos);
}

TEST(Latticec, TooMuchIsRefusedAndNotSwallowed) {
  std::string million = "state A {\n";
  for (int i = 0; i < 1'000'000; ++i) million += "bool m" + std::to_string(i) + ";\n";
  EXPECT_EQ(errors_of(million + "}"),
            "a.lattice:258:1: error: 'A' has more than 256 members\n  258 | bool m256;\n      | ^~~~\n");
  std::string many;
  for (int i = 0; i < 5000; ++i) many += "struct S" + std::to_string(i) + " { bool x; }\n";
  EXPECT_NE(errors_of(many).find("more than 4096 declarations"), std::string::npos);
  std::string deep = "struct S0 { bool x; }\n";
  for (int i = 1; i < 12; ++i)
    deep += "struct S" + std::to_string(i) + " { S" + std::to_string(i - 1) + " s; }\n";
  EXPECT_NE(errors_of(deep).find("nested deeper than 8 structures"), std::string::npos);
  EXPECT_NE(errors_of("state A { bool " + std::string(64, 'x') + "; }").find("63 is the most"),
            std::string::npos);
  EXPECT_LT(errors_of(std::string(100'000, '$')).size(), 100'000u);
}

TEST(Latticec, WhatAlsoDiffersOnTheWireIsNamed) {
  const auto canonical = [](const std::string& text) {
    Result result;
    compile({{"a.lattice", text}}, result);
    EXPECT_TRUE(result.ok) << result.report.text();
    return result.checked.canonical;
  };
  const std::string old = canonical(
      "struct I { uint8 n; } state S { @bits(10) uint16 health; I i; bool gone; } object O { state S; rpc "
      "f(uint8 a) to all; }");
  const std::string now = canonical(
      "struct I { uint16 n; } state S { @bits(12) uint16 health; I i; bool fresh; } object O { state S; rpc "
      "f(uint16 a) to all; }");
  EXPECT_EQ(differences(old, now),
            (std::vector<std::string>{
                "O.S.health: uint16 bits 10 flags 0 -> uint16 bits 12 flags 0",
                "O.S.i.n: uint8 fixed 8 flags 0 -> uint16 fixed 16 flags 0", "O.S.gone: is gone",
                "O.rpc f.OF.a: uint8 fixed 8 flags 0 -> uint16 fixed 16 flags 0", "O.S.fresh: is new"}));
  EXPECT_TRUE(differences(old, old).empty());
  const std::string ab = canonical("state S { bool a; bool b; } object O { state S; }");
  const std::string ba = canonical("state S { bool b; bool a; } object O { state S; }");
  EXPECT_EQ(differences(ab, ba),
            std::vector<std::string>{"the order changed, which is the order of the wire"});
}

TEST(Latticec, TheFormKeepsTheMeaningAndIsItsOwnForm) {
  const std::string ugly =
      "// head\nenum E:uint8{a,b=3}\n\n\n\nstate   S{@bits( 3 )\nuint8 x;// tail\n   E e [ <= 4 ] "
      ";\n}\nobject O{state S;\n"
      "rpc f (uint8 a,\nuint8 b)to all;}";
  Report report;
  const std::string formed = in_form(Source("a", ugly), report);
  EXPECT_EQ(formed,
            "// head\nenum E : uint8 { a, b = 3 }\n\nstate S { @bits(3)\n  uint8 x;  // tail\n  E "
            "e[<=4];\n}\nobject O { state S;\n"
            "  rpc f(uint8 a,\n      uint8 b) to all; }\n");
  EXPECT_EQ(in_form(Source("a", formed), report), formed);
  EXPECT_EQ(in_form(Source("a", first_schema()), report), first_schema());
  EXPECT_TRUE(report.ok());
}

// The text and the errors of an emitter with names of its own.
using Emit = std::string (*)(const Checked&, const std::string&, Report&);
std::string emitted(Emit emit, const std::string& text, std::string* errors) {
  Result result;
  compile({{"a.lattice", text}}, result);
  EXPECT_TRUE(result.ok) << result.report.text();
  std::string out = emit(result.checked, "a.lattice", result.report);
  *errors = result.report.text();
  return out;
}

TEST(Latticec, NamesThatALanguageCannotHaveHaveAPlace) {
  const struct {
    Emit emit;
    const char *text, *expected;  // the end of a line
  } kCases[] = {
      {emit_csharp, "state A { uint8 ToString; }",
       "1:17: error: 'ToString' is a name that a class of C# has already"},
      {emit_csharp, "struct Schema { bool x; }", "1:8: error: 'Schema' cannot be the name of a type in C#"},
      {emit_csharp, "struct Tag { bool x; }", "1:8: error: 'Tag' cannot be the name of a type in C#"},
      {emit_csharp, "enum Place { a }", "1:6: error: 'Place' cannot be the name of a type in C#"},
      {emit_csharp, "namespace Lattice; state A { bool x; }", "1:11: error: 'Lattice' is a namespace that"},
      {emit_csharp, "struct OObject { bool x; } state S { bool x; } object O { state S; }",
       "1:55: error: 'OObject' is the name of a type, and of what is made for another one"},
      {emit_csharp, "state S { bool x; } object O { state S Place; }",
       "1:38: error: 'Place' is a name that is taken"},
      {emit_csharp, "state S { bool x; } object O { state S; rpc Rpc() to all; }",
       "1:45: error: 'Rpc' is a name that"},
      {emit_typescript, "state A { uint8 constructor; }",
       "1:17: error: 'constructor' is a name that a class of TypeScript has already"},
      {emit_typescript, "state A { uint8 unpack; }", "1:17: error: 'unpack' is a name that a class"},
      {emit_typescript, "struct function { bool x; }",
       "1:8: error: 'function' cannot be the name of a type in TypeScript"},
      {emit_typescript, "state at { bool x; }",
       "1:7: error: 'at' cannot be the name of a type in TypeScript"},
      {emit_typescript, "enum E { NaN }", "1:10: error: 'NaN' cannot be the name of a value"},
      {emit_typescript, "enum E : int64 { a = 9007199254740992 }",
       "1:18: error: an enum of TypeScript holds whole numbers"},
      {emit_typescript, "struct UWhich { bool x; } union U { bool a; }",
       "1:33: error: 'UWhich' is the name of a type, and"},
  };
  for (const auto& c : kCases) {
    std::string errors;
    emitted(c.emit, c.text, &errors);
    EXPECT_NE(errors.find(std::string("a.lattice:") + c.expected), std::string::npos) << c.text << "\n"
                                                                                      << errors;
  }
}

TEST(Latticec, WordsOfCsharpAndTypescriptAreNames) {
  const std::string schema = "enum lock { in, out } state event { lock base; bool function; string(3) ref; }";
  std::string errors;
  const std::string cs = emitted(emit_csharp, schema, &errors);
  EXPECT_EQ(errors, "");
  for (const char* part :
       {"public enum @lock : int", "@in = 0,", "public sealed class @event", "public @lock @base;",
        "public bool function;", "public string @ref", "(@lock)_base.Unpack(from, at)"})
    EXPECT_NE(cs.find(part), std::string::npos) << part << "\n" << cs;
  const std::string ts = emitted(emit_typescript, schema, &errors);
  EXPECT_EQ(errors, "");
  EXPECT_NE(ts.find("  function: boolean = false;"), std::string::npos) << ts;
}

TEST(Latticec, CommentsComeAlong) {
  const std::string schema = "/// A & B <c>.\nstruct S {\n/// It ends */ here.\nbool x;\n}";
  std::string errors;
  const std::string cs = emitted(emit_csharp, schema, &errors),
                    ts = emitted(emit_typescript, schema, &errors);
  EXPECT_NE(cs.find("    /// <summary>A &amp; B &lt;c&gt;.</summary>\n    public sealed class S"),
            std::string::npos)
      << cs;
  EXPECT_NE(ts.find("/** A & B <c>. */\nexport class S"), std::string::npos) << ts;
  EXPECT_NE(ts.find("  /** It ends * / here. */\n  x: boolean"), std::string::npos) << ts;
}

TEST(Latticec, TheSchemaHashIsThatOfAWorld) {
  Result result;
  const ReadFile read = [](const std::string& path, std::string*) -> std::optional<std::string> {
    std::ifstream file(path);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  parse(LATTICEC_TEST_FOLDER "/everything.lattice", read, result.schema, result.report);
  ASSERT_TRUE(check(result.schema, result.checked, result.report)) << result.report.text();
  EXPECT_EQ(result.checked.schema_id,
            schema_id([](lattice_world* world) { return everything::register_schema(world); }));
  const std::string id = hexadecimal(result.checked.schema_id);
  EXPECT_NE(emit_csharp(result.checked, "e", result.report).find("Id = " + id + ";"), std::string::npos);
  EXPECT_NE(emit_typescript(result.checked, "e", result.report).find("id: " + id + "n"), std::string::npos);
}

TEST(Latticec, TheFirstSchemaCompiles) {
  EXPECT_EQ(errors_of(first_schema()), "");
}

TEST(Latticec, TheSameSchemaMakesTheSameText) {
  Result a, b;
  compile({{"a.lattice", first_schema()}}, a);
  compile({{"a.lattice", first_schema()}}, b);
  EXPECT_EQ(emit_cpp(a.checked, "a.lattice"), emit_cpp(b.checked, "a.lattice"));
  EXPECT_EQ(emit_json(a.checked), emit_json(b.checked));
  EXPECT_EQ(emit_docs(a.checked, "a.lattice"), emit_docs(b.checked, "a.lattice"));
  EXPECT_EQ(emit_csharp(a.checked, "a.lattice", a.report), emit_csharp(b.checked, "a.lattice", b.report));
  EXPECT_EQ(emit_typescript(a.checked, "a.lattice", a.report),
            emit_typescript(b.checked, "a.lattice", b.report));
  EXPECT_EQ(emit_wireshark(a.checked, "a.lattice"), emit_wireshark(b.checked, "a.lattice"));
}

TEST(Latticec, TheTableForWiresharkHasTheWordsOfTheSchemaText) {
  Result result;
  compile(
      {{"a.lattice",
        "namespace demo; enum Mood : int8 { calm = 3, angry = -7 } @delta struct Item { uint16 kind; bool "
        "worn; } "
        "struct Deal { Mood mood; Item item; } union Prize { Item item; @half float heat; }\n"
        "state S { @bounds(-1, 1, 0.01) @bounds(0, 2, 0.5) vec2 aim; Mood moods[<=4]; map Deal deals[<=8]; "
        "Prize prize; uint8 grid[3]; @position vec3 at; string(5) name; }\n"
        "object Thing { state S body; rpc hit(@bits(4) uint8 by) to owner; rpc stop() to server; }\n"
        "@id(9) object Other { state S; } input Keys { bool up; }"}},
      result);
  ASSERT_TRUE(result.ok) << result.report.text();
  EXPECT_EQ(emit_wireshark(result.checked, "a.lattice"),
            R"(-- Made by latticec from a.lattice. Do not edit.
-- Names for the Wireshark dissector of Lattice (docs/capture.md). A member is { name, type, packing }; the words
-- of a packing are those of the schema text (docs/spec/data.md, Schema hash).
_G.lattice_games = _G.lattice_games or {}
_G.lattice_games["demo"] = {
  from = "a.lattice",
  enums = {
    { name = "Mood", { "calm", "3" }, { "angry", "-7" } },
  },
  structures = {
    { name = "Item", kind = "delta",
      { "kind", "uint16", "fixed 16" },
      { "worn", "bool" },
    },
    { name = "Deal", kind = "whole",
      { "mood", "Mood", "ordinal 1 2 3 -7" },
      { "item", "Item" },
    },
    { name = "Prize", kind = "union",
      { "item", "Item" },
      { "heat", "float", "half 16" },
    },
    { name = "S", kind = "whole",
      { "aim", "vector2", "compressed 8 -1 1 200 compressed 3 0 2 4" },
      { "moods", "Mood", "ordinal 1 2 3 -7", list = 4 },
      { "deals", "Deal", map = 8 },
      { "prize", "Prize" },
      { "grid", "uint8", "fixed 8", array = 3 },
      { "at", "vector3", "full 32 full 32 full 32" },
      { "name", "string", "capacity 5" },
    },
    { name = "Keys", kind = "whole",
      { "up", "bool" },
    },
    { name = "ThingHit", kind = "whole",
      { "by", "uint8", "bits 4" },
    },
  },
  types = {
    { id = 553595311, name = "Thing",
      { state = "body", structure = "S" },
      { rpc = "hit", id = 1, target = 1, arguments = "ThingHit" },
      { rpc = "stop", id = 2, target = 0 },
    },
    { id = 9, name = "Other",
      { state = "S", structure = "S" },
    },
  },
  input = "Keys",
  -- With the channels before it, what the schema hash is made of.
  schema = [[
)" + result.checked.canonical +
                "]],\n}\n");
}

}  // namespace
}  // namespace latticec
