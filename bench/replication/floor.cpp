// The floor: the least that a server could do which receives and sends the same datagrams. 60 times a second
// it receives and opens what its clients sent, then seals and sends the runs that the measured server sent in
// that tick, of the same sizes, one UDP_SEGMENT call for each run. The cipher is the one that the measured
// server used. It knows no connections, loses nothing, repeats nothing and computes nothing.
//
// A datagram is: index of the client, u32 | sealed bytes | 16 bytes of tag.
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sodium.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "platform/clock.h"
#include "replication/crowd_socket.h"
#include "replication/processes.h"
#include "replication/scene.h"
#include "udp_counters.h"

namespace bench {
namespace {

using lattice::platform::monotonic_ns;

constexpr uint64_t kTickNs = 1'000'000'000 / kTickRateHz;
constexpr size_t kIndexBytes = sizeof(uint32_t), kTagBytes = 16, kOverheadBytes = kIndexBytes + kTagBytes;
constexpr size_t kMaxRunBytes = 65536, kBatch = 64, kMaxDatagram = 1500;
constexpr int kBufferBytes = 4 << 20;

/// One key for everybody would stay in the cache: each client has its own.
class Seal {
 public:
  explicit Seal(uint32_t index) {
    std::array<uint8_t, 32> key{};
    std::memcpy(key.data(), &index, sizeof index);
    crypto_aead_aes256gcm_beforenm(&aes_, key.data());
    chacha_ = key;
  }
  static bool uses_aes() {
    static const bool available = crypto_aead_aes256gcm_is_available() != 0;
    return available;
  }

  /// `plain` bytes from `data` on are sealed in place; the tag follows.
  void seal(uint8_t* data, size_t plain) {
    std::memcpy(nonce_.data(), &++counter_, sizeof counter_);
    unsigned long long bytes = 0;
    if (uses_aes()) {
      crypto_aead_aes256gcm_encrypt_afternm(data, &bytes, data, plain, nullptr, 0, nullptr, nonce_.data(),
                                            &aes_);
    } else {
      crypto_aead_chacha20poly1305_ietf_encrypt(data, &bytes, data, plain, nullptr, 0, nullptr, nonce_.data(),
                                                chacha_.data());
    }
  }
  /// Opens in place with the nonce that counts what came; the result is not looked at: a real server would
  /// know the nonce from the packet.
  void open(uint8_t* data, size_t sealed) {
    unsigned long long bytes = 0;
    if (uses_aes()) {
      failed_ += crypto_aead_aes256gcm_decrypt_afternm(data, &bytes, nullptr, data, sealed, nullptr, 0,
                                                       kUpNonce.data(), &aes_) != 0;
    } else {
      failed_ += crypto_aead_chacha20poly1305_ietf_decrypt(data, &bytes, nullptr, data, sealed, nullptr, 0,
                                                           kUpNonce.data(), chacha_.data()) != 0;
    }
  }
  /// Seals one datagram for the way up, always with one nonce, so that it is made once.
  void seal_up(uint8_t* data, size_t plain) {
    nonce_ = kUpNonce;
    unsigned long long bytes = 0;
    if (uses_aes()) {
      crypto_aead_aes256gcm_encrypt_afternm(data, &bytes, data, plain, nullptr, 0, nullptr, nonce_.data(),
                                            &aes_);
    } else {
      crypto_aead_chacha20poly1305_ietf_encrypt(data, &bytes, data, plain, nullptr, 0, nullptr, nonce_.data(),
                                                chacha_.data());
    }
  }
  uint64_t failed() const { return failed_; }

 private:
  static constexpr std::array<uint8_t, 12> kUpNonce = {1};
  crypto_aead_aes256gcm_state aes_;
  std::array<uint8_t, 32> chacha_{};
  std::array<uint8_t, 12> nonce_{};
  uint64_t counter_ = 0;
  uint64_t failed_ = 0;
};

struct PlannedRun {
  uint32_t client;
  uint32_t bytes;
  uint32_t segment_bytes;
};

/// The recorded runs of the first `tick_count` ticks: what was sent between two ticks belongs to the earlier
/// one.
std::vector<std::vector<PlannedRun>> read_plan(int fd, uint32_t clients, size_t tick_count) {
  void* page = mmap(nullptr, sizeof(UdpCounters), PROT_READ, MAP_SHARED, fd, 0);
  if (page == MAP_FAILED) return {};
  const auto& recorded = *static_cast<const UdpCounters*>(page);
  const uint32_t count = recorded.run_count.load(std::memory_order_acquire);
  std::vector<std::vector<PlannedRun>> ticks(count == 0 ? 0 : tick_count);
  std::map<uint16_t, uint32_t> client_of;
  for (uint32_t i = 0; i < count; ++i) {
    const SentRun& run = recorded.runs[i];
    const auto tick = static_cast<size_t>((run.time_ns - recorded.runs[0].time_ns) / kTickNs);
    if (tick >= ticks.size()) break;
    const uint32_t client = client_of.try_emplace(run.port, client_of.size() % clients).first->second;
    if (run.bytes > kOverheadBytes) ticks[tick].push_back({client, run.bytes, run.segment_bytes});
  }
  munmap(page, sizeof(UdpCounters));
  return ticks;
}

class FloorServer {
 public:
  explicit FloorServer(uint32_t clients) : peers_(clients), arena_(kBatch * kMaxRunBytes) {
    for (uint32_t i = 0; i < clients; ++i) seals_.push_back(std::make_unique<Seal>(i));
    for (size_t i = 0; i < kBatch; ++i) {
      parts_in_[i] = {&in_[i * kMaxDatagram], kMaxDatagram};
      in_headers_[i].msg_hdr.msg_iov = &parts_in_[i], in_headers_[i].msg_hdr.msg_iovlen = 1;
      in_headers_[i].msg_hdr.msg_name = &from_[i];
    }
  }

  bool open() {
    fd_ = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &kBufferBytes, sizeof kBufferBytes);
    setsockopt(fd_, SOL_SOCKET, SO_SNDBUF, &kBufferBytes, sizeof kBufferBytes);
    sockaddr_in here{};
    here.sin_family = AF_INET, here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return bind(fd_, reinterpret_cast<const sockaddr*>(&here), sizeof here) == 0;
  }
  uint16_t port() const {
    sockaddr_in here{};
    socklen_t bytes = sizeof here;
    getsockname(fd_, reinterpret_cast<sockaddr*>(&here), &bytes);
    return ntohs(here.sin_port);
  }

  void receive() {
    for (int got = kBatch; got == kBatch;) {
      for (mmsghdr& header : in_headers_) header.msg_hdr.msg_namelen = sizeof(sockaddr_in);
      got = recvmmsg(fd_, in_headers_.data(), kBatch, 0, nullptr);
      for (int i = 0; i < got; ++i) take(static_cast<size_t>(i));
    }
  }

  void send(const std::vector<PlannedRun>& runs) {
    for (size_t first = 0; first < runs.size(); first += kBatch) {
      const size_t count = std::min(kBatch, runs.size() - first);
      size_t ready = 0;
      for (size_t i = 0; i < count; ++i) ready += prepare(runs[first + i], ready);
      for (size_t sent = 0; sent < ready;) {
        const int done = sendmmsg(fd_, &out_headers_[sent], static_cast<unsigned>(ready - sent), 0);
        sent += done > 0 ? static_cast<size_t>(done) : 1;  // one that the kernel refuses is skipped
      }
    }
  }
  uint32_t here() const { return here_; }
  uint64_t failed() const {
    uint64_t sum = 0;
    for (const auto& seal : seals_) sum += seal->failed();
    return sum;
  }

 private:
  void take(size_t i) {
    uint32_t index = 0;
    uint8_t* data = &in_[i * kMaxDatagram];
    if (in_headers_[i].msg_len < kOverheadBytes) return;
    std::memcpy(&index, data, sizeof index);
    if (index >= peers_.size()) return;
    here_ += peers_[index].sin_port == 0;
    peers_[index] = from_[i];
    seals_[index]->open(data + kIndexBytes, in_headers_[i].msg_len - kIndexBytes);
  }
  bool prepare(const PlannedRun& run, size_t entry) {
    if (peers_[run.client].sin_port == 0) return false;
    uint8_t* bytes = &arena_[entry * kMaxRunBytes];
    for (uint32_t at = 0; at < run.bytes; at += run.segment_bytes) {
      const uint32_t size = std::min(run.segment_bytes, run.bytes - at);
      if (size > kOverheadBytes) seals_[run.client]->seal(bytes + at + kIndexBytes, size - kOverheadBytes);
    }
    parts_out_[entry] = {bytes, run.bytes};
    msghdr& header = out_headers_[entry].msg_hdr;
    header = {};
    header.msg_name = &peers_[run.client], header.msg_namelen = sizeof(sockaddr_in);
    header.msg_iov = &parts_out_[entry], header.msg_iovlen = 1;
    if (run.bytes <= run.segment_bytes) return true;
    header.msg_control = controls_[entry].bytes, header.msg_controllen = sizeof controls_[entry].bytes;
    cmsghdr* control = CMSG_FIRSTHDR(&header);
    control->cmsg_level = IPPROTO_UDP, control->cmsg_type = UDP_SEGMENT;
    control->cmsg_len = CMSG_LEN(sizeof(uint16_t));
    const auto segment = static_cast<uint16_t>(run.segment_bytes);
    std::memcpy(CMSG_DATA(control), &segment, sizeof segment);
    return true;
  }

  struct Control {
    alignas(cmsghdr) uint8_t bytes[CMSG_SPACE(sizeof(uint16_t))];
  };
  int fd_ = -1;
  std::vector<sockaddr_in> peers_;
  std::vector<std::unique_ptr<Seal>> seals_;
  std::vector<uint8_t> arena_;
  std::vector<uint8_t> in_ = std::vector<uint8_t>(kBatch * kMaxDatagram);
  std::array<mmsghdr, kBatch> in_headers_{}, out_headers_{};
  std::array<iovec, kBatch> parts_in_{}, parts_out_{};
  std::array<sockaddr_in, kBatch> from_{};
  std::array<Control, kBatch> controls_{};
  uint32_t here_ = 0;
};

}  // namespace

int serve_floor(const EndArguments& arguments) {
  if (sodium_init() < 0) return 1;
  const auto plan = read_plan(static_cast<int>(arguments.trace_fd), arguments.clients,
                              static_cast<size_t>(arguments.seconds * kTickRateHz));
  FloorServer server(arguments.clients);
  if (plan.empty() || !server.open()) return 1;
  say("port", server.port());
  uint64_t due_ns = monotonic_ns();
  for (size_t tick = 0; !should_end(); ++tick) {
    due_ns += kTickNs;
    lattice::platform::sleep_until_ns(due_ns);
    server.receive();
    server.send(plan[tick % plan.size()]);
  }
  say("here", server.here()), say("failed", static_cast<double>(server.failed()));
  return 0;
}

int load_floor(const EndArguments& arguments) {
  if (sodium_init() < 0) return 1;
  CrowdSocket socket(arguments.port, arguments.clients, {});
  if (!socket.ok()) return 1;
  const size_t bytes = std::clamp<size_t>(arguments.up_bytes, kOverheadBytes + 1, kMaxDatagram);
  std::vector<std::vector<uint8_t>> up(arguments.clients);
  for (uint32_t i = 0; i < arguments.clients; ++i) {
    up[i].resize(bytes);
    std::memcpy(up[i].data(), &i, sizeof i);
    std::make_unique<Seal>(i)->seal_up(&up[i][kIndexBytes], bytes - kOverheadBytes);
  }
  std::vector<uint8_t> room(kBatch * kMaxDatagram);
  std::array<lattice::socket::Datagram, kBatch> in;
  for (size_t i = 0; i < kBatch; ++i) in[i].data = &room[i * kMaxDatagram];
  constexpr uint64_t kPhaseNs = kTickNs / CrowdSocket::kPhases;
  std::vector<double> owed(arguments.clients, 0);
  uint64_t due_ns = monotonic_ns();
  say("ready", arguments.clients);
  for (uint32_t phase = 0; !should_end(); ++phase) {
    due_ns += kPhaseNs;
    lattice::platform::sleep_until_ns(due_ns);
    socket.begin_phase(phase % CrowdSocket::kPhases);
    while (socket.receive(in, 0).count != 0) {
    }
    for (uint32_t i = phase % CrowdSocket::kPhases; i < up.size(); i += CrowdSocket::kPhases) {
      for (owed[i] += arguments.up_per_s / kTickRateHz; owed[i] >= 1; --owed[i]) {
        lattice::socket::Datagram datagram;
        datagram.peer = CrowdSocket::crowd_address(i);
        datagram.data = up[i].data(), datagram.size = static_cast<uint32_t>(bytes);
        socket.send({&datagram, 1}, 0);
      }
    }
  }
  return 0;
}

}  // namespace bench
