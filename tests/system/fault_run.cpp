#include "fault_run.h"

#include <algorithm>

namespace lattice::test {
namespace {

constexpr std::array<Channel, 4> kChannels = {Channel::kUnreliable, Channel::kUnreliableSequenced,
                                              Channel::kReliableUnordered, Channel::kReliableOrdered};
constexpr uint64_t kStepNs = 10 * kMs;
/// To get in, other tokens included.
constexpr uint64_t kGetInNs = 60 * kSecond;
constexpr size_t kOverheardMost = 256;
/// Faults that are committed one after the other; the rest goes on all the time.
constexpr std::array kEvents = {Fault::kBlackout, Fault::kOneWayBlackout, Fault::kBlackHole, Fault::kForged,
                                Fault::kRebind,   Fault::kClockJump,      Fault::kStall,     Fault::kRestart};

uint64_t between(base::Random& random, uint64_t low, uint64_t high) {
  return low + random.next_below(high - low + 1);
}

socket::Impairment random_path(base::Random& random) {
  socket::Impairment path;
  path.delay_ms = 2 + 78 * random.next_unit();
  path.jitter_ms = path.delay_ms * 0.5 * random.next_unit();
  path.jitter_reorders = random.chance(0.5);
  path.loss = 0.01 + 0.14 * random.next_unit();
  path.burst_enter = 0.01;
  path.burst_leave = 0.3;
  path.duplicate = 0.01 + 0.04 * random.next_unit();
  path.reorder = 0.01 + 0.04 * random.next_unit();
  path.reorder_delay_ms = 20 + 180 * random.next_unit();
  return path;
}

RigOptions rig_options(uint64_t seed, const socket::Impairment& path, base::Random& random) {
  RigOptions options;
  options.seed = seed;
  options.client_count = 2;
  options.path = path;
  options.start_ns = random.chance(0.5) ? 0 : between(random, 0, 300) * kSecond;
  options.step_ns = kStepNs;
  const connection::RotationConfig rotation = {.packets = between(random, 10, 100),
                                               .min_interval_ns = 0,
                                               .min_overlap_ns = 0,
                                               .max_overlap_ns = 5 * kSecond};
  for (reliability::EndpointConfig* config : {&options.server, &options.client}) {
    config->rotation = rotation;
    config->congestion.mode =
        random.chance(0.5) ? reliability::CongestionMode::kDelay : reliability::CongestionMode::kGoodBad;
    config->offer_aes256gcm = random.chance(0.7);
  }
  return options;
}

/// The body of message `number`, the same whenever it is asked for: mostly short, one in fifty in fragments.
Bytes body_of(uint64_t number, Channel channel) {
  uint64_t state = number * 4 + static_cast<uint64_t>(channel);
  const uint64_t draw = base::splitmix64(state);
  const size_t bytes = 8 + (draw % 50 == 0 ? 1200 + (draw >> 32) % 12'000 : (draw >> 32) % 160);
  Bytes body(bytes);
  for (size_t i = 8; i < bytes; ++i) body[i] = static_cast<uint8_t>(draw + i * 7);
  platform::store_u64_le(body.data(), number);
  return body;
}

}  // namespace

const char* fault_name(Fault fault) {
  static constexpr const char* kNames[] = {
#define LATTICE_X(name, text) text,
      LATTICE_FAULTS(LATTICE_X)
#undef LATTICE_X
  };
  return kNames[static_cast<size_t>(fault)];
}

void FaultCounts::add(const FaultCounts& other) {
  for (size_t i = 0; i < kFaultCount; ++i) count[i] += other.count[i];
}

FaultRun::FaultRun(uint64_t seed)
    : random_(seed), rough_(random_path(random_)), rig_(rig_options(seed, rough_, random_)) {
  watch(rig_.server, sides_[0], Direction::kUp);
  for (size_t i = 0; i < rig_.clients.size(); ++i) {
    watch(*rig_.clients[i], sides_[1 + i], Direction::kDown);
    seen_[i].client = rig_.clients[i].get();
  }
  rig_.network.set_tap(&FaultRun::overhear, this);
}

void FaultRun::run() {
  for (const auto& client : rig_.clients) {
    if (rig_.connect(*client) != reliability::ConnectResult::kOk) return violation("connect() is refused");
  }
  if (!get_in(rig_.clients.size())) return violation("the clients do not get in");
  std::array<Fault, kEvents.size()> order = kEvents;
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random_.next_below(i)]);
  for (const Fault fault : order) {
    calm(between(random_, 300, 900) * kMs);
    harvest(Fault::kLoss);
    commit(fault);
  }
  calm(500 * kMs);
  harvest(Fault::kLoss);
  for (const auto& client : rig_.clients) harvest_connection(*client);
  settle();
  check_end();
}

// --- Traffic.

void FaultRun::step() {
  rig_.now_ns += kStepNs;
  if (sending_) send_traffic();
  rig_.pump(rig_.server);
  for (const auto& client : rig_.clients) {
    if (client.get() != stalled_) rig_.pump(*client);
  }
}

void FaultRun::calm(uint64_t for_ns) {
  const uint64_t end_ns = rig_.now_ns + for_ns;
  while (rig_.now_ns < end_ns) step();
}

void FaultRun::send_traffic() {
  for (const auto& client : rig_.clients) {
    if (client.get() == stalled_ || client->handler.connected.empty()) continue;
    send_to(*client, client->connection, Direction::kUp);
  }
  for (const ConnectionHandle to : rig_.server.handler.connected) {
    if (rig_.server.endpoint->state(to) == connection::State::kConnected) {
      send_to(rig_.server, to, Direction::kDown);
    }
  }
}

void FaultRun::send_to(Node& node, ConnectionHandle to, Direction direction) {
  Association& association = *association_of(node, to);
  if (association.forgotten) return;
  for (const Channel channel : kChannels) {
    if (!random_.chance(0.2)) continue;
    Stream& stream = association.stream(direction, channel);
    const uint32_t receipt = random_.chance(0.5) ? next_receipt_ : 0;
    if (node.endpoint->send(to, channel, {}, body_of(stream.sent, channel), receipt) != SendResult::kOk)
      continue;
    ++stream.sent;
    if (receipt != 0) association.receipts[static_cast<size_t>(direction)].push_back(next_receipt_++);
  }
}

FaultRun::Association* FaultRun::association_of(Node& node, ConnectionHandle connection) {
  const RecordingHandler& handler = node.handler;
  for (size_t i = handler.connected.size(); i-- > 0;) {
    if (handler.connected[i] == connection) return &associations_[handler.infos[i].peer_id];
  }
  return nullptr;
}

void FaultRun::watch(Node& node, Side& side, Direction hears) {
  side = {this, &node, hears};
  node.handler.record = false;
  node.handler.on_body = &FaultRun::on_body;
  node.handler.context = &side;
}

reliability::Verdict FaultRun::on_body(void* context, ConnectionHandle connection, Channel channel,
                                       std::span<const uint8_t> body) {
  const Side& side = *static_cast<Side*>(context);
  side.run->deliver(side, connection, channel, body);
  return reliability::Verdict::kAccept;
}

void FaultRun::deliver(const Side& side, ConnectionHandle connection, Channel channel,
                       std::span<const uint8_t> body) {
  ++delivered_;
  Association* association = association_of(*side.node, connection);
  if (association == nullptr) return violation("a message from nobody");
  Stream& stream = association->stream(side.hears, channel);
  const uint64_t number = body.size() < 8 ? UINT64_MAX : number_of(body);
  const std::string what =
      "message " + std::to_string(number) + " of channel " + std::to_string(static_cast<int>(channel));
  if (number >= stream.sent) return violation(what + " was never sent");
  if (const Bytes sent = body_of(number, channel);
      !std::equal(body.begin(), body.end(), sent.begin(), sent.end())) {
    return violation(what + " is not what was sent");
  }
  if (!stream.arrived.insert(number).second) violation(what + " arrived twice");
  const bool ordered = channel == Channel::kReliableOrdered;
  if (ordered && number != stream.next) violation(what + " is out of order");
  if (channel == Channel::kUnreliableSequenced && number < stream.next)
    violation(what + " is older than the last");
  stream.next = number + 1;
}

// --- Faults.

void FaultRun::commit(Fault fault) {
  switch (fault) {
    case Fault::kBlackout:
    case Fault::kOneWayBlackout:
    case Fault::kBlackHole:
      return impair_for_a_while(fault);
    case Fault::kForged:
      return attack();
    case Fault::kRebind:
      return rebind();
    case Fault::kClockJump:
      rig_.now_ns += between(random_, 100, 2500) * kMs;
      ++faults_[fault];
      return;
    case Fault::kStall:
      stalled_ = &any_client();
      calm(between(random_, 200, 2000) * kMs);
      stalled_ = nullptr;
      ++faults_[fault];
      return;
    default:
      return restart();
  }
}

FaultRun::Node& FaultRun::any_client() {
  return *rig_.clients[random_.next_below(rig_.clients.size())];
}

void FaultRun::impair_for_a_while(Fault fault) {
  const Node& client = any_client();
  socket::Impairment bad = rough_;
  if (fault == Fault::kBlackHole) {
    bad.mtu_bytes = wire::kFloorDatagramBytes;
  } else {
    bad.blackout = true;
  }
  const bool one_way = fault == Fault::kOneWayBlackout;
  const bool up = !one_way || random_.chance(0.5);
  set_path(client, up ? bad : rough_, !one_way || !up ? bad : rough_);
  if (fault == Fault::kBlackHole) {
    send_large();
  } else {
    calm(between(random_, 200, 1500) * kMs);
  }
  harvest(fault);
  set_path(client, rough_, rough_);
}

/// A second in which whoever may send large datagrams has enough to say to fill them.
void FaultRun::send_large() {
  const Bytes body = body_of(0, Channel::kUnreliable);
  const uint64_t end_ns = rig_.now_ns + kSecond;
  while (rig_.now_ns < end_ns) {
    for (const auto& client : rig_.clients) {
      Association& association = *association_of(*client, client->connection);
      for (int i = 0; i < 20; ++i) {
        Stream& stream = association.stream(Direction::kUp, Channel::kUnreliable);
        const Bytes next = body_of(stream.sent, Channel::kUnreliable);
        if (client->endpoint->send(client->connection, Channel::kUnreliable, {}, next) == SendResult::kOk) {
          ++stream.sent;
        }
      }
    }
    step();
  }
}

socket::TapVerdict FaultRun::overhear(void* context, socket::TappedDatagram& datagram) {
  FaultRun& run = *static_cast<FaultRun*>(context);
  Overheard heard{datagram.from, datagram.to, Bytes(datagram.data, datagram.data + datagram.size)};
  if (run.overheard_.size() < kOverheardMost) {
    run.overheard_.push_back(std::move(heard));
  } else {
    run.overheard_[run.overheard_next_++ % kOverheardMost] = std::move(heard);
  }
  return socket::TapVerdict::kPass;
}

/// Half a second in which somebody on the path sends what he overheard again, changed and unchanged.
void FaultRun::attack() {
  const base::PathId elsewhere = base::ipv4_path(203, 0, 113, 5, 5);
  const uint64_t end_ns = rig_.now_ns + 500 * kMs;
  while (rig_.now_ns < end_ns) {
    for (int i = 0; i < 4; ++i) {
      Overheard heard = overheard_[random_.next_below(overheard_.size())];
      Fault fault = Fault::kReplayed;
      if (random_.chance(0.4)) {
        fault = Fault::kForged;
        heard.bytes[random_.next_below(heard.bytes.size())] ^= static_cast<uint8_t>(between(random_, 1, 255));
      } else if (random_.chance(0.5)) {
        fault = Fault::kReflected;
        if (random_.chance(0.5))
          std::swap(heard.from, heard.to);
        else
          heard.from = elsewhere;
      }
      if (rig_.network.inject(heard.from, heard.to, heard.bytes, rig_.now_ns)) ++faults_[fault];
    }
    step();
  }
}

void FaultRun::rebind() {
  Node& client = any_client();
  const base::PathId to = base::ipv4_path(192, 0, 2, 9, next_port_++);
  if (!rig_.network.rebind(client.address, to)) return violation("the simulator refuses to rebind");
  client.address = to;
  ++faults_[Fault::kRebind];
  calm(kSecond);
}

void FaultRun::restart() {
  Node& client = any_client();
  harvest_connection(client);
  association_of(client, client.connection)->forgotten = true;
  client.endpoint.reset();
  client.socket.reset();
  ++faults_[Fault::kRestart];
  calm(between(random_, 0, 500) * kMs);
  if (random_.chance(0.5)) client.address = base::ipv4_path(192, 0, 2, 9, next_port_++);
  start_anew(client);
  if (!get_in(rig_.server.handler.connected.size() + 1)) {
    violation("a client that restarted does not get in again");
  }
}

/// A client that knows nothing of before, with a token of its own.
void FaultRun::start_anew(Node& client) {
  for (auto& seen : seen_) {
    if (seen.client == &client) seen = {&client, {}, {}};
  }
  void* const side = client.handler.context;
  client.handler = RecordingHandler();
  rig_.start(client, Rig::copy_config(rig_.options.client));
  watch(client, *static_cast<Side*>(side), Direction::kDown);
  if (rig_.connect(client) != reliability::ConnectResult::kOk) violation("connect() is refused");
}

/// Goes on until all clients are connected and the server has heard `server_count` of them, ever. Clients
/// that are connected send: on such a path a server that only gets keepalives may give a half-open one up.
bool FaultRun::get_in(size_t server_count) {
  const auto all_in = [&] {
    return rig_.server.handler.connected.size() >= server_count &&
           std::all_of(rig_.clients.begin(), rig_.clients.end(),
                       [](const auto& client) { return !client->handler.connected.empty(); });
  };
  const uint64_t end_ns = rig_.now_ns + kGetInNs;
  while (!all_in() && rig_.now_ns < end_ns) {
    step();
    for (const auto& client : rig_.clients) take_another_token(*client);
  }
  return all_in();
}

/// A burst counts datagrams, so that to a client that still shakes hands it can last for many seconds. Once
/// the server has claimed a token and given the half-open entry up, that token is used: whoever gave
/// up waiting needs another.
void FaultRun::take_another_token(Node& client) {
  if (!client.handler.connected.empty() || client.handler.ended.empty()) return;
  const connection::DisconnectReason reason = client.handler.ended[0].reason;
  if (reason != connection::DisconnectReason::kTimeout && reason != connection::DisconnectReason::kNoAnswer) {
    return;
  }
  ++second_tokens_;
  client.endpoint.reset();
  client.socket.reset();
  // Another socket: from an address that comes back, the simulator repeats the very same losses.
  client.address = base::ipv4_path(192, 0, 2, 9, next_port_++);
  start_anew(client);
}

void FaultRun::set_path(const Node& client, const socket::Impairment& up, const socket::Impairment& down) {
  rig_.network.set_path(client.address, rig_.server.address, up, down);
}

/// Adds what the network did since the last call; whole blackouts count as `blackout`, if it is one.
void FaultRun::harvest(Fault blackout) {
  for (Seen& seen : seen_) {
    for (const bool up : {true, false}) {
      const socket::ImpairmentStats now =
          up ? rig_.network.faults_from(seen.client->address) : rig_.network.faults_to(seen.client->address);
      socket::ImpairmentStats& before = up ? seen.up : seen.down;
      faults_[Fault::kLoss] += now.lost_random - before.lost_random;
      faults_[Fault::kBurst] += now.lost_burst - before.lost_burst;
      faults_[Fault::kDuplication] += now.duplicated - before.duplicated;
      faults_[Fault::kReordering] += now.reordered + now.overtaking - before.reordered - before.overtaking;
      faults_[Fault::kBlackHole] += now.lost_mtu - before.lost_mtu;
      faults_[blackout] += now.lost_blackout - before.lost_blackout;
      before = now;
    }
  }
}

/// Adds what a connection went through, before it ends.
void FaultRun::harvest_connection(Node& client) {
  const reliability::ConnectionStats* stats = client.endpoint->stats(client.connection);
  if (stats == nullptr) return violation("a connection ended by itself");
  faults_[Fault::kRekey] += stats->key_epoch;
  const Association* association = association_of(client, client.connection);
  for (const ConnectionHandle on_server : rig_.server.handler.connected) {
    if (association_of(rig_.server, on_server) != association) continue;
    const reliability::ConnectionStats* other = rig_.server.endpoint->stats(on_server);
    if (other == nullptr) return violation("a connection ended by itself on the server");
    faults_[Fault::kPathMove] += other->path_moves;
  }
}

// --- The end.

void FaultRun::settle() {
  sending_ = false;
  rig_.network.set_default({});
  for (const auto& client : rig_.clients) set_path(*client, {}, {});
  const uint64_t end_ns = rig_.now_ns + 60 * kSecond;
  while (rig_.now_ns < end_ns && !settled()) step();
}

/// Everything owed has been paid: reliable messages, receipts, and the end of what a restart left behind.
bool FaultRun::settled() const {
  for (const auto& [peer, association] : associations_) {
    if (!association.forgotten && missing(association) != 0) return false;
  }
  if (rig_.server.handler.ended.size() != faults_.count[static_cast<size_t>(Fault::kRestart)]) return false;
  return receipts_owed(Direction::kDown) + receipts_owed(Direction::kUp) == 0;
}

uint64_t FaultRun::missing(const Association& association) {
  uint64_t count = 0;
  for (const Direction direction : {Direction::kUp, Direction::kDown}) {
    for (const Channel channel : {Channel::kReliableUnordered, Channel::kReliableOrdered}) {
      const Stream& stream = association.stream(direction, channel);
      count += stream.sent - stream.arrived.size();
    }
  }
  return count;
}

/// Receipts asked for and not told; what a client asked for before it restarted, nobody can tell.
uint64_t FaultRun::receipts_owed(Direction direction) const {
  uint64_t owed = 0;
  for (const auto& [peer, association] : associations_) {
    if (association.forgotten && direction == Direction::kUp) continue;
    for (const uint32_t receipt : association.receipts[static_cast<size_t>(direction)]) {
      owed += told(receipt, direction) == 0;
    }
  }
  return owed;
}

size_t FaultRun::told(uint32_t receipt, Direction direction) const {
  size_t times = 0;
  const auto count_in = [&](const Node& node) {
    const auto at = node.handler.receipts.find(receipt);
    if (at != node.handler.receipts.end()) times += at->second.size();
  };
  if (direction == Direction::kDown)
    count_in(rig_.server);
  else
    for (const auto& client : rig_.clients) count_in(*client);
  return times;
}

void FaultRun::check_end() {
  for (const auto& [peer, association] : associations_) {
    if (association.forgotten) continue;
    if (const uint64_t count = missing(association); count != 0) {
      violation(std::to_string(count) + " reliable messages of peer " + std::to_string(peer) +
                " never arrived");
    }
  }
  for (const Direction direction : {Direction::kUp, Direction::kDown}) {
    if (const uint64_t owed = receipts_owed(direction); owed != 0) {
      violation(std::to_string(owed) + " receipts were never told");
    }
    for (const auto& [peer, association] : associations_) {
      for (const uint32_t receipt : association.receipts[static_cast<size_t>(direction)]) {
        if (told(receipt, direction) > 1) violation("receipt " + std::to_string(receipt) + " was told twice");
      }
    }
  }
  for (const auto& client : rig_.clients) {
    for (const Ended& ended : client->handler.ended) {
      violation(std::string("a client was disconnected: ") +
                connection::disconnect_reason_name(ended.reason));
    }
  }
  for (const Ended& ended : rig_.server.handler.ended) {
    if (ended.reason == connection::DisconnectReason::kTimeout) continue;
    violation(std::string("the server ended a connection: ") +
              connection::disconnect_reason_name(ended.reason));
  }
  const uint64_t restarts = faults_[Fault::kRestart];
  if (rig_.server.handler.ended.size() != restarts) {
    violation(std::to_string(rig_.server.handler.ended.size()) + " connections ended after " +
              std::to_string(restarts) + " restarts");
  }
}

void FaultRun::violation(const std::string& text) {
  constexpr size_t kMostReported = 10;
  if (violations_.size() < kMostReported) violations_.push_back(text);
}

}  // namespace lattice::test
