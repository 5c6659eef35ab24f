// See arena.h.
#include "arena.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <set>

#include "allocation_counter.h"
#include "lattice/lattice.hpp"

namespace lattice::test {
namespace {

constexpr uint64_t kStepNs = 1'000'000'000 / 240;
constexpr float kHalf = 64.0f;
constexpr uint32_t kTruthTicks = 600;
constexpr uint64_t kUnixSeconds = 1'800'000'000;

lattice_member_desc member(const char* name, lattice_wire_type type, size_t offset) {
  lattice_member_desc desc;
  lattice_member_desc_init(&desc);
  desc.name = name;
  desc.type = type;
  desc.offset = static_cast<uint32_t>(offset);
  return desc;
}

lattice_member_desc bounded(const char* name, lattice_wire_type type, size_t offset, double bound,
                            double precision, uint32_t flags) {
  lattice_member_desc desc = member(name, type, offset);
  desc.quant[0] = {-bound, bound, precision};
  desc.flags = flags;
  return desc;
}

lattice_struct_desc structure(const char* name, size_t bytes, size_t align,
                              const lattice_member_desc* members, size_t count) {
  lattice_struct_desc desc;
  lattice_struct_desc_init(&desc);
  desc.name = name;
  desc.host_bytes = static_cast<uint32_t>(bytes);
  desc.host_align = static_cast<uint32_t>(align);
  desc.members = members;
  desc.member_count = static_cast<uint32_t>(count);
  return desc;
}

void expect_ok(lattice_result result, const char* what) {
  if (result == LATTICE_OK) return;
  std::fprintf(stderr, "arena: %s: %s\n", what, lattice_last_error());
  std::abort();
}

float clamp(float value, float low, float high) {
  return value < low ? low : value > high ? high : value;
}

}  // namespace

void register_arena(lattice_world* world, uint64_t salt) {
  const lattice_member_desc input_members[] = {
      bounded("x", LATTICE_WIRE_FLOAT, offsetof(Input, x), 1.0, 1.0 / 64.0, 0),
      bounded("y", LATTICE_WIRE_FLOAT, offsetof(Input, y), 1.0, 1.0 / 64.0, 0),
      member("jump", LATTICE_WIRE_BOOL, offsetof(Input, jump)),
  };
  const lattice_struct_desc input_struct =
      structure("Input", sizeof(Input), alignof(Input), input_members, 3);
  lattice_input_desc input;
  lattice_input_desc_init(&input);
  input.structure = &input_struct;
  expect_ok(lattice_register_input(world, &input), "input");

  const lattice_member_desc mover_members[] = {
      bounded("position", LATTICE_WIRE_VECTOR2, offsetof(MoverState, x), kHalf, 1.0 / 256.0,
              LATTICE_MEMBER_POSITION),
      bounded("velocity", LATTICE_WIRE_VECTOR2, offsetof(MoverState, vx), 16.0, 1.0 / 256.0,
              LATTICE_MEMBER_VELOCITY),
      member("steps", LATTICE_WIRE_UINT32, offsetof(MoverState, steps)),
      member("jumping", LATTICE_WIRE_BOOL, offsetof(MoverState, jumping)),
  };
  const lattice_struct_desc mover_struct =
      structure("Mover", sizeof(MoverState), alignof(MoverState), mover_members, 4);
  const lattice_member_desc number_members[] = {
      member("number", LATTICE_WIRE_UINT32, offsetof(NumberArgs, number))};
  const lattice_struct_desc number_struct =
      structure("Number", sizeof(NumberArgs), alignof(NumberArgs), number_members, 1);
  lattice_rpc_desc rpcs[2];
  lattice_rpc_desc_init(&rpcs[0]);
  rpcs[0].rpc_id = kRpcPoke;
  rpcs[0].name = "poke";
  rpcs[0].target = LATTICE_RPC_TO_SERVER;
  rpcs[0].owner_only = 1;
  rpcs[0].arguments = &number_struct;
  lattice_rpc_desc_init(&rpcs[1]);
  rpcs[1].rpc_id = kRpcTell;
  rpcs[1].name = "tell";
  rpcs[1].target = LATTICE_RPC_TO_OWNER;
  rpcs[1].arguments = &number_struct;
  lattice_behaviour_desc behaviour;
  lattice_behaviour_desc_init(&behaviour);
  behaviour.structure = &mover_struct;
  lattice_type_desc mover;
  lattice_type_desc_init(&mover);
  mover.type_id = kMoverType;
  mover.name = "Mover";
  mover.flags = LATTICE_TYPE_PREDICTED;
  mover.behaviours = &behaviour;
  mover.behaviour_count = 1;
  mover.rpcs = rpcs;
  mover.rpc_count = 2;
  expect_ok(lattice_register_type(world, &mover), "mover");

  lattice_member_desc prop_members[] = {
      bounded("position", LATTICE_WIRE_VECTOR2, offsetof(PropState, x), kHalf, 1.0 / 256.0,
              LATTICE_MEMBER_POSITION),
      bounded("velocity", LATTICE_WIRE_VECTOR2, offsetof(PropState, vx), 16.0, 1.0 / 256.0,
              LATTICE_MEMBER_VELOCITY),
      member("heat", LATTICE_WIRE_INT32, offsetof(PropState, heat)),
      member("label", LATTICE_WIRE_STRING, offsetof(PropState, label)),
  };
  prop_members[2].encoding = LATTICE_ENCODING_RANGED;
  prop_members[2].min_value = -100;
  prop_members[2].max_value = 100 + static_cast<int64_t>(salt);
  prop_members[3].capacity = 12;
  const lattice_struct_desc prop_struct =
      structure("Prop", sizeof(PropState), alignof(PropState), prop_members, 4);
  behaviour.structure = &prop_struct;
  lattice_type_desc prop;
  lattice_type_desc_init(&prop);
  prop.type_id = kPropType;
  prop.name = "Prop";
  prop.behaviours = &behaviour;
  prop.behaviour_count = 1;
  expect_ok(lattice_register_type(world, &prop), "prop");
}

void step_arena(lattice_world* world, const lattice_tick_context* tick, bool moving) {
  lattice_netid ids[512];
  const auto dt = static_cast<float>(tick->dt_s);
  size_t count = lattice_simulated_objects(world, kMoverType, ids, 512);
  for (size_t i = 0; i < count; ++i) {
    auto* s = static_cast<MoverState*>(lattice_object_state(world, ids[i], 0));
    lattice_object_info info{};
    info.struct_size = sizeof info;
    lattice_object_get_info(world, ids[i], &info);
    Input input{};
    lattice_get_input(world, info.owner, &input, sizeof input);
    if (!moving) {  // at rest: nothing to dead-reckon either
      s->vx = s->vy = 0;
      continue;
    }
    s->vx = clamp(s->vx * 0.9f + input.x * 1.5f, -12.0f, 12.0f);
    s->vy = clamp(s->vy * 0.9f + input.y * 1.5f, -12.0f, 12.0f);
    s->x = clamp(s->x + s->vx * dt, -kHalf, kHalf);
    s->y = clamp(s->y + s->vy * dt, -kHalf, kHalf);
    s->steps += 1;
    s->jumping = input.jump;
  }
  count = lattice_simulated_objects(world, kPropType, ids, 512);
  for (size_t i = 0; i < count; ++i) {
    auto* s = static_cast<PropState*>(lattice_object_state(world, ids[i], 0));
    if (!moving) {
      s->vx = s->vy = 0;
      continue;
    }
    if (ids[i] % 3 == 0) continue;  // some things never move
    s->x += s->vx * dt;
    s->y += s->vy * dt;
    if (s->x < -kHalf || s->x > kHalf) s->vx = -s->vx;
    if (s->y < -kHalf || s->y > kHalf) s->vy = -s->vy;
    s->x = clamp(s->x, -kHalf, kHalf);
    s->y = clamp(s->y, -kHalf, kHalf);
    if (tick->tick % 64 == ids[i] % 64) {
      s->heat = static_cast<int32_t>((tick->tick / 64 + ids[i]) % 201) - 100;
      std::snprintf(s->label, sizeof s->label, "%u.%u", static_cast<unsigned>(ids[i] % 1000),
                    tick->tick % 1000);
    }
  }
}

// ---- A numbered stream in one direction over every channel: what I4 and the channel table promise.

struct Stream {
  std::array<uint32_t, 4> sent{};
  std::array<uint32_t, 4> newest{};  // channels 1 and 3: last delivered
  std::vector<bool> seen;            // channel 2
  uint32_t unordered_count = 0;

  /// Empty when the message is legal, else what it broke.
  std::string accept(int channel, uint32_t number) {
    switch (channel) {
      case LATTICE_CHANNEL_UNRELIABLE_SEQUENCED:
        if (number <= newest[1])
          return "sequenced message " + std::to_string(number) + " after " + std::to_string(newest[1]);
        newest[1] = number;
        break;
      case LATTICE_CHANNEL_RELIABLE_UNORDERED:
        if (seen.size() <= number) seen.resize(number + 1);
        if (seen[number]) return "unordered message " + std::to_string(number) + " twice";
        seen[number] = true;
        ++unordered_count;
        break;
      case LATTICE_CHANNEL_RELIABLE_ORDERED:
        if (number != newest[3] + 1)
          return "ordered message " + std::to_string(number) + " after " + std::to_string(newest[3]);
        newest[3] = number;
        break;
      default:
        break;
    }
    return {};
  }
};

struct Arena::Peer {
  lattice_conn* conn = nullptr;
  lattice_netid mover = 0;
  size_t player = 0;
  Stream down;  // what we sent
  Stream up;    // what we received
  uint32_t pokes = 0;
  uint32_t tells = 0;
};

class Player {
 public:
  Player(Arena& arena, size_t index)
      : arena_(arena), index_(index), random_(arena.config_.seed * 1000 + index) {
    lattice_world_config config;
    lattice_world_config_init(&config);
    std::snprintf(address_, sizeof address_, "10.0.1.%zu:%zu", index + 1, 4000 + index);
    config.bind_address = address_;
    config.netsim = arena.netsim_;
    config.clock = lattice_netsim_clock;
    config.clock_ctx = arena.netsim_;
    config.unix_seconds = [](void*) { return kUnixSeconds; };
    config.seed = arena.config_.seed + index;
    if (arena.config_.adjust) arena.config_.adjust(static_cast<int>(index), &config);
    lattice_role_context role;
    lattice_role_context_init(&role, LATTICE_ROLE_CLIENT);
    world_ = lattice_world_create(&config, &role);
    if (world_ == nullptr) expect_ok(lattice_last_result(), "client");
    register_arena(world_, arena.config_.schema_salt);
    lattice_callbacks callbacks;
    lattice_callbacks_init(&callbacks);
    callbacks.on_connected = [](void* ctx, lattice_conn*) { static_cast<Player*>(ctx)->connected_ = true; };
    callbacks.on_disconnected = [](void* ctx, lattice_conn*, int) {
      static_cast<Player*>(ctx)->on_disconnected();
    };
    callbacks.on_rpc = [](void* ctx, lattice_netid, uint16_t rpc, const void* args, size_t) {
      static_cast<Player*>(ctx)->on_rpc(rpc, args);
    };
    callbacks.on_spawn = [](void* ctx, lattice_netid id, uint32_t) {
      static_cast<Player*>(ctx)->on_spawn(id);
    };
    callbacks.on_tick = [](void* ctx, lattice_world*, const lattice_tick_context* tick) {
      static_cast<Player*>(ctx)->on_tick(tick);
    };
    callbacks.on_sample_input = [](void* ctx, lattice_world*, uint32_t tick, void* input, size_t) {
      static_cast<Player*>(ctx)->sample(tick, static_cast<Input*>(input));
    };
    callbacks.on_message = [](void* ctx, lattice_conn*, lattice_channel channel, const void* data,
                              size_t bytes) { static_cast<Player*>(ctx)->on_message(channel, data, bytes); };
    callbacks.on_resync = [](void* ctx, lattice_world*, uint32_t, uint32_t to) {
      static_cast<Player*>(ctx)->last_tick_ = to;
    };
    expect_ok(lattice_set_callbacks(world_, &callbacks, this), "callbacks");
    pump_every_ = 1 + random_.next_below(4);
  }
  ~Player() { lattice_world_destroy(world_); }
  Player(const Player&) = delete;
  Player& operator=(const Player&) = delete;

  void connect() {
    uint8_t key[32];
    expect_ok(lattice_world_new_client_key(world_, key), "client key");
    lattice_token_request request;
    lattice_token_request_init(&request);
    request.issued_unix_s = kUnixSeconds;
    std::memcpy(request.server_public_key, arena_.server_key_.data(), 32);
    std::memcpy(request.client_public_key, key, 32);
    request.player[0] = static_cast<uint8_t>(index_);
    const uint8_t who[1] = {static_cast<uint8_t>(index_)};
    request.user_data = who;
    request.user_data_bytes = 1;
    uint8_t token[LATTICE_TOKEN_MAX_BYTES];
    size_t bytes = 0;
    expect_ok(lattice_token_issue(arena_.issuer_seed_.data(), &request, token, sizeof token, &bytes),
              "token");
    conn_ = lattice_connect(world_, "10.0.0.1:27015", token, bytes);
    if (conn_ == nullptr) expect_ok(lattice_last_result(), "connect");
    up_ = {};
    down_ = {};
    pokes_ = 0;
    tells_ = 0;
    last_tick_ = 0;
  }

  void pump(uint64_t step) {
    if (step % pump_every_ != 0) return;
    const uint64_t before = allocation_count();
    lattice_world_recv(world_);
    arena_.pump_allocations_ += allocation_count() - before;
    check_states();
    const uint64_t middle = allocation_count();
    const uint32_t due = lattice_world_ticks_due(world_);
    for (uint32_t i = 0; i < due; ++i) lattice_world_tick(world_, lattice_world_next_tick(world_));
    arena_.pump_allocations_ += allocation_count() - middle;
    if (connected_ && arena_.config_.traffic && arena_.moving_) traffic();
    const uint64_t last = allocation_count();
    lattice_world_send(world_);
    draw();
    arena_.pump_allocations_ += allocation_count() - last;
  }

  void traffic() {
    if (random_.chance(0.3)) {
      const int channel = static_cast<int>(random_.next_below(4));
      uint8_t message[64] = {};
      const uint32_t number = up_.sent[static_cast<size_t>(channel)] + 1;
      std::memcpy(message, &number, 4);
      if (lattice_send(conn_, static_cast<lattice_channel>(channel), message, 4 + random_.next_below(60)) ==
          LATTICE_OK) {
        up_.sent[static_cast<size_t>(channel)] = number;
      }
    }
    if (mover_ != 0 && random_.chance(0.02)) {
      const NumberArgs args{pokes_ + 1};
      lattice_rpc(world_, mover_, kRpcPoke, LATTICE_RPC_TO_SERVER, LATTICE_CHANNEL_RELIABLE_ORDERED, &args,
                  sizeof args);
      ++pokes_;
    }
  }

  void sample(uint32_t tick, Input* input) {
    if (!arena_.moving_) {
      *input = Input{};
      return;
    }
    if (tick % 16 == index_ % 16) {
      input->x = static_cast<float>(random_.next_below(129)) / 64.0f - 1.0f;
      input->y = static_cast<float>(random_.next_below(129)) / 64.0f - 1.0f;
      input->jump = random_.chance(0.3) ? 1 : 0;
    }
  }

  void on_tick(const lattice_tick_context* tick) {
    if (tick->is_resimulating == 0) {
      // I1: whole ticks, one after the other.
      if (last_tick_ != 0 && tick->tick != last_tick_ + 1)
        violation("I1: tick " + std::to_string(tick->tick) + " after " + std::to_string(last_tick_));
      last_tick_ = tick->tick;
    }
    step_arena(world_, tick, arena_.moving_);
  }

  void on_spawn(lattice_netid id) {
    lattice_object_info info{};
    info.struct_size = sizeof info;
    lattice_object_get_info(world_, id, &info);
    if (info.type_id == kMoverType && info.owner == lattice_local_peer(world_)) mover_ = id;
    // I5: the server-authoritative objects of this session are the server's to write, never a client's.
    if (info.authority_mode != LATTICE_AUTHORITY_SERVER) violation("I5: object with a foreign authority");
    const float nowhere = 0;
    if (lattice_set_prop(world_, id, 0, &nowhere, sizeof nowhere) == LATTICE_OK)
      violation("I5: a client wrote outside its tick");
  }

  void on_disconnected() {
    connected_ = false;
    mover_ = 0;
    conn_ = nullptr;
  }

  void on_rpc(uint16_t rpc, const void* args) {
    const uint32_t number = static_cast<const NumberArgs*>(args)->number;
    if (rpc != kRpcTell || number != tells_ + 1)
      violation("I4: RPC " + std::to_string(number) + " after " + std::to_string(tells_));
    tells_ = number;
    ++arena_.delivered_;
  }

  void on_message(lattice_channel channel, const void* data, size_t bytes) {
    const PauseCounting pause;
    uint32_t number = 0;
    if (bytes < 4) return violation("I4: short message");
    std::memcpy(&number, data, 4);
    const std::string broken = down_.accept(channel, number);
    if (!broken.empty()) violation("I4: " + broken);
    ++arena_.delivered_;
  }

  /// Every confirmed state must be what the server had at that very tick, bit for bit.
  void check_states() {
    lattice_netid ids[512];
    const size_t count = lattice_objects(world_, 0, ids, 512);
    for (size_t i = 0; i < count; ++i) {
      uint8_t mine[64] = {};
      uint32_t tick = 0;
      const size_t bytes = lattice_object_confirmed(world_, ids[i], 0, mine, sizeof mine, &tick);
      if (bytes == 0) continue;
      const auto at = arena_.truth_.find(tick);
      if (at == arena_.truth_.end()) continue;  // older than the record
      const auto state = at->second.find(ids[i]);
      if (state == at->second.end()) {
        violation("object " + std::to_string(ids[i]) + " at tick " + std::to_string(tick) + " never existed");
      } else if (std::memcmp(state->second.data(), mine, bytes) != 0) {
        violation("object " + std::to_string(ids[i]) + " differs from the server's state at tick " +
                  std::to_string(tick));
      }
      ++arena_.states_checked_;
    }
  }

  void draw() {
    lattice_netid ids[512];
    const size_t count = lattice_objects(world_, 0, ids, 512);
    lattice_frame_begin(world_);
    take_frame();
    const bool same = count == framed_.size() && std::all_of(ids, ids + count, [this](lattice_netid id) {
                        return framed_.contains(id);
                      });
    if (!same) violation("the frames do not add up to the objects");
    uint8_t shown[64];
    for (size_t i = 0; i < count; ++i) lattice_object_view(world_, ids[i], 0, shown, sizeof shown);
  }

  /// Follows the objects by what the frames say alone.
  void take_frame() {
    const PauseCounting pause;
    const Frame frame = WorldRef(world_).frame();
    for (const lattice_frame_object& gone : frame.gone()) {
      if (framed_.erase(gone.object) == 0) violation("a frame has an unknown object that left");
    }
    for (const lattice_frame_object& added : frame.appeared()) {
      if (!framed_.insert(added.object).second) violation("a frame has an object that appears twice");
    }
  }

  void violation(const std::string& text) {
    arena_.violation("player " + std::to_string(index_) + ": " + text);
  }

  Arena& arena_;
  size_t index_;
  base::Random random_;
  char address_[32] = {};
  lattice_world* world_ = nullptr;
  lattice_conn* conn_ = nullptr;
  lattice_netid mover_ = 0;
  std::set<lattice_netid> framed_;  // what the frames say is there
  bool connected_ = false;
  Stream up_;
  Stream down_;
  uint32_t pokes_ = 0;
  uint32_t tells_ = 0;
  uint32_t last_tick_ = 0;
  uint64_t pump_every_ = 1;
};

// ---- The arena

Arena::Arena(const ArenaConfig& config) : config_(config), random_(config.seed) {
  netsim_ = lattice_netsim_create(config.seed);
  expect_ok(lattice_netsim_set_impairment(netsim_, &config.impairment), "impairment");
  lattice_issuer_generate(issuer_seed_.data(), issuer_public_.data());
  make_server();
  for (uint32_t i = 0; i < config.clients; ++i) {
    players_.push_back(std::make_unique<Player>(*this, i));
    players_.back()->connect();
  }
}

Arena::~Arena() {
  players_.clear();
  lattice_world_destroy(server_);
  lattice_netsim_destroy(netsim_);
}

void Arena::make_server() {
  lattice_world_config config;
  lattice_world_config_init(&config);
  config.bind_address = "10.0.0.1:27015";
  config.netsim = netsim_;
  config.clock = lattice_netsim_clock;
  config.clock_ctx = netsim_;
  config.unix_seconds = [](void*) { return kUnixSeconds; };
  config.seed = config_.seed;
  config.max_connections = 32;
  config.max_half_open_per_prefix = 32;
  config.issuer_public_keys = issuer_public_.data();
  config.issuer_public_key_count = 1;
  config.worker_count = config_.worker_count;
  config.enqueue_tasks = config_.enqueue_tasks;
  config.finish_tasks = config_.finish_tasks;
  config.tasks_ctx = config_.tasks_ctx;
  if (config_.adjust) config_.adjust(-1, &config);
  lattice_role_context role;
  lattice_role_context_init(&role, LATTICE_ROLE_DEDICATED);
  server_ = lattice_world_create(&config, &role);
  if (server_ == nullptr) expect_ok(lattice_last_result(), "server");
  register_arena(server_, 0);
  lattice_callbacks callbacks;
  lattice_callbacks_init(&callbacks);
  callbacks.on_connected = on_server_connected;
  callbacks.on_disconnected = on_server_disconnected;
  callbacks.on_rpc = on_server_rpc;
  callbacks.on_tick = on_server_tick;
  callbacks.on_message = on_server_message;
  expect_ok(lattice_set_callbacks(server_, &callbacks, this), "callbacks");
  expect_ok(lattice_world_public_key(server_, server_key_.data()), "public key");
  for (uint32_t i = 0; i < config_.props; ++i) {
    const lattice_netid id = lattice_spawn(server_, kPropType, LATTICE_AUTHORITY_SERVER);
    auto* s = static_cast<PropState*>(lattice_object_state(server_, id, 0));
    s->vx = static_cast<float>(random_.next_below(17)) - 8.0f;
    s->vy = static_cast<float>(random_.next_below(17)) - 8.0f;
    props_.push_back(id);
  }
}

void Arena::violation(const std::string& text) {
  if (violations_.size() < 20)
    violations_.push_back("t=" + std::to_string(static_cast<double>(now()) / 1e9) + " " + text);
}

void Arena::run(double seconds) {
  const auto steps = static_cast<uint64_t>(seconds * 240.0);
  for (uint64_t i = 0; i < steps; ++i) step();
}

void Arena::step() {
  lattice_netsim_advance(netsim_, kStepNs);
  const uint64_t step = now() / kStepNs;
  if (step % 2 == 0) {
    const uint64_t before = allocation_count();
    lattice_world_recv(server_);
    const uint32_t due = lattice_world_ticks_due(server_);
    pump_allocations_ += allocation_count() - before;
    for (uint32_t i = 0; i < due; ++i) {
      const uint64_t tick_before = allocation_count();
      lattice_world_tick(server_, lattice_world_next_tick(server_));
      pump_allocations_ += allocation_count() - tick_before;
      record_truth(lattice_world_next_tick(server_) - 1);
    }
    if (config_.traffic && moving_) server_traffic();
    if (config_.churn && moving_) server_churn();
    const uint64_t send_before = allocation_count();
    lattice_world_send(server_);
    pump_allocations_ += allocation_count() - send_before;
  }
  for (const auto& player : players_) player->pump(step);
}

void Arena::record_truth(uint32_t tick) {
  lattice_netid ids[512];
  const size_t count = lattice_objects(server_, 0, ids, 512);
  auto& now_states = truth_[tick];
  for (size_t i = 0; i < count; ++i) {
    uint8_t state[64] = {};
    uint32_t at = 0;
    const size_t bytes = lattice_object_confirmed(server_, ids[i], 0, state, sizeof state, &at);
    now_states[ids[i]].assign(state, state + bytes);
  }
  while (truth_.size() > kTruthTicks) truth_.erase(truth_.begin());
}

void Arena::server_traffic() {
  for (auto& [peer_id, peer] : peers_) {
    if (random_.chance(0.3)) {
      const int channel = static_cast<int>(random_.next_below(4));
      uint8_t message[64] = {};
      const uint32_t number = peer->down.sent[static_cast<size_t>(channel)] + 1;
      std::memcpy(message, &number, 4);
      if (lattice_send(peer->conn, static_cast<lattice_channel>(channel), message,
                       4 + random_.next_below(60)) == LATTICE_OK) {
        peer->down.sent[static_cast<size_t>(channel)] = number;
      }
    }
    if (random_.chance(0.02)) {
      const NumberArgs args{++peer->tells};
      lattice_rpc(server_, peer->mover, kRpcTell, LATTICE_RPC_TO_OWNER, LATTICE_CHANNEL_RELIABLE_ORDERED,
                  &args, sizeof args);
    }
  }
}

void Arena::server_churn() {
  if (random_.chance(0.01) && !props_.empty()) {
    const size_t victim = random_.next_below(props_.size());
    lattice_despawn(server_, props_[victim]);
    props_[victim] = props_.back();
    props_.pop_back();
  }
  if (random_.chance(0.01) && props_.size() < 2 * config_.props) {
    const lattice_netid id = lattice_spawn(server_, kPropType, LATTICE_AUTHORITY_SERVER);
    auto* s = static_cast<PropState*>(lattice_object_state(server_, id, 0));
    s->vx = 3.0f;
    props_.push_back(id);
  }
  if (random_.chance(0.0005) && !players_.empty()) {
    Player& player = *players_[random_.next_below(players_.size())];
    if (player.connected_) {
      lattice_disconnect(player.conn_);
    } else if (player.conn_ == nullptr) {
      player.connect();
    }
  }
}

void Arena::set_impairment(const lattice_impairment& impairment) {
  expect_ok(lattice_netsim_set_impairment(netsim_, &impairment), "impairment");
}

void Arena::settle() {
  lattice_impairment perfect;
  lattice_impairment_init(&perfect);
  perfect.delay_ms = 20;
  set_impairment(perfect);
  moving_ = false;
  for (const auto& player : players_) {
    if (player->conn_ == nullptr) player->connect();
  }
  run(4.0);
  for (auto& [id, peer] : peers_) {
    const Player& player = *players_[peer->player];
    // An earlier connection whose goodbye was lost: the server finds out by silence, later.
    if (lattice_local_peer(player.world_) != id) continue;
    const auto check = [&](const char* what, uint64_t sent, uint64_t got) {
      if (sent != got)
        violation("I4: " + std::string(what) + ": " + std::to_string(sent) + " sent, " + std::to_string(got) +
                  " delivered");
    };
    check("ordered up", player.up_.sent[3], peer->up.newest[3]);
    check("unordered up", player.up_.sent[2], peer->up.unordered_count);
    check("ordered down", peer->down.sent[3], player.down_.newest[3]);
    check("unordered down", peer->down.sent[2], player.down_.unordered_count);
    check("RPC up", player.pokes_, peer->pokes);
    check("RPC down", peer->tells, player.tells_);
  }
}

lattice_world* Arena::client(size_t index) const {
  return players_[index]->world_;
}
bool Arena::connected(size_t index) const {
  return players_[index]->connected_;
}
void Arena::disconnect(size_t index) {
  lattice_disconnect(players_[index]->conn_);
}
void Arena::connect(size_t index) {
  players_[index]->connect();
}

lattice_conn_stats Arena::client_stats(size_t index) const {
  lattice_conn_stats stats{};
  stats.struct_size = sizeof stats;
  if (connected(index)) expect_ok(lattice_conn_get_stats(players_[index]->conn_, &stats), "client stats");
  return stats;
}

lattice_conn_stats Arena::server_stats(size_t index) const {
  lattice_conn_stats stats{};
  stats.struct_size = sizeof stats;
  for (const auto& [id, peer] : peers_) {
    if (peer->player == index) expect_ok(lattice_conn_get_stats(peer->conn, &stats), "server stats");
  }
  return stats;
}

uint64_t Arena::take_pump_allocations() {
  const uint64_t taken = pump_allocations_;
  pump_allocations_ = 0;
  return taken;
}

void Arena::on_server_tick(void* ctx, lattice_world* world, const lattice_tick_context* tick) {
  auto& arena = *static_cast<Arena*>(ctx);
  if (tick->tick != arena.last_server_tick_ + 1)
    arena.violation("I1: server tick " + std::to_string(tick->tick));
  arena.last_server_tick_ = tick->tick;
  step_arena(world, tick, arena.moving_);
}

void Arena::on_server_connected(void* ctx, lattice_conn* conn) {
  auto& arena = *static_cast<Arena*>(ctx);
  lattice_conn_info info{};
  info.struct_size = sizeof info;
  expect_ok(lattice_conn_get_info(conn, &info), "conn info");
  auto peer = std::make_unique<Peer>();
  peer->conn = conn;
  peer->player = info.user_data[0];
  peer->mover = lattice_spawn_for(arena.server_, kMoverType, LATTICE_AUTHORITY_SERVER, info.peer_id);
  arena.peers_[info.peer_id] = std::move(peer);
}

void Arena::on_server_disconnected(void* ctx, lattice_conn* conn, int) {
  auto& arena = *static_cast<Arena*>(ctx);
  for (auto it = arena.peers_.begin(); it != arena.peers_.end(); ++it) {
    if (it->second->conn != conn) continue;
    lattice_despawn(arena.server_, it->second->mover);
    arena.peers_.erase(it);
    return;
  }
}

void Arena::on_server_rpc(void* ctx, lattice_netid, uint16_t rpc, const void* args, size_t) {
  auto& arena = *static_cast<Arena*>(ctx);
  const auto peer = arena.peers_.find(lattice_rpc_sender(arena.server_));
  if (peer == arena.peers_.end()) return arena.violation("RPC from nobody");
  const uint32_t number = static_cast<const NumberArgs*>(args)->number;
  if (rpc != kRpcPoke || number != peer->second->pokes + 1)
    arena.violation("I4: RPC up " + std::to_string(number));
  peer->second->pokes = number;
  ++arena.delivered_;
}

void Arena::on_server_message(void* ctx, lattice_conn* conn, lattice_channel channel, const void* data,
                              size_t bytes) {
  const PauseCounting pause;
  auto& arena = *static_cast<Arena*>(ctx);
  for (auto& [id, peer] : arena.peers_) {
    if (peer->conn != conn) continue;
    uint32_t number = 0;
    if (bytes >= 4) std::memcpy(&number, data, 4);
    const std::string broken = peer->up.accept(channel, number);
    if (!broken.empty()) arena.violation("I4: up: " + broken);
    ++arena.delivered_;
    return;
  }
}

}  // namespace lattice::test
