// An attack on the handshake's front door: ConnectionRequests that pass every check a server makes before it
// answers, from 16384 loopback addresses in as many /24, so that no per-range limit stops them.
//
// One socket sends them all: IP_PKTINFO chooses the source address of each datagram, and any address of
// 127.0.0.0/8 is allowed. The answers come back to the same socket and are counted there, so that the server
// needs no report.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "platform/clock.h"
#include "transport/lattice_keys.h"
#include "transport/wire/handshake_bodies.h"
#include "transport/wire/packet_header.h"
#include "transport/workloads.h"

namespace bench {
namespace {

using namespace lattice;

constexpr size_t kBatch = 50;
constexpr size_t kRequests = 64;  // different keys and tokens; a server hashes each of them
constexpr uint32_t kSources = 16384;
constexpr int kSocketBufferBytes = 4 << 20;

std::vector<uint8_t> make_request(uint32_t index) {
  std::array<uint8_t, 32> secret{};
  std::memcpy(secret.data(), &index, sizeof index);
  const crypto::KeyPair client = crypto::KeyPair::from_secret(secret);
  const std::vector<uint8_t> token = make_token(client.public_key(), index);
  wire::ConnectionRequest request;
  request.client_pub = client.public_key();
  request.token = token;
  std::vector<uint8_t> out(wire::kFloorDatagramBytes);
  const size_t header_bytes = wire::encode_packet_header({}, out);
  const size_t body_bytes = wire::encode_connection_request(request, std::span(out).subspan(header_bytes));
  out.resize(header_bytes + body_bytes);
  return out;
}

/// 127.A.B.1 with A and B never 0: a /24 of its own for each.
in_addr source_address(uint32_t index) {
  const uint32_t i = index % kSources;
  in_addr out{};
  out.s_addr = htonl(0x7F000001u | (1 + i / 128) << 16 | (1 + i % 128) << 8);
  return out;
}

/// The headers of one sendmmsg, each with a source address.
class SpoofedBatch {
 public:
  explicit SpoofedBatch(uint16_t port) {
    server_.sin_family = AF_INET;
    server_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    server_.sin_port = htons(port);
    for (size_t i = 0; i < kBatch; ++i) {
      msghdr& header = headers_[i].msg_hdr;
      header = {};
      header.msg_name = &server_;
      header.msg_namelen = sizeof server_;
      header.msg_iov = &parts_[i];
      header.msg_iovlen = 1;
      header.msg_control = controls_[i].bytes;
      header.msg_controllen = sizeof controls_[i].bytes;
      cmsghdr* control = CMSG_FIRSTHDR(&header);
      control->cmsg_level = IPPROTO_IP;
      control->cmsg_type = IP_PKTINFO;
      control->cmsg_len = CMSG_LEN(sizeof(in_pktinfo));
    }
  }

  /// Sends `kBatch` of `requests` from the next addresses; returns how many left.
  uint64_t send(int fd, std::vector<std::vector<uint8_t>>& requests) {
    for (size_t i = 0; i < kBatch; ++i, ++next_) {
      std::vector<uint8_t>& request = requests[next_ % requests.size()];
      parts_[i] = {request.data(), request.size()};
      in_pktinfo info{};
      info.ipi_spec_dst = source_address(next_);
      std::memcpy(controls_[i].bytes + CMSG_LEN(0), &info,
                  sizeof info);  // CMSG_LEN(0): where the data begins
    }
    return static_cast<uint64_t>(std::max(0, sendmmsg(fd, headers_.data(), kBatch, MSG_DONTWAIT)));
  }

 private:
  struct Control {
    alignas(cmsghdr) uint8_t bytes[CMSG_SPACE(sizeof(in_pktinfo))] = {};
  };
  sockaddr_in server_{};
  std::array<mmsghdr, kBatch> headers_{};
  std::array<iovec, kBatch> parts_{};
  std::array<Control, kBatch> controls_{};
  uint32_t next_ = 0;
};

/// The received answers, in datagrams and bytes.
class Answers {
 public:
  Answers() {
    for (size_t i = 0; i < kBatch; ++i) {
      parts_[i] = {buffers_[i].data(), buffers_[i].size()};
      headers_[i].msg_hdr.msg_iov = &parts_[i];
      headers_[i].msg_hdr.msg_iovlen = 1;
    }
  }
  void take(int fd) {
    for (int got = 1; got > 0;) {
      got = recvmmsg(fd, headers_.data(), kBatch, MSG_DONTWAIT, nullptr);
      for (int i = 0; i < got; ++i) ++count, bytes += headers_[static_cast<size_t>(i)].msg_len;
    }
  }
  uint64_t count = 0, bytes = 0;

 private:
  std::array<std::array<uint8_t, 1500>, kBatch> buffers_{};
  std::array<iovec, kBatch> parts_{};
  std::array<mmsghdr, kBatch> headers_{};
};

}  // namespace

int load_flood(const Arguments& arguments) {
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &kSocketBufferBytes, sizeof kSocketBufferBytes);
  setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &kSocketBufferBytes, sizeof kSocketBufferBytes);
  sockaddr_in any{};
  any.sin_family = AF_INET;
  if (fd < 0 || bind(fd, reinterpret_cast<const sockaddr*>(&any), sizeof any) != 0) return 1;
  std::vector<std::vector<uint8_t>> requests;
  for (uint32_t i = 0; i < kRequests; ++i) requests.push_back(make_request(i));
  SpoofedBatch batch(arguments.port);
  Answers answers;
  say("ready", 1);
  const auto interval_ns = static_cast<uint64_t>(1e9 * kBatch / std::max(arguments.rate, 1.0));
  const uint64_t began_ns = platform::monotonic_ns();
  uint64_t sent = 0;
  for (uint64_t due_ns = began_ns; !should_end(); due_ns += interval_ns) {
    platform::sleep_until_ns(due_ns);
    sent += batch.send(fd, requests);
    answers.take(fd);
  }
  const double elapsed_s = static_cast<double>(platform::monotonic_ns() - began_ns) / 1e9;
  platform::sleep_until_ns(platform::monotonic_ns() + 50'000'000);
  answers.take(fd);
  say("sent", static_cast<double>(sent));
  say("sent_per_s", static_cast<double>(sent) / elapsed_s);
  say("sent_bytes", static_cast<double>(sent * requests.front().size()));
  say("answers", static_cast<double>(answers.count));
  say("answer_bytes", static_cast<double>(answers.bytes));
  close(fd);
  return 0;
}

}  // namespace bench
