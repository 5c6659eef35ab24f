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
constexpr uint16_t kOptionComment = 1;
constexpr uint32_t kOptionEnd = 0;

constexpr size_t kFlushBytes = 65536;

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

/// A comment that Wireshark shows at the datagram.
void put_comment(Bytes& out, std::string_view text) {
  put_u16_le(out, kOptionComment);
  put_u16_le(out, static_cast<uint16_t>(text.size()));
  out.insert(out.end(), text.begin(), text.end());
  put_padding(out);
  put_u32_le(out, kOptionEnd);
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

namespace {

constexpr int kMostNames = 1000;

/// "capture-2.pcapng" for "capture.pcapng".
std::string numbered(const std::string& path, int number) {
  const size_t name = path.rfind('/') == std::string::npos ? 0 : path.rfind('/') + 1;
  const size_t dot = path.rfind('.');
  const size_t at = dot == std::string::npos || dot <= name ? path.size() : dot;
  return path.substr(0, at) + "-" + std::to_string(number) + path.substr(at);
}

/// Opens `path`, or the first numbered name that is free, which `path` is then. -1: errno says why.
int open_new(std::string& path) {
  constexpr int kFlags = O_WRONLY | O_CLOEXEC | O_NONBLOCK;
  struct stat status {};
  if (stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) return ::open(path.c_str(), kFlags);
  const std::string wanted = path;
  for (int number = 2; number <= kMostNames; ++number) {
    const int fd = ::open(path.c_str(), kFlags | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR);
    if (fd >= 0 || errno != EEXIST) return fd;
    path = numbered(wanted, number);
  }
  return -1;
}

}  // namespace

std::string PcapngWriter::open(const std::string& path) {
  close();
  failed_ = false;
  datagram_count_ = told_dropped_ = 0;
  watch_ = {};
  path_ = path;
  fd_ = open_new(path_);
  if (fd_ < 0) {
    return "Cannot write '" + path + "': " + std::strerror(errno) + ". Give a file in a folder that exists.";
  }
  out_.emplace(fd_);
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
  flush();
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
  if (out_ && out_->waiting_bytes() >= kFlushBytes) flush();
  const uint64_t missing = dropped() - told_dropped_;
  if (missing != 0) put_comment(body, std::to_string(missing) + " datagrams are missing before this one");
  const uint64_t before = dropped();
  write_block(kEnhancedPacket, body);
  if (dropped() != before) return;
  told_dropped_ = before;
  ++datagram_count_;
}

void PcapngWriter::write_block(uint32_t kind, std::span<const uint8_t> body) {
  if (!out_) return;
  const auto bytes = static_cast<uint32_t>(body.size() + 12);
  Bytes record;
  put_u32_le(record, kind);
  put_u32_le(record, bytes);
  record.insert(record.end(), body.begin(), body.end());
  put_u32_le(record, bytes);
  out_->add({reinterpret_cast<const char*>(record.data()), record.size()});
}

void PcapngWriter::flush() {
  if (out_ && !out_->idle()) out_->flush();
}

bool PcapngWriter::close() {
  if (!out_) return !failed_;
  out_->finish();
  failed_ = out_->dropped() != 0;
  out_.reset();
  if (::close(fd_) != 0) failed_ = true;
  fd_ = -1;
  return !failed_;
}

}  // namespace app
