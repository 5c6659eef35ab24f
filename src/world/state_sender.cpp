// Who receives what, and when; see state_sender.h. Why a client lacks something is in state_sender_why.cpp.
#include "world/state_sender.h"

#include <algorithm>
#include <utility>

#include "base/compiler.h"

namespace lattice::world {
namespace {

/// Of one snapshot. More objects than that come to a client that joins in several snapshots.
constexpr uint32_t kUsualStates = 8192;

uint32_t snapshot_interval(const WorldConfig& config) {
  return (config.tick_rate_hz + config.snapshot_rate_hz - 1) / config.snapshot_rate_hz;
}

}  // namespace

StateSender::StateSender(const WorldConfig& config, const replication::ObjectTable& table,
                         const simulation::FixedTick& clock, Observer& observer)
    : config_(config),
      table_(table),
      clock_(clock),
      interval_ticks_(snapshot_interval(config)),
      store_(static_cast<int32_t>(config.history_ticks),
             replication::KeepTicks(config.tick_rate_hz, interval_ticks_)),
      recipients_(config.max_connections),
      turns_(interval_ticks_),
      begun_(config.max_connections),
      listed_(config.max_connections),
      receipts_(config.max_connections),
      heard_(config.max_connections),
      acked_at_(config.max_connections),
      tick_(config.newest_tick),
      aged_tick_(config.newest_tick) {
  loaded_.reserve(config.max_connections);
  if (config.interest.enabled) {
    interest_.emplace(config.interest, config.tick_rate_hz, interval_ticks_, table_, observer);
  }
}

void StateSender::start(fragment::FragmentingEndpoint& endpoint) {
  endpoint_ = &endpoint;
  replication::SnapshotBuilder::Config build;
  build.part_capacity_bytes = static_cast<uint32_t>(reliability::kMaxSnapshotBody);
  build.tick_rate_hz = config_.tick_rate_hz;
  build.send_interval_ticks = interval_ticks_;
  build.usual_states = std::min(config_.max_objects, kUsualStates);
  batch_ = std::make_unique<SnapshotBatch>(build, config_.tasks, table_, store_);
}

// --- Objects

void StateSender::begin(uint32_t slot, bool always_relevant) {
  store_.begin(slot, *table_.info(slot).type);
  if (interest_) return interest_->spawned(slot, always_relevant);  // the others learn of it in update_set()
  for (const std::unique_ptr<Recipient>& recipient : recipients_) {
    if (recipient) recipient->list.enter(slot, table_.network_id(slot));
  }
}

void StateSender::place(uint32_t slot, const serialization::Word* words, bool always_relevant) {
  store_.place(slot, *table_.info(slot).type, words);
  if (interest_) interest_->spawned(slot, always_relevant);
}

void StateSender::end(uint32_t slot) {
  for (const std::unique_ptr<Recipient>& recipient : recipients_) {
    if (recipient) recipient->list.destroyed(slot, table_.network_id(slot));
  }
  if (interest_) interest_->removed(slot);
  if (store_.is_placed(slot)) destroyed_placed_.push_back(slot);
  store_.end(slot);
}

// The first change of a placed object. Until then no client has a replica of it.
void StateSender::touch_placed(uint32_t slot) {
  for (const std::unique_ptr<Recipient>& recipient : recipients_) {
    if (recipient && in_set(*recipient, slot)) recipient->list.enter(slot, table_.network_id(slot));
  }
}

// --- Ticks

uint64_t StateSender::record(replication::ObjectTable& table, Tick tick) {
  tick_ = tick;
  const uint64_t place = store_.changes().end();
  store_.record(table, tick);
  recorded_until_id_ = table.next_id();
  if (base::tick_distance(tick, aged_tick_) >= replication::kAgingTicks) {
    aged_tick_ = tick;
    for (const std::unique_ptr<Recipient>& recipient : recipients_) {
      if (recipient) recipient->list.age(tick - 2 * replication::kAgingTicks);
    }
  }
  if (store_.placed_count() != 0) {
    each_change_since(place, [this](uint32_t slot) {
      if (store_.is_placed(slot) && store_.version(slot) == 2) touch_placed(slot);
    });
  }
  if (interest_) each_change_since(place, [this](uint32_t slot) { interest_->follow(slot); });
  begin_snapshots(tick);
  return place;
}

void StateSender::begin_snapshots(Tick tick) {
  for (Tick turn = 0; turn < interval_ticks_; ++turn) {
    if (!begins_snapshot(tick + turn)) continue;
    for (const uint32_t slot : turns_[turn]) {
      if (is_silent(slot, tick)) continue;
      begun_[slot] = true;
      if (listed_[slot]) continue;
      listed_[slot] = true;
      due_.push_back(slot);
    }
  }
}

// A client that acked nothing for so long needs everything anew in each snapshot: the more objects it has,
// the more that takes. So it gets few, each client at other ticks, until it acks one.
bool StateSender::is_silent(uint32_t slot, Tick tick) const {
  constexpr uint32_t kSilentS = 3, kSnapshotsPerS = 4;
  const uint32_t silent_s = (tick - acked_at_[slot]) / config_.tick_rate_hz;
  if (silent_s < kSilentS) return false;
  const uint32_t apart_ticks = config_.tick_rate_hz / (silent_s < 2 * kSilentS ? kSnapshotsPerS : 1);
  const uint32_t turns = std::max(apart_ticks / interval_ticks_, 1u);
  return (tick / interval_ticks_ + slot / interval_ticks_) % turns != 0;
}

bool StateSender::is_braked(Recipient& recipient) const {
  SnapshotBrake::Turn turn;
  turn.tick = tick_;
  turn.snapshot_tick = recipient.snapshot_tick;
  turn.tick_rate_hz = config_.tick_rate_hz;
  turn.owns = recipient.owned != 0;
  turn.looks = recipient.list.visited();
  turn.acked_entries = recipient.list.acked_entries();
  return recipient.brake.holds(turn);
}

// The snapshots of a second are spread over its ticks as evenly as ticks allow: at 40 Hz of 60 on two of
// three.
bool StateSender::begins_snapshot(Tick tick) const {
  const auto snapshots_until = [this](Tick at) {
    return uint64_t{at} * config_.snapshot_rate_hz / config_.tick_rate_hz;
  };
  return snapshots_until(tick) != snapshots_until(tick - 1);
}

// --- Sending

void StateSender::send(uint64_t now_ns, InputReceiver* inputs) {
  bool begun = false;
  size_t place = 0;
  std::erase_if(due_, [&](uint32_t slot) {
    prefetch_due(++place, inputs);
    const bool begins = begun_[slot];
    begun_[slot] = listed_[slot] = false;
    Recipient* recipient = recipients_[slot].get();
    if (recipient == nullptr) return true;  // it left
    settle_receipts(*recipient);
    const bool is_braked = begins && this->is_braked(*recipient);
    if (rests(*recipient)) return true;
    const uint64_t budget_bytes = due_budget_bytes(*recipient, begins && !is_braked, now_ns);
    if (!recipient->snapshot_due) return true;
    // Without room for a datagram no snapshot is made: it would wait in a queue and grow old there. The next
    // send makes a newer one.
    listed_[slot] = budget_bytes < reliability::kDatagramBytes;
    if (listed_[slot]) return false;
    if (!std::exchange(begun, true)) batch_->begin(tick_);
    recipient->snapshot_due = false;
    plan_snapshot(*recipient, budget_bytes, inputs);
    if (batch_->is_full()) send_batch();
    return true;
  });
  if (begun) send_batch();
}

// Fetches what comes next in due_ into the cache: the clients are in none. Each step reads what the step
// before has fetched.
void StateSender::prefetch_due(size_t place, const InputReceiver* inputs) const {
  const auto client = [&](size_t ahead) {
    return place + ahead < due_.size() ? recipients_[due_[place + ahead]].get() : nullptr;
  };
  if (const Recipient* far = client(3)) {
    base::prefetch(far, sizeof *far);
    receipts_.prefetch(due_[place + 3]);
    if (inputs != nullptr) inputs->prefetch_place(due_[place + 3]);
    if (interest_) interest_->prefetch(due_[place + 3]);
  }
  if (const Recipient* next = client(2)) {
    next->list.prefetch();
    if (inputs != nullptr) inputs->prefetch(next->connection.slot);
    endpoint_->prefetch(next->connection);
    if (interest_) interest_->prefetch_set(next->connection.slot);
  }
  if (const Recipient* near = client(1)) {
    near->list.prefetch_replicas();
    receipts_.prefetch_entries(near->connection.slot);
    if (inputs != nullptr) inputs->prefetch_inputs(near->connection.slot);
  }
}

// Whether a snapshot would have nothing to say and may stay away (D-44). Most clients of a large world are so
// most of the time, and nothing more is done for them.
bool StateSender::rests(Recipient& recipient) {
  if (recipient.snapshot_due || silence_of(recipient) == replication::SnapshotBuilder::Silence::kForbidden)
    return false;
  return batch_->builder().rests(recipient.list) &&
         (!interest_ || !interest_->has_news(recipient.connection, tick_));
}

// What a snapshot to the client may hold now; 0 when none is due. One is due from when it `begins` on.
uint64_t StateSender::due_budget_bytes(Recipient& recipient, bool begins, uint64_t now_ns) {
  if (begins) {
    // Parts that have waited for two intervals are old: their objects go into a newer snapshot.
    if (recipient.snapshot_due) endpoint_->drop_waiting_snapshot(recipient.connection);
    recipient.snapshot_due = true;
  }
  if (!recipient.snapshot_due) return 0;
  // A snapshot holds what may leave until the next one is due, so its size does not depend on how often the
  // application pumps.
  return endpoint_->send_budget_bytes(recipient.connection, now_ns,
                                      until_next_snapshot_ns(now_ns, turn_of(recipient.connection)));
}

uint64_t StateSender::until_next_snapshot_ns(uint64_t now_ns, Tick turn) const {
  const uint64_t rate_hz = config_.snapshot_rate_hz;
  const uint64_t begun = (uint64_t{tick_} + turn) * rate_hz / config_.tick_rate_hz;
  // The first tick that begins_snapshot() says yes to.
  const uint64_t next_tick = ((begun + 1) * config_.tick_rate_hz + rate_hz - 1) / rate_hz;
  const simulation::TickTime next{static_cast<Tick>(next_tick - turn), 0.0};
  const double ticks = simulation::ticks_between(next, clock_.position_at(tick_, now_ns));
  return static_cast<uint64_t>(std::max(ticks, 0.0) * clock_.tick_ns());
}

// The bytes that the builder may write: the share of the bodies in the connection's budget, within the
// configured bound. Under a cap of less than a datagram for each snapshot, a client that owns objects gets an
// even share with each: a whole datagram now and then would correct it too seldom.
uint32_t StateSender::snapshot_budget(const Recipient& recipient, uint64_t send_budget_bytes) const {
  constexpr uint64_t kPacketBytes = reliability::kDatagramBytes - reliability::kMaxSnapshotBody;
  if (send_budget_bytes == UINT64_MAX) return config_.snapshot_budget_bytes;
  uint64_t bodies = send_budget_bytes * reliability::kMaxSnapshotBody / reliability::kDatagramBytes;
  if (config_.snapshot_budget_bytes != 0) bodies = std::min<uint64_t>(bodies, config_.snapshot_budget_bytes);
  const uint64_t even_bytes = config_.max_send_bytes_per_s / config_.snapshot_rate_hz;
  if (recipient.owned != 0 && even_bytes > kPacketBytes && even_bytes < reliability::kDatagramBytes) {
    uint64_t share = even_bytes - kPacketBytes;
    // Reliable messages that wait fill whole datagrams, and a snapshot leaves in each: its quarter.
    if (endpoint_->has_reliable_waiting(recipient.connection)) {
      share = std::max<uint64_t>(share, reliability::kDatagramBytes / 4);
    }
    bodies = std::min(bodies, share);
  }
  return static_cast<uint32_t>(std::min<uint64_t>(bodies, UINT32_MAX));
}

// A client that sends inputs hears at once what became of them, and one that owns objects predicts them and
// waits for their confirmation.
replication::SnapshotBuilder::Silence StateSender::silence_of(const Recipient& recipient) const {
  using Silence = replication::SnapshotBuilder::Silence;
  if (heard_[recipient.connection.slot] || recipient.owned != 0 || !recipient.progress.done())
    return Silence::kForbidden;
  const uint32_t longest_ticks = config_.tick_rate_hz / replication::kQuietSnapshotsPerS;
  return tick_ - recipient.snapshot_tick < longest_ticks ? Silence::kAllowed : Silence::kForbidden;
}

void StateSender::plan_snapshot(Recipient& recipient, uint64_t send_budget_bytes, InputReceiver* inputs) {
  if (interest_) update_set(recipient);
  recipient.budget_bytes = snapshot_budget(recipient, send_budget_bytes);
  SnapshotBatch::Job job;
  job.client = recipient.connection.slot;
  job.list = &recipient.list;
  if (inputs != nullptr) inputs->report(recipient.connection.slot, tick_, &job.header);
  job.budget_bytes = recipient.budget_bytes;
  if (interest_) job.rules.emplace(interest_->send_rules(recipient.connection));
  job.silence = silence_of(recipient);
  batch_->add(job);
}

void StateSender::send_batch() {
  const auto take = [this](uint32_t client, std::span<const replication::SnapshotPart> parts) {
    if (parts.empty()) return;
    Recipient& recipient = *recipients_[client];
    recipient.snapshot_tick = tick_;
    heard_[client] = false;
    // What comes is said before it comes, and that all is there, after it.
    const bool is_loaded = recipient.list.join_count().missing == 0;
    if (!is_loaded) send_progress(recipient);
    for (const replication::SnapshotPart& part : parts) send_part(recipient, part.bytes, part.receipt);
    if (is_loaded) send_progress(recipient);
    endpoint_->send_now(recipient.connection);
  };
  batch_->run(
      take, [this](uint32_t client) { endpoint_->prefetch(recipients_[client]->connection); },
      [this](uint32_t client) { endpoint_->prefetch_for_send(recipients_[client]->connection); });
}

void StateSender::send_part(Recipient& recipient, std::span<const uint8_t> bytes, uint32_t receipt) {
  // messages with this flag that are queued between two sends share one sequence.
  reliability::MessageFlags flags;
  flags.is_snapshot = true;
  const auto sent =
      endpoint_->send(recipient.connection, wire::Channel::kUnreliableSequenced, flags, bytes, receipt);
  if (sent != reliability::SendResult::kOk) take_receipt(recipient, receipt, false);
}

// Tells a client how far it has come with the set that it had at join (D-48).
void StateSender::send_progress(Recipient& recipient) {
  const replication::JoinCount count = recipient.list.join_count();
  if (count.missing == 0 && !recipient.was_loaded) {
    recipient.was_loaded = true;
    loaded_.push_back(recipient.connection);
  }
  if (!recipient.progress.due(tick_, count.missing, config_.tick_rate_hz)) return;
  const uint32_t receipt = recipient.list.ledger().open(tick_);
  send_part(recipient, recipient.progress.write(tick_, count, receipt), receipt);
}

void StateSender::take_receipt(Recipient& recipient, uint32_t receipt, bool acked) {
  recipient.progress.on_receipt(receipt, acked);
  recipient.brake.on_part(acked);
  recipient.list.on_receipt(receipt, acked);
}

void StateSender::settle_receipts(Recipient& recipient) {
  receipts_.take(recipient.connection.slot,
                 [&recipient](uint32_t receipt, bool acked) { take_receipt(recipient, receipt, acked); });
}

// What the client may not see leaves its set before anything is sent. An object spawned or moved since the
// last snapshot enters it now.
void StateSender::update_set(Recipient& recipient) {
  const replication::InterestSet::Changes changes = interest_->evaluate(recipient.connection, tick_);
  for (const uint32_t slot : changes.left) {
    recipient.list.leave(slot, table_.network_id(slot));
  }
  if (!recipient.looked) recipient.list.reserve(replication::room_for(changes.entered.size()));
  for (const uint32_t slot : changes.entered) {
    if (store_.is_untouched(slot)) continue;
    recipient.list.enter(slot, table_.network_id(slot));
    if (!recipient.looked) recipient.list.owe(slot);
  }
  recipient.looked = true;
  recipient.look_tick = tick_;
  recipient.judged_until_id = recorded_until_id_;
}

// --- Clients

void StateSender::join(ConnectionHandle connection, uint64_t peer) {
  replication::ReplicaList::Config known;
  known.peer_id = peer;
  known.placed_count = store_.placed_count();
  known.max_objects = config_.max_objects;
  auto recipient = std::make_unique<Recipient>(connection, known);
  if (interest_) {
    interest_->joined(connection, peer);
  } else {
    recipient->list.join(table_, store_);
  }
  for (const uint32_t slot : destroyed_placed_) recipient->list.join_without(slot, uint64_t{slot} + 1);
  turns_[turn_of(connection)].push_back(connection.slot);
  acked_at_[connection.slot] = tick_;
  recipients_[connection.slot] = std::move(recipient);
}

void StateSender::leave(ConnectionHandle connection) {
  if (find(connection) == nullptr) return;
  std::erase(turns_[turn_of(connection)], connection.slot);
  if (interest_) interest_->left(connection);
  receipts_.take(connection.slot, [](uint32_t, bool) {});
  begun_[connection.slot] = heard_[connection.slot] = false;
  recipients_[connection.slot].reset();
}

void StateSender::on_receipt(ConnectionHandle connection, uint32_t receipt, bool acked) {
  // Not find(): where the client is, is known without a look at it.
  if (connection.slot >= recipients_.size()) return;
  receipts_.add(connection.slot, receipt, acked);
  if (acked) acked_at_[connection.slot] = tick_;
}

void StateSender::heard_inputs(ConnectionHandle connection) {
  if (connection.slot < heard_.size()) heard_[connection.slot] = true;
}

void StateSender::count_owned(ConnectionHandle connection, int change) {
  if (Recipient* recipient = find(connection)) recipient->owned += static_cast<uint32_t>(change);
}

void StateSender::begin_calls(ConnectionHandle connection, uint32_t slot) {
  if (Recipient* recipient = find(connection)) recipient->list.enter(slot, table_.network_id(slot));
}

void StateSender::count_reliable_rpc(ConnectionHandle connection, uint32_t slot) {
  if (Recipient* recipient = find(connection)) recipient->list.count_reliable_rpc(slot);
}

void StateSender::say_unchanged(ConnectionHandle connection, uint32_t slot) {
  if (Recipient* recipient = find(connection)) recipient->list.say_unchanged(slot);
}

// A placed object that nobody has written since needs no replica. Whether it is in the set, the rules say.
bool StateSender::in_set(const Recipient& recipient, uint32_t slot) const {
  if (recipient.list.in_set(slot)) return true;
  return store_.is_placed(slot) && (!interest_ || interest_->contains(recipient.connection, slot));
}

bool StateSender::has(ConnectionHandle connection, uint32_t slot) const {
  const Recipient* recipient = find(connection);
  if (recipient == nullptr || !in_set(*recipient, slot)) return false;
  return !interest_ || interest_->allows(connection, slot);
}

bool StateSender::is_to_be_judged(ConnectionHandle connection, uint32_t slot) const {
  const Recipient* recipient = find(connection);
  if (recipient == nullptr || !interest_) return false;
  return table_.network_id(slot) >= recipient->judged_until_id;
}

bool StateSender::loaded(ConnectionHandle connection) {
  Recipient* recipient = find(connection);
  if (recipient == nullptr) return false;
  settle_receipts(*recipient);
  return (recipient->looked || !interest_) && recipient->list.loaded();
}

bool StateSender::take_loaded(ConnectionHandle* connection) {
  if (loaded_.empty()) return false;
  *connection = loaded_.back();
  loaded_.pop_back();
  return true;
}

replication::JoinCount StateSender::join_count(ConnectionHandle connection) {
  Recipient* recipient = find(connection);
  if (recipient == nullptr) return {};
  settle_receipts(*recipient);
  return recipient->list.join_count();
}

StateSender::Recipient* StateSender::find(ConnectionHandle connection) const {
  if (connection.slot >= recipients_.size()) return nullptr;
  Recipient* recipient = recipients_[connection.slot].get();
  return recipient != nullptr && recipient->connection == connection ? recipient : nullptr;
}

}  // namespace lattice::world
