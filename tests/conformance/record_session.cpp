// Records a seeded session between a server and one client, every datagram as it was sent, for
// tools/conformance/lattice_decode.py:  record_session FILE [seed [CAPTURES]].  The form of FILE is in that
// program. In a build with LATTICE_CAPTURE each side's own capture is written to CAPTURES.server.pcapng and
// .client.pcapng.
//
// The client's private keys, of the handshake and of each rotation, are the only secrets written: with them
// and the captured messages a reader derives every session key, so those messages' bytes are proved too. The
// state both ends finished with is written at the end, which proves that values were read right and not
// merely to the last bit.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/assert.h"
#include "conformance/schema_json.h"
#include "conformance/session_transfers.h"
#include "conformance/side_capture.h"
#include "fragment/fragmenting_endpoint.h"
#include "replication/replica_list.h"
#include "replication/rpc_codec.h"
#include "replication/snapshot_applier.h"
#include "replication/snapshot_builder.h"
#include "replication/state_store.h"
#include "serialization/type_registry.h"
#include "simulation/input_codec.h"
#include "unit/reliability/endpoint_rig.h"
#include "unit/serialization/containers.h"
#include "unit/serialization/lists.h"
#include "unit/simulation/random_sight.h"

namespace lattice::test {
namespace {

using base::Tick;
using Rig = RigOf<fragment::FragmentingEndpoint>;
using replication::SnapshotHeader;

// clang-format off
/// What Everything has no room for.
LATTICE_NETWORKED(Rest,
  (on, bool), (fixed_i32, int32, FIXED), (fixed_u32, uint32, FIXED), (fixed_i64, int64, FIXED),
  (fixed_u64, uint64, FIXED), (fixed_id, netid, FIXED), (v2, vec2), (v3, vec3),
  (wide_bits, uint64, BITS(64)), (one_bit, uint8, BITS(1)), (small, int8, RANGED(-3, 3)),
  (constant, int32, RANGED(5, 5)), (u32, uint32, RANGED(1, 4'000'000'000)),
  (v4, vec4, BOUNDS(-8, 8, 0.25f)), (step, double, BOUNDS(0, 1, 1.0 / 256)))
LATTICE_NETWORKED(Switch, (a, bool), (b, bool), (c, bool))
LATTICE_NETWORKED(Command,
  (move, vec2, BOUNDS(-1, 1, 1.0 / 127)), (aim, quat, SMALLEST_THREE(9)), (jump, bool), (mood, Mood),
  (slots, Slots), (note, string, STRING(12)), (yaw, float, ANGLE), (keys, bool, ARRAY(5)),
  (choice, Choice), (picks, uint8, LIST(4)))
LATTICE_NETWORKED(Fire,
  (aim, vec2, BOUNDS(-1, 1, 0.001)), (charge, int32, RANGED(0, 1023)), (hot, bool), (slots, Slots),
  (target, netid), (drift, fixed64, VARINT), (pellets, vec2, ARRAY(3), BOUNDS(-1, 1, 0.01f)),
  (hits, netid, LIST(3)), (ammo, Ammo, MAP(3)), (at, nettick))
/// Longer than a part: it goes in pieces.
LATTICE_NETWORKED(Scroll, (reads, uint32), (text, string, STRING(3000)))
LATTICE_NETWORKED(Say, (text, string, STRING(40)), (loud, bool))
// clang-format on

constexpr lattice_behaviour_desc kActor[] = {behaviour_desc<Everything>(), behaviour_desc<Mover>("Motion")};
constexpr lattice_behaviour_desc kCrate[] = {behaviour_desc<Rest>(), behaviour_desc<Lists>(),
                                             behaviour_desc<Bag>()};
constexpr lattice_behaviour_desc kLamp[] = {behaviour_desc<Switch>()};
constexpr lattice_behaviour_desc kScroll[] = {behaviour_desc<Scroll>()};
constexpr lattice_rpc_desc kActorRpcs[] = {
    rpc_desc<Fire>(7, "fire", LATTICE_RPC_TO_SERVER),
    rpc_desc(300, "reload", LATTICE_RPC_TO_SERVER, LATTICE_CHANNEL_RELIABLE_UNORDERED, true),
    rpc_desc<Say>(8, "say", LATTICE_RPC_TO_ALL, LATTICE_CHANNEL_UNRELIABLE),
    rpc_desc<Say>(9, "tell", LATTICE_RPC_TO_PEER, LATTICE_CHANNEL_RELIABLE_ORDERED, false,
                  LATTICE_RPC_TICK_ALIGNED),
    rpc_desc(10, "hurt", LATTICE_RPC_TO_OWNER, LATTICE_CHANNEL_UNRELIABLE_SEQUENCED)};

// One line per channel, ascending; application channels between 3 and 14.
constexpr std::string_view kChannelText =
    "channel 0 unreliable\n"
    "channel 1 unreliable_sequenced\n"
    "channel 2 reliable_unordered\n"
    "channel 3 reliable_ordered\n"
    "channel 4 unreliable_sequenced\n"
    "channel 5 reliable_unordered\n"
    "channel 6 unreliable\n"
    "channel 12 bulk\n"
    "channel 13 reliable_ordered\n"
    "channel 14 ack\n"
    "channel 15 reliable_ordered\n";

constexpr Tick kLastChange = 200;  // afterwards the world stands still, and the client catches up
constexpr Tick kLastTick = 290;
constexpr Tick kRebind = 130;

class Session {
 public:
  Session(std::FILE* out, uint64_t seed) : out_(out), random_(seed), seed_(seed), rig_(options(seed)) {
    server_transfers_.attach(rig_.server);
    client_transfers_.attach(rig_.client());
  }

  /// Before run(); false when this build cannot.
  bool capture_to(const std::string& prefix) {
    return server_capture_.start(rig_.server, prefix + ".server.pcapng") &&
           client_capture_.start(rig_.client(), prefix + ".client.pcapng");
  }

  bool run() {
    rig_.network.set_tap(&Session::tap, this);
    rig_.client().entropy.observe(&Session::drawn, this);
    write_header();
    if (!connect()) return fail("no connection");
    server_recipient_.emplace(replication::ReplicaList::Config{rig_.client().handler.infos[0].peer_id});
    server_recipient_->join(table_, store_);
    spawn(kActorId, rig_.client().handler.infos[0].peer_id);
    spawn(kScrollId, 0);
    for (int i = 0; i < 12; ++i) spawn(i % 3 == 0 ? kActorId : i % 3 == 1 ? kCrateId : kLampId, 0);
    for (tick_ = 1; tick_ <= kLastTick; ++tick_) {
      if (!step()) return false;
    }
    rig_.client().endpoint->disconnect(rig_.client().connection, connection::DisconnectReason::kRequested,
                                       "bye, Köln");
    rig_.run(400 * kMs);
    return finish();
  }

 private:
  static constexpr uint32_t kActorId = 40;
  static constexpr uint32_t kCrateId = 500;
  static constexpr uint32_t kLampId = 7;
  static constexpr uint32_t kScrollId = 9;

  struct Types {
    Types() {
      lattice_type_desc actor = type_desc("Actor", kActor, kActorRpcs, LATTICE_TYPE_PREDICTED);
      lattice_type_desc crate = type_desc("Crate", kCrate);
      lattice_type_desc lamp = type_desc("Lamp", kLamp);
      actor.type_id = kActorId;
      crate.type_id = kCrateId;
      lamp.type_id = kLampId;
      lattice_type_desc scroll = type_desc("Scroll", kScroll);
      scroll.type_id = kScrollId;
      descs = {actor, crate, lamp, scroll};
      std::string error;
      for (const lattice_type_desc& desc : descs) LATTICE_CHECK(registry.add_type(desc, &error));
      LATTICE_CHECK(registry.set_input(input_desc<Command>(), &error));
      for (const lattice_type_desc& desc : descs) {
        table.add(desc.type_id, registry.find(desc.type_id)->layout);
      }
    }
    std::array<lattice_type_desc, 4> descs{};
    serialization::TypeRegistry registry;
    replication::TypeTable table;
  };

  /// Parts are applied as they arrive; nothing is asked of the game.
  class QuietListener final : public replication::SnapshotListener {
   public:
    void on_spawn(uint32_t, Tick) override {}
    void on_despawn(uint32_t, Tick, replication::DespawnReason) override {}
    void on_state(uint32_t, Tick, const serialization::Word*, replication::EntryKind) override {}
    void on_rested(uint32_t, Tick) override {}
  };

  RigOptions options(uint64_t seed) {
    RigOptions options;
    options.seed = seed;
    options.path.delay_ms = 30;
    options.path.jitter_ms = 15;
    options.path.jitter_reorders = true;
    options.path.loss = 0.08;
    options.path.duplicate = 0.02;
    for (reliability::EndpointConfig* config : {&options.server, &options.client}) {
      config->schema_id = types_.registry.schema_hash(kChannelText);
      config->rotation = {.packets = 30, .min_interval_ns = 0, .min_overlap_ns = 0};
      // A snapshot leaves in the tick it is the truth of, whatever long message waits beside it.
      config->congestion.mode = reliability::CongestionMode::kNone;
      config->channels.declare(4, wire::ChannelMode::kUnreliableSequenced);
      config->channels.declare(5, wire::ChannelMode::kReliableUnordered);
      config->channels.declare(6, wire::ChannelMode::kUnreliable);
      config->channels.declare(13, wire::ChannelMode::kReliableOrdered);
    }
    server_transfers_.prepare(&options.server);
    client_transfers_.prepare(&options.client);
    return options;
  }

  bool fail(const char* what) {
    std::fprintf(stderr, "record_session: seed %llu, tick %u: %s\n", static_cast<unsigned long long>(seed_),
                 tick_, what);
    return false;
  }

  // ---- The record -----------------------------------------------------------------------------------

  static socket::TapVerdict tap(void* context, socket::TappedDatagram& datagram) {
    auto* self = static_cast<Session*>(context);
    const bool from_client = datagram.from == self->rig_.client().address;
    std::fprintf(self->out_, "{\"t_us\":%llu,\"from\":\"%s\",\"datagram\":\"%s\"}\n",
                 static_cast<unsigned long long>(datagram.now_ns / 1000), from_client ? "client" : "server",
                 hex({datagram.data, datagram.size}).c_str());
    return socket::TapVerdict::kPass;
  }

  /// A running client draws 32 bytes at once for the key pair of a rotation only.
  static void drawn(void* context, std::span<const uint8_t> secret) {
    if (secret.size() != 32) return;
    std::fprintf(static_cast<Session*>(context)->out_, "{\"rekey_secret\":\"%s\"}\n", hex(secret).c_str());
  }

  void write_header() {
    std::array<uint8_t, 32> secret;
    secret.fill(0x43);
    client_key_ = crypto::KeyPair::from_secret(secret);
    std::fprintf(out_,
                 "{\"format\":\"lattice-session 1\",\"seed\":%llu,\"client_secret\":\"%s\",\"issuer\":\"%s\","
                 "\"channels\":{\"4\":\"unreliable_sequenced\",\"5\":\"reliable_unordered\","
                 "\"6\":\"unreliable\",\"12\":\"bulk\",\"13\":\"reliable_ordered\"},\"schema\":%s}\n",
                 static_cast<unsigned long long>(seed_), hex(secret).c_str(),
                 hex(rig_.issuer.public_key()).c_str(),
                 schema_json(types_.descs, input_desc<Command>()).c_str());
  }

  // ---- Connecting and one tick ----------------------------------------------------------------------

  bool connect() {
    Rig::Node& client = rig_.client();
    const Bytes token = rig_.sign(rig_.token_fields(client_key_.public_key()), rig_.issuer);
    if (client.endpoint->connect(rig_.server.address, token, client_key_, &client.connection) !=
        reliability::ConnectResult::kOk) {
      return false;
    }
    const bool done = rig_.run_until(9 * kSecond, [&] {
      return !client.handler.connected.empty() && !rig_.server.handler.connected.empty();
    });
    if (done) rig_.server.connection = rig_.server.handler.connected[0];
    return done;
  }

  /// The client's NAT gives it another port.
  void rebind() {
    Rig::Node& client = rig_.client();
    base::PathId moved = client.address;
    moved.number = 50123;
    LATTICE_CHECK(rig_.network.rebind(client.address, moved));
    client.address = moved;
  }

  bool step() {
    if (tick_ == kRebind) rebind();
    if (tick_ <= kLastChange) change_world();
    store_.record(table_, tick_);
    send_input();
    if (tick_ <= kLastChange) send_messages();
    server_transfers_.step(tick_);
    client_transfers_.step(tick_);
    if (tick_ % 2 == 0 && !send_snapshot()) return fail("a snapshot part was not taken");
    rig_.server.endpoint->set_server_tick(tick_);
    rig_.run(15 * kMs);
    last_epoch_ = rig_.server_stats().key_epoch;
    path_moves_ = rig_.server_stats().path_moves;
    if (tick_ % 10 == 0) write_truth();
    return resolve_receipts() && receive();
  }

  // ---- The server's world ---------------------------------------------------------------------------

  void spawn(uint32_t type_id, uint64_t owner) {
    const replication::ObjectType& type = *types_.table.find(type_id);
    const uint32_t slot = table_.spawn(
        type, owner, owner != 0 ? LATTICE_AUTHORITY_SHARED : LATTICE_AUTHORITY_SERVER, tick_, tick_);
    LATTICE_CHECK(slot != replication::kNoSlot);
    store_.begin(slot, type);
    server_recipient_->enter(slot, table_.network_id(slot));
    slots_.push_back(slot);
  }

  void change_world() {
    for (const uint32_t slot : slots_) {
      if (random_.chance(0.25)) change(slot);
    }
    if (tick_ % 37 == 0) despawn(1 + random_.next_below(static_cast<uint32_t>(slots_.size()) - 1));
    if (tick_ % 29 == 0) spawn(tick_ % 2 == 0 ? kCrateId : kActorId, 0);
    if (tick_ % 41 == 0) spawn(kScrollId, 0);
    if (tick_ % 61 == 0) {                                  // a new tenure: the next entries are full ones
      const uint64_t owner = 1 + random_.next_below(1000);  // a shared one rests: this side does not write it
      const auto mode = owner % 2 == 0 ? LATTICE_AUTHORITY_SHARED : LATTICE_AUTHORITY_SERVER;
      table_.set_authority(slots_[0], owner, mode, tick_);
      store_.announce(slots_[0]);
    }
  }

  void change(uint32_t slot) {
    void* const* host = table_.host(slot);
    switch (table_.info(slot).type->type_id) {
      case kActorId: {
        const Everything fresh = plausible(random_);
        auto& state = *static_cast<Everything*>(host[0]);
        auto& motion = *static_cast<Mover*>(host[1]);
        if (random_.chance(0.2)) state = fresh;
        if (random_.chance(0.5)) state.slots.inner = fresh.slots.inner, state.flag = fresh.flag;
        if (random_.chance(0.5)) state.fx_difference.raw += 1000, state.v3 = fresh.v3;
        if (random_.chance(0.5)) state.runs = fresh.runs, state.text = fresh.text;
        motion.position = {uniform(random_, -100, 100), 1.0f, uniform(random_, -100, 100)};
        motion.velocity.x = random_.chance(0.5) ? 0.0f : uniform(random_, -50, 50);
        motion.rotation = random_rotation(random_);
        motion.alive = random_.chance(0.5);
        break;
      }
      case kCrateId:
        change_rest(*static_cast<Rest*>(host[0]));
        change_some(random_, static_cast<Lists*>(host[1]));
        change_some(random_, static_cast<Bag*>(host[2]));
        break;
      case kScrollId:
        change_scroll(*static_cast<Scroll*>(host[0]));
        break;
      default: {
        auto& lamp = *static_cast<Switch*>(host[0]);
        lamp = {random_.chance(0.5), random_.chance(0.5), random_.chance(0.5)};
        break;
      }
    }
    store_.mark(slot);
  }

  void change_scroll(Scroll& scroll) {
    ++scroll.reads;
    if (random_.chance(0.8)) return;
    std::string text;
    for (size_t left = random_.next_below(3000); left > 0; --left) {
      text += static_cast<char>('a' + random_.next_below(26));
    }
    scroll.text = text;
  }

  void change_rest(Rest& rest) {
    const auto u64 = [&] { return random_.next_u64() >> random_.next_below(64); };
    rest.on = random_.chance(0.5);
    rest.fixed_i32 = static_cast<int32_t>(u64()), rest.fixed_u32 = static_cast<uint32_t>(u64());
    rest.fixed_i64 = static_cast<int64_t>(u64()), rest.fixed_u64 = u64();
    rest.fixed_id.value = u64();
    rest.v2 = {uniform(random_, -1, 1), -0.0f};
    rest.v3 = {uniform(random_, -1e9f, 1e9f), 0.0f, 1e-40f};
    rest.wide_bits = u64(), rest.one_bit = random_.chance(0.5) ? 1 : 0;
    rest.small = static_cast<int8_t>(static_cast<int>(random_.next_below(7)) - 3);
    rest.constant = 5, rest.u32 = static_cast<uint32_t>(1 + random_.next_below(4'000'000'000u));
    rest.v4 = {uniform(random_, -9, 9), uniform(random_, -9, 9), 8.0f, -8.0f};
    rest.step = random_.next_unit();
  }

  void despawn(size_t index) {
    const uint32_t slot = slots_[index];
    if (table_.info(slot).type->type_id == kActorId &&
        server_recipient_->find(slot, store_)->acked_version != 0) {
      Say last_words;
      last_words.text = "bye";
      const uint64_t peer = rig_.client().handler.infos[0].peer_id;
      send_rpc(rig_.server, 3, {table_.network_id(slot), 9, tick_, LATTICE_RPC_TO_PEER, peer}, &last_words);
    }
    server_recipient_->destroyed(slot, table_.network_id(slot));
    store_.end(slot);
    table_.despawn(slot);
    slots_.erase(slots_.begin() + static_cast<std::ptrdiff_t>(index));
  }

  bool send_snapshot() {
    builder_.begin_send(tick_);
    SnapshotHeader header;
    header.has_input = true;
    header.last_input_tick = last_input_tick_;
    header.input_margin = static_cast<int8_t>(static_cast<int>(tick_ % 41) - 20);
    // Every third snapshot has a budget that postpones entries.
    const uint32_t budget_bytes = tick_ % 6 == 0 && tick_ < kLastChange ? 300 : 0;
    for (const replication::SnapshotPart& part : builder_.build(*server_recipient_, header, budget_bytes)) {
      if (!send_part(part.bytes, part.receipt)) return false;
    }
    const replication::JoinCount count = server_recipient_->join_count();
    if (!progress_.due(tick_, count.missing, 60)) return true;
    const uint32_t receipt = server_recipient_->ledger().open(tick_);
    return send_part(progress_.write(tick_, count, receipt), receipt);
  }

  bool send_part(std::span<const uint8_t> bytes, uint32_t receipt) {
    return rig_.server.endpoint->send(rig_.server.connection, Channel::kUnreliableSequenced, kSnapshot, bytes,
                                      receipt) == SendResult::kOk;
  }

  bool resolve_receipts() {
    for (const auto& [receipt, fates] : rig_.server.handler.receipts) {
      progress_.on_receipt(receipt, fates[0]);
      server_recipient_->on_receipt(receipt, fates[0]);
    }
    rig_.server.handler.receipts.clear();
    return true;
  }

  // ---- Inputs, messages, RPCs -----------------------------------------------------------------------

  void send_input() {
    const serialization::Layout& layout = *types_.registry.input();
    if (tick_ == 1 || random_.chance(0.4)) {
      command_.move = {uniform(random_, -1, 1), uniform(random_, -1, 1)};
      command_.aim = random_rotation(random_);
      command_.jump = random_.chance(0.5);
      command_.yaw = uniform(random_, -9, 9);
      command_.keys[random_.next_below(5)] = random_.chance(0.5);
      if (random_.chance(0.3)) command_.slots = plausible(random_).slots;
      if (random_.chance(0.3)) command_.note = random_.chance(0.5) ? "" : "größer";
      command_.mood = EnumTraits<Mood>::value(random_.next_below(3));
      if (random_.chance(0.3)) change_some(random_, &command_.choice);
      command_.picks.count = static_cast<uint16_t>(random_.next_below(5));
    }
    std::vector<serialization::Word> words(layout.word_count());
    const void* host[] = {&command_};
    layout.quantize(host, words.data());
    sight_ = simulation::test::next_sight(random_, sight_, tick_ + 6);
    inputs_.push(tick_ + 6, words, sight_);
    last_sent_input_ = leaves_json(layout, words.data());
    if (tick_ % 2 != 0) return;
    uint8_t body[reliability::kMaxSnapshotBody];
    const auto lead = static_cast<uint8_t>(random_.next_below(256));
    const size_t bytes = simulation::encode_inputs(layout, inputs_, lead, body);
    Rig::Node& client = rig_.client();
    if (client.endpoint->send(client.connection, Channel::kUnreliableSequenced, kSnapshot, {body, bytes}) ==
        SendResult::kOk) {
      inputs_.mark_sent(inputs_.newest());
      newest_sent_input_ = last_sent_input_;
      const simulation::Sight& sight = inputs_.sight(inputs_.newest());
      newest_sent_sight_ = "[" + std::to_string(sight.view_tick) + "," + std::to_string(sight.view_fraction) +
                           "," + std::to_string(sight.snapshot_tick) + "," + std::to_string(lead) + "]";
    }
  }

  void send_messages() {
    static constexpr uint8_t kChannels[] = {0, 1, 2, 3, 4, 5, 6, 13};
    for (Rig::Node* node : {&rig_.server, &rig_.client()}) {
      for (const uint8_t channel : kChannels) {
        if (tick_ % 40 == 3u + channel) send_long(*node, channel);
        if (!random_.chance(0.15)) continue;
        Bytes body(random_.next_below(random_.chance(0.05) ? 1100 : 40));
        for (uint8_t& byte : body) byte = static_cast<uint8_t>(random_.next_u64());
        node->endpoint->send(node->connection, static_cast<Channel>(channel), {}, body);
      }
      if (tick_ % 50 == 0) {
        const Bytes body = {200, 1, 2, 3};  // an application's control message
        node->endpoint->send(node->connection, Channel::kControl, {}, body);
      }
    }
    if (tick_ % 5 == 0) send_rpcs();
    if (tick_ % 100 == 60) send_burst();
  }

  /// As many messages as a window holds, so that credit is given for more.
  void send_burst() {
    constexpr int kMessages = 300;
    for (Rig::Node* node : {&rig_.server, &rig_.client()}) {
      for (int i = 0; i < kMessages; ++i) {
        const Bytes body = {static_cast<uint8_t>(i), static_cast<uint8_t>(i >> 8)};
        node->endpoint->send(node->connection, Channel::kReliableOrdered, {}, body);
      }
    }
  }

  /// A message longer than a packet, on every channel in turn; what is sent is written down as one piece.
  void send_long(Rig::Node& node, uint8_t channel) {
    Bytes body(1200 + random_.next_below(random_.chance(0.2) ? 40'000 : 6000));
    for (uint8_t& byte : body) byte = static_cast<uint8_t>(random_.next_u64());
    if (node.endpoint->send(node.connection, static_cast<Channel>(channel), {}, body) != SendResult::kOk)
      return;
    std::fprintf(out_, "{\"long\":\"%s\",\"channel\":%u,\"sha256\":\"%s\"}\n",
                 &node == &rig_.server ? "server" : "client", unsigned{channel},
                 hex(crypto::sha256({body})).c_str());
  }

  void send_rpcs() {
    const uint64_t actor = table_.network_id(slots_[0]);
    Fire fire;
    fire.aim = {uniform(random_, -1, 1), uniform(random_, -1, 1)};
    fire.charge = static_cast<int32_t>(random_.next_below(1024));
    fire.hot = random_.chance(0.5);
    for (uint64_t i = random_.next_below(4); i > 0; --i) fire.hits.push_back({random_.next_u64() >> 40});
    for (int i = 0; i < 2; ++i) {
      Ammo ammo;
      ammo.kind = EnumTraits<Mood>::value(random_.next_below(3));
      change_some(random_, &ammo);
      fire.ammo.insert(ammo);
    }
    fire.at.value = tick_;
    for (Vector2& pellet : fire.pellets) pellet = {uniform(random_, -1, 1), uniform(random_, -1, 1)};
    fire.slots = plausible(random_).slots;
    fire.target.value = random_.next_u64() >> random_.next_below(64);
    fire.drift.raw = static_cast<int64_t>(random_.next_u64()) >> random_.next_below(64);
    Say say;
    say.text = random_.chance(0.5) ? "hello" : "grüß dich";
    say.loud = random_.chance(0.5);
    Rig::Node& client = rig_.client();
    send_rpc(client, 3, {actor, 7, tick_, LATTICE_RPC_TO_SERVER, 0}, &fire);
    send_rpc(client, 2, {actor, 300, tick_, LATTICE_RPC_TO_SERVER, 0}, nullptr);
    send_rpc(rig_.server, 0, {actor, 8, tick_, LATTICE_RPC_TO_ALL, 0}, &say);
    send_rpc(rig_.server, 3, {actor, 9, tick_, LATTICE_RPC_TO_PEER, client.handler.infos[0].peer_id}, &say);
    send_rpc(rig_.server, 1, {actor, 10, tick_, LATTICE_RPC_TO_OWNER, 0}, nullptr);
  }

  void send_rpc(Rig::Node& from, uint8_t channel, const replication::RpcHeader& header,
                const void* arguments) {
    const serialization::RpcInfo* rpc = types_.registry.find(kActorId)->find_rpc(header.rpc_id);
    uint8_t body[reliability::kMaxSequencedBody];
    const size_t bytes =
        rpcs_.encode(header, rpc->has_arguments ? &rpc->arguments : nullptr, arguments, body);
    MessageFlags flags;
    flags.is_rpc = true;
    const auto sent =
        from.endpoint->send(from.connection, static_cast<Channel>(channel), flags, {body, bytes});
    const bool counts = &from == &rig_.server && sent == SendResult::kOk &&
                        replication::is_reliable_rpc(static_cast<lattice_channel>(channel));
    if (counts) server_recipient_->count_reliable_rpc(table_.find(header.network_id));
  }

  bool receive() {
    for (const Received& message : rig_.client().handler.received) {
      if (!message.flags.is_snapshot) continue;
      if (applier_.apply(message.body) != replication::SnapshotApplier::Result::kApplied) {
        return fail(replication::snapshot_refusal_name(applier_.refusal()));
      }
      if (!applier_.header().progress) inputs_.acknowledge(applier_.header().last_input_tick);
    }
    rig_.client().handler.received.clear();
    const serialization::Layout& layout = *types_.registry.input();
    std::vector<serialization::Word> words(layout.word_count() * simulation::kMaxInputsPerMessage);
    for (const Received& message : rig_.server.handler.received) {
      if (!message.flags.is_snapshot) continue;
      const simulation::DecodedInputs inputs = simulation::decode_inputs(layout, message.body, 0, words);
      if (inputs.refusal != simulation::InputRefusal::kNone) {
        return fail(simulation::input_refusal_name(inputs.refusal));
      }
      if (inputs.newest_tick > last_input_tick_) last_input_tick_ = inputs.newest_tick;
    }
    rig_.server.handler.received.clear();
    return true;
  }

  // ---- The end --------------------------------------------------------------------------------------

  bool finish() {
    if (!server_capture_.finish() || !client_capture_.finish()) return fail("a capture is not whole");
    if (rig_.server.handler.ended.size() != 1) return fail("the server did not see the end");
    if (last_epoch_ < 3) return fail("too few rotations");
    if (path_moves_ != 1) return fail("the client's new port was not followed");
    if (!server_transfers_.finished() || !client_transfers_.finished()) return fail("a large transfer");
    if (mirror_.size() != table_.size()) return fail("the client's objects differ");
    for (const uint32_t slot : table_.ascending()) {
      const uint32_t mirrored = mirror_.find(table_.network_id(slot));
      if (mirrored == replication::kNoSlot ||
          !table_.info(slot).type->layout->equal(store_.current(slot),
                                                 applier_.confirmed(mirrored, nullptr))) {
        return fail("the client's state differs");
      }
    }
    std::fprintf(out_, "{\"end\":true,\"newest_input\":%s,\"newest_sight\":%s,\"objects\":[%s]}\n",
                 newest_sent_input_.c_str(), newest_sent_sight_.c_str(), objects_json().c_str());
    return true;
  }

  /// What the authority has at this tick: what a client that has all entries of it must have too.
  void write_truth() {
    std::fprintf(out_, "{\"truth\":%u,\"objects\":[%s]}\n", tick_, objects_json().c_str());
  }

  std::string objects_json() const {
    std::string out;
    for (const uint32_t slot : table_.ascending()) {
      const replication::ObjectInfo& info = table_.info(slot);
      out.append(out.empty() ? "" : ",");
      out += "{\"id\":" + std::to_string(info.network_id) +
             ",\"type_id\":" + std::to_string(info.type->type_id) +
             ",\"owner\":" + std::to_string(info.owner) +
             ",\"mode\":" + std::to_string(static_cast<int>(info.mode)) +
             ",\"authority_tick\":" + std::to_string(info.authority.since_tick) +
             ",\"state\":" + leaves_json(*info.type->layout, store_.current(slot)) + "}";
    }
    return out;
  }

  std::FILE* out_;
  base::Random random_;
  uint64_t seed_;
  Types types_;
  SideCapture server_capture_, client_capture_;
  SessionTransfers server_transfers_, client_transfers_;
  Rig rig_;
  crypto::KeyPair client_key_;
  Tick tick_ = 1;
  uint32_t last_epoch_ = 0;
  uint32_t path_moves_ = 0;

  replication::ObjectTable table_{512, 256};
  replication::StateStore store_{replication::kHistoryTicks, replication::KeepTicks(60, 2)};
  replication::SnapshotBuilder builder_{{}, table_, store_};
  std::optional<replication::ReplicaList> server_recipient_;
  replication::JoinProgress progress_;
  std::vector<uint32_t> slots_;
  Tick last_input_tick_ = 0;

  replication::ObjectTable mirror_{1024};
  QuietListener listener_;
  replication::SnapshotApplier applier_{types_.table, mirror_, listener_, replication::slot_bound(512)};
  simulation::InputHistory inputs_{types_.registry.input()->word_count()};
  Command command_;
  replication::RpcCodec rpcs_;
  std::string last_sent_input_ = "[]";
  std::string newest_sent_input_ = "[]";
  std::string newest_sent_sight_ = "[]";
  simulation::Sight sight_;
};

}  // namespace
}  // namespace lattice::test

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: record_session FILE [seed [CAPTURES]]\n");
    return 2;
  }
  std::FILE* out = std::fopen(argv[1], "wb");
  if (out == nullptr) {
    std::fprintf(stderr, "record_session: cannot write %s\n", argv[1]);
    return 2;
  }
  const uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  lattice::test::Session session(out, seed);
  if (argc > 3 && !session.capture_to(argv[3])) {
    std::fprintf(stderr, "record_session: cannot capture to %s; was this built with LATTICE_CAPTURE?\n",
                 argv[3]);
    return 2;
  }
  const bool ok = session.run();
  if (std::fclose(out) != 0 || !ok) return 1;
  return 0;
}
