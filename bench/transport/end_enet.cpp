// ENet as a contender: two channels, the library's defaults, and socket buffers as large as everybody's.
#include <enet/enet.h>
#include <poll.h>

#include <algorithm>
#include <ctime>

#include "transport/end.h"

namespace bench {
namespace {

constexpr enet_uint8 kUnreliableChannel = 0;
constexpr enet_uint8 kReliableChannel = 1;
constexpr size_t kChannels = 2;
constexpr int kSocketBufferBytes = 4 << 20;
constexpr enet_uint32 kTimeoutMs = 30'000;

class EnetEnd final : public End {
 public:
  ~EnetEnd() override {
    if (host_ != nullptr) enet_host_destroy(host_);
  }

  bool open(const ENetAddress* bind_to, size_t peers) {
    static const bool initialized = enet_initialize() == 0;
    host_ = initialized ? enet_host_create(bind_to, peers, kChannels, 0, 0) : nullptr;
    if (host_ == nullptr) return false;
    enet_socket_set_option(host_->socket, ENET_SOCKOPT_RCVBUF, kSocketBufferBytes);
    enet_socket_set_option(host_->socket, ENET_SOCKOPT_SNDBUF, kSocketBufferBytes);
    return true;
  }
  void connect_at_first_flush(uint16_t port) { connect_port_ = port; }

  bool receive(EndEvents& events) override {
    bool any = false;
    ENetEvent event;
    while (enet_host_service(host_, &event, 0) > 0) {
      any = true;
      const uint32_t peer = event.peer->incomingPeerID;
      switch (event.type) {
        case ENET_EVENT_TYPE_CONNECT:
          enet_peer_timeout(event.peer, 0, kTimeoutMs, kTimeoutMs);
          events.on_connected(peer);
          break;
        case ENET_EVENT_TYPE_DISCONNECT:
          events.on_disconnected(peer);
          break;
        case ENET_EVENT_TYPE_RECEIVE:
          events.on_message(peer, {event.packet->data, event.packet->dataLength});
          enet_packet_destroy(event.packet);
          break;
        case ENET_EVENT_TYPE_NONE:
          break;
      }
    }
    return any;
  }

  bool send(uint32_t peer, Delivery delivery, std::span<const uint8_t> body) override {
    const bool reliable = delivery == Delivery::kReliableOrdered;
    const enet_uint32 flags = reliable ? enet_uint32{ENET_PACKET_FLAG_RELIABLE} : 0;
    ENetPacket* packet = enet_packet_create(body.data(), body.size(), flags);
    if (packet == nullptr) return false;
    if (enet_peer_send(&host_->peers[peer], reliable ? kReliableChannel : kUnreliableChannel, packet) == 0) {
      return true;
    }
    enet_packet_destroy(packet);
    return false;
  }

  void flush() override {
    if (connect_port_ != 0) {
      ENetAddress address{};
      enet_address_set_host_ip(&address, "127.0.0.1");
      address.port = connect_port_;
      enet_host_connect(host_, &address, kChannels, 0);
      connect_port_ = 0;
    }
    enet_host_flush(host_);
  }

  void disconnect(uint32_t peer) override { enet_peer_disconnect(&host_->peers[peer], 0); }

  void wait(uint64_t timeout_ns) override {
    pollfd readable = {host_->socket, POLLIN, 0};
    const timespec timeout = {0, static_cast<long>(std::min<uint64_t>(timeout_ns, 999'999'999))};
    ppoll(&readable, 1, &timeout, nullptr);
  }

  uint16_t port() const override {
    ENetAddress address{};
    enet_socket_get_address(host_->socket, &address);
    return address.port;
  }
  bool has_back_pressure() const override { return false; }

 private:
  ENetHost* host_ = nullptr;
  uint16_t connect_port_ = 0;
};

std::unique_ptr<End> serve(uint32_t max_clients) {
  auto end = std::make_unique<EnetEnd>();
  ENetAddress address{};
  enet_address_set_host_ip(&address, "127.0.0.1");
  address.port = ENET_PORT_ANY;
  if (!end->open(&address, max_clients)) return nullptr;
  return end;
}

std::unique_ptr<End> connect(uint16_t port, uint32_t) {
  auto end = std::make_unique<EnetEnd>();
  if (!end->open(nullptr, 1)) return nullptr;
  end->connect_at_first_flush(port);
  return end;
}

}  // namespace

const Contender kEnetContender = {"enet", serve, connect};

}  // namespace bench
