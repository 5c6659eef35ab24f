// The pump of a session; see session.h.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/assert.h"
#include "world/session.h"

namespace lattice::world {
namespace {

/// A pause of more ticks skips so many: no connection outlives it.
constexpr double kMostSkippedTicks = 1 << 20;

}  // namespace

/// Sets the phase for one call of the pump.
class Session::PhaseScope {
 public:
  PhaseScope(Session& session, Phase phase) : session_(session) { session_.phase_ = phase; }
  ~PhaseScope() { session_.phase_ = Phase::kIdle; }
  PhaseScope(const PhaseScope&) = delete;
  PhaseScope& operator=(const PhaseScope&) = delete;

 private:
  Session& session_;
};

bool Session::receive(Now now) {
  if (phase_ != Phase::kIdle) return false;
  fix_schema();
  pump_gap_.on_pump(now.ns);
  {
    PhaseScope scope(*this, Phase::kReceive);
    run_receive(now);
  }
  after_phase();
  return true;
}

bool Session::tick(Tick tick, Now now) {
  if (phase_ != Phase::kIdle) return false;
  fix_schema();
  if (tick == 0 || tick != next_tick()) return false;
  {
    PhaseScope scope(*this, Phase::kTick);
    now_ns_ = now.ns;
    run_tick(tick);
  }
  after_phase();
  return true;
}

bool Session::send(Now now) {
  if (phase_ != Phase::kIdle) return false;
  fix_schema();
  {
    PhaseScope scope(*this, Phase::kSend);
    if (transfers_) transfers_->transfers().update();
    run_send(now);
  }
  after_phase();
  return true;
}

void Session::after_phase() {
  remove_pending();
  // By index: to end a connection calls the game, whose callback may end more connections.
  for (size_t i = 0; i < pending_disconnects_.size(); ++i) {
    const PendingDisconnect pending = pending_disconnects_[i];
    endpoint_->disconnect(pending.connection, pending.reason, pending.text);
  }
  pending_disconnects_.clear();
}

uint64_t Session::time_to_tick_ns(Now now) const {
  if (config_.transport_only) return UINT64_MAX;
  const double rest = 1.0 - fixed_tick_.alpha_at(now.ns);
  return rest <= 0.0 ? 0 : static_cast<uint64_t>(rest * fixed_tick_.tick_ns());
}

uint64_t Session::idle_ns(Now now) const {
  const uint64_t tick_ns = time_to_tick_ns(now);
  if (!endpoint_) return tick_ns;
  const uint64_t next_ns = std::min(endpoint_->endpoint().next_update_ns(), socket_->next_event_ns());
  if (next_ns == UINT64_MAX) return tick_ns;
  return std::min(tick_ns, next_ns > now.ns ? next_ns - now.ns : 0);
}

// --- Receiving

void Session::run_receive(Now now) {
  now_ns_ = now.ns;
  // The ticks of a pause did not run yet. What the pause costs for good moves the clock back, and a skip does
  // not.
  lost_ticks_ = fixed_tick_.drops_at(now.ns);
  if (are_skipped(lost_ticks_)) lost_ticks_ = 0;
  if (receiver_) {
    clock_->begin_receive();
    receiver_->begin_receive(now.ns, clock_->snapshot_interval_ticks(), presenter_->drawn_from());
  }
  endpoint_->receive(now.ns, now.unix_s);
  if (clock_) {
    constexpr uint64_t kLongSilenceNs = 1'000'000'000;
    const uint64_t silent_ns = clock_->end_receive();
    if (silent_ns >= kLongSilenceNs) observer_.on_silence(silent_ns);
  }
  if (sender_) tell_loaded();
  if (predictor_) reconcile();
  rpcs_.poll(now.ns);
  if (receiver_) receiver_->retry_removals();
}

// Here and not when the sender finds out: inside a send the game may spawn nothing.
void Session::tell_loaded() {
  ConnectionHandle connection;
  while (sender_->take_loaded(&connection)) {
    if (clients_->find(connection) != nullptr) observer_.on_loaded(connection);
  }
}

void Session::reconcile() {
  if (!clock_->ticking()) return;
  resimulating_ = true;
  const Tick present = current_tick_;
  predictor_->reconcile(present);
  current_tick_ = present;
  resimulating_ = false;
}

void Session::run_again(Tick tick) {
  current_tick_ = tick;
  observer_.on_tick(tick, true);
}

// --- Ticks

uint32_t Session::ticks_due(Now now) {
  if (config_.transport_only) return 0;
  if (!clock_) return ticks_of_authority(now);
  const Tick newest_sent = input_sender_ ? input_sender_->newest_sent() : 0;
  const ClockFollower::Step step = clock_->step(current_tick_, newest_sent, now.ns);
  if (step.jumped) {
    resync(step.newest_tick);
  } else {
    current_tick_ = step.newest_tick;
  }
  return step.due;
}

// After a pause the ticks of that time are over, though they never ran: the clocks of the clients went on,
// and their inputs are for the ticks of now. Clients can follow a shorter delay (T-03).
uint32_t Session::ticks_of_authority(Now now) {
  const simulation::TickAdvance advance = fixed_tick_.advance(now.ns);
  const double lost_ticks = static_cast<double>(advance.dropped_ns) / fixed_tick_.tick_ns();
  if (clients_ && clients_->size() != 0 && are_skipped(lost_ticks)) {
    const auto skipped = static_cast<Tick>(std::lround(std::min(lost_ticks, kMostSkippedTicks)));
    resync(std::max<Tick>(current_tick_ + skipped, 1));
  }
  return advance.ticks;
}

bool Session::are_skipped(double lost_ticks) {
  return lost_ticks > simulation::ClockSyncConfig{}.resync_ticks;
}

void Session::resync(Tick newest_tick) {
  const Tick from = current_tick_;
  current_tick_ = newest_tick;
  // Inputs that had no budget yet may be of ticks that run once more.
  if (input_sender_) input_sender_->drop_after(current_tick_);
  if (predictor_) predictor_->forget_ticks();
  if (input_receiver_) input_receiver_->skip(from, current_tick_);
  observer_.on_resync(from, current_tick_);
}

void Session::run_tick(Tick tick) {
  current_tick_ = tick;
  if (sender_) {
    endpoint_->set_server_tick(tick);
    table_.begin_tick(tick);
  }
  if (input_host_) sample_input(tick);
  observer_.on_tick(tick, false);
  remove_pending();
  if (sender_) record(tick);
  if (predictor_) predictor_->record(tick);
}

void Session::sample_input(Tick tick) {
  observer_.on_sample_input(tick, input_host_->behaviours()[0], schema_.input()->host_bytes(0));
  if (!input_sender_) return;
  const simulation::Sight sight = simulation::sight_of(presenter_->seen_time(), receiver_->snapshot_tick());
  if (input_sender_->sample(tick, std::as_const(*input_host_).behaviours(), sight)) return;
  // Zero may be out of range, and is what an input holds that the game has never set.
  const auto* input = static_cast<const uint8_t*>(input_host_->behaviours()[0]);
  const bool is_set =
      std::any_of(input, input + schema_.input()->host_bytes(0), [](uint8_t b) { return b != 0; });
  if (is_set) clamped_inputs_.note(*schema_.input(), input, std::nullopt);
}

void Session::record(Tick tick) {
  const uint64_t changes = sender_->record(table_, tick);
  report_clamped();
  if (frame_log_.collects()) {
    sender_->each_change_since(changes, [this](uint32_t slot) { log_change(slot); });
  }
}

void Session::log_change(uint32_t slot) {
  const replication::StateStore& store = sender_->store();
  const serialization::Word* before = store.words(slot, store.version(slot) - 1);
  LATTICE_ASSERT(before != nullptr);  // a store keeps two ticks at least
  const replication::ObjectInfo& info = table_.info(slot);
  frame_log_.changed(slot, info, frame_members(*info.type->layout, before, store.current(slot)));
}

// After the recording, which a game that spawns or writes here would disturb. The objects are all there: what
// the game removes goes at the end of the phase.
void Session::report_clamped() {
  for (const replication::ClampReport& report : sender_->store().clamps().reports()) {
    observer_.on_value_clamped(table_.network_id(report.slot), report.prop_id, report.tick);
  }
  sender_->store().clear_clamp_reports();
}

// Only in validation builds, where a developer reads what the program prints.
void Session::on_unannounced_write(uint32_t slot, Tick tick, const serialization::Word* recorded,
                                   const serialization::Word* words) {
  constexpr uint64_t kMostLines = 20;
  if (++unannounced_writes_ > kMostLines) return;
  const replication::ObjectInfo& info = table_.info(slot);
  const std::string member = info.type->layout->first_difference(recorded, words);
  std::fprintf(stderr,
               "lattice: object %llu: %s was written before tick %u, and nobody said so. Call "
               "lattice_object_wake(), or ask for the state again with lattice_object_state().\n",
               static_cast<unsigned long long>(info.network_id), member.c_str(), tick);
}

// --- Sending

void Session::run_send(Now now) {
  now_ns_ = now.ns;
  endpoint_->begin_update(now.ns, now.unix_s);
  if (sender_) sender_->send(now.ns, input_receiver_ ? &*input_receiver_ : nullptr);
  if (sender_) settle_held_calls();
  if (input_sender_ && clock_->ticking()) send_inputs(now);
  endpoint_->update_and_send(now.ns, now.unix_s);
}

void Session::send_inputs(Now now) {
  if (input_sender_->send(*endpoint_, connector_->connection(), clock_->lead_quarter_ticks(), now.ns)) {
    clock_->on_inputs_sent(current_tick_, now.ns);
  }
}

// --- Inputs

OpResult Session::set_input(const void* input, size_t bytes) {
  if (!config_.has_player) return OpResult::kNotAllowed;
  fix_schema();
  if (!input_host_ || bytes != schema_.input()->host_bytes(0)) return OpResult::kInvalid;
  std::memcpy(input_host_->behaviours()[0], input, bytes);
  return OpResult::kOk;
}

int Session::get_input(uint64_t peer, void* out, size_t bytes) {
  const serialization::Layout* layout = schema_.input();
  if (layout == nullptr || bytes != layout->host_bytes(0)) return 0;
  if (input_host_ && peer == local_peer()) return own_input(out, bytes);
  const Client* client = clients_ ? clients_->find_peer(peer) : nullptr;
  if (client == nullptr || !input_receiver_) {
    std::memset(out, 0, bytes);
    return 0;
  }
  switch (input_receiver_->read(client->connection.slot, current_tick_, out)) {
    case simulation::InputSource::kFresh:
      return 1;
    case simulation::InputSource::kRepeated:
      return 2;
    case simulation::InputSource::kDefault:
      return 0;
  }
  return 0;
}

int Session::own_input(void* out, size_t bytes) {
  if (!input_sender_) {
    std::memcpy(out, input_host_->behaviours()[0], bytes);
    return 1;
  }
  if (input_sender_->read(current_tick_, out)) return 1;
  std::memset(out, 0, bytes);
  return 0;
}

bool Session::input_sight(uint64_t peer, InputSight* out) const {
  if (input_host_ && peer == local_peer()) return own_sight(out);
  const Client* client = clients_ ? clients_->find_peer(peer) : nullptr;
  return client != nullptr && input_receiver_ &&
         input_receiver_->sight(client->connection.slot, current_tick_, out);
}

bool Session::own_sight(InputSight* out) const {
  if (!input_sender_) {  // this side sees its own state of the last tick
    const bool is_first = current_tick_ == base::next_tick(config_.newest_tick);
    const Tick seen = is_first ? 0 : base::previous_tick(current_tick_);
    *out = {current_tick_, simulation::sight_of({seen, 0.0}, seen), 0, false};
    return true;
  }
  simulation::Sight sight;
  if (!input_sender_->sight(current_tick_, &sight)) return false;
  *out = {current_tick_, sight, clock_->lead_quarter_ticks(), false};
  return true;
}

}  // namespace lattice::world
