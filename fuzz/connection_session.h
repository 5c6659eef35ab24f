// Fuzzes one connection with many datagrams behind the AEAD: an endpoint, in either role, and a peer with the
// right keys. The input lists the steps of the peer, honest or not; between steps time passes and the
// endpoint sends. So everything of a connection is fuzzed: channels, fragments, large transfers, rotation,
// paths, probes, congestion control, receipts.
//
// A step is  operation u8 (mod 16) · its arguments, as the functions below read them. An input that ends
// early reads zeros. The target endpoint_payload feeds the input itself as plaintexts to an endpoint.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "scripted_peer.h"
#include "transfer/transfers.h"

namespace lattice::fuzz {

using Rig = ScriptedPeer::Rig;
using Node = Rig::Node;

inline void require(bool condition) {
  if (!condition) std::abort();
}

inline constexpr auto kBulk = static_cast<wire::Channel>(13);
inline constexpr size_t kMaxSteps = 200;

class Input {
 public:
  Input(const uint8_t* data, size_t size) : left_(data, size) {}
  bool empty() const { return left_.empty(); }
  uint8_t u8() {
    const std::span<const uint8_t> byte = bytes(1);
    return byte.empty() ? 0 : byte[0];
  }
  uint16_t u16() {
    const uint8_t low = u8();
    return static_cast<uint16_t>(low | u8() << 8);
  }
  std::span<const uint8_t> bytes(size_t count) {
    const std::span<const uint8_t> out = left_.first(std::min(count, left_.size()));
    left_ = left_.subspan(out.size());
    return out;
  }

 private:
  std::span<const uint8_t> left_;
};

/// The endpoint's application: accepts every transfer and checks that none leaves its bounds.
class Application final : public transfer::TransferLink, public transfer::TransferHandler {
 public:
  Application()
      : transfers({.channel = static_cast<uint8_t>(kBulk), .max_size_bytes = 1 << 20}, *this, *this) {}

  void attach(Node& node) {
    node_ = &node;
    node.handler.record = false;
    node.handler.context = this;
    node.handler.on_body = [](void* self, test::ConnectionHandle connection, test::Channel channel,
                              std::span<const uint8_t> body) {
      return static_cast<Application*>(self)->on_body(connection, channel, body);
    };
  }

  bool send_control(test::ConnectionHandle connection, std::span<const uint8_t> body) override {
    return node_->endpoint->send(connection, wire::Channel::kControl, {}, body) == test::SendResult::kOk;
  }
  void close(test::ConnectionHandle connection) override {
    node_->endpoint->disconnect(connection, connection::DisconnectReason::kResourceLimit);
  }
  void wake(test::ConnectionHandle connection) override { node_->endpoint->endpoint().wake(connection); }

  void on_offer(test::ConnectionHandle connection, transfer::TransferId id, uint64_t size_bytes,
                std::span<const uint8_t>) override {
    size_bytes_[id.number] = size_bytes;
    written_bytes_[id.number] = 0;
    transfers.accept(connection, id, {});
  }
  bool read(test::ConnectionHandle, transfer::TransferId, uint64_t, std::span<uint8_t> out) override {
    std::fill(out.begin(), out.end(), uint8_t{7});
    return true;
  }
  bool write(test::ConnectionHandle, transfer::TransferId id, uint64_t offset,
             std::span<const uint8_t> bytes) override {
    const uint64_t size_bytes = size_bytes_.at(id.number);
    require(offset <= size_bytes && bytes.size() <= size_bytes - offset);
    require((written_bytes_[id.number] += bytes.size()) <= size_bytes);  // Each byte comes once.
    return true;
  }
  void on_progress(test::ConnectionHandle, transfer::TransferId, uint64_t done_bytes,
                   uint64_t size_bytes) override {
    require(done_bytes <= size_bytes);
  }
  void on_end(test::ConnectionHandle, transfer::TransferId, transfer::TransferEnding) override {}

  transfer::Transfers transfers;

 private:
  reliability::Verdict on_body(test::ConnectionHandle connection, test::Channel channel,
                               std::span<const uint8_t> body) {
    auto refusal = transfer::TransferRefusal::kNone;
    if (channel == wire::Channel::kControl && wire::is_transfer_control_type(body[0])) {
      refusal = transfers.on_control(connection, body);
    } else if (channel == kBulk) {
      refusal = transfers.on_chunk(connection, body);
    }
    return closes(refusal) ? reliability::Verdict::kProtocolError : reliability::Verdict::kAccept;
  }

  Node* node_ = nullptr;
  std::map<uint16_t, uint64_t> size_bytes_;
  std::map<uint16_t, uint64_t> written_bytes_;
};

inline test::RigOptions options_for(bool tests_client, transfer::Transfers& transfers) {
  test::RigOptions options;
  options.client_count = tests_client ? 1 : 0;
  options.step_ns = 10 * test::kMs;
  options.server.max_claims = 16;
  options.server.max_connections = 2;
  reliability::EndpointConfig& config = tests_client ? options.client : options.server;
  config.rotation.min_interval_ns = 0;
  config.bulk = &transfers;
  config.channels.declare(4, wire::ChannelMode::kReliableOrdered);
  config.channels.declare(static_cast<uint8_t>(kBulk), wire::ChannelMode::kBulk);
  return options;
}

/// `Raw` is the peer's end: a test::RawClientOf when a server is tested, a test::RawServerOf when a client
/// is.
template <class Raw>
class Session {
 public:
  Session() : rig_(options_for(kTestsClient, application_.transfers)), raw_(rig_) {
    application_.attach(node());
    rig_.network.set_tap(&Session::watch, this);
    raw_.max_datagram_bytes = static_cast<uint16_t>(reliability::EndpointConfig().max_datagram_bytes);
    require(raw_.connect());
  }

  void step(Input& input);
  void check();
  void finish();

 private:
  static constexpr bool kTestsClient = Raw::kRole == crypto::Role::kServer;

  Node& node() { return kTestsClient ? rig_.client() : rig_.server; }
  fragment::FragmentingEndpoint& endpoint() { return *node().endpoint; }
  test::RecordingHandler& handler() { return node().handler; }
  bool alive() { return !handler().connected.empty() && handler().ended.empty(); }
  void pass_time(uint8_t steps);
  void send_own(Input& input);
  void send_raw(Input& input, wire::PacketType type, const base::PathId* spoofed);
  void send_framed(Input& input);
  void send_fragments(Input& input);
  void send_transfer(Input& input);
  void prove_path(Input& input);

  /// A client sends only to the address that it connected to (M-1). A server sends an unproved address at
  /// most three bytes for every byte that came from there (L-04).
  static socket::TapVerdict watch(void* self, socket::TappedDatagram& datagram) {
    Session& session = *static_cast<Session*>(self);
    if (kTestsClient && datagram.from == session.node().address)
      require(datagram.to == session.first_address_);
    if (datagram.to == session.spoofed_) session.to_spoofed_bytes_ += datagram.size;
    return socket::TapVerdict::kPass;
  }

  Application application_;
  Rig rig_;
  Raw raw_;
  const base::PathId first_address_ = raw_.address;
  ScriptedPeer peer_{raw_, Raw::kRole,
                     kTestsClient ? rig_.options.client.channels : rig_.options.server.channels};
  const base::PathId spoofed_ = base::ipv4_path(203, 0, 113, 5, 5);
  uint64_t to_spoofed_bytes_ = 0;
  size_t lose_next_ = 0;
  uint32_t receipts_asked_ = 0;
};

template <class Raw>
void Session<Raw>::step(Input& input) {
  switch (input.u8() % 16) {
    case 0:
      return send_raw(input, wire::PacketType::kPayload, nullptr);
    case 1:
      return send_raw(input, wire::PacketType::kKeepalive, nullptr);
    case 2:
      return send_raw(input, wire::PacketType::kDisconnect, nullptr);
    case 3:
      return send_raw(input, wire::PacketType::kPayload, &spoofed_);
    case 4:
      return send_framed(input);
    case 5:
      return send_fragments(input);
    case 6:
      return peer_.send_ack(peer_.ack());
    case 7:
      return peer_.send_ack({input.u16(), input.u16() * 0x10001u});
    case 8:
      return send_transfer(input);
    case 9:
      return send_own(input);
    case 10:
      return peer_.rotate();
    case 11:
      return prove_path(input);
    case 12:
      return peer_.move(base::ipv4_path(192, 0, 2, 77, static_cast<uint16_t>(7770 + input.u8() % 8)));
    case 13:
      return peer_.replay(input.u8(), input.u8() % 2 == 0 ? peer_.address() : spoofed_);
    case 14:
      lose_next_ += input.u8() % 16u;
      return;
    default:
      return pass_time(input.u8());
  }
}

template <class Raw>
void Session<Raw>::pass_time(uint8_t steps) {
  for (int i = 0; i <= steps % 32; ++i) {
    application_.transfers.update();
    rig_.step();
    peer_.hear(std::exchange(lose_next_, 0));
    if (!handler().ended.empty()) application_.transfers.on_disconnected(handler().ended[0].connection);
  }
}

/// channel u8 · size u16 · receipt wanted, bit 7 of the channel. A size of 0xFFFF starts a transfer.
template <class Raw>
void Session<Raw>::send_own(Input& input) {
  if (!alive()) return;
  const uint8_t channel = input.u8();
  const uint16_t bytes = input.u16();
  const test::ConnectionHandle to = handler().connected[0];
  transfer::TransferId id;
  if (bytes == 0xFFFF) {
    application_.transfers.start(to, 10'000, nullptr, {}, &id);
    return;
  }
  const test::Bytes body(bytes, 0x5A);
  const uint32_t receipt = (channel & 0x80) != 0 ? receipts_asked_ + 1 : 0;
  const auto result = endpoint().send(to, static_cast<wire::Channel>(channel & 0x0F), {}, body, receipt);
  if (result == test::SendResult::kOk && receipt != 0) ++receipts_asked_;
}

/// length u8 · plaintext.
template <class Raw>
void Session<Raw>::send_raw(Input& input, wire::PacketType type, const base::PathId* spoofed) {
  const std::span<const uint8_t> plaintext = input.bytes(input.u8());
  peer_.send(type, plaintext, spoofed);
}

/// channel u8 (bit 7: the id is an offset i8 to the next one, else it is the next one) · flags u8 · [offset]
/// · [group u8 · index u8 · count u8, for a fragment] · length u8 · body. The acknowledgement is truthful.
template <class Raw>
void Session<Raw>::send_framed(Input& input) {
  const uint8_t channel = input.u8();
  const auto which = static_cast<wire::Channel>(channel & 0x0F);
  const uint8_t flags = input.u8() & (wire::kFlagFragment | wire::kFlagRpc | wire::kFlagSnapshot);
  wire::Message message = peer_.next_reliable(which, {});
  if ((channel & 0x80) != 0) message.id = message.id.plus(static_cast<int8_t>(input.u8()));
  message.flags = flags;
  if (message.is_fragment()) {
    message.fragment.group = input.u8();
    message.fragment.index = input.u8();
    message.fragment.count = static_cast<uint16_t>(input.u8() + 1);
  }
  message.has_ack = wire::is_reliable(message.mode);
  message.body = input.bytes(input.u8());
  peer_.send_message(message);
}

/// channel u8 · group u8 · count u8 · unit bytes u16 · mask u8: fragments of one message, without those whose
/// bit (index mod 8) is set.
template <class Raw>
void Session<Raw>::send_fragments(Input& input) {
  const auto channel = static_cast<wire::Channel>(input.u8() % 5);
  const uint8_t group = input.u8();
  const auto count = static_cast<uint16_t>(input.u8() + 1);
  const test::Bytes unit(input.u16() % 1140, 0x6B);
  const uint8_t mask = input.u8();
  wire::Message message;
  for (uint16_t index = 0; index < count; ++index) {
    if (index == 0 || wire::is_reliable(message.mode)) message = peer_.next_reliable(channel, unit);
    if ((mask >> index % 8 & 1) != 0) continue;
    message.flags = wire::kFlagFragment;
    message.has_ack = wire::is_reliable(message.mode);
    message.fragment = {group, static_cast<uint8_t>(index), count};
    peer_.send_message(message);
  }
}

/// kind u8 · id u8 · value u16: an offer, an answer, a hold, an end, or a chunk of a transfer.
template <class Raw>
void Session<Raw>::send_transfer(Input& input) {
  const uint8_t kind = input.u8();
  const uint16_t id = input.u8();
  const uint16_t value = input.u16();
  std::array<uint8_t, wire::kMaxChunkHeaderBytes + 4 * 0x100> body{};
  size_t bytes = 0;
  switch (kind % 5) {
    case 0:
      bytes = wire::encode_transfer_offer({id, value, {}}, body);
      break;
    case 1:
      bytes = wire::encode_transfer_accept(id, body);
      break;
    case 2:
      bytes = wire::encode_transfer_hold({id, value % 2 != 0}, body);
      break;
    case 3:
      bytes = wire::encode_transfer_end(
          {id, static_cast<wire::TransferSide>(value & 1), static_cast<wire::TransferEndReason>(value >> 8)},
          body);
      break;
    default:
      bytes = wire::encode_transfer_chunk_header(id, (value & 0xFF) * 16, body) + (value >> 8) * 4 +
              input.u8() % 4;
      break;
  }
  wire::Message message = peer_.next_reliable(kind % 5 == 4 ? kBulk : wire::Channel::kControl, {});
  message.has_ack = wire::is_reliable(message.mode);
  message.body = std::span(body).first(bytes);
  peer_.send_message(message);
}

/// Against a client: challenges it; byte u8 of the challenge · 1 if it comes from elsewhere. Against a
/// server: answers the server's challenge.
template <class Raw>
void Session<Raw>::prove_path(Input& input) {
  if (!kTestsClient) return peer_.answer_challenge();
  const uint8_t byte = input.u8();
  peer_.challenge_path(byte, input.u8() == 1 ? &spoofed_ : nullptr);
}

/// Checks the invariants of every moment.
template <class Raw>
void Session<Raw>::check() {
  require(handler().connected.size() <= 1);
  require(handler().ended.size() <= handler().connected.size());
  require(to_spoofed_bytes_ <= 3 * peer_.spoofed_bytes());
  if (alive()) {
    const base::PathId far = endpoint().endpoint().remote_path(handler().connected[0]);
    require(kTestsClient ? far == first_address_ : far != spoofed_);  // That address was never proved.
  }
  require(handler().receipts.size() <= receipts_asked_);
  for (const auto& [number, told] : handler().receipts) require(told.size() == 1);
}

/// Checks the end of a connection: every receipt was reported and every byte was returned to the pool.
template <class Raw>
void Session<Raw>::finish() {
  if (alive()) {
    endpoint().disconnect(handler().connected[0], connection::DisconnectReason::kRequested);
  }
  for (int i = 0; i < 4; ++i) pass_time(31);  // the grace of a peer that does not answer
  check();
  if (handler().ended.empty()) return;
  require(handler().receipts.size() == receipts_asked_);
  require(endpoint().endpoint().pool_stats().buffers_live == 0);
  require(endpoint().endpoint().receive_memory().blocks_live() == 0);
}

/// Plays a whole input.
template <class Raw>
void play_session(std::span<const uint8_t> bytes) {
  Session<Raw> session;
  Input input(bytes.data(), bytes.size());
  for (size_t steps = 0; steps < kMaxSteps && !input.empty(); ++steps) {
    session.step(input);
    session.check();
  }
  session.finish();
}

}  // namespace lattice::fuzz
