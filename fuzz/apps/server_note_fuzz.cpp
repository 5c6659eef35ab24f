// server.json, the note that a server leaves in its data folder and that clients and `lattice token` read.
// Input: the content of the file.
//
// Must hold: a damaged note is refused with one sentence, and a note that is read is written back as one that
// reads the same.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

#include "dev_issuer.h"
#include "process.h"

namespace {

using namespace app;

void require(bool condition) {
  if (!condition) std::abort();
}

/// A folder for one process, removed at its end.
class Folder {
 public:
  Folder() {
    require(mkdtemp(path_) != nullptr);
    chosen_ = path_;
  }
  ~Folder() {
    remove_server_note(chosen_);
    rmdir(path_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return chosen_; }

 private:
  char path_[32] = "/tmp/lattice-fuzz-XXXXXX";
  std::string chosen_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Folder folder;
  const std::string content(reinterpret_cast<const char*>(data), size);
  require(write_whole_file(folder.path() + "/server.json", content, 0600));
  ServerNote note;
  const std::string problem = read_server_note(folder.path(), note);
  if (!problem.empty()) {
    require(problem.find("damaged") != std::string::npos);
    return 0;
  }
  require(write_server_note(folder.path(), note).empty());
  ServerNote again;
  require(read_server_note(folder.path(), again).empty());
  require(again.address == note.address && again.server_public_key == note.server_public_key);
  require(again.schema_id == note.schema_id && again.pid == note.pid);
  return 0;
}
