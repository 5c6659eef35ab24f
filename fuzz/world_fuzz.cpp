// Whole worlds, both roles, behind the encryption (docs/spec/data.md). The input lists what the game does,
// and the messages that client 0 and the server send each other besides: snapshot parts, inputs, RPCs and
// bytes of no kind. Must hold: no step breaks a world, a connection that a lie ends has a refusal with a
// name, and the honest client is never refused and holds what the server holds once the game is quiet.
//
// The input is  options u8 · steps;  a step is  operation u8 (mod 16) · its arguments. An input that ends
// early reads zeros.
#include <cstddef>
#include <cstdint>

#include "world_rig.h"

namespace {

using namespace lattice::fuzz;
using lattice::reliability::MessageFlags;

constexpr size_t kMaxSteps = 96;
constexpr size_t kMaxBodyBytes = 1024;

class Input {
 public:
  Input(const uint8_t* data, size_t size) : left_(data, size) {}
  bool empty() const { return left_.empty(); }
  uint8_t u8() {
    const std::span<const uint8_t> byte = bytes(1);
    return byte.empty() ? 0 : byte[0];
  }
  std::span<const uint8_t> bytes(size_t count) {
    const std::span<const uint8_t> out = left_.first(std::min(count, left_.size()));
    left_ = left_.subspan(out.size());
    return out;
  }

 private:
  std::span<const uint8_t> left_;
};

RigOptions options_of(uint8_t byte) {
  constexpr uint32_t kBudgets[] = {0, 128, 300, 1200};
  RigOptions options;
  options.interest = (byte & 1) != 0;
  options.host = (byte & 2) != 0;
  options.tick_rate_hz = (byte & 4) != 0 ? 20 : 60;
  options.snapshot_rate_hz = (byte & 8) != 0 ? options.tick_rate_hz : options.tick_rate_hz / 3;
  options.snapshot_budget_bytes = kBudgets[byte >> 4 & 3];
  return options;
}

class Session {
 public:
  // A longer object than the budget is never sent.
  explicit Session(uint8_t options) : rig_(options_of(options)) {
    const uint32_t budget_bytes = options_of(options).snapshot_budget_bytes;
    if (budget_bytes != 0) longest_text_ = std::min(longest_text_, budget_bytes / 2);
  }

  void step(Input& input);
  void finish();

 private:
  lattice_netid object(uint8_t which) const {
    const std::vector<lattice_netid> ids = WorldRig::objects(rig_.server);
    return ids.empty() ? 0 : ids[which % ids.size()];
  }
  void game(Input& input);
  void write(lattice_netid id, uint8_t value);
  void lie(Input& input, bool to_client);
  std::vector<uint8_t> body_with_tick(Input& input) const;

  WorldRig rig_;
  uint32_t longest_text_ = 255;
};

void Session::step(Input& input) {
  WorldRig::Peer& liar = rig_.clients[0];
  const uint8_t operation = input.u8() % 16;
  switch (operation) {
    case 0:
    case 1:
    case 2:
    case 3:
      return lie(input, true);
    case 4:
    case 5:
      return lie(input, false);
    case 6:
      liar.paused = !liar.paused;
      return;
    case 7:
      if (liar.conn != nullptr && input.u8() % 2 == 0) lattice_disconnect(liar.conn);
      if (liar.server_conn != nullptr) lattice_disconnect(liar.server_conn);
      return;
    case 8:
      return rig_.connect(liar);
    case 9:
      return rig_.set_link(input.u8() % 41);
    case 10:
      rig_.hidden ^= 1u << input.u8() % 32;
      return;
    case 11:
      return rig_.run(1 + input.u8() % 64u);
    default:
      return game(input);
  }
}

/// action u8 (mod 8) · which u8
void Session::game(Input& input) {
  const uint8_t action = input.u8() % 8;
  const uint8_t which = input.u8();
  const lattice_netid id = object(which);
  switch (action) {
    case 0:
    case 1: {
      const lattice_peer_id owners[] = {0, rig_.clients[0].id, rig_.clients[1].id, 0};
      const lattice_peer_id owner = owners[which / 3 % 4];
      const uint32_t type = 1 + which % 3;
      const lattice_netid made = owner == 0
                                     ? lattice_spawn(rig_.server, type, LATTICE_AUTHORITY_SERVER)
                                     : lattice_spawn_for(rig_.server, type, LATTICE_AUTHORITY_SERVER, owner);
      return write(made, which);
    }
    case 2:
      if (id != 0) lattice_despawn(rig_.server, id);
      return;
    case 3:
    case 4:
      return write(id, input.u8());
    case 5: {
      const uint16_t rpc = which % 2 == 0 ? lattice::test::kKnock : lattice::test::kKnockAligned;
      const auto channel =
          which % 2 == 0 ? LATTICE_CHANNEL_RELIABLE_ORDERED : LATTICE_CHANNEL_RELIABLE_UNORDERED;
      if (id != 0) lattice_rpc(rig_.server, id, rpc, LATTICE_RPC_TO_ALL, channel, nullptr, 0);
      return;
    }
    case 6:
      for (const lattice_netid each : WorldRig::objects(rig_.server)) write(each, which);
      return;
    default:
      return rig_.run(1);
  }
}

void Session::write(lattice_netid id, uint8_t value) {
  lattice_object_info info;
  lattice_object_info_init(&info);
  if (id == 0 || lattice_object_get_info(rig_.server, id, &info) != LATTICE_OK) return;
  auto* body = static_cast<lattice::test::Body*>(lattice_object_state(rig_.server, id, 0));
  body->x = static_cast<float>(value);
  body->y = static_cast<float>(id % 100);
  if (info.type_id != lattice::test::kNoteType) return;
  char* text = static_cast<lattice::test::Note*>(lattice_object_state(rig_.server, id, 0))->text;
  std::fill_n(text, sizeof lattice::test::Note::text, '\0');
  std::fill_n(text, value % longest_text_, static_cast<char>('a' + value % 26));
}

/// offset i8 · length u8 · bytes: a tick that is so far from the server's, then the bytes. An offset of -128:
/// no tick.
std::vector<uint8_t> Session::body_with_tick(Input& input) const {
  const auto offset = static_cast<int8_t>(input.u8());
  const uint32_t tick = rig_.tick() + static_cast<uint32_t>(static_cast<int32_t>(offset));
  std::vector<uint8_t> body;
  for (int shift = 0; offset != -128 && shift < 32; shift += 8) {
    body.push_back(static_cast<uint8_t>(tick >> shift));
  }
  const std::span<const uint8_t> rest = input.bytes(std::min<size_t>(input.u8() * 4u, kMaxBodyBytes));
  body.insert(body.end(), rest.begin(), rest.end());
  return body;
}

/// kind u8 (mod 8) · its body.
void Session::lie(Input& input, bool to_client) {
  WorldRig::Peer& peer = rig_.clients[0];
  lattice_world* from = to_client ? rig_.server : peer.world;
  lattice_conn* conn = to_client ? peer.server_conn : peer.conn;
  const uint8_t kind = input.u8();
  MessageFlags flags;
  switch (kind % 8) {
    case 0: {  // channel and flags u8 · body
      const uint8_t how = input.u8();
      flags.is_snapshot = (how & 0x10) != 0;
      flags.is_rpc = (how & 0x20) != 0;
      return rig_.inject(from, conn, how % 4, flags, body_with_tick(input));
    }
    case 1:
    case 2: {  // object u8 · rpc u8 · target u8 · body: an RPC about an object that there is, or was
      flags.is_rpc = true;
      const uint8_t which = input.u8();
      std::vector<uint8_t> body = {static_cast<uint8_t>(which & 0x7F), static_cast<uint8_t>(input.u8() % 4)};
      const uint32_t tick = rig_.tick() + which / 16;
      for (int shift = 0; shift < 32; shift += 8) body.push_back(static_cast<uint8_t>(tick >> shift));
      body.push_back(input.u8());
      return rig_.inject(from, conn, 2 + kind % 2u, flags, body);
    }
    default:
      flags.is_snapshot = true;
      return rig_.inject(from, conn, 1, flags, body_with_tick(input));
  }
}

void Session::finish() {
  WorldRig::Peer& liar = rig_.clients[0];
  WorldRig::Peer& honest = rig_.clients[WorldRig::kHonest];
  rig_.set_link(0);
  for (int tries = 0; tries < 20 && !rig_.equal(honest); ++tries) rig_.run(60);
  require(honest.ends == 0 && honest.conn != nullptr);
  require(rig_.equal(honest));
  if (liar.reason == LATTICE_DISCONNECT_PROTOCOL_ERROR) {
    require(WorldRig::refusals(liar.world) + WorldRig::refusals(rig_.server) > 0);
  }
  require(WorldRig::objects(liar.world).size() <= 2 * WorldRig::kMaxObjects);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  Session session(input.u8());
  for (size_t steps = 0; steps < kMaxSteps && !input.empty(); ++steps) session.step(input);
  session.finish();
  return 0;
}
