#include "serialize/compilers.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "child.h"

namespace bench::serialize {
namespace {

namespace fs = std::filesystem;

/// One member, as plain C++, in a macro and in a schema. A type has these ten.
struct MemberText {
  const char* name;
  const char* plain;
  const char* macro;
  const char* schema;
};
constexpr MemberText kMemberTexts[] = {
    {"position", "lattice::Vector3", "vec3, BOUNDS(-512, 512, 0.01)",
     "@bounds(-512, 512, 0.01) vec3 position"},
    {"velocity", "lattice::Vector3", "vec3, BOUNDS(-64, 64, 0.01)", "@bounds(-64, 64, 0.01) vec3 velocity"},
    {"rotation", "lattice::Quaternion", "quat, SMALLEST_THREE(10)", "@smallest_three(10) quat rotation"},
    {"yaw", "float", "float, ANGLE", "@angle float yaw"},
    {"health", "std::uint16_t", "uint16, BITS(10)", "@bits(10) uint16 health"},
    {"armour", "std::uint16_t", "uint16, BITS(10)", "@bits(10) uint16 armour"},
    {"weapon", "std::uint8_t", "uint8, RANGED(0, 31)", "@range(0, 31) uint8 weapon"},
    {"score", "std::int32_t", "int32", "int32 score"},
    {"alive", "bool", "bool", "bool alive"},
    {"target", "lattice::NetId", "netid", "netid target"},
};

class Folder {
 public:
  Folder() {
    std::string path = (fs::temp_directory_path() / "lattice-bench-XXXXXX").string();
    if (mkdtemp(path.data()) != nullptr) path_ = path;
  }
  ~Folder() {
    std::error_code ignored;
    if (ok()) fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  bool ok() const { return !path_.empty(); }
  std::string write(const char* name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
    return (path_ / name).string();
  }
  std::string path(const char* name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

std::string schema_text(int types) {
  std::string text;
  for (int i = 0; i < types; ++i) {
    text += "state Thing" + std::to_string(i) + " {\n";
    for (const MemberText& member : kMemberTexts) text += std::string("  ") + member.schema + ";\n";
    text += "}\n";
  }
  return text;
}

std::string macro_text(int types) {
  std::string text = "#include \"lattice/authoring/networked.h\"\n";
  for (int i = 0; i < types; ++i) {
    text += "LATTICE_NETWORKED(Thing" + std::to_string(i);
    for (const MemberText& m : kMemberTexts) text += std::string(",\n  (") + m.name + ", " + m.macro + ")";
    text += ")\n";
  }
  return text;
}

std::string plain_text(int types) {
  std::string text = "#include \"lattice/authoring/networked.h\"\n";
  for (int i = 0; i < types; ++i) {
    text += "struct Thing" + std::to_string(i) + " {\n";
    for (const MemberText& m : kMemberTexts) text += std::string("  ") + m.plain + " " + m.name + "{};\n";
    text += "};\n";
  }
  return text;
}

/// Seconds that a command takes, or below 0 when it fails.
double seconds_of(const std::string& command) {
  const uint64_t began_ns = monotonic_ns();
  if (std::system(command.c_str()) != 0) return -1;
  return static_cast<double>(monotonic_ns() - began_ns) / 1e9;
}

}  // namespace

std::string measure_compilers(bool quick, Report& report) {
  const Folder folder;
  if (!folder.ok())
    return "no folder can be made for temporary files. Set TMPDIR to one that can be written.";
  const int schema_types = quick ? 10 : 1000, macro_types = quick ? 2 : 50;
  const std::string latticec = LATTICE_BENCH_LATTICEC;
  if (!latticec.empty()) {
    const std::string schema = folder.write("things.lattice", schema_text(schema_types));
    const double took_s =
        seconds_of("'" + latticec + "' cpp '" + schema + "' -o '" + folder.path("things.h") + "'");
    if (took_s < 0) return "latticec refused the types of this bench. Its message is above.";
    report.metric("latticec_1000_types_s", took_s);
  }
  const std::string compile = std::string("'" LATTICE_BENCH_COMPILER "'") +
                              " -std=c++20 -O2 -c -I '" LATTICE_BENCH_SOURCE_DIR "/include' -o '" +
                              folder.path("things.o") + "' ";
  const double macro_s =
      seconds_of(compile + "'" + folder.write("macros.cpp", macro_text(macro_types)) + "'");
  const double plain_s = seconds_of(compile + "'" + folder.write("plain.cpp", plain_text(macro_types)) + "'");
  if (macro_s < 0 || plain_s < 0)
    return "the compiler refused the types of this bench. Its message is above.";
  report.metric("compile_50_types_s", macro_s);
  report.metric("compile_50_plain_s", plain_s);
  report.ratio("compile_time_ratio", macro_s / plain_s);
  return "";
}

}  // namespace bench::serialize
