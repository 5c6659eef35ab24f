// Runs the cases of make_cases over generated C++:  driver CASES. The declarations, and the straight code
// that they bring, must give what the description of the schema gave.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "lattice/authoring/networked.h"
#include "lattice/lattice.h"
#include "serialization/layout.h"
#include "serialization/lone_structure.h"

using lattice::serialization::Layout;
using lattice::serialization::Word;

struct Type {
  std::string name;
  Layout layout;
};
using Types = std::vector<std::unique_ptr<Type>>;

static Type& add(Types& all, const char* name) {
  all.push_back(std::make_unique<Type>());
  all.back()->name = name;
  return *all.back();
}
static void refused(const char* name, const std::string& error) {
  std::fprintf(stderr, "%s: %s\n", name, error.c_str());
  std::exit(1);
}
static void add_object(Types& all, const char* name, const lattice_type_desc& desc) {
  std::string error;
  if (!Layout::compile_object(desc, &add(all, name).layout, &error)) refused(name, error);
}
static void add_structure(Types& all, const char* name, const lattice_struct_desc& desc) {
  std::string error;
  const lattice::serialization::LoneStructure lone(desc);
  if (!Layout::compile_structure(lone.desc(), true, &add(all, name).layout, &error)) refused(name, error);
}

#include "types.h"

namespace {

using Bytes = std::vector<uint8_t>;

class Feed {
 public:
  explicit Feed(const char* path) {
    std::ifstream file(path, std::ios::binary);
    data_.assign(std::istreambuf_iterator<char>(file), {});
  }
  bool at_end() const { return at_ == data_.size(); }
  uint32_t u32() {
    uint32_t v = 0;
    for (unsigned i = 0; i < 4; ++i)
      v |= static_cast<uint32_t>(static_cast<uint8_t>(data_[at_++])) << (8 * i);
    return v;
  }
  Bytes bytes() {
    const size_t n = u32();
    at_ += n;
    return Bytes(data_.begin() + static_cast<std::ptrdiff_t>(at_ - n),
                 data_.begin() + static_cast<std::ptrdiff_t>(at_));
  }

 private:
  std::vector<char> data_;
  size_t at_ = 0;
};

/// Host memory of all structures of a type, each at a multiple of 64.
struct Host {
  Host(const Type& type, const Bytes& image) : memory(image.size() + 64) {
    uint8_t* begin = memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64) % 64;
    std::copy(image.begin(), image.end(), begin);
    size_t at = 0;
    for (size_t i = 0; i < type.layout.behaviour_count(); ++i) {
      pointers.push_back(begin + at);
      at += (type.layout.host_bytes(i) + 63) / 64 * 64;
    }
    fits = at == image.size();
  }
  Bytes memory;
  std::vector<void*> pointers;
  bool fits = false;
};

class Runner {
 public:
  Runner(const Type& type, Feed& feed) : type_(type), layout_(type.layout), feed_(feed) {}

  void run() {
    Host before(type_, feed_.bytes());
    const Bytes image = feed_.bytes();
    Host after(type_, image);
    expect(before.fits && after.fits, "the size in memory");
    Words a(words()), b(words()), zero(words());
    layout_.quantize(before.pointers.data(), a.data());
    const bool fits = layout_.quantize(after.pointers.data(), b.data());
    expect(fits == (feed_.u32() != 0), "whether the values fit");
    layout_.zero_baseline(zero.data());
    expect(whole_of(a) == feed_.bytes(), "the state before, whole");
    const Bytes whole = feed_.bytes(), delta = feed_.bytes(), full = feed_.bytes();
    expect(whole_of(b) == whole, "the state after, whole");
    expect(delta_of(a, b) == delta, "the delta");
    expect(delta_of(zero, b) == full, "the delta from zero");
    Words read(words());
    expect(decode(false, whole, a, read) && read == b, "reading a whole state");
    expect(decode(true, delta, a, read) && read == b, "reading a delta");
    expect(decode(true, full, zero, read) && read == b, "reading a delta from zero");
    Host copy(type_, Bytes(image.size()));
    layout_.dequantize(b.data(), copy.pointers.data());
    layout_.quantize(copy.pointers.data(), read.data());
    expect(read == b, "packing what was unpacked");
    for (uint32_t n = feed_.u32(); n > 0; --n) {
      const bool is_delta = feed_.u32() != 0;
      const Bytes bytes = feed_.bytes();
      const bool is_accepted = feed_.u32() != 0;
      const Bytes result = feed_.bytes();
      expect(decode(is_delta, bytes, a, read) == is_accepted, "accepting damaged bytes");
      if (is_accepted) expect(whole_of(read) == result, "reading damaged bytes");
    }
  }
  static size_t failures;

 private:
  using Words = std::vector<Word>;
  size_t words() const { return std::max<size_t>(layout_.word_count(), 1); }
  Bytes whole_of(const Words& state) const {
    Bytes out(layout_.max_whole_bits() / 8 + 16);
    lattice::BitWriter w(out);
    layout_.encode_whole(w, state.data());
    out.resize(w.finish().size());
    return out;
  }
  Bytes delta_of(const Words& a, const Words& b) const {
    Bytes out(layout_.max_delta_bits() / 8 + 16);
    lattice::BitWriter w(out);
    layout_.encode_delta(w, a.data(), b.data());
    out.resize(w.finish().size());
    return out;
  }
  bool decode(bool is_delta, const Bytes& bytes, const Words& base, Words& out) const {
    lattice::BitReader r(bytes);
    const bool ok =
        is_delta ? layout_.decode_delta(r, base.data(), out.data()) : layout_.decode_whole(r, out.data());
    return ok && r.at_end();
  }
  void expect(bool is_so, const char* what) {
    if (is_so) return;
    if (++failures <= 10) std::fprintf(stderr, "C++: %s: %s differs\n", type_.name.c_str(), what);
  }

  const Type& type_;
  const Layout& layout_;
  Feed& feed_;
};
size_t Runner::failures = 0;

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  Types all;
  add_all(all);
  Feed feed(argv[1]);
  size_t cases = 0;
  for (; !feed.at_end(); ++cases) Runner(*all.at(feed.u32()), feed).run();
  std::printf("C++: %zu cases, %zu failures\n", cases, Runner::failures);
  return Runner::failures != 0 || cases == 0 ? 1 : 0;
}
