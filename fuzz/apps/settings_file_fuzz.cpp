// A TOML file of settings, read as --config is: parsed, matched with the settings of a program, checked.
//
// Must hold: the program goes on, or ends with the exit code of a wrong file and one line that names the
// file; and what it goes on with is in range.
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>

#include "captured_stream.h"
#include "exit_code.h"
#include "settings.h"

namespace {

using namespace app;

void require(bool condition) {
  if (!condition) std::abort();
}

constexpr SettingSpec kSettings[] = {
    {"bind", SettingKind::kText, "ADDRESS", "0.0.0.0:1", "where"},
    {"tick_rate", SettingKind::kInteger, "HZ", "60", "how often", 1, 240},
    {"seed", SettingKind::kInteger, "N", "1", "of chance", 0, 9e15},
    {"share", SettingKind::kNumber, "X", "0.5", "how much", 0, 1},
    {"quiet", SettingKind::kSwitch, "", "", "say less"},
    {"link.loss", SettingKind::kNumber, "X", "0", "in a table", 0, 100},
    {"once", SettingKind::kInteger, "N", "1", "this run only", 0, 9, SettingScope::kCommandLine},
};
constexpr ProgramSpec kProgram = {"prog", "A program.", "prog [options]", "  prog\n", "", kSettings, true};

/// A file in memory, rewritten for each input.
class MemoryFile {
 public:
  MemoryFile() : fd_(memfd_create("settings.toml", MFD_CLOEXEC)) {
    require(fd_ >= 0);
    path_ = "/proc/self/fd/" + std::to_string(fd_);
  }
  ~MemoryFile() { close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  const char* holding(const uint8_t* data, size_t size) {
    require(ftruncate(fd_, 0) == 0);
    require(pwrite(fd_, data, size, 0) == static_cast<ssize_t>(size));
    return path_.c_str();
  }

 private:
  int fd_;
  std::string path_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static MemoryFile file;
  const char* const path = file.holding(data, size);
  const char* const arguments[] = {"prog", "--config", path};
  fuzz::CapturedStream errors(stderr);
  Settings settings;
  const std::optional<int> exit = settings.load(kProgram, 3, arguments);
  const std::string text = errors.text();
  if (exit) {
    require(*exit == kExitConfig);
    require(text.find(path) != std::string::npos && (text.ends_with(".\n") || text.ends_with("?\n")));
    return 0;
  }
  require(text.empty());
  for (const SettingSpec& spec : kSettings) {
    if (spec.kind == SettingKind::kInteger) {
      const auto value = static_cast<double>(settings.integer(spec.key));
      require(value >= spec.min && value <= spec.max);
    } else if (spec.kind == SettingKind::kNumber) {
      const double value = settings.number(spec.key);
      require(value >= spec.min && value <= spec.max);
    }
  }
  require(settings.integer("once") == 1);
  return 0;
}
