// The command line of `lattice token issue`, with a data folder that has a key pair and the note of a server.
// Input: arguments, each ended by a line break.
//
// Must hold: the command prints one token in base64 that the library reads, or it ends with the code of a
// failure, says why in one line, and prints no token.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "captured_stream.h"

// The command is a program of its own. Its main() becomes a function here.
#define main lattice_tool_main
#include "lattice-tool/main.cpp"
#undef main

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

/// A data folder for one process, removed at its end.
class DataFolder {
 public:
  DataFolder() {
    require(mkdtemp(path_) != nullptr);
    app::IssuerKeys keys;
    require(app::load_or_make_issuer(path_, keys).empty());
    app::ServerNote note;
    note.address = "127.0.0.1:1";
    note.server_public_key.fill(7);
    require(app::write_server_note(path_, note).empty());
  }
  ~DataFolder() {
    for (const char* file : {"issuer.key", "issuer.pub", "server.json"}) {
      unlink((std::string(path_) + "/" + file).c_str());
    }
    rmdir(path_);
  }
  DataFolder(const DataFolder&) = delete;
  DataFolder& operator=(const DataFolder&) = delete;
  const char* path() const { return path_; }

 private:
  char path_[32] = "/tmp/lattice-fuzz-XXXXXX";
};

constexpr size_t kMaxArguments = 24;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static DataFolder folder;
  std::vector<std::string> words = {"lattice-tool", "issue"};
  std::string word;
  for (size_t i = 0; i < size && words.size() < kMaxArguments; ++i) {
    if (data[i] != '\n' && data[i] != 0) {
      word += static_cast<char>(data[i]);
      continue;
    }
    words.push_back(std::move(word));
    word.clear();
  }
  // The last one counts, and `issue` only reads it.
  words.insert(words.end(), {"--data-dir", folder.path()});
  std::vector<char*> arguments;
  for (std::string& each : words) arguments.push_back(each.data());

  app::fuzz::CapturedStream output(stdout);
  app::fuzz::CapturedStream errors(stderr);
  const int exit = lattice_tool_main(static_cast<int>(arguments.size()), arguments.data());
  std::string printed = output.text();
  const std::string said = errors.text();
  if (exit != app::kExitOk) {
    require(exit == app::kExitUsage || exit == app::kExitFailed || exit == app::kExitUnreachable);
    require(printed.empty() && !said.empty() && said.ends_with('\n'));
    return 0;
  }
  require(said.empty() && printed.ends_with('\n'));
  if (printed.find("Usage:") != std::string::npos || printed.find("ABI") != std::string::npos) return 0;
  printed.pop_back();
  const auto token = app::from_base64(printed);
  require(token && !token->empty() && token->size() <= LATTICE_TOKEN_MAX_BYTES);
  return 0;
}
