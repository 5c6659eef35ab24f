// A player with a valid token that follows no rule after the handshake: it seals any given plaintext. It
// reads what it is sent, so that it can acknowledge truthfully.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/byte_cursor.h"
#include "transport/connection/client_handshake.h"
#include "transport/connection/secure_link.h"
#include "transport/crypto/entropy.h"
#include "transport/socket/udp_socket.h"
#include "transport/wire/ack_block.h"

namespace bench {

class RawPlayer final : private lattice::connection::DatagramSink {
 public:
  /// `index` makes its token different from the others'.
  RawPlayer(uint16_t port, uint64_t schema_id, uint32_t index);

  bool ok() const { return socket_ != nullptr; }
  /// Goes on with the handshake until it is connected, then reads what has come.
  void hear(uint64_t now_ns);
  bool is_connected() const { return link_.has_value(); }

  /// Sends a sealed packet.
  void send(lattice::wire::PacketType type, std::span<const uint8_t> plaintext);
  /// The same, with a tag that is wrong.
  void send_forged(std::span<const uint8_t> plaintext);
  /// Tells what has come, and is heard.
  void acknowledge();
  /// Sends the last packet once more.
  void send_again();
  /// What it sends from now on comes from another port.
  void move();
  /// Ends the connection.
  void leave();

  /// Of what came: R-1.
  lattice::wire::AckBlock ack() const { return {static_cast<uint16_t>(highest_), bits_}; }
  /// A tick that the server will run soon.
  uint32_t near_tick(uint64_t now_ns) const;
  uint64_t sent() const { return sent_; }

 private:
  void emit(const lattice::base::PathId& to, std::span<const uint8_t> datagram) override;
  std::span<const uint8_t> seal(lattice::wire::PacketType type, std::span<const uint8_t> plaintext);
  void read(std::span<uint8_t> datagram, const lattice::base::PathId& from, uint64_t now_ns);
  void note_number(uint64_t number);

  lattice::crypto::SystemEntropy entropy_;
  lattice::base::PathId server_;
  std::unique_ptr<lattice::socket::UdpSocket> socket_;
  std::optional<lattice::connection::ClientHandshake> handshake_;
  std::optional<lattice::connection::SecureLink> link_;
  uint32_t first_tick_ = 0;
  uint64_t first_ns_ = 0;
  uint64_t highest_ = 0;
  uint32_t bits_ = 0;
  uint64_t sent_ = 0;
  std::array<uint8_t, lattice::socket::kMaxDatagramBytes> out_{};
  std::vector<uint8_t> last_;
};

}  // namespace bench
