// The floors: the least work that moves messages over UDP, and the least work that moves them encrypted, with
// the cipher that every processor has and with the one that most have in hardware.
// recvmmsg and sendmmsg, 64 datagrams at a time. Messages to one peer are packed into datagrams of at most
// 1200 bytes; all datagrams of a flush are sealed first and then sent. Nothing is acknowledged, resent,
// ordered or stored. The bulk floor also hands runs of datagrams to the kernel at once, and takes them from
// it so (UDP_SEGMENT, UDP_GRO), as the library does.
//
//   client u32 | counter u64 | [ciphertext of] ( size u16 | message )… | [tag 16]
//   the first 12 bytes are the nonce; the counter's top bit is the server's, so no nonce repeats
#include <arpa/inet.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sodium.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <ctime>
#include <memory>
#include <vector>

#include "transport/end.h"

namespace bench {
namespace {

constexpr size_t kBatch = 64;
constexpr size_t kMaxBytes = 1500;
constexpr size_t kPackedBytes = 1200;
constexpr size_t kNonceBytes = crypto_aead_chacha20poly1305_ietf_NPUBBYTES;
constexpr size_t kTagBytes = crypto_aead_chacha20poly1305_ietf_ABYTES;
static_assert(kNonceBytes == crypto_aead_aes256gcm_NPUBBYTES && kTagBytes == crypto_aead_aes256gcm_ABYTES);
constexpr size_t kSizeBytes = sizeof(uint16_t);
constexpr int kSocketBufferBytes = 4 << 20;
constexpr size_t kMostSegments = 48;  // of 1200 bytes: within the 64 KB of a datagram
constexpr size_t kRunBytes = 65536;
constexpr size_t kRuns = 8;
constexpr uint64_t kFewMessages = 2048;
/// 20 messages to a datagram: 0.9 MB, a quarter of the socket's buffer.
constexpr uint64_t kManyMessages = 16384;
constexpr uint64_t kServerBit = uint64_t{1} << 63;

enum class Sealing { kNone, kChaCha20, kAes256 };

using Key = std::array<uint8_t, crypto_aead_chacha20poly1305_ietf_KEYBYTES>;
static_assert(crypto_aead_aes256gcm_KEYBYTES == crypto_aead_chacha20poly1305_ietf_KEYBYTES);

Key key_of(uint32_t client) {
  Key key{};
  std::memcpy(key.data(), &client, sizeof client);
  return key;
}

/// Buffers and headers of one recvmmsg or sendmmsg.
struct Batch {
  std::array<std::array<uint8_t, kMaxBytes>, kBatch> buffers;
  std::array<iovec, kBatch> parts;
  std::array<sockaddr_in, kBatch> peers;
  std::array<mmsghdr, kBatch> headers;
  unsigned count = 0;

  Batch() {
    for (size_t i = 0; i < kBatch; ++i) {
      parts[i] = {buffers[i].data(), kMaxBytes};
      headers[i] = {};
      headers[i].msg_hdr.msg_iov = &parts[i];
      headers[i].msg_hdr.msg_iovlen = 1;
      headers[i].msg_hdr.msg_name = &peers[i];
      headers[i].msg_hdr.msg_namelen = sizeof(sockaddr_in);
    }
  }
};

/// Room for runs of datagrams that the kernel joined, and for the length of their parts.
struct Runs {
  std::vector<std::array<uint8_t, kRunBytes>> buffers{kRuns};
  std::array<std::array<uint8_t, CMSG_SPACE(sizeof(int))>, kRuns> controls;
  std::array<iovec, kRuns> parts;
  std::array<sockaddr_in, kRuns> peers;
  std::array<mmsghdr, kRuns> headers;

  Runs() {
    for (size_t i = 0; i < kRuns; ++i) {
      parts[i] = {buffers[i].data(), kRunBytes};
      headers[i] = {};
      headers[i].msg_hdr.msg_iov = &parts[i];
      headers[i].msg_hdr.msg_iovlen = 1;
      headers[i].msg_hdr.msg_name = &peers[i];
    }
  }
  void reset() {
    for (size_t i = 0; i < kRuns; ++i) {
      headers[i].msg_hdr.msg_namelen = sizeof(sockaddr_in);
      headers[i].msg_hdr.msg_control = controls[i].data();
      headers[i].msg_hdr.msg_controllen = controls[i].size();
    }
  }
  /// The length of every datagram of run `i`, but of the last.
  size_t step(size_t i) {
    msghdr& header = headers[i].msg_hdr;
    for (cmsghdr* c = CMSG_FIRSTHDR(&header); c != nullptr; c = CMSG_NXTHDR(&header, c)) {
      if (c->cmsg_level != IPPROTO_UDP || c->cmsg_type != UDP_GRO) continue;
      int bytes = 0;
      std::memcpy(&bytes, CMSG_DATA(c), sizeof bytes);
      return static_cast<size_t>(bytes);
    }
    return headers[i].msg_len;
  }
};

class FloorEnd final : public End {
 public:
  FloorEnd(Sealing sealing, bool joins) : sealing_(sealing) {
    if (joins) runs_ = std::make_unique<Runs>();
  }
  ~FloorEnd() override {
    if (fd_ >= 0) close(fd_);
  }

  bool open(uint32_t peers, uint32_t first_id) {
    fd_ = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &kSocketBufferBytes, sizeof kSocketBufferBytes);
    setsockopt(fd_, SOL_SOCKET, SO_SNDBUF, &kSocketBufferBytes, sizeof kSocketBufferBytes);
    sockaddr_in any{};
    any.sin_family = AF_INET;
    any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd_ < 0 || bind(fd_, reinterpret_cast<const sockaddr*>(&any), sizeof any) != 0) return false;
    const int on = 1;
    if (runs_ != nullptr && setsockopt(fd_, IPPROTO_UDP, UDP_GRO, &on, sizeof on) != 0) return false;
    peers_.resize(peers);
    for (uint32_t i = 0; i < peers; ++i) peers_[i].id = first_id + i, peers_[i].key = key_of(first_id + i);
    // Keys are made ready once, as the library does.
    if (sealing_ == Sealing::kAes256) {
      for (Peer& peer : peers_) crypto_aead_aes256gcm_beforenm(&peer.aes, peer.key.data());
    }
    first_id_ = first_id;
    return true;
  }

  void connect_to(uint16_t port) {
    Peer& server = peers_[0];
    server.address.sin_family = AF_INET;
    server.address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    server.address.sin_port = htons(port);
    is_client_ = server.known = true;
    send(0, Delivery::kUnreliable, {});  // The server learns the address; it answers, and both are connected.
  }

  bool receive(EndEvents& events) override {
    if (runs_ != nullptr) return receive_runs(events);
    bool any = false;
    for (;;) {
      for (mmsghdr& header : incoming_.headers) header.msg_hdr.msg_namelen = sizeof(sockaddr_in);
      const int got = recvmmsg(fd_, incoming_.headers.data(), kBatch, MSG_DONTWAIT, nullptr);
      if (got <= 0) return any;
      any = true;
      for (size_t i = 0; i < static_cast<size_t>(got); ++i) {
        take(incoming_.buffers[i].data(), incoming_.headers[i].msg_len, incoming_.peers[i], events);
      }
      if (got < static_cast<int>(kBatch)) return any;
    }
  }

  bool send(uint32_t peer, Delivery, std::span<const uint8_t> body) override {
    Peer& to = peers_[peer];
    const size_t room = kPackedBytes - kNonceBytes - kTagBytes;
    if (to.is_open && outgoing_.parts[to.slot].iov_len + kSizeBytes + body.size() > room + kNonceBytes) {
      to.is_open = false;
    }
    if (!to.is_open) {
      if (outgoing_.count == kBatch) flush();
      to.slot = outgoing_.count++;
      to.is_open = true;
      owners_[to.slot] = peer;
      outgoing_.parts[to.slot].iov_len = kNonceBytes;
    }
    uint8_t* out = outgoing_.buffers[to.slot].data();
    size_t& used = outgoing_.parts[to.slot].iov_len;
    const auto size = static_cast<uint16_t>(body.size());
    std::memcpy(out + used, &size, kSizeBytes);
    if (!body.empty()) std::memcpy(out + used + kSizeBytes, body.data(), body.size());
    used += kSizeBytes + body.size();
    return true;
  }

  void flush() override {
    if (outgoing_.count == 0) return;
    for (unsigned i = 0; i < outgoing_.count; ++i) finish(i);
    if (runs_ != nullptr) {
      send_runs();
    } else {
      sendmmsg(fd_, outgoing_.headers.data(), outgoing_.count, MSG_DONTWAIT);
    }
    outgoing_.count = 0;
  }

  void disconnect(uint32_t) override {}

  void wait(uint64_t timeout_ns) override {
    pollfd readable = {fd_, POLLIN, 0};
    const timespec timeout = {0, static_cast<long>(std::min<uint64_t>(timeout_ns, 999'999'999))};
    ppoll(&readable, 1, &timeout, nullptr);
  }

  uint16_t port() const override {
    sockaddr_in bound{};
    socklen_t bytes = sizeof bound;
    getsockname(fd_, reinterpret_cast<sockaddr*>(&bound), &bytes);
    return ntohs(bound.sin_port);
  }
  bool has_back_pressure() const override { return false; }
  uint64_t credit_messages() const override { return runs_ != nullptr ? kManyMessages : kFewMessages; }

 private:
  struct Peer {
    Key key{};
    crypto_aead_aes256gcm_state aes;  // of the key, with kAes256
    sockaddr_in address{};
    uint64_t counter = 0;
    uint32_t id = 0;
    unsigned slot = 0;     // Its open datagram in outgoing_, when is_open.
    bool is_open = false;  // A datagram with room is being filled.
    bool known = false;    // The address is known.
    bool announced = false;
  };

  /// Writes the nonce and seals: the datagram in `slot` is full, or the flush has come.
  void finish(unsigned slot) {
    Peer& to = peers_[owners_[slot]];
    to.is_open = false;
    uint8_t* data = outgoing_.buffers[slot].data();
    const uint64_t counter = ++to.counter | (is_client_ ? 0 : kServerBit);
    std::memcpy(data, &to.id, sizeof to.id);
    std::memcpy(data + sizeof to.id, &counter, sizeof counter);
    outgoing_.peers[slot] = to.address;
    if (sealing_ == Sealing::kNone) return;
    size_t& used = outgoing_.parts[slot].iov_len;
    uint8_t* text = data + kNonceBytes;
    const size_t bytes = used - kNonceBytes;
    if (sealing_ == Sealing::kAes256) {
      crypto_aead_aes256gcm_encrypt_afternm(text, nullptr, text, bytes, nullptr, 0, nullptr, data, &to.aes);
    } else {
      crypto_aead_chacha20poly1305_ietf_encrypt(text, nullptr, text, bytes, nullptr, 0, nullptr, data,
                                                to.key.data());
    }
    used += kTagBytes;
  }

  /// Datagrams of one length to one peer, the last maybe shorter, with one call each.
  void send_runs() {
    for (unsigned begin = 0; begin < outgoing_.count;) {
      const size_t step = outgoing_.parts[begin].iov_len;
      unsigned end = begin + 1;
      while (end < outgoing_.count && end - begin < kMostSegments && owners_[end] == owners_[begin] &&
             outgoing_.parts[end].iov_len <= step && outgoing_.parts[end - 1].iov_len == step) {
        ++end;
      }
      msghdr header = outgoing_.headers[begin].msg_hdr;
      header.msg_iovlen = end - begin;
      alignas(cmsghdr) std::array<uint8_t, CMSG_SPACE(sizeof(uint16_t))> control{};
      if (end - begin > 1) {
        header.msg_control = control.data();
        header.msg_controllen = control.size();
        cmsghdr* c = CMSG_FIRSTHDR(&header);
        c->cmsg_level = IPPROTO_UDP;
        c->cmsg_type = UDP_SEGMENT;
        c->cmsg_len = CMSG_LEN(sizeof(uint16_t));
        const auto bytes = static_cast<uint16_t>(step);
        std::memcpy(CMSG_DATA(c), &bytes, sizeof bytes);
      }
      sendmsg(fd_, &header, MSG_DONTWAIT);
      begin = end;
    }
  }

  bool receive_runs(EndEvents& events) {
    bool any = false;
    for (;;) {
      runs_->reset();
      const int got = recvmmsg(fd_, runs_->headers.data(), kRuns, MSG_DONTWAIT, nullptr);
      if (got <= 0) return any;
      any = true;
      for (size_t i = 0; i < static_cast<size_t>(got); ++i) {
        const size_t step = runs_->step(i);
        for (size_t at = 0; at < runs_->headers[i].msg_len; at += step) {
          take(runs_->buffers[i].data() + at, std::min<size_t>(step, runs_->headers[i].msg_len - at),
               runs_->peers[i], events);
        }
      }
      if (got < static_cast<int>(kRuns)) return any;
    }
  }

  bool opens(uint8_t* data, size_t bytes, const Peer& peer, unsigned long long* opened) const {
    uint8_t* text = data + kNonceBytes;
    *opened = bytes - kNonceBytes;
    if (sealing_ == Sealing::kNone) return true;
    if (sealing_ == Sealing::kAes256) {
      return crypto_aead_aes256gcm_decrypt_afternm(text, opened, nullptr, text, bytes - kNonceBytes, nullptr,
                                                   0, data, &peer.aes) == 0;
    }
    return crypto_aead_chacha20poly1305_ietf_decrypt(text, opened, nullptr, text, bytes - kNonceBytes,
                                                     nullptr, 0, data, peer.key.data()) == 0;
  }

  void take(uint8_t* data, size_t bytes, const sockaddr_in& from, EndEvents& events) {
    uint32_t id = 0;
    if (bytes < kNonceBytes) return;
    std::memcpy(&id, data, sizeof id);
    const uint32_t index = id - first_id_;
    if (index >= peers_.size()) return;
    Peer& peer = peers_[index];
    unsigned long long opened = 0;
    if (!opens(data, bytes, peer, &opened)) return;
    peer.address = from;
    peer.known = true;
    if (!peer.announced) {
      peer.announced = true;
      if (!is_client_) send(index, Delivery::kUnreliable, {});
      events.on_connected(index);
    }
    const uint8_t* at = data + kNonceBytes;
    for (size_t left = opened; left >= kSizeBytes;) {
      uint16_t size = 0;
      std::memcpy(&size, at, kSizeBytes);
      if (left < kSizeBytes + size) return;
      if (size != 0) events.on_message(index, {at + kSizeBytes, size});
      at += kSizeBytes + size;
      left -= kSizeBytes + size;
    }
  }

  Sealing sealing_;
  int fd_ = -1;
  bool is_client_ = false;
  uint32_t first_id_ = 0;
  std::vector<Peer> peers_;
  Batch incoming_, outgoing_;
  std::array<uint32_t, kBatch> owners_{};
  std::unique_ptr<Runs> runs_;  // Null: a datagram at a time for the kernel.
};

bool can_seal(Sealing sealing) {
  return sodium_init() >= 0 && (sealing != Sealing::kAes256 || crypto_aead_aes256gcm_is_available() != 0);
}

template <Sealing kSealing, bool kJoins = false>
std::unique_ptr<End> serve(uint32_t max_clients) {
  auto end = std::make_unique<FloorEnd>(kSealing, kJoins);
  if (!can_seal(kSealing) || !end->open(max_clients, 0)) return nullptr;
  return end;
}

template <Sealing kSealing, bool kJoins = false>
std::unique_ptr<End> connect(uint16_t port, uint32_t index) {
  auto end = std::make_unique<FloorEnd>(kSealing, kJoins);
  if (!can_seal(kSealing) || !end->open(1, index)) return nullptr;
  end->connect_to(port);
  return end;
}

}  // namespace

const Contender kUdpContender = {"udp", serve<Sealing::kNone>, connect<Sealing::kNone>};
const Contender kUdpAeadContender = {"udp-aead", serve<Sealing::kChaCha20>, connect<Sealing::kChaCha20>};
const Contender kUdpAesContender = {"udp-aes", serve<Sealing::kAes256>, connect<Sealing::kAes256>};
const Contender kBulkFloorContender = {"udp-aead-runs", serve<Sealing::kChaCha20, true>,
                                       connect<Sealing::kChaCha20, true>};
const Contender kBulkAesFloorContender = {"udp-aes-runs", serve<Sealing::kAes256, true>,
                                          connect<Sealing::kAes256, true>};

}  // namespace bench
