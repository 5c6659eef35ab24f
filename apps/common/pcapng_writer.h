// Writes a pcapng file of exported PDUs, which Wireshark reads with tools/wireshark/lattice.lua.
// docs/capture.md describes the format. The writer knows files and bytes only.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

  /// Creates the file with mode 0600, or replaces its content. A file that other users may access is refused.
  /// Returns "", or a text that says what is wrong and what to do.
  std::string open(const std::string& path);
  /// Writes one datagram. `dissector` is the name by which Wireshark finds the dissector.
  void write(uint64_t time_us, const PcapngAddress& source, const PcapngAddress& destination,
             std::string_view dissector, std::span<const uint8_t> data);
  /// Closes the file. Returns false when anything could not be written. Further calls do nothing.
  bool close();

  uint64_t datagram_count() const { return datagram_count_; }

 private:
  void write_block(uint32_t kind, std::span<const uint8_t> body);

  std::FILE* file_ = nullptr;
  bool failed_ = false;
  uint64_t datagram_count_ = 0;
  std::vector<uint8_t> block_;
};

}  // namespace app
