// Makes what the test of all languages runs over:  make_cases FOLDER FIRST COUNT [SCHEMA...]
// Random schemas of the numbers FIRST to FIRST + COUNT - 1, and those of the files, each compiled to C++, C#
// and TypeScript; and a file of cases: values as they lie in host memory, what the library makes of them with
// the description of the schema, and damaged bytes with what it says of them.
//
//   cases.bin   for each case, numbers as u32, bytes as a length and so many bytes:
//               type · host memory before · host memory after · 1 when all values after fit
//               whole before · whole after · delta from before to after · delta from the zero baseline to
//               after number of damaged · for each: 0 whole or 1 delta against before · bytes · 1 when they
//               are accepted
//                                             · the result, whole
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>

#include "emit.h"
#include "parser.h"
#include "random_values.h"
#include "runtime.h"
#include "serialization/layout.h"
#include "serialization/lone_structure.h"
#include "write_loads.h"

namespace languages {
namespace {

using lattice::BitReader;
using lattice::BitWriter;
using lattice::serialization::Layout;
using lattice::serialization::LayoutNode;
using lattice::serialization::LoneStructure;
using lattice::serialization::Word;

constexpr size_t kDamaged = 14;  // of each case

struct Compiled {
  latticec::Schema schema;
  latticec::Checked checked;
  latticec::Report report;
};

std::optional<std::string> file_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void write(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

class Cases {
 public:
  void u32(size_t v) {
    for (unsigned i = 0; i < 4; ++i) out_ += static_cast<char>(v >> (8 * i) & 0xFF);
  }
  void bytes(const std::vector<uint8_t>& v) {
    u32(v.size());
    out_.append(v.begin(), v.end());
  }
  const std::string& text() const { return out_; }
  /// The next bytes are the ones that altered() changes, if they are not empty.
  void mark() { marked_ = out_.size() + 4; }
  /// The same with a bit of an expected result changed.
  std::string altered() const {
    std::string out = out_;
    out[marked_] = static_cast<char>(out[marked_] ^ 1);
    return out;
  }

 private:
  std::string out_;
  size_t marked_ = 0;
};

class CaseMaker {
 public:
  CaseMaker(Random& random, const Tested& tested, uint32_t type, Cases& out)
      : random_(random), tested_(tested), type_(type), out_(out) {
    std::string error;
    const bool ok = tested.object != nullptr
                        ? Layout::compile_object(tested.object->desc, &layout_, &error)
                        : Layout::compile_structure(LoneStructure(tested.structures[0]->desc).desc(), true,
                                                    &layout_, &error);
    if (!ok) std::fprintf(stderr, "%s\n", error.c_str()), std::exit(1);
  }

  void make() {
    Host before(*this), after(*this);
    for (size_t i = 0; i < tested_.structures.size(); ++i) {
      const lattice_struct_desc& desc = tested_.structures[i]->desc;
      fill(random_, desc, before.at(i));
      std::copy_n(before.at(i), desc.host_bytes, after.at(i));
      if (random_.one_in(5)) {
        std::fill_n(after.at(i), desc.host_bytes, uint8_t{0});
        fill(random_, desc, after.at(i));
      } else if (!random_.one_in(6)) {
        change(random_, desc, after.at(i));
      }
    }
    Words a(words()), b(words()), zero(words());
    layout_.quantize(before.pointers.data(), a.data());
    const bool fits = layout_.quantize(after.pointers.data(), b.data());
    layout_.zero_baseline(zero.data());
    out_.u32(type_);
    out_.bytes(before.image());
    out_.bytes(after.image());
    out_.u32(fits ? 1 : 0);
    const Bytes whole = whole_of(b), delta = delta_of(a, b);
    out_.bytes(whole_of(a));
    if (!whole.empty()) out_.mark();
    out_.bytes(whole);
    out_.bytes(delta);
    out_.bytes(delta_of(zero, b));
    out_.u32(kDamaged);
    for (size_t i = 0; i < 10; ++i) read(i % 2 != 0, damaged(i % 2 != 0 ? delta : whole), a);
    const Words odd = disordered(b);
    read(false, whole_of(odd), a);
    read(true, delta_of(a, odd), a);
    read(true, delta_of(zero, b), a);  // made against another baseline
    read(true, delta_of(b, a), a);
  }
  size_t accepted() const { return accepted_; }

 private:
  using Bytes = std::vector<uint8_t>;
  using Words = std::vector<Word>;

  struct Host {
    explicit Host(const CaseMaker& of) : memory(of.tested_.bytes() + 64), tested(of.tested_) {
      auto* begin = memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64) % 64;
      for (size_t i = 0; i < tested.structures.size(); ++i) pointers.push_back(begin + tested.offset(i));
    }
    uint8_t* at(size_t i) { return static_cast<uint8_t*>(const_cast<void*>(pointers[i])); }
    Bytes image() { return Bytes(at(0), at(0) + tested.bytes()); }
    Bytes memory;
    const Tested& tested;
    std::vector<const void*> pointers;
  };

  size_t words() const { return std::max<size_t>(layout_.word_count(), 1); }
  Bytes whole_of(const Words& state) const {
    Bytes out(layout_.max_whole_bits() / 8 + 16);
    BitWriter w(out);
    layout_.encode_whole(w, state.data());
    out.resize(w.finish().size());
    return out;
  }
  Bytes delta_of(const Words& a, const Words& b) const {
    Bytes out(layout_.max_delta_bits() / 8 + 16);
    BitWriter w(out);
    layout_.encode_delta(w, a.data(), b.data());
    out.resize(w.finish().size());
    return out;
  }

  // Entries of maps in another order, or one twice.
  Words disordered(Words state) {
    for (const LayoutNode& node : layout_.nodes()) {
      if (node.kind != LayoutNode::Kind::kMap || state[node.first_word] < 2) continue;
      const auto entry = state.begin() + node.first_word + 1, next = entry + node.element_words;
      if (random_.one_in(2)) {
        std::copy_n(entry, node.element_words, next);
      } else {
        std::swap_ranges(entry, next, next);
      }
    }
    return state;
  }

  Bytes damaged(Bytes bytes) {
    switch (random_.below(6)) {
      case 0:
        bytes.resize(random_.below(bytes.size() + 1));
        break;
      case 1:
        bytes.push_back(static_cast<uint8_t>(random_.below(3)));
        break;
      case 2:
        for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random_.next());
        break;
      default:
        for (uint64_t i = 0, n = 1 + random_.below(3); i < n && !bytes.empty(); ++i)
          bytes[random_.below(bytes.size())] ^= static_cast<uint8_t>(1u << random_.below(8));
    }
    return bytes;
  }

  void read(bool is_delta, const Bytes& bytes, const Words& base) {
    Words result(words());
    BitReader r(bytes);
    const bool is_read = is_delta ? layout_.decode_delta(r, base.data(), result.data())
                                  : layout_.decode_whole(r, result.data());
    const bool is_accepted = is_read && r.at_end();
    accepted_ += is_accepted;
    out_.u32(is_delta ? 1 : 0);
    out_.bytes(bytes);
    out_.u32(is_accepted ? 1 : 0);
    out_.bytes(is_accepted ? whole_of(result) : Bytes{});
  }

  Random& random_;
  const Tested& tested_;
  uint32_t type_;
  Cases& out_;
  Layout layout_;
  size_t accepted_ = 0;
};

int run(const std::string& folder, uint64_t first, uint64_t count, const std::vector<std::string>& files) {
  std::vector<std::unique_ptr<Compiled>> all;
  Cases cases;
  std::string headers, cpp, csharp, csharp_adds, typescript, typescript_adds, imports;
  uint32_t type = 0;
  size_t case_count = 0, accepted = 0;
  for (uint64_t i = 0; i < count + files.size(); ++i) {
    Random random(first + i);
    const bool is_random = i < count;
    const std::string space = "s" + std::to_string(first + i),
                      path = is_random ? folder + "/" + space + ".lattice" : files[i - count];
    if (is_random) write(path, random_schema(random, space));
    Compiled& c = *all.emplace_back(std::make_unique<Compiled>());
    latticec::parse(
        path, [](const std::string& name, std::string*) { return file_text(name); }, c.schema, c.report);
    std::string cs, ts;
    const std::string from = path.substr(path.rfind('/') + 1), name = c.schema.name;
    if (check(c.schema, c.checked, c.report)) {
      cs = emit_csharp(c.checked, from, c.report);
      ts = emit_typescript(c.checked, from, c.report);
    }
    if (!c.report.ok()) return std::fputs(c.report.text().c_str(), stderr), 1;
    write(folder + "/" + name + ".cs", cs);
    write(folder + "/" + name + ".ts", ts);
    write(folder + "/" + name + ".h", emit_cpp(c.checked, from));
    headers += "#include \"" + name + ".h\"\n";
    imports += "import * as " + name + " from \"./" + name + ".js\";\n";
    cpp += cpp_adds(c.checked, name);
    const Loads of_csharp = csharp_loads(c.checked, name), of_typescript = typescript_loads(c.checked, name);
    csharp += of_csharp.functions, csharp_adds += of_csharp.adds;
    typescript += of_typescript.functions, typescript_adds += of_typescript.adds;
    for (const Tested& t : tested_of(c.checked)) {
      CaseMaker maker(random, t, type++, cases);
      const int wanted = t.object != nullptr ? 12 : 6;
      for (int k = 0; k < wanted; ++k, ++case_count) maker.make();
      accepted += maker.accepted();
    }
  }
  write(folder + "/cases.bin", cases.text());
  write(folder + "/altered.bin", cases.altered());
  write(folder + "/types.h", headers + "inline void add_all(Types& all) {\n" + cpp + "}\n");
  write(folder + "/Loads.cs",
        "static partial class Loads\n{\n" + csharp +
            "public static void AddAll(System.Collections.Generic.List<Tested> all)\n{\n" + csharp_adds +
            "}\n}\n");
  write(folder + "/loads.ts",
        "import * as lattice from \"./lattice.js\";\nimport { Image, Tested } from \"./image.js\";\n" +
            imports + typescript + "export function addAll(all: Tested[]): void {\n" + typescript_adds +
            "}\n");
  write(folder + "/Lattice.cs", std::string(latticec::csharp_runtime()));
  write(folder + "/lattice.ts", std::string(latticec::typescript_runtime()));
  std::printf("%zu schemas, %u types, %zu cases with %zu damaged, of which %zu are accepted\n", all.size(),
              type, case_count, case_count * kDamaged, accepted);
  return 0;
}

}  // namespace
}  // namespace languages

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  return languages::run(argv[1], std::stoull(argv[2]), std::stoull(argv[3]), {argv + 4, argv + argc});
}
