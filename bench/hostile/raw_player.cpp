#include "hostile/raw_player.h"

#include <algorithm>

#include "platform/clock.h"
#include "replication/scene.h"
#include "transport/lattice_keys.h"
#include "transport/wire/disconnect_body.h"
#include "transport/wire/keepalive_body.h"

namespace bench {

using namespace lattice;

namespace {

constexpr uint32_t kLeadTicks = 4;  // loopback

std::unique_ptr<socket::UdpSocket> open_socket() {
  return socket::UdpSocket::open(platform::make_ipv4(127, 0, 0, 1, 0));
}

}  // namespace

RawPlayer::RawPlayer(uint16_t port, uint64_t schema_id, uint32_t index)
    : server_(base::ipv4_path(127, 0, 0, 1, port)), socket_(open_socket()) {
  if (!socket_) return;
  crypto::KeyPair key = crypto::KeyPair::generate(entropy_);
  connection::ClientHandshakeConfig config;
  config.schema_id = schema_id;
  config.tick_rate_hz = kTickRateHz;
  config.max_objects = 1u << 20;
  const std::vector<uint8_t> token = make_token(key.public_key(), index);
  handshake_.emplace(config, server_, token, std::move(key));
  handshake_->start(platform::monotonic_ns(), *this);
}

void RawPlayer::emit(const base::PathId& to, std::span<const uint8_t> datagram) {
  last_.assign(datagram.begin(), datagram.end());
  const socket::Datagram out{to, static_cast<uint32_t>(last_.size()), last_.data()};
  socket_->send({&out, 1}, platform::monotonic_ns());
  ++sent_;
}

void RawPlayer::hear(uint64_t now_ns) {
  if (!link_) handshake_->update(now_ns, platform::unix_seconds(), *this);
  std::array<uint8_t, socket::kMaxDatagramBytes> buffer;
  socket::Datagram in{{}, 0, buffer.data()};
  while (socket_->receive({&in, 1}, now_ns).count == 1) read({in.data, in.size}, in.peer, now_ns);
}

void RawPlayer::read(std::span<uint8_t> datagram, const base::PathId& from, uint64_t now_ns) {
  if (link_) {
    const auto opened = link_->open(datagram);
    if (opened) note_number(opened.packet_seq);
    return;
  }
  connection::ClientResult result = handshake_->on_datagram(from, datagram, now_ns, *this);
  if (!result.accepted) return;
  link_.emplace(wire::kProtocolId, result.accepted->connection_id, crypto::Role::kClient,
                std::move(result.accepted->master));
  first_tick_ = result.accepted->server_tick, first_ns_ = now_ns;
}

void RawPlayer::note_number(uint64_t number) {
  if (number > highest_) {
    const uint64_t step = number - highest_;
    bits_ = step > 32 ? 0 : static_cast<uint32_t>((uint64_t{bits_} << 1 | 1) << (step - 1));
    highest_ = number;
  } else if (const uint64_t behind = highest_ - number; behind >= 1 && behind <= 32) {
    bits_ |= 1u << (behind - 1);
  }
}

uint32_t RawPlayer::near_tick(uint64_t now_ns) const {
  return first_tick_ + static_cast<uint32_t>((now_ns - first_ns_) * kTickRateHz / 1'000'000'000) + kLeadTicks;
}

std::span<const uint8_t> RawPlayer::seal(wire::PacketType type, std::span<const uint8_t> plaintext) {
  std::copy(plaintext.begin(), plaintext.end(), out_.begin() + wire::kMaxHeaderBytes);
  const auto sealed = link_->seal(type, out_, wire::kMaxHeaderBytes, plaintext.size());
  return sealed ? sealed->datagram : std::span<const uint8_t>();
}

void RawPlayer::send(wire::PacketType type, std::span<const uint8_t> plaintext) {
  emit(server_, seal(type, plaintext));
}

void RawPlayer::send_forged(std::span<const uint8_t> plaintext) {
  const auto sealed = seal(wire::PacketType::kPayload, plaintext);
  std::vector<uint8_t> forged(sealed.begin(), sealed.end());
  forged.back() ^= 1;
  emit(server_, forged);
}

void RawPlayer::acknowledge() {
  wire::KeepaliveBody body;
  body.ack = ack();
  std::array<uint8_t, wire::kMaxKeepaliveBodyBytes> bytes;
  send(wire::PacketType::kKeepalive, std::span(bytes).first(wire::encode_keepalive(body, bytes)));
}

void RawPlayer::send_again() {
  const std::vector<uint8_t> last = last_;
  emit(server_, last);
}

void RawPlayer::move() {
  if (auto other = open_socket()) socket_ = std::move(other);
}

void RawPlayer::leave() {
  if (!link_) return;
  std::array<uint8_t, 64> body;
  const size_t bytes = wire::encode_disconnect({.reason = 1, .is_acknowledgement = false, .text = {}}, body);
  for (int i = 0; i < 3; ++i) send(wire::PacketType::kDisconnect, std::span(body).first(bytes));
}

}  // namespace bench
