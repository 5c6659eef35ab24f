#include "pcapng_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace app {
namespace {

// pcapng (draft-ietf-opsawg-pcapng): all numbers are in the byte order that the section header announces.
constexpr uint32_t kSectionHeader = 0x0A0D0D0A;
constexpr uint32_t kInterfaceDescription = 1;
constexpr uint32_t kEnhancedPacket = 6;
constexpr uint32_t kByteOrderMagic = 0x1A2B3C4D;
constexpr uint16_t kLinkTypeUpperPdu = 252;

// Tags of an exported PDU (Wireshark, exported_pdu_tlvs.h), all big-endian.
constexpr uint16_t kTagEnd = 0;
constexpr uint16_t kTagDissector = 12;
constexpr uint16_t kTagIpv4Source = 20;
constexpr uint16_t kTagIpv4Destination = 21;
constexpr uint16_t kTagIpv6Source = 22;
constexpr uint16_t kTagIpv6Destination = 23;
constexpr uint16_t kTagPortType = 24;
constexpr uint16_t kTagSourcePort = 25;
constexpr uint16_t kTagDestinationPort = 26;
constexpr uint32_t kPortTypeUdp = 3;

using Bytes = std::vector<uint8_t>;

void put_u16_le(Bytes& out, uint16_t v) {
  out.push_back(static_cast<uint8_t>(v));
  out.push_back(static_cast<uint8_t>(v >> 8));
}
void put_u32_le(Bytes& out, uint32_t v) {
  put_u16_le(out, static_cast<uint16_t>(v));
  put_u16_le(out, static_cast<uint16_t>(v >> 16));
}
void put_u16_be(Bytes& out, uint16_t v) {
  out.push_back(static_cast<uint8_t>(v >> 8));
  out.push_back(static_cast<uint8_t>(v));
}
void put_padding(Bytes& out) {
  out.resize((out.size() + 3) / 4 * 4);
}

/// The length counts the padding too: readers expect that of the tag with the dissector's name.
void put_tag(Bytes& out, uint16_t tag, std::span<const uint8_t> value) {
  put_u16_be(out, tag);
  put_u16_be(out, static_cast<uint16_t>((value.size() + 3) / 4 * 4));
  out.insert(out.end(), value.begin(), value.end());
  put_padding(out);
}
void put_tag(Bytes& out, uint16_t tag, uint32_t value) {
  const uint8_t bytes[4] = {static_cast<uint8_t>(value >> 24), static_cast<uint8_t>(value >> 16),
                            static_cast<uint8_t>(value >> 8), static_cast<uint8_t>(value)};
  put_tag(out, tag, bytes);
}

bool is_ipv4(const PcapngAddress& address) {
  constexpr std::array<uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
  return std::equal(kMapped.begin(), kMapped.end(), address.ip.begin());
}

void put_addresses(Bytes& out, const PcapngAddress& source, const PcapngAddress& destination) {
  const bool both_ipv4 = is_ipv4(source) && is_ipv4(destination);
  const size_t skipped = both_ipv4 ? 12 : 0;
  put_tag(out, both_ipv4 ? kTagIpv4Source : kTagIpv6Source, std::span(source.ip).subspan(skipped));
  put_tag(out, both_ipv4 ? kTagIpv4Destination : kTagIpv6Destination,
          std::span(destination.ip).subspan(skipped));
  put_tag(out, kTagPortType, kPortTypeUdp);
  put_tag(out, kTagSourcePort, source.port);
  put_tag(out, kTagDestinationPort, destination.port);
}

}  // namespace

PcapngWriter::~PcapngWriter() {
  close();
}

std::string PcapngWriter::open(const std::string& path) {
  close();
  failed_ = false;
  datagram_count_ = 0;
  // Not emptied before it is known to be private.
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
  struct stat status {};
  if (fd < 0 || fstat(fd, &status) != 0) {
    const std::string why = std::strerror(errno);
    if (fd >= 0) ::close(fd);
    return "Cannot write '" + path + "': " + why + ". Give a file in a folder that exists.";
  }
  if (S_ISREG(status.st_mode) && (status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    ::close(fd);
    return "Cannot write '" + path +
           "': other users may read this file, and a capture is not encrypted. Remove the file, or run "
           "'chmod "
           "600 " +
           path + "'.";
  }
  file_ = S_ISREG(status.st_mode) && ftruncate(fd, 0) != 0 ? nullptr : fdopen(fd, "wb");
  if (file_ == nullptr) {
    const std::string why = std::strerror(errno);
    ::close(fd);
    return "Cannot write '" + path + "': " + why + ". Give another file.";
  }
  Bytes section;
  put_u32_le(section, kByteOrderMagic);
  put_u16_le(section, 1);  // version 1.0
  put_u16_le(section, 0);
  section.resize(section.size() + 8, 0xFF);  // the length of the section is not stated
  write_block(kSectionHeader, section);
  Bytes interface;
  put_u16_le(interface, kLinkTypeUpperPdu);
  put_u16_le(interface, 0);
  put_u32_le(interface,
             0);  // no limit on packet length; times are microseconds unless an option says otherwise
  write_block(kInterfaceDescription, interface);
  return "";
}

void PcapngWriter::write(uint64_t time_us, const PcapngAddress& source, const PcapngAddress& destination,
                         std::string_view dissector, std::span<const uint8_t> data) {
  Bytes& body = block_;
  body.clear();
  put_u32_le(body, 0);  // interface
  put_u32_le(body, static_cast<uint32_t>(time_us >> 32));
  put_u32_le(body, static_cast<uint32_t>(time_us));
  const size_t lengths_at = body.size();
  body.resize(lengths_at + 8);
  const size_t pdu_at = body.size();
  put_tag(body, kTagDissector, {reinterpret_cast<const uint8_t*>(dissector.data()), dissector.size()});
  put_addresses(body, source, destination);
  put_tag(body, kTagEnd, std::span<const uint8_t>());
  body.insert(body.end(), data.begin(), data.end());
  const auto pdu_bytes = static_cast<uint32_t>(body.size() - pdu_at);
  for (size_t i = 0; i < 8; ++i) body[lengths_at + i] = static_cast<uint8_t>(pdu_bytes >> (i % 4 * 8));
  put_padding(body);
  write_block(kEnhancedPacket, body);
  ++datagram_count_;
}

void PcapngWriter::write_block(uint32_t kind, std::span<const uint8_t> body) {
  if (file_ == nullptr) return;
  Bytes head, tail;
  const auto bytes = static_cast<uint32_t>(body.size() + 12);
  put_u32_le(head, kind);
  put_u32_le(head, bytes);
  put_u32_le(tail, bytes);
  for (const std::span<const uint8_t> part :
       {std::span<const uint8_t>(head), body, std::span<const uint8_t>(tail)}) {
    failed_ = std::fwrite(part.data(), 1, part.size(), file_) != part.size() || failed_;
  }
}

bool PcapngWriter::close() {
  if (file_ == nullptr) return !failed_;
  failed_ = std::fclose(file_) != 0 || failed_;
  file_ = nullptr;
  return !failed_;
}

}  // namespace app
