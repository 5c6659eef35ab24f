// A server world with two hostile clients and an honest one. The hostile ones have valid keys and send what
// the input says behind the encryption: payloads of any bytes, messages of any kind, floods, false
// acknowledgements, repetitions, new addresses, new connections.
//
// Must hold, all the time: the honest client keeps its connection, gets at least two thirds of its snapshots
// in every second, and its reliable messages arrive within a second, in both directions. At the end it has
// what the server has.
//
// Input: options u8 · steps. A step is  operation u8 (mod 16; bit 7: the second client) · its arguments. An
// input that ends early reads zeros.
#include <optional>
#include <utility>

#include "hostile_end.h"
#include "transport/crypto/nonce_ledger.h"

namespace {

using namespace lattice;
using namespace lattice::fuzz;

// Steps of the worlds; an input is played until then.
constexpr uint32_t kMaxSteps = 15 * 60;
constexpr uint32_t kStepsPerSecond = 60;
constexpr uint32_t kStepsPerMessage = 6;
constexpr uint32_t kMessagesPerSecond = kStepsPerSecond / kStepsPerMessage;
constexpr uint32_t kSnapshotsPerSecond = 30;
// What the queues of a reliable channel take in one step of a flood.
constexpr uint32_t kMaxFlood = 64;

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

RigOptions options_of(uint8_t byte, const uint8_t* issuer) {
  RigOptions options;
  options.interest = (byte & 1) != 0;
  options.has_liar = false;
  options.snapshot_rate_hz = kSnapshotsPerSecond;
  options.issuer_public_key = issuer;
  return options;
}

crypto::SigningKeyPair make_issuer() {
  crypto::nonce_ledger_clear();  // Every session makes the same keys.
  std::array<uint8_t, 32> seed;
  seed.fill('H');
  return crypto::SigningKeyPair::from_seed(seed);
}

class Session {
 public:
  explicit Session(uint8_t options) : worlds_(options_of(options, issuer_.public_key().data())) {
    require(honest().conn != nullptr && honest().server_conn != nullptr);
    for (uint32_t i = 0; i < 6; ++i) {
      objects_.push_back(i == 0 ? lattice_spawn_for(worlds_.server, 1, LATTICE_AUTHORITY_SERVER, honest().id)
                                : lattice_spawn(worlds_.server, 1 + i % 3, LATTICE_AUTHORITY_SERVER));
    }
    pass(kStepsPerSecond);
    is_judged_ = true;
    for (Hostile& each : hostile_) require(each.join(*this));
  }

  void step(Input& input);
  bool is_over() const { return steps_ >= kMaxSteps; }
  void finish() {
    pass(kStepsPerSecond);
    for (int tries = 0; tries < 20 && !worlds_.equal(honest()); ++tries) {
      worlds_.run(kStepsPerSecond);
    }
    require(worlds_.equal(honest()));
    require(honest().told == sent_ && honest().heard == sent_ && honest().ends == 0);
  }

 private:
  using Rig = test::RigOf<WorldServer>;
  using Raw = test::RawClientOf<WorldServer>;
  using Peer = ScriptedPeerOf<WorldServer>;

  struct Hostile {
    std::unique_ptr<Rig> rig;
    std::unique_ptr<Raw> raw;
    std::unique_ptr<Peer> peer;
    /// Connects, or connects anew while the server still has the connection of before. False when the server
    /// lets it in no more; the old connection is gone then.
    bool join(Session& session);
  };

  WorldRig::Peer& honest() { return worlds_.clients[WorldRig::kHonest]; }
  void pass(uint32_t steps);
  void judge_second();
  void send_message(Peer& peer, Input& input);
  void send_fragments(Peer& peer, Input& input);
  void flood(Peer& peer, Input& input);

  crypto::SigningKeyPair issuer_ = make_issuer();
  WorldRig worlds_;
  std::array<Hostile, 2> hostile_;
  uint16_t next_port_ = 7000;
  std::vector<lattice_netid> objects_;
  wire::ChannelTable channels_;
  uint32_t steps_ = 0;
  uint32_t sent_ = 0;  // numbered messages in each direction
  uint64_t snapshots_ = 0;
  bool is_judged_ = false;  // false while everybody joins
};

bool Session::Hostile::join(Session& session) {
  peer.reset();
  raw.reset();
  rig = std::make_unique<Rig>(session.worlds_, session.issuer_);
  rig->entropy = test::CountingEntropy(session.next_port_);
  raw = std::make_unique<Raw>(*rig, session.next_port_++);
  raw->config.schema_id = lattice_world_schema_id(session.worlds_.server);
  raw->config.max_objects = WorldRig::kMaxObjects;
  if (!raw->connect()) return false;
  peer = std::make_unique<Peer>(*raw, crypto::Role::kClient, session.channels_);
  return true;
}

/// Time passes: the honest side plays, and everything that must hold is checked.
void Session::pass(uint32_t steps) {
  for (uint32_t i = 0; i < steps; ++i) {
    auto* body =
        static_cast<test::Body*>(lattice_object_state(worlds_.server, objects_[steps_ % objects_.size()], 0));
    require(body != nullptr);
    body->x = static_cast<float>(steps_ % 500);
    if (steps_ % kStepsPerMessage == 0) {
      require(lattice_send(honest().conn, LATTICE_CHANNEL_RELIABLE_ORDERED, &sent_, sizeof sent_) ==
              LATTICE_OK);
      require(lattice_send(honest().server_conn, LATTICE_CHANNEL_RELIABLE_ORDERED, &sent_, sizeof sent_) ==
              LATTICE_OK);
      ++sent_;
    }
    worlds_.step();
    for (Hostile& each : hostile_) {
      if (each.rig != nullptr) each.rig->now_ns = lattice_netsim_now(worlds_.net());
      if (each.peer != nullptr) each.peer->hear(0);
    }
    require(honest().ends == 0 && honest().server_conn != nullptr);
    if (++steps_ % kStepsPerSecond == 0) judge_second();
  }
}

void Session::judge_second() {
  lattice_world_stats stats;
  lattice_world_stats_init(&stats);
  require(lattice_world_get_stats(honest().world, &stats) == LATTICE_OK);
  const uint64_t arrived = stats.snapshots_applied - std::exchange(snapshots_, stats.snapshots_applied);
  if (!is_judged_) return;
  require(arrived >= kSnapshotsPerSecond * 2 / 3);
  require(honest().told + kMessagesPerSecond >= sent_);
  require(honest().heard + kMessagesPerSecond >= sent_);
}

void Session::step(Input& input) {
  const uint8_t operation = input.u8();
  Hostile& one = hostile_[operation >> 7];
  if (one.peer == nullptr) {
    one.join(*this);
    return pass(1);
  }
  Peer& peer = *one.peer;
  switch (operation % 16) {
    case 0:
    case 1:
      return peer.send(wire::PacketType::kPayload, input.bytes(input.u8()));
    case 2:
      return peer.send(wire::PacketType::kKeepalive, input.bytes(input.u8()));
    case 3:
    case 4:
    case 5:
      return send_message(peer, input);
    case 6:
      return send_fragments(peer, input);
    case 7:
      return flood(peer, input);
    case 8:
      return peer.send_ack({input.u16(), input.u16() * 0x10001u});
    case 9:
      return peer.rotate();
    case 10:
      return peer.replay(input.u8(), base::ipv4_path(203, 0, 113, 5, 5));
    case 11:
      return peer.move(base::ipv4_path(192, 0, 2, 77, static_cast<uint16_t>(9000 + input.u8() % 8)));
    case 12:
      // The server may still have the connection of before.
      if (input.u8() % 4 == 0) peer.send(wire::PacketType::kDisconnect, input.bytes(input.u8()));
      one.join(*this);
      return;
    default:
      return pass(1 + input.u8() % 32u);
  }
}

/// channel u8 · flags u8 · tick i8 · length u8 · body. A tick of -128: none; else it is so far from the
/// server's, and begins the body. With the flag of an RPC the body begins with an object and a call of it.
void Session::send_message(Peer& peer, Input& input) {
  const uint8_t channel = input.u8() & 0x0F;
  const uint8_t flags = input.u8() & (wire::kFlagRpc | wire::kFlagSnapshot);
  const auto offset = static_cast<int8_t>(input.u8());
  std::vector<uint8_t> body;
  if ((flags & wire::kFlagRpc) != 0) {
    body = {static_cast<uint8_t>(objects_[input.u8() % objects_.size()]),
            static_cast<uint8_t>(input.u8() % 4)};
  }
  const uint32_t tick = worlds_.tick() + static_cast<uint32_t>(offset * (offset > 100 ? 100'000 : 1));
  for (int shift = 0; offset != -128 && shift < 32; shift += 8)
    body.push_back(static_cast<uint8_t>(tick >> shift));
  const std::span<const uint8_t> rest = input.bytes(input.u8());
  body.insert(body.end(), rest.begin(), rest.end());
  wire::Message message = peer.next_reliable(static_cast<wire::Channel>(channel), body);
  message.has_ack = wire::is_reliable(message.mode);
  message.flags = flags;
  peer.send_message(message);
}

/// channel u8 · group u8 · count u8 · bytes u16 · mask u8: fragments of one message, without those whose bit
/// (index mod 8) is set.
void Session::send_fragments(Peer& peer, Input& input) {
  const auto channel = static_cast<wire::Channel>(input.u8() % 4);
  const uint8_t group = input.u8();
  const auto count = static_cast<uint16_t>(input.u8() + 1);
  const test::Bytes unit(input.u16() % 1140, 0x6B);
  const uint8_t mask = input.u8();
  for (uint16_t index = 0; index < count; ++index) {
    if ((mask >> index % 8 & 1) != 0) continue;
    wire::Message message = peer.next_reliable(channel, unit);
    message.flags = wire::kFlagFragment;
    message.has_ack = wire::is_reliable(message.mode);
    message.fragment = {group, static_cast<uint8_t>(index), count};
    peer.send_message(message);
  }
}

/// times u8 · length u8 · plaintext: the same payload many times, in every step of a while.
void Session::flood(Peer& peer, Input& input) {
  const uint32_t times = input.u8() % kMaxFlood;
  const std::span<const uint8_t> plaintext = input.bytes(input.u8());
  for (uint32_t step = 0; step < 4; ++step) {
    for (uint32_t i = 0; i < times; ++i) peer.send(wire::PacketType::kPayload, plaintext);
    pass(1);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  Session session(input.u8());
  while (!session.is_over() && !input.empty()) session.step(input);
  session.finish();
  return 0;
}
