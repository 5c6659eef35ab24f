#include "hostile/attacks.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/random.h"
#include "replication/rpc_codec.h"
#include "replication/scene.h"
#include "serialization/layout.h"
#include "simulation/input_codec.h"
#include "simulation/input_history.h"
#include "transport/wire/keepalive_body.h"
#include "transport/wire/message_framing.h"

namespace bench {
namespace {

using namespace lattice;

constexpr size_t kPlaintextBytes = 1150;  // fits every packet of 1200 bytes
constexpr uint32_t kInputs = 32;
constexpr wire::ChannelTable kChannels;

/// A payload that is filled with messages, after its acknowledgement.
class Payload {
 public:
  explicit Payload(const RawPlayer& player) : writer_(bytes_) {
    wire::write_ack_message(writer_, player.ack(), true, 0);
  }
  /// False when it is full.
  bool add(wire::Channel channel, uint8_t flags, uint16_t id, std::span<const uint8_t> body,
           const wire::FragmentHeader& fragment = {}) {
    wire::MessageHead head;
    head.channel = static_cast<uint8_t>(channel);
    head.mode = kChannels.mode(channel);
    head.flags = flags;
    head.id = base::Sequence16{id};
    head.fragment = fragment;
    return wire::write_message(writer_, head, nullptr, body);
  }
  bool add_ack(const wire::AckBlock& ack) { return wire::write_ack_message(writer_, ack, true, 0); }
  void send(RawPlayer& player) { player.send(wire::PacketType::kPayload, plaintext()); }
  std::span<const uint8_t> plaintext() { return std::span(bytes_).first(writer_.size()); }

 private:
  std::array<uint8_t, kPlaintextBytes> bytes_{};
  base::ByteWriter writer_;
};

/// Inputs of the last `count` ticks, all different.
class InputMessage {
 public:
  explicit InputMessage(uint32_t count) : count_(count) {
    std::string error;
    const lattice_input_desc desc = input_desc<Keys>();
    serialization::Layout::compile_structure(*desc.structure, false, &layout_, &error);
  }
  std::vector<uint8_t> make(uint32_t tick) {
    simulation::InputHistory history(layout_.word_count());
    std::array<serialization::Word, 16> words{};
    for (uint32_t t = tick - count_ + 1; t != tick + 1; ++t) {
      Keys keys;
      keys.forward = static_cast<int8_t>(t & 1), keys.right = static_cast<int8_t>(t & 3);
      keys.buttons = static_cast<uint8_t>(t);
      const void* host = &keys;
      layout_.quantize(&host, words.data());
      history.push(t, std::span(words).first(layout_.word_count()), {t - 8, t * 37 % 256, t - 7});
    }
    std::vector<uint8_t> body(kPlaintextBytes);
    body.resize(simulation::encode_inputs(layout_, history, 16, body));
    return body;
  }

 private:
  uint32_t count_;
  serialization::Layout layout_;
};

/// A datagram full of messages of inputs, each new to the server.
class Inputs final : public Attack {
 public:
  explicit Inputs(uint32_t per_message) : message_(per_message) {}
  void send_one(RawPlayer& player, uint64_t now_ns) override {
    const uint32_t tick = player.near_tick(now_ns);
    if (body_.empty() || tick != tick_) tick_ = tick, body_ = message_.make(tick);
    Payload payload(player);
    while (payload.add(wire::Channel::kUnreliableSequenced, wire::kFlagSnapshot, id_, body_)) ++id_;
    payload.send(player);
  }

 private:
  InputMessage message_;
  std::vector<uint8_t> body_;
  uint32_t tick_ = 0;
  uint16_t id_ = 0;
};

/// A datagram full of the shortest messages of the game.
class Messages final : public Attack {
 public:
  explicit Messages(wire::Channel channel) : channel_(channel) {}
  void send_one(RawPlayer& player, uint64_t) override {
    Payload payload(player);
    while (payload.add(channel_, 0, id_, {})) ++id_;
    payload.send(player);
  }

 private:
  wire::Channel channel_;
  uint16_t id_ = 0;
};

/// Reliable messages behind one that never comes: all that a window has room for, again and again.
class Gaps final : public Attack {
 public:
  void send_one(RawPlayer& player, uint64_t) override {
    constexpr uint16_t kWindow = 256;
    constexpr std::array<uint8_t, 1> kBody = {7};
    Payload payload(player);
    while (payload.add(wire::Channel::kReliableOrdered, 0, static_cast<uint16_t>(1 + next_ % (kWindow - 1)),
                       kBody)) {
      ++next_;
    }
    payload.send(player);
  }

 private:
  uint32_t next_ = 0;
};

/// First fragments of the longest messages; none is ever completed.
class Fragments final : public Attack {
 public:
  Fragments(wire::Channel channel, size_t body_bytes) : channel_(channel), body_(body_bytes) {}
  void send_one(RawPlayer& player, uint64_t) override {
    const bool is_reliable = wire::is_reliable(kChannels.mode(channel_));
    Payload payload(player);
    for (;;) {
      const wire::FragmentHeader fragment = {group_, static_cast<uint8_t>(is_reliable ? 1 + index_ : 0), 256};
      const auto id = static_cast<uint16_t>(is_reliable ? 1 + index_ : 0);
      if (!payload.add(channel_, wire::kFlagFragment, id, body_, fragment)) break;
      if (is_reliable) {
        index_ = (index_ + 1) % 254;
      } else {
        ++group_;
      }
    }
    payload.send(player);
  }

 private:
  wire::Channel channel_;
  std::vector<uint8_t> body_;
  uint16_t group_ = 0;
  uint32_t index_ = 0;
};

/// Calls on an object that the player does not own, and on one that nobody knows.
class Calls final : public Attack {
 public:
  void send_one(RawPlayer& player, uint64_t now_ns) override {
    Payload payload(player);
    std::array<uint8_t, 64> body;
    for (;; ++next_) {
      replication::RpcHeader header;
      header.network_id = next_ % 2 == 0 ? 1 : 1'000'000 + next_;
      header.rpc_id = 1;
      header.tick = player.near_tick(now_ns) + 20;
      const size_t bytes = codec_.encode(header, nullptr, nullptr, body);
      if (!payload.add(wire::Channel::kUnreliable, wire::kFlagRpc, 0, std::span(body).first(bytes))) break;
    }
    payload.send(player);
  }

 private:
  replication::RpcCodec codec_;
  uint32_t next_ = 0;
};

/// A payload full of acknowledgements of one snapshot after another.
class Acks final : public Attack {
 public:
  void send_one(RawPlayer& player, uint64_t) override {
    Payload payload(player);
    while (payload.add_ack(player.ack())) {
    }
    payload.send(player);
  }
};

/// Keepalives that want an answer.
class Questions final : public Attack {
 public:
  explicit Questions(uint8_t flags) : flags_(flags) {}
  void send_one(RawPlayer& player, uint64_t now_ns) override {
    wire::KeepaliveBody body;
    body.flags = flags_;
    body.ack = player.ack();
    body.probe_us = now_ns / 1000;
    body.challenge.fill(static_cast<uint8_t>(now_ns));
    std::array<uint8_t, wire::kMaxKeepaliveBodyBytes> bytes;
    player.send(wire::PacketType::kKeepalive, std::span(bytes).first(wire::encode_keepalive(body, bytes)));
  }

 private:
  uint8_t flags_;
};

class Forgeries final : public Attack {
 public:
  void send_one(RawPlayer& player, uint64_t) override {
    const std::array<uint8_t, kPlaintextBytes> bytes{};
    player.send_forged(bytes);
  }
};

class Repetitions final : public Attack {
 public:
  void send_one(RawPlayer& player, uint64_t) override { player.send_again(); }
};

/// From another port in each datagram.
class Moves final : public Attack {
 public:
  void send_one(RawPlayer& player, uint64_t) override {
    player.move();
    Payload(player).send(player);
  }
};

constexpr std::array<std::string_view, 14> kNames = {
    "inputs", "input_windows", "messages", "sequenced",       "gaps",      "fragments",   "held_fragments",
    "calls",  "acks",          "probes",   "path_challenges", "forgeries", "repetitions", "moves"};

}  // namespace

std::span<const std::string_view> attack_names() {
  return kNames;
}

std::unique_ptr<Attack> make_attack(std::string_view name) {
  using wire::Channel;
  if (name == "inputs") return std::make_unique<Inputs>(1);
  if (name == "input_windows") return std::make_unique<Inputs>(kInputs);
  if (name == "messages") return std::make_unique<Messages>(Channel::kUnreliable);
  if (name == "sequenced") return std::make_unique<Messages>(Channel::kUnreliableSequenced);
  if (name == "gaps") return std::make_unique<Gaps>();
  if (name == "fragments") return std::make_unique<Fragments>(Channel::kUnreliable, 1);
  if (name == "held_fragments") return std::make_unique<Fragments>(Channel::kReliableUnordered, 1100);
  if (name == "calls") return std::make_unique<Calls>();
  if (name == "acks") return std::make_unique<Acks>();
  if (name == "probes") {
    return std::make_unique<Questions>(
        static_cast<uint8_t>(wire::kKeepaliveProbe | wire::kKeepaliveAckRequested));
  }
  if (name == "path_challenges") return std::make_unique<Questions>(wire::kKeepalivePathChallenge);
  if (name == "forgeries") return std::make_unique<Forgeries>();
  if (name == "repetitions") return std::make_unique<Repetitions>();
  if (name == "moves") return std::make_unique<Moves>();
  return nullptr;
}

}  // namespace bench
