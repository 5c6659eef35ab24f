// The peer of a connection under fuzzing. It has the right keys and records truthfully what it received, so
// that each step of an input can be honest or hostile.
#pragma once

#include <deque>

#include "fragment/fragmenting_endpoint.h"
#include "transport/connection/key_rotation.h"
#include "transport/wire/control_body.h"
#include "transport/wire/keepalive_body.h"
#include "unit/reliability/raw_end.h"

namespace lattice::fuzz {

/// `AnyEndpoint` is the type of the endpoints of the rig.
template <class AnyEndpoint>
class ScriptedPeerOf {
 public:
  using Rig = test::RigOf<AnyEndpoint>;
  using RawEnd = test::RawEndOf<AnyEndpoint>;

  /// `raw`, in `role`, borrowed, is connected before anything is sent.
  ScriptedPeerOf(RawEnd& raw, crypto::Role role, const wire::ChannelTable& channels)
      : rig_(raw.rig), channels_(channels), raw_(raw), rotation_(role, quick_rotation(), rig_.now_ns) {}

  /// Opens and records every datagram that arrived; the first `lose` datagrams are lost.
  void hear(size_t lose) {
    test::Bytes buffer(socket::kMaxDatagramBytes);
    socket::Datagram in{{}, 0, buffer.data()};
    while (raw_.socket->receive({&in, 1}, rig_.now_ns).count == 1) {
      if (lose > 0) {
        --lose;
        continue;
      }
      const auto opened = raw_.link->open({in.data, in.size});
      if (!opened) continue;
      note_number(opened.packet_seq);
      rotation_.on_opened(*raw_.link, opened.epoch, in.size, rig_.now_ns, kRttNs);
      if (opened.type == wire::PacketType::kPayload) read_control(opened.plaintext);
      wire::KeepaliveBody keepalive;
      if (opened.type == wire::PacketType::kKeepalive &&
          wire::parse_keepalive(opened.plaintext, &keepalive) &&
          (keepalive.flags & wire::kKeepalivePathChallenge) != 0) {
        challenge_ = keepalive.challenge;
      }
    }
  }

  /// Seals `plaintext` and sends it; from `spoofed` if that is given.
  void send(wire::PacketType type, std::span<const uint8_t> plaintext,
            const base::PathId* spoofed = nullptr) {
    raw_.seal(type, plaintext, [&](std::span<const uint8_t> datagram) {
      sent_.emplace_back(datagram.begin(), datagram.end());
      if (sent_.size() > kRememberedDatagrams) sent_.pop_front();
      if (spoofed != nullptr) {
        inject(*spoofed, datagram);
      } else {
        raw_.emit(raw_.peer_address, datagram);
      }
    });
  }
  /// Sends a payload of one message. Every payload has an acknowledgement, so an ack message goes first
  /// if the message has none.
  void send_message(const wire::Message& message) {
    std::array<uint8_t, socket::kMaxDatagramBytes> plaintext;
    base::ByteWriter writer(std::span<uint8_t>(plaintext).first(wire::kFloorPlaintextBytes));
    if (!message.has_ack) wire::write_ack_message(writer, ack(), true, 0);
    wire::write_message(writer, message);
    send(wire::PacketType::kPayload, std::span(plaintext).first(writer.size()));
  }

  /// Sends an acknowledgement alone, true or not.
  void send_ack(const wire::AckBlock& ack) {
    std::array<uint8_t, wire::kAckMessageWithDelayBytes> plaintext;
    base::ByteWriter writer(plaintext);
    wire::write_ack_message(writer, ack, true, 0);
    send(wire::PacketType::kPayload, std::span(plaintext).first(writer.size()));
  }

  /// Sends the `index`-th newest datagram again, unchanged.
  void replay(size_t index, const base::PathId& from) {
    if (sent_.empty()) return;
    const test::Bytes& datagram = sent_[sent_.size() - 1 - index % sent_.size()];
    inject(from, datagram);
  }
  /// Bytes sent from addresses that are not the peer's.
  uint64_t spoofed_bytes() const { return spoofed_bytes_; }

  /// Answers the newest path challenge, if there was one.
  void answer_challenge() {
    if (!challenge_) return;
    wire::KeepaliveBody body;
    body.flags = wire::kKeepalivePathResponse;
    body.response = *challenge_;
    send_keepalive(body);
  }
  /// Sends a path challenge, as servers do; from `spoofed` if that is given.
  void challenge_path(uint8_t byte, const base::PathId* spoofed) {
    wire::KeepaliveBody body;
    body.flags = wire::kKeepalivePathChallenge;
    body.challenge.fill(byte);
    send_keepalive(body, spoofed);
  }

  /// A step of rotation: begins one, or sends its next message.
  void rotate() {
    rotation_.update(*raw_.link, rig_.entropy, rig_.now_ns);
    if (rotation_.outgoing().empty()) return;
    send_message(next_reliable(wire::Channel::kControl, rotation_.outgoing()));
    rotation_.on_queued();
  }

  /// The peer's address becomes `to`, as behind a NAT.
  void move(const base::PathId& to) {
    if (rig_.network.rebind(raw_.address, to)) raw_.address = to;
  }

  /// The next message of a reliable channel, with a truthful acknowledgement.
  wire::Message next_reliable(wire::Channel channel, std::span<const uint8_t> body) {
    wire::Message message;
    message.channel = static_cast<uint8_t>(channel);
    message.mode = channels_.mode(channel);
    message.id = base::Sequence16{next_id_[message.channel]++};
    message.has_ack = true;
    message.ack = ack();
    message.body = body;
    return message;
  }

  /// The truthful ack block.
  wire::AckBlock ack() const { return {static_cast<uint16_t>(highest_), bitfield_}; }
  uint16_t next_id(uint8_t channel) const { return next_id_[channel]; }
  const base::PathId& address() const { return raw_.address; }

 private:
  void inject(const base::PathId& from, std::span<const uint8_t> datagram) {
    if (from != raw_.address) spoofed_bytes_ += datagram.size();
    rig_.network.inject(from, raw_.peer_address, datagram, rig_.now_ns);
  }

  static constexpr size_t kRememberedDatagrams = 32;
  static constexpr uint64_t kRttNs = 20 * test::kMs;
  static connection::RotationConfig quick_rotation() {
    return {.packets = 1, .min_interval_ns = 0, .min_overlap_ns = 0, .max_overlap_ns = test::kSecond};
  }

  void send_keepalive(wire::KeepaliveBody body, const base::PathId* spoofed = nullptr) {
    body.ack = ack();
    std::array<uint8_t, wire::kMaxKeepaliveBodyBytes> plaintext;
    const size_t bytes = wire::encode_keepalive(body, plaintext);
    send(wire::PacketType::kKeepalive, std::span(plaintext).first(bytes), spoofed);
  }

  void note_number(uint64_t packet_seq) {
    if (packet_seq > highest_) {
      const uint64_t step = packet_seq - highest_;
      bitfield_ = step > 32 ? 0 : static_cast<uint32_t>((uint64_t{bitfield_} << 1 | 1) << (step - 1));
      highest_ = packet_seq;
    } else if (const uint64_t behind = highest_ - packet_seq; behind >= 1 && behind <= 32) {
      bitfield_ |= 1u << (behind - 1);
    }
  }

  void read_control(std::span<const uint8_t> plaintext) {
    wire::MessageReader reader(plaintext, channels_);
    wire::Message message;
    while (reader.next(&message)) {
      if (message.channel != static_cast<uint8_t>(wire::Channel::kControl) || message.body.empty()) continue;
      if (!wire::is_rotation_control_type(message.body[0])) continue;
      // A repetition is refused, and changes nothing.
      rotation_.on_control(message.body, *raw_.link, rig_.entropy, rig_.now_ns);
    }
  }

  Rig& rig_;
  const wire::ChannelTable& channels_;
  RawEnd& raw_;
  connection::KeyRotation rotation_;
  uint64_t spoofed_bytes_ = 0;
  uint64_t highest_ = 0;
  uint32_t bitfield_ = 0;
  std::array<uint16_t, wire::kChannelCount> next_id_{};
  std::optional<std::array<uint8_t, 8>> challenge_;
  std::deque<test::Bytes> sent_;
};
using ScriptedPeer = ScriptedPeerOf<fragment::FragmentingEndpoint>;

}  // namespace lattice::fuzz
