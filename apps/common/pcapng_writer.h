// Writes a pcapng file of exported PDUs, which Wireshark reads with tools/wireshark/lattice.lua.
// docs/capture.md describes the format. The writer knows files and bytes only. It never blocks: what a full
// disk does not take is lost, and a comment at the next datagram of the file says how many are missing.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "record_writer.h"

namespace app {

struct PcapngAddress {
  std::array<uint8_t, 16> ip{};  ///< An IPv4 address as ::ffff:a.b.c.d.
  uint16_t port = 0;
};

class PcapngWriter {
 public:
  PcapngWriter() = default;
  ~PcapngWriter();
  PcapngWriter(const PcapngWriter&) = delete;
  PcapngWriter& operator=(const PcapngWriter&) = delete;

  /// Creates the file with mode 0600. When there is a file already, it keeps its content, and the next name
  /// that is free is taken: capture-2.pcapng for capture.pcapng. A pipe or a device is written as it is.
  /// Returns "", or a text that says what is wrong and what to do.
  std::string open(const std::string& path);
  /// The file that open() created.
  const std::string& path() const { return path_; }
  /// Writes one datagram. `dissector` is the name by which Wireshark finds the dissector.
  void write(uint64_t time_us, const PcapngAddress& source, const PcapngAddress& destination,
             std::string_view dissector, std::span<const uint8_t> data);
  /// Writes what was kept to write in one piece. Call it now and then.
  void flush();
  /// Tells when the file begins to lose datagrams and when it is written again.
  LossWatch::Change look() { return out_ ? watch_.look(*out_) : LossWatch::Change::kNone; }
  /// Datagrams that were lost in the last loss; why, as errno.
  uint64_t lost() const { return watch_.lost(); }
  int error() const { return out_ ? out_->error() : 0; }
  /// Datagrams that the file lacks in all.
  uint64_t dropped() const { return out_ ? out_->dropped() : 0; }
  /// Closes the file. Returns false when it lacks datagrams. Further calls do nothing.
  bool close();

  /// Datagrams that the file has, or will have.
  uint64_t datagram_count() const { return datagram_count_; }

 private:
  void write_block(uint32_t kind, std::span<const uint8_t> body);

  std::string path_;
  int fd_ = -1;
  std::optional<RecordWriter> out_;
  LossWatch watch_;
  bool failed_ = false;
  uint64_t datagram_count_ = 0;
  uint64_t told_dropped_ = 0;  // lost datagrams of which a comment in the file tells
  std::vector<uint8_t> block_;
};

}  // namespace app
