// Sequences of calls of the C interface, by programs in both roles, with right and wrong arguments, from
// outside and inside callbacks. Input: stage u8 · steps; a step is  operation u8 · its arguments, as
// c_interface.h reads them. An input that ends early reads zeros.
//
// Must hold: each call answers a result that its comment names, with a text where it failed; what is
// forbidden in callbacks is refused there; every world can be destroyed; and afterwards a new server and a
// new client on the same network exchange messages.
#include "c_interface.h"

#include <cstdio>
#include <string>

namespace lattice::fuzz {

namespace {

constexpr size_t kMaxSteps = 160;
constexpr const char* kServerAddress = "10.0.0.1:27015";
constexpr const char* kClientAddress = "10.0.0.2:1000";
constexpr const char* kAddresses[] = {
    kServerAddress, kClientAddress,   "10.0.0.3:3000", "10.0.0.4:4000", "",
    "10.0.0.1",     "10.0.0.1:99999", "[::1]:5",       "no/such/file",  "\xFF\x01:1"};
struct Command {
  float x;
};

lattice_struct_desc command_structure() {
  static lattice_member_desc member;
  lattice_member_desc_init(&member);
  member.name = "x";
  member.type = LATTICE_WIRE_FLOAT;
  member.quant[0] = {-1, 1, 1.0 / 64};
  lattice_struct_desc out;
  lattice_struct_desc_init(&out);
  out.name = "Command";
  out.host_bytes = sizeof(Command);
  out.host_align = alignof(Command);
  out.members = &member;
  out.member_count = 1;
  return out;
}

void register_types(lattice_world* world) {
  test::register_bodies(world);
  const lattice_struct_desc structure = command_structure();
  lattice_input_desc input;
  lattice_input_desc_init(&input);
  input.structure = &structure;
  require(lattice_register_input(world, &input) == LATTICE_OK);
}

Play& play_of(void* ctx) {
  return *static_cast<Play*>(ctx);
}

}  // namespace

Play::Play(std::span<const uint8_t> input) : input_(input) {
  net_ = lattice_netsim_create(7);
  states_.fill(data_.data());
  static lattice_world* const stale = [this] {
    lattice_world* made = make("10.0.0.9:9000", LATTICE_ROLE_CLIENT);
    lattice_world_destroy(made);
    return made;
  }();
  stale_world_ = stale;
  const uint8_t stage = u8();
  records_events_ = (stage & 8) != 0;
  transport_only_ = (stage & 16) != 0;
  worlds_.push_back(make(kServerAddress, (stage & 2) != 0 ? LATTICE_ROLE_HOST : LATTICE_ROLE_DEDICATED));
  worlds_.push_back(make(kClientAddress, LATTICE_ROLE_CLIENT));
  if ((stage & 1) == 0) return;
  require(connect());
  if ((stage & 4) == 0) return;
  // A connection of before.
  stale_conn_ = conns_.back();
  silent_ = true;
  lattice_disconnect(stale_conn_);
  pump(40);
  require(connect());
}

Play::~Play() {
  for (lattice_world* each : worlds_) lattice_world_destroy(each);
  for (lattice_netsim* each : netsims_) lattice_netsim_destroy(each);
  lattice_netsim_destroy(net_);
}

lattice_world* Play::make(const char* address, lattice_role role) {
  lattice_world_config config;
  lattice_world_config_init(&config);
  config.bind_address = address;
  config.netsim = net_;
  config.clock = lattice_netsim_clock;
  config.clock_ctx = net_;
  config.unix_seconds = [](void*) { return uint64_t{1'800'000'000}; };
  config.max_connections = 3;
  config.max_objects = 32;
  config.development_tokens = role == LATTICE_ROLE_CLIENT ? 0 : 1;
  config.transfer_channel = 4;
  config.interest_kind = LATTICE_INTEREST_GRID;
  config.record_events = records_events_ ? 1 : 0;
  config.transport_only = transport_only_ ? 1 : 0;
  lattice_role_context context;
  lattice_role_context_init(&context, role);
  lattice_world* made = lattice_world_create(&config, &context);
  require(made != nullptr);
  if (!transport_only_) register_types(made);
  lattice_callbacks callbacks;
  lattice_callbacks_init(&callbacks);
  fill(callbacks);
  require(lattice_set_callbacks(made, &callbacks, this) == LATTICE_OK);
  lattice_transfer_callbacks transfers;
  lattice_transfer_callbacks_init(&transfers);
  fill(transfers);
  require(lattice_set_transfer_callbacks(made, &transfers, this) == LATTICE_OK);
  return made;
}

bool Play::connect() {
  silent_ = true;
  require(lattice_dev_token(worlds_[1], kServerAddress, nullptr, token_.data(), token_.size(),
                            &token_bytes_) == LATTICE_OK);
  lattice_conn* conn = lattice_connect(worlds_[1], kServerAddress, token_.data(), token_bytes_);
  require(conn != nullptr);
  conns_.push_back(conn);
  bool is_connected = false;
  for (int i = 0; i < 20 && !is_connected; ++i) {
    pump(5);
    lattice_conn_info info;
    lattice_conn_info_init(&info);
    is_connected = lattice_conn_get_info(conn, &info) == LATTICE_OK && info.is_connected != 0;
  }
  // One more, which the input may use.
  lattice_dev_token(worlds_[1], kServerAddress, nullptr, token_.data(), token_.size(), &token_bytes_);
  silent_ = false;
  return is_connected;
}

void Play::run() {
  for (size_t steps = 0; steps < kMaxSteps && !input_.empty(); ++steps) {
    if (const uint8_t operation = u8() % 8; operation < 6) {
      call();
    } else {
      pump(operation == 6 ? 1 : 6);
    }
  }
}

void Play::call() {
  const std::vector<CallOf>& all = calls();
  all[u8() % all.size()](*this);
}

void Play::pump(uint32_t steps) {
  for (uint32_t i = 0; i < steps; ++i) {
    lattice_netsim_advance(net_, 17'000'000);
    for (size_t w = 0; w < worlds_.size(); ++w) {
      lattice_world* const each = worlds_[w];
      if (std::find(inside_.begin(), inside_.end(), each) != inside_.end()) continue;
      inside_.push_back(each);
      lattice_world_pump(each);
      inside_.pop_back();
    }
  }
}

void Play::end(const char* name, const Outcome& outcome) {
  inside_.pop_back();
  if (outcome.kind == Returns::kExempt) return;
  const lattice_result result = lattice_last_result();
  const bool is_text = lattice_last_error()[0] != '\0';
  const bool is_inside =
      outcome.world != nullptr && std::find(inside_.begin(), inside_.end(), outcome.world) != inside_.end();
  const char* wrong = nullptr;
  if (result < 0 || result > LATTICE_ERROR_NOT_CONNECTED) {
    wrong = "no result";
  } else if ((outcome.documented >> result & 1) == 0) {
    wrong = "a result that the comment does not name";
  } else if (is_text != (result != LATTICE_OK)) {
    wrong = "a text without an error, or an error without a text";
  } else if (outcome.kind == Returns::kResult && outcome.returned != static_cast<uint64_t>(result)) {
    wrong = "returned something else";
  } else if (outcome.kind == Returns::kNumber && result != LATTICE_OK && outcome.returned != 0) {
    wrong = "failed, and returned a number";
  } else if (outcome.is_forbidden_in_callbacks && is_inside && result == LATTICE_OK) {
    wrong = "was allowed inside a callback";
  }
  if (wrong == nullptr) return;
  std::fprintf(stderr, "%s: %s: %s %s\n", name, wrong, lattice_result_name(result), lattice_last_error());
  std::abort();
}

void Play::in_callback() {
  if (silent_ || depth_ >= kMaxDepth || input_.empty() || u8() % 4 != 0) return;
  ++depth_;
  call();
  --depth_;
}

void Play::keep_world(lattice_world* made) {
  if (made == nullptr) return;
  if (worlds_.size() < 5) return worlds_.push_back(made);
  lattice_world_destroy(made);
}
void Play::keep_netsim(lattice_netsim* made) {
  if (made == nullptr) return;
  if (netsims_.size() < 3) return netsims_.push_back(made);
  lattice_netsim_destroy(made);
}
void Play::keep_conn(lattice_conn* made) {
  if (made != nullptr) conns_.push_back(made);
}
void Play::keep_object(lattice_netid made) {
  if (made != 0) objects_.push_back(made);
}

// ---- Arguments ------------------------------------------------------------------------------------------

uint8_t Play::u8() {
  if (input_.empty()) return 0;
  const uint8_t out = input_[0];
  input_ = input_.subspan(1);
  return out;
}

lattice_world* Play::world() {
  const uint8_t which = u8() % 32;
  if (which < 12) return worlds_[0];
  if (which < 24) return worlds_[1];
  if (which < 28) return worlds_[which % worlds_.size()];
  if (which == 28) return nullptr;
  if (which == 29) return stale_world_;
  if (which == 30) return reinterpret_cast<lattice_world*>(net_);
  return reinterpret_cast<lattice_world*>(conns_.empty() ? uintptr_t{1} << 62
                                                         : reinterpret_cast<uintptr_t>(conns_.back()));
}

lattice_conn* Play::conn() {
  const uint8_t which = u8() % 32;
  if (which < 28)
    return conns_.empty() ? nullptr : conns_[conns_.size() - 1 - which % std::min<size_t>(4, conns_.size())];
  if (which == 28) return nullptr;
  if (which == 29) return stale_conn_;
  return reinterpret_cast<lattice_conn*>(which == 30 ? worlds_[0] : stale_world_);
}

lattice_netsim* Play::netsim() {
  const uint8_t which = u8() % 16;
  if (which < 12) return net_;
  if (which == 12) return nullptr;
  if (which == 13) return reinterpret_cast<lattice_netsim*>(worlds_[0]);
  return netsims_.empty() ? net_ : netsims_[which % netsims_.size()];
}

const char* Play::address() {
  return pick(kAddresses);
}

const char* Play::name() {
  static const std::string kLong(300, 'x');
  static const char* const kNames[] = {"lan",          "worst", "link_duplicate", "bye",  "", "a\nb", "\xC3",
                                       "\xE2\x80\xAE", "%s%n",  kLong.c_str(),    nullptr};
  return pick(kNames);
}

uint32_t Play::struct_size() {
  constexpr uint32_t kValues[] = {0, 3, 4, 8, 64, 4096, 4097, std::numeric_limits<uint32_t>::max()};
  return pick(kValues);
}
uint32_t Play::tick() {
  return u8() % 4 == 0 ? small() : lattice_world_next_tick(worlds_[u8() % 2]);
}
uint32_t Play::type_id() {
  constexpr uint32_t kValues[] = {1, 2, 3, 1, 2, 3, 4, 0, 9, std::numeric_limits<uint32_t>::max()};
  return pick(kValues);
}
uint32_t Play::small() {
  const uint8_t value = u8();
  return value == 255 ? std::numeric_limits<uint32_t>::max() : value % 16;
}
uint16_t Play::prop_id() {
  constexpr uint16_t kValues[] = {0, 1, 2, 3, 256, 0xFFFF};
  return pick(kValues);
}
uint16_t Play::rpc_id() {
  constexpr uint16_t kValues[] = {test::kKnock, test::kKnockAligned, 0, 9};
  return pick(kValues);
}
lattice_netid Play::object() {
  const uint8_t which = u8();
  if (which < 8 || objects_.empty()) return which == 7 ? std::numeric_limits<lattice_netid>::max() : which;
  return objects_[which % objects_.size()];
}
lattice_peer_id Play::peer() {
  constexpr lattice_peer_id kValues[] = {0, 1, 2, 2, 3, 4, std::numeric_limits<lattice_peer_id>::max()};
  return pick(kValues);
}
lattice_transfer Play::transfer() {
  const uint8_t which = u8() % 8;
  return which < 4 ? transfers_[which] : which - 4u;
}
uint64_t Play::time_ns() {
  constexpr uint64_t kValues[] = {0,          1,           5'000'000,     17'000'000,
                                  50'000'000, 500'000'000, 1'000'000'000, 20'000'000'000};
  return pick(kValues);
}
size_t Play::bytes() {
  constexpr size_t kValues[] = {0,
                                1,
                                sizeof(float),
                                sizeof(test::Body),
                                sizeof(test::Note),
                                16,
                                64,
                                100,
                                256,
                                1147,
                                1148,
                                5000,
                                kRoomBytes,
                                LATTICE_MESSAGE_MAX_BYTES + 1,
                                std::numeric_limits<size_t>::max()};
  return pick(kValues);
}
uint64_t Play::borrowed_bytes() {
  constexpr uint64_t kValues[] = {0, 1, 1000, 5000, kRoomBytes, std::numeric_limits<uint64_t>::max()};
  return pick(kValues);
}
size_t Play::state_count() {
  constexpr size_t kValues[] = {1, 1, 0, 2, std::numeric_limits<size_t>::max()};
  return pick(kValues);
}
size_t Play::token_bytes() {
  const uint8_t which = u8() % 8;
  if (which < 6) return token_bytes_;
  return which == 6 ? u8() : std::numeric_limits<size_t>::max();
}
int Play::integer() {
  constexpr int kValues[] = {
      0, 1, 2, 9, 13, 256, 65536, -1, std::numeric_limits<int>::min(), std::numeric_limits<int>::max()};
  return pick(kValues);
}
double Play::real() {
  constexpr double kValues[] = {0,
                                1,
                                0.5,
                                -1,
                                30,
                                100,
                                1e9,
                                std::numeric_limits<double>::quiet_NaN(),
                                std::numeric_limits<double>::infinity(),
                                std::numeric_limits<double>::denorm_min()};
  return pick(kValues);
}
lattice_capture_fn Play::capture() {
  if (u8() % 2 == 0) return nullptr;
  return [](void*, const lattice_captured_datagram*) {};
}
const void* const* Play::states() {
  return u8() % 4 == 0 ? nullptr : states_.data();
}
const uint8_t* Play::token() {
  return u8() % 8 == 0 ? nullptr : token_.data();
}
const void* Play::given() {
  return u8() % 8 == 0 ? nullptr : data_.data();
}
const uint8_t* Play::key() {
  return u8() % 8 == 0 ? nullptr : data_.data();
}
void* Play::borrowed() {
  return u8() % 4 == 0 ? nullptr : borrowed_.data();
}
uint8_t* Play::room() {
  return u8() % 8 == 0 ? nullptr : room_.data();
}
lattice_event* Play::events() {
  return u8() % 8 == 0 ? nullptr : events_.data();
}
lattice_netid* Play::ids() {
  return u8() % 8 == 0 ? nullptr : ids_.data();
}
char* Play::text_room() {
  return reinterpret_cast<char*>(room());
}
lattice_transfer* Play::transfer_place() {
  const uint8_t which = u8() % 8;
  return which >= transfers_.size() ? nullptr : &transfers_[which];
}

// ---- Structures -----------------------------------------------------------------------------------------

void Play::fill(lattice_world_config& out) {
  out.bind_address = address();
  out.netsim = net_;
  out.clock = lattice_netsim_clock;
  out.clock_ctx = net_;
  out.unix_seconds = [](void*) { return uint64_t{1'800'000'000}; };
  out.log = [](void*, lattice_log_level, const char* category, const char* text) {
    require(category != nullptr && text != nullptr);
  };
  out.max_connections = 3;
  out.max_objects = 32;
  out.development_tokens = u8() % 2;
  out.interest_kind = u8() % 4;
  const uint8_t routes = u8() % 8;
  if (routes > 2) return;
  // Nobody has the secret of this issuer.
  out.development_tokens = 0;
  out.issuer_public_keys = data_.data();
  out.issuer_public_key_count = 1;
  initialise(&backend_);
  fill(backend_);
  out.backends = backends_.data();
  out.backend_count = routes;
  out.without_udp = u8() % 2;
  if (out.without_udp == 0) return;
  out.bind_address = nullptr;
  out.netsim = nullptr;
}
void Play::change_path(lattice_path& path) {
  constexpr uint8_t kForms[] = {LATTICE_PATH_NONE, LATTICE_PATH_OPAQUE, LATTICE_PATH_IPV4, LATTICE_PATH_IPV6,
                                77};
  path.route = u8() % 4;
  path.form = pick(kForms);
  path.number = u8();
  if (path.form == LATTICE_PATH_IPV4 && u8() % 4 != 0) path.bytes[10] = path.bytes[11] = 0xFF;
}
const lattice_path* Play::path() {
  path_ = {};
  change_path(path_);
  return u8() % 16 == 0 ? nullptr : &path_;
}
uint32_t Play::receive(std::span<lattice_backend_datagram> out) {
  constexpr uint32_t kSizes[] = {0, 1, 1200, 1500, 1501, std::numeric_limits<uint32_t>::max()};
  const uint8_t count = u8();
  for (lattice_backend_datagram& each : out.first(std::min<size_t>(count, out.size()))) {
    change_path(each.path);
    each.bytes = pick(kSizes);
    each.data[0] = u8();
    each.data = nullptr;
  }
  return count;
}
void Play::fill(lattice_datagram_backend& out) {
  out.ctx = this;
  out.receive = [](void* ctx, lattice_backend_datagram* entries, uint32_t capacity) {
    return play_of(ctx).receive({entries, capacity});
  };
  out.send = [](void* ctx, const lattice_backend_datagram*, uint32_t) { return uint32_t{play_of(ctx).u8()}; };
  out.largest_datagram = [](void* ctx, const lattice_path*) { return 8 * uint32_t{play_of(ctx).u8()}; };
  out.rate_subject = [](void* ctx, const lattice_path*) { return uint64_t{play_of(ctx).u8()}; };
}
void Play::fill(lattice_role_context& out) {
  lattice_role_context_init(&out, enumeration<lattice_role>());
}
void Play::fill(lattice_token_request& out) {
  std::fill_n(out.client_public_key, LATTICE_KEY_BYTES, uint8_t{3});
  lattice_world_public_key(worlds_[0], out.server_public_key);
}
void Play::fill(lattice_type_desc& out) {
  static const lattice_struct_desc structure = command_structure();
  static lattice_behaviour_desc behaviour;
  lattice_behaviour_desc_init(&behaviour);
  behaviour.structure = &structure;
  out.type_id = 4;
  out.name = "Extra";
  out.behaviours = &behaviour;
  out.behaviour_count = 1;
}
void Play::fill(lattice_input_desc& out) {
  static const lattice_struct_desc structure = command_structure();
  out.structure = &structure;
}

void Play::fill(lattice_callbacks& out) {
  out.on_connected = [](void* ctx, lattice_conn* conn) {
    play_of(ctx).keep_conn(conn);
    play_of(ctx).in_callback();
  };
  out.on_disconnected = [](void* ctx, lattice_conn*, int) { play_of(ctx).in_callback(); };
  out.on_spawn = [](void* ctx, lattice_netid, uint32_t) { play_of(ctx).in_callback(); };
  out.on_despawn = [](void* ctx, lattice_netid) { play_of(ctx).in_callback(); };
  out.on_rpc = [](void* ctx, lattice_netid, uint16_t, const void*, size_t) { play_of(ctx).in_callback(); };
  out.on_authority_changed = [](void* ctx, lattice_netid, lattice_peer_id) { play_of(ctx).in_callback(); };
  out.on_tick = [](void* ctx, lattice_world*, const lattice_tick_context*) { play_of(ctx).in_callback(); };
  out.on_sample_input = [](void* ctx, lattice_world*, uint32_t, void*, size_t) {
    play_of(ctx).in_callback();
  };
  out.on_message = [](void* ctx, lattice_conn*, lattice_channel, const void*, size_t) {
    play_of(ctx).in_callback();
  };
  out.on_admit = [](void* ctx, lattice_world*, const lattice_conn_info*) {
    play_of(ctx).in_callback();
    return 0;
  };
  out.on_resync = [](void* ctx, lattice_world*, uint32_t, uint32_t) { play_of(ctx).in_callback(); };
  out.on_receipt = [](void* ctx, lattice_conn*, uint32_t, int) { play_of(ctx).in_callback(); };
  out.on_relevant = [](void* ctx, lattice_world*, lattice_conn*, lattice_netid) {
    play_of(ctx).in_callback();
    return 1;
  };
  out.on_loaded = [](void* ctx, lattice_conn*) { play_of(ctx).in_callback(); };
}

void Play::fill(lattice_transfer_callbacks& out) {
  out.on_offer = [](void* ctx, lattice_conn*, lattice_transfer transfer, uint64_t, const void*, size_t) {
    play_of(ctx).offered(transfer);
    play_of(ctx).in_callback();
  };
  out.read = [](void*, lattice_conn*, lattice_transfer, uint64_t, void* into, size_t bytes) {
    std::memset(into, 7, bytes);
    return 1;
  };
  out.write = [](void* ctx, lattice_conn*, lattice_transfer, uint64_t, const void*, size_t) {
    play_of(ctx).in_callback();
    return 1;
  };
  out.on_progress = [](void* ctx, lattice_conn*, lattice_transfer, uint64_t done, uint64_t total) {
    require(done <= total);
    play_of(ctx).in_callback();
  };
  out.on_end = [](void* ctx, lattice_conn*, lattice_transfer, lattice_transfer_ending) {
    play_of(ctx).in_callback();
  };
}

// ---- Afterwards -----------------------------------------------------------------------------------------

void Play::exchange(lattice_world* listening, lattice_world* connecting, const char* at) {
  lattice_callbacks callbacks;
  lattice_callbacks_init(&callbacks);
  callbacks.on_message = [](void* ctx, lattice_conn* conn, lattice_channel channel, const void* data,
                            size_t bytes) {
    ++*static_cast<uint32_t*>(ctx);
    if (bytes == 4) lattice_send(conn, channel, data, 3);  // the server's answer
  };
  heard_ = 0;
  require(lattice_set_callbacks(listening, &callbacks, &heard_) == LATTICE_OK);
  require(lattice_set_callbacks(connecting, &callbacks, &heard_) == LATTICE_OK);
  size_t bytes = 0;
  require(lattice_dev_token(connecting, at, nullptr, token_.data(), token_.size(), &bytes) == LATTICE_OK);
  lattice_conn* conn = lattice_connect(connecting, at, token_.data(), bytes);
  require(conn != nullptr);
  for (int i = 0; i < 200 && heard_ < 2; ++i) {
    if (i % 20 == 19) lattice_send(conn, LATTICE_CHANNEL_RELIABLE_ORDERED, "ping", 4);
    pump(1);
  }
  require(heard_ >= 2);
}

void Play::finish() {
  silent_ = true;
  // The network of the input may be gone, where the input destroyed its worlds first.
  for (size_t i = 0; i < worlds_.size(); ++i) {
    const lattice_result result = lattice_world_destroy(worlds_[i]);
    require(result == LATTICE_OK || result == LATTICE_ERROR_STALE_HANDLE);
  }
  worlds_.clear();
  lattice_impairment perfect;
  lattice_impairment_init(&perfect);
  if (lattice_netsim_set_impairment(net_, &perfect) != LATTICE_OK) {
    require(lattice_last_result() == LATTICE_ERROR_STALE_HANDLE);
    net_ = lattice_netsim_create(8);
  }
  records_events_ = transport_only_ = false;
  worlds_.push_back(make("10.0.1.1:1", LATTICE_ROLE_DEDICATED));
  worlds_.push_back(make("10.0.1.2:2", LATTICE_ROLE_CLIENT));
  exchange(worlds_[0], worlds_[1], "10.0.1.1:1");
}

}  // namespace lattice::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  lattice::fuzz::Play play({data, size});
  play.run();
  play.finish();
  return 0;
}
