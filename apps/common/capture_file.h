// Writes the opened datagrams of a world to a pcapng file (docs/capture.md). Needs a library built with
// LATTICE_CAPTURE.
#pragma once

#include <string>

#include "lattice/capture.h"
#include "pcapng_writer.h"

namespace app {

class CaptureFile {
 public:
  /// Begins to capture `world`, which must be destroyed before this object. Returns "", or a text that says
  /// what is wrong and what to do.
  std::string start(lattice_world* world, const std::string& path);
  /// The file that is written. It has another name than start() was given when there was a file of that name.
  const std::string& path() const { return writer_.path(); }
  /// Writes what was kept, and logs when the file begins to lose datagrams and when it is written again. Call
  /// it now and then.
  void catch_up();
  /// Returns false when the file is not complete.
  bool finish() { return writer_.close(); }
  uint64_t lost() const { return writer_.dropped(); }
  uint64_t datagram_count() const { return writer_.datagram_count(); }

 private:
  static void on_captured(void* self, const lattice_captured_datagram* datagram);

  PcapngWriter writer_;
  uint64_t offset_us_ = 0;  // from the world's clock to Unix time, set by the first datagram
};

}  // namespace app
