// latticec: the schema compiler.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "emit.h"
#include "parser.h"
#include "runtime.h"
#include "tools.h"

namespace latticec {
namespace {

enum Exit { kOk = 0, kDiffers = 1, kUsage = 2, kBadSchema = 3, kCannotWrite = 4 };

constexpr const char* kHelp =
    "latticec: makes code of a schema of networked types.\n\n"
    "  latticec new game.lattice                 write a schema to begin with\n"
    "  latticec cpp game.lattice -o game.h       C++: the structures, and register_schema()\n"
    "  latticec csharp game.lattice -o Game.cs   C#: a class for each structure\n"
    "  latticec csharp --runtime -o Lattice.cs   what these classes stand on, the same for every schema\n"
    "  latticec typescript game.lattice -o game.ts\n"
    "  latticec typescript --runtime -o lattice.ts\n"
    "                                            the same for TypeScript\n"
    "  latticec json game.lattice                everything, for other tools\n"
    "  latticec docs game.lattice -o game.md     a reference for people\n"
    "  latticec wireshark game.lattice -o game.lua   names for the Wireshark dissector\n"
    "  latticec check old.lattice new.lattice    what differs on the wire; exit code 1 when something does\n"
    "  latticec fmt game.lattice                 put the file in form\n\n"
    "Without -o, or with -o -, the result goes to the standard output. -d FILE writes what it was made of, "
    "for make.\n"
    "Exit codes: 0 ok, 1 the wire differs, 2 command line, 3 the schema has errors, 4 cannot write.\n";

constexpr size_t kMostBytes = 4 << 20;

std::optional<std::string> read_file(const std::string& path, std::string* why) {
  const int fd = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  struct stat status {};
  if (fd < 0 || fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
    *why = fd < 0 ? std::strerror(errno) : "it is not a file";
    if (fd >= 0) close(fd);
    return std::nullopt;
  }
  std::string text;
  char buffer[65536];
  ssize_t got = 0;
  while (text.size() <= kMostBytes && (got = read(fd, buffer, sizeof buffer)) > 0)
    text.append(buffer, static_cast<size_t>(got));
  close(fd);
  if (got < 0) *why = std::strerror(errno);
  if (text.size() > kMostBytes) *why = "it has more than 4 MiB";
  if (!why->empty()) return std::nullopt;
  return text;
}

/// In one step: a compiler that is ended half-way leaves no half file. A file that has the text already is
/// not touched, so that what depends on it is not made again.
int write_out(const std::string& path, const std::string& text) {
  if (path.empty() || path == "-") {
    return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0
               ? kOk
               : kCannotWrite;
  }
  std::string ignored;
  if (read_file(path, &ignored) == text) return kOk;
  // What is no file, such as a pipe or a device, is written to; a link stays one.
  std::error_code unknown;
  const std::filesystem::path real = std::filesystem::weakly_canonical(path, unknown);
  const std::string target = unknown ? path : real.string();
  const bool is_other =
      std::filesystem::exists(target, unknown) && !std::filesystem::is_regular_file(target, unknown);
  const std::string temporary = is_other ? target : target + "." + std::to_string(getpid()) + ".new";
  if (!is_other) unlink(temporary.c_str());  // of a run that was killed
  const int made = open(temporary.c_str(),
                        is_other ? O_WRONLY | O_CLOEXEC : O_WRONLY | O_CLOEXEC | O_CREAT | O_EXCL, 0666);
  std::FILE* file = made < 0 ? nullptr : fdopen(made, "wb");
  bool is_written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (file != nullptr) is_written = std::fclose(file) == 0 && is_written;
  if (is_written && (is_other || std::rename(temporary.c_str(), target.c_str()) == 0)) return kOk;
  std::fprintf(stderr, "latticec: cannot write %s: %s\n", path.c_str(), std::strerror(errno));
  if (!is_other && made >= 0) unlink(temporary.c_str());
  return kCannotWrite;
}

/// A path in a rule of make.
std::string for_make(const std::string& path) {
  std::string out;
  for (const char c : path) {
    if (c == '$') out += '$';
    if (c == ' ' || c == '#' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

struct Compiled {
  Schema schema;
  Checked checked;
  Report report;
};

bool compile(const std::string& path, Compiled& out) {
  parse(path, read_file, out.schema, out.report);
  if (check(out.schema, out.checked, out.report)) return true;
  std::fputs(out.report.text().c_str(), stderr);
  return false;
}

int run_check(const std::string& before, const std::string& after) {
  Compiled a, b;
  if (!compile(before, a) || !compile(after, b)) return kBadSchema;
  std::vector<std::string> all = differences(a.checked.canonical, b.checked.canonical);
  for (std::string& line : other_meanings(a.schema, b.schema)) all.push_back(std::move(line));
  for (const std::string& line : all) std::printf("%s\n", line.c_str());
  if (all.empty()) std::printf("the wire is the same\n");
  return all.empty() ? kOk : kDiffers;
}

int run_format(const std::string& path, const std::string& to) {
  std::string why;
  const std::optional<std::string> text = read_file(path, &why);
  if (!text) {
    std::fprintf(stderr, "latticec: cannot read %s: %s\n", path.c_str(), why.c_str());
    return kBadSchema;
  }
  Report report;
  const std::string formed = in_form(Source(path, *text), report);
  if (report.ok()) return write_out(to.empty() ? path : to, formed);
  std::fputs(report.text().c_str(), stderr);
  return kBadSchema;
}

std::string emit(const std::string& command, const std::string& from, Compiled& compiled) {
  if (command == "csharp") return emit_csharp(compiled.checked, from, compiled.report);
  if (command == "typescript") return emit_typescript(compiled.checked, from, compiled.report);
  if (command == "json") return emit_json(compiled.checked);
  if (command == "wireshark") return emit_wireshark(compiled.checked, from);
  return command == "cpp" ? emit_cpp(compiled.checked, from) : emit_docs(compiled.checked, from);
}

int usage(const std::string& what) {
  std::fprintf(stderr, "latticec: %s Run 'latticec --help'.\n", what.c_str());
  return kUsage;
}

int run(std::vector<std::string> words) {
  if (words.empty() || words[0] == "--help" || words[0] == "help") {
    std::fputs(kHelp, words.empty() ? stderr : stdout);
    return words.empty() ? kUsage : kOk;
  }
  std::string output, depends;
  for (size_t i = 1; i < words.size(); ++i) {
    if (words[i] != "-o" && words[i] != "-d") continue;
    if (i + 1 == words.size()) return usage(words[i] + " needs a file.");
    (words[i] == "-o" ? output : depends) = words[i + 1];
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(i),
                words.begin() + static_cast<std::ptrdiff_t>(i) + 2);
    --i;
  }
  const std::string& command = words[0];
  const std::vector<std::string> known = {"new",  "cpp",       "csharp", "typescript", "json",
                                          "docs", "wireshark", "check",  "fmt"};
  bool is_known = false;
  for (const std::string& name : known) is_known = is_known || name == command;
  if (!is_known) {
    const std::string hint = did_you_mean(command, known);
    return usage("there is no command '" + command + "'" + (hint.empty() ? "." : "; " + hint));
  }
  const size_t wanted = command == "check" ? 3 : 2;
  if (words.size() != wanted)
    return usage("'" + command + "' takes " + (wanted == 3 ? "two files." : "one file."));
  if (command == "check") return run_check(words[1], words[2]);
  if (command == "fmt") return run_format(words[1], output);
  if (command == "new") {
    if (access(words[1].c_str(), F_OK) == 0) return usage(words[1] + " is there already.");
    return write_out(words[1], first_schema());
  }
  if (words[1] == "--runtime") {
    if (command != "csharp" && command != "typescript") return usage("'" + command + "' needs no runtime.");
    return write_out(output, std::string(command == "csharp" ? csharp_runtime() : typescript_runtime()));
  }
  Compiled compiled;
  if (!compile(words[1], compiled)) return kBadSchema;
  const std::string name = words[1].substr(words[1].rfind('/') + 1);
  const std::string text = emit(command, name, compiled);
  if (!compiled.report.ok()) {
    std::fputs(compiled.report.text().c_str(), stderr);
    return kBadSchema;
  }
  if (!depends.empty()) {
    std::string rule = for_make(output) + ":";
    for (const auto& source : compiled.schema.sources) rule += " " + for_make(source->path());
    if (const int exit = write_out(depends, rule + "\n"); exit != kOk) return exit;
  }
  return write_out(output, text);
}

}  // namespace
}  // namespace latticec

int main(int argc, char** argv) {
  return latticec::run(std::vector<std::string>(argv + 1, argv + argc));
}
