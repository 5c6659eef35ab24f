// The floor under a game server: the least a process can do that exchanges as many encrypted datagrams.
//
//   floor-udp serve --clients N --rate DATAGRAMS --bytes BYTES     per client and second, towards clients
//   floor-udp load  --clients N --rate DATAGRAMS --bytes BYTES --port P
//
// `serve` prints its port, wakes 60 times a second, takes everything with recvmmsg, opens each datagram with
// ChaCha20-Poly1305 (libsodium, a key per client), seals what is due and hands it over with sendmmsg. It
// simulates nothing, replicates nothing, resends nothing and stores nothing: the additional time of a real
// server is the cost of these. Every datagram has the mean size that was measured.
//
//   client u32 | counter u64 | ciphertext | tag 16        the first 12 bytes are the nonce
#include <arpa/inet.h>
#include <sodium.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <vector>

namespace {

constexpr size_t kBatch = 64;
constexpr size_t kMaxBytes = 1500;
constexpr size_t kNonceBytes = crypto_aead_chacha20poly1305_ietf_NPUBBYTES;
constexpr size_t kOverheadBytes = kNonceBytes + crypto_aead_chacha20poly1305_ietf_ABYTES;
constexpr int kWakesPerSecond = 60;
constexpr int kLoadPhases = 4;  // the load sends a quarter of the clients at a time, as real ones are spread
constexpr int kSocketBufferBytes = 4 << 20;

using Key = std::array<uint8_t, crypto_aead_chacha20poly1305_ietf_KEYBYTES>;
using Buffer = std::array<uint8_t, kMaxBytes>;

struct Arguments {
  uint32_t clients = 0;
  double rate = 0;
  size_t bytes = 0;
  uint16_t port = 0;
};

/// Keys that both processes can compute. They protect nothing.
Key key_of(uint32_t client) {
  Key key{};
  std::memcpy(key.data(), &client, sizeof client);
  return key;
}

int open_socket() {
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &kSocketBufferBytes, sizeof kSocketBufferBytes);
  setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &kSocketBufferBytes, sizeof kSocketBufferBytes);
  return fd;
}

sockaddr_in loopback(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

/// Wakes at a fixed rate, and skips missed times.
class Pacer {
 public:
  explicit Pacer(int per_second) : interval_ns_(1'000'000'000 / per_second) {
    clock_gettime(CLOCK_MONOTONIC, &next_);
  }
  void wait() {
    next_.tv_nsec += interval_ns_;
    if (next_.tv_nsec >= 1'000'000'000) next_.tv_nsec -= 1'000'000'000, ++next_.tv_sec;
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next_, nullptr);
  }

 private:
  long interval_ns_;
  timespec next_{};
};

/// Buffers and headers of one recvmmsg or sendmmsg.
struct Batch {
  std::array<Buffer, kBatch> buffers;
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
  void flush(int fd) {
    if (count > 0) sendmmsg(fd, headers.data(), count, MSG_DONTWAIT);
    count = 0;
  }
  unsigned receive(int fd) {
    for (mmsghdr& header : headers) header.msg_hdr.msg_namelen = sizeof(sockaddr_in);
    const int got = recvmmsg(fd, headers.data(), kBatch, MSG_DONTWAIT, nullptr);
    return got > 0 ? static_cast<unsigned>(got) : 0;
  }
};

struct Client {
  Key key;
  sockaddr_in address{};
  uint64_t counter = 0;
  bool known = false;
};

/// Writes one sealed datagram of `bytes` into `out`. `side` keeps the nonces of both directions apart.
void seal(uint8_t* out, size_t bytes, uint32_t id, uint32_t side, Client& client) {
  static constexpr Buffer kPlain{};
  const uint64_t counter = ++client.counter << 1 | side;
  std::memcpy(out, &id, sizeof id);
  std::memcpy(out + sizeof id, &counter, sizeof counter);
  unsigned long long sealed = 0;
  crypto_aead_chacha20poly1305_ietf_encrypt(out + kNonceBytes, &sealed, kPlain.data(), bytes - kOverheadBytes,
                                            nullptr, 0, nullptr, out, client.key.data());
}

std::vector<Client> make_clients(uint32_t count) {
  std::vector<Client> clients(count);
  for (uint32_t i = 0; i < count; ++i) clients[i].key = key_of(i);
  return clients;
}

// ---- The floor -----------------------------------------------------------------------------------------

/// Opens everything that has arrived and learns addresses from what opens.
void take(int fd, Batch& batch, std::vector<Client>& clients) {
  Buffer plain;
  while (const unsigned got = batch.receive(fd)) {
    for (unsigned i = 0; i < got; ++i) {
      const uint8_t* data = batch.buffers[i].data();
      const size_t bytes = batch.headers[i].msg_len;
      uint32_t id = 0;
      std::memcpy(&id, data, sizeof id);
      if (bytes < kOverheadBytes || id >= clients.size()) continue;
      unsigned long long opened = 0;
      if (crypto_aead_chacha20poly1305_ietf_decrypt(plain.data(), &opened, nullptr, data + kNonceBytes,
                                                    bytes - kNonceBytes, nullptr, 0, data,
                                                    clients[id].key.data()) != 0) {
        continue;
      }
      clients[id].address = batch.peers[i];
      clients[id].known = true;
    }
    if (got < kBatch) break;
  }
}

int serve(const Arguments& arguments) {
  const int fd = open_socket();
  sockaddr_in address = loopback(0);
  socklen_t length = sizeof address;
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    return 1;
  }
  std::printf("%u\n", ntohs(address.sin_port));
  std::fflush(stdout);

  std::vector<Client> clients = make_clients(arguments.clients);
  const auto incoming = std::make_unique<Batch>();
  const auto outgoing = std::make_unique<Batch>();
  double due = 0;
  size_t turn = 0;
  for (Pacer pacer(kWakesPerSecond);; pacer.wait()) {
    take(fd, *incoming, clients);
    for (due += arguments.rate * arguments.clients / kWakesPerSecond; due >= 1; due -= 1) {
      const auto id = static_cast<uint32_t>(turn++ % clients.size());
      if (!clients[id].known) continue;
      const unsigned at = outgoing->count++;
      seal(outgoing->buffers[at].data(), arguments.bytes, id, 0, clients[id]);
      outgoing->parts[at].iov_len = arguments.bytes;
      outgoing->peers[at] = clients[id].address;
      if (outgoing->count == kBatch) outgoing->flush(fd);
    }
    outgoing->flush(fd);
  }
}

// ---- The load ------------------------------------------------------------------------------------------

int load(const Arguments& arguments) {
  std::vector<Client> clients = make_clients(arguments.clients);
  std::vector<int> sockets;
  const sockaddr_in server = loopback(arguments.port);
  for (uint32_t i = 0; i < arguments.clients; ++i) {
    const int fd = open_socket();
    if (fd < 0 || connect(fd, reinterpret_cast<const sockaddr*>(&server), sizeof server) != 0) return 1;
    sockets.push_back(fd);
  }
  Buffer buffer;
  std::vector<double> due(arguments.clients, 0.0);
  int phase = 0;
  for (Pacer pacer(kWakesPerSecond * kLoadPhases);; pacer.wait(), phase = (phase + 1) % kLoadPhases) {
    for (auto i = static_cast<uint32_t>(phase); i < arguments.clients; i += kLoadPhases) {
      for (due[i] += arguments.rate / kWakesPerSecond; due[i] >= 1; due[i] -= 1) {
        seal(buffer.data(), arguments.bytes, i, 1, clients[i]);
        if (send(sockets[i], buffer.data(), arguments.bytes, MSG_DONTWAIT) < 0) break;
      }
      while (recv(sockets[i], buffer.data(), buffer.size(), MSG_DONTWAIT) > 0) {
      }
    }
  }
}

bool read_arguments(int argc, char** argv, Arguments* out) {
  for (int i = 2; i + 1 < argc; i += 2) {
    const double value = std::strtod(argv[i + 1], nullptr);
    if (std::strcmp(argv[i], "--clients") == 0) out->clients = static_cast<uint32_t>(value);
    if (std::strcmp(argv[i], "--rate") == 0) out->rate = value;
    if (std::strcmp(argv[i], "--bytes") == 0) out->bytes = static_cast<size_t>(value);
    if (std::strcmp(argv[i], "--port") == 0) out->port = static_cast<uint16_t>(value);
  }
  out->bytes = std::clamp(out->bytes, kOverheadBytes, kMaxBytes);
  return out->clients >= 1 && out->clients <= 4096 && out->rate > 0 && out->rate <= 10000;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  const bool serves = argc > 1 && std::strcmp(argv[1], "serve") == 0;
  const bool loads = argc > 1 && std::strcmp(argv[1], "load") == 0;
  if ((!serves && !loads) || !read_arguments(argc, argv, &arguments) || sodium_init() < 0) {
    std::fprintf(stderr, "floor-udp serve|load --clients N --rate R --bytes B [--port P]\n");
    return 2;
  }
  const int exit = serves ? serve(arguments) : load(arguments);
  std::perror("floor-udp");
  return exit;
}
