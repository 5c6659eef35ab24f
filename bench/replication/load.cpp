// The load: generators that decrypt, acknowledge and send inputs, and apply nothing; and one witness. All
// generators live in one Endpoint over a CrowdSocket. An input message names its ticks and what was pressed
// and nothing about its sender, so one message serves them all.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "platform/clock.h"
#include "reliability/endpoint/endpoint.h"
#include "replication/crowd_socket.h"
#include "replication/processes.h"
#include "replication/scene.h"
#include "replication/witness.h"
#include "serialization/layout.h"
#include "simulation/input_codec.h"
#include "simulation/input_history.h"
#include "transport/lattice_keys.h"

namespace bench {
namespace {

using namespace lattice;
using platform::monotonic_ns;

constexpr uint64_t kPhaseNs = 1'000'000'000 / kTickRateHz / CrowdSocket::kPhases;
constexpr uint64_t kConnectTimeoutNs = 60'000'000'000;
constexpr uint32_t kConnectsAtOnce = 256;  // so that the server answers before requests are repeated
/// An input is sent for a tick that the server has not run when the input arrives: a round trip and half of
/// one snapshot interval ahead, and some for what the processors do in between.
constexpr uint32_t kLeadTicks = 6 + 5;
/// The age of what a player sees when its input is made: the lead and 100 ms of interpolation.
constexpr uint32_t kViewTicks = kLeadTicks + 6;

class Crowd final : private reliability::EndpointHandler {
 public:
  Crowd(const EndArguments& arguments, const CrowdSocket::Path& path)
      : socket_(arguments.port, arguments.clients - 1, path),
        handles_(arguments.clients - 1),
        datagram_ticks_(arguments.datagram_ticks) {}
  ~Crowd() override { endpoint_.reset(); }

  bool open(uint64_t schema_id) {
    std::string error;
    const lattice_input_desc desc = input_desc<Keys>();
    if (!socket_.ok() ||
        !serialization::Layout::compile_structure(*desc.structure, false, &layout_, &error)) {
      std::fprintf(stderr, "replication-end: no sockets (ulimit -n) or no input layout %s\n", error.c_str());
      return false;
    }
    history_.emplace(layout_.word_count());
    reliability::EndpointConfig config;
    config.schema_id = schema_id;
    config.max_connections = static_cast<uint32_t>(handles_.size());
    config.tick_rate_hz = kTickRateHz;
    config.max_objects = 1u << 20;
    config.congestion.mode = reliability::CongestionMode::kNone;
    endpoint_ = reliability::Endpoint::create(std::move(config), socket_, *this, entropy_, nullptr);
    return endpoint_ != nullptr;
  }

  /// One quarter of a tick: the clients of a group receive, and send acknowledgements; those whose turn
  /// it is send inputs. A message repeats inputs that the server may have, so none is missing where a client
  /// sends in every second tick.
  void pump(uint32_t quarter, bool sends_inputs) {
    const uint64_t now_ns = monotonic_ns(), unix_s = platform::unix_seconds();
    const uint32_t phase = quarter % CrowdSocket::kPhases, tick = quarter / CrowdSocket::kPhases;
    connect_more();
    socket_.begin_phase(phase);
    endpoint_->receive(now_ns, unix_s);
    for (uint32_t i = phase; sends_inputs && i < handles_.size(); i += CrowdSocket::kPhases) {
      reliability::MessageFlags flags;
      flags.is_snapshot = true;
      const bool has_turn = (i / CrowdSocket::kPhases + tick) % datagram_ticks_ == 0;
      if (here_[i] && has_turn && !input_.empty())
        endpoint_->send(handles_[i], wire::Channel::kUnreliableSequenced, flags, input_);
    }
    endpoint_->update_and_send(monotonic_ns(), unix_s);
  }

  /// Makes the input message for the next tick, `server_tick` being that of the newest snapshots.
  void prepare_input(double server_tick) {
    const auto tick = static_cast<simulation::Tick>(server_tick) + kLeadTicks;
    if (tick <= history_->newest()) return;
    std::array<serialization::Word, 16> words{};
    Keys keys;
    keys.buttons = static_cast<uint8_t>(tick & 1);
    const void* host = &keys;
    layout_.quantize(&host, words.data());
    for (uint32_t next = std::max(history_->newest() + 1, tick - 2); next <= tick; ++next) {
      const auto newest = static_cast<simulation::Tick>(server_tick);
      const simulation::Sight sight{next - kViewTicks, next * 37 % 256, newest};  // a view that jitters
      history_->push(next, std::span(words).first(layout_.word_count()), sight);
    }
    history_->acknowledge(tick - kLeadTicks);
    input_.resize(kMaxInputBytes);
    input_.resize(simulation::encode_inputs(layout_, *history_, 4 * kLeadTicks, input_));
    history_->mark_sent(tick);
  }

  uint32_t connected() const { return connected_; }
  uint32_t lost() const { return lost_; }
  uint64_t bytes_received() const { return socket_.stats().bytes_received; }

 private:
  static constexpr size_t kMaxInputBytes = 512;

  void connect_more() {
    here_.resize(handles_.size());
    for (; asked_ < handles_.size() && asked_ - connected_ < kConnectsAtOnce; ++asked_) {
      const crypto::KeyPair client = crypto::KeyPair::generate(entropy_);
      reliability::ConnectionHandle handle;
      if (endpoint_->connect(CrowdSocket::crowd_address(asked_), make_token(client.public_key(), asked_),
                             client, &handle) != reliability::ConnectResult::kOk) {
        return;
      }
      handles_[asked_] = handle;
    }
  }
  uint32_t index_of(reliability::ConnectionHandle connection) const {
    const auto last = handles_.begin() + asked_;
    const auto found = std::find_if(handles_.begin(), last, [&](const reliability::ConnectionHandle& handle) {
      return handle.slot == connection.slot;
    });
    return static_cast<uint32_t>(found - handles_.begin());
  }

  connection::Admission on_admission(const connection::AdmissionRequest&) override { return {}; }
  void on_connected(reliability::ConnectionHandle connection, const reliability::ConnectedInfo&) override {
    here_[index_of(connection)] = true, ++connected_;
  }
  void on_disconnected(reliability::ConnectionHandle connection, connection::DisconnectReason reason,
                       uint64_t, std::string_view text) override {
    std::fprintf(stderr, "replication-end: a client lost its connection: %s %.*s\n",
                 connection::disconnect_reason_name(reason), static_cast<int>(text.size()), text.data());
    here_[index_of(connection)] = false, ++lost_;
  }
  reliability::Verdict on_message(reliability::ConnectionHandle, reliability::Channel,
                                  reliability::MessageFlags, std::span<const uint8_t>, uint64_t) override {
    return reliability::Verdict::kAccept;
  }
  reliability::FragmentOutcome on_fragment(reliability::ConnectionHandle, reliability::Channel,
                                           reliability::MessageFlags, const reliability::IncomingFragment&,
                                           std::span<const uint8_t>, uint64_t) override {
    return {reliability::Verdict::kAccept, false};
  }
  void on_receipt(reliability::ConnectionHandle, uint32_t, bool) override {}

  crypto::SystemEntropy entropy_;
  CrowdSocket socket_;
  std::unique_ptr<reliability::Endpoint> endpoint_;
  std::vector<reliability::ConnectionHandle> handles_;
  std::vector<bool> here_;
  uint32_t datagram_ticks_;
  uint32_t asked_ = 0, connected_ = 0, lost_ = 0;
  serialization::Layout layout_;
  std::optional<simulation::InputHistory> history_;
  std::vector<uint8_t> input_;
};

}  // namespace

int load_generators(const EndArguments& arguments) {
  Witness witness;
  if (!witness.start(arguments.port, arguments.clients, arguments.uneven ? kUnevenLossPercent : 0)) return 1;
  CrowdSocket::Path path;
  path.delay_ns = static_cast<uint64_t>(kRoundTripMs * 1e6);
  path.spread_ns = arguments.uneven ? static_cast<uint64_t>(kUnevenMs * 1e6) : 0;
  path.loss = arguments.uneven ? kUnevenLossPercent / 100 : 0;
  Crowd crowd(arguments, path);
  if (!crowd.open(witness.schema_id())) return 1;
  const uint64_t began_ns = monotonic_ns();
  uint64_t due_ns = began_ns, bytes_before = 0, late = 0;
  bool ready = false, open = false;
  for (uint32_t phase = 0; !should_end(); ++phase) {
    due_ns += kPhaseNs;
    platform::sleep_until_ns(due_ns);
    const uint64_t now_ns = monotonic_ns();
    if (now_ns > due_ns + kPhaseNs) due_ns = now_ns, ++late;  // what is missed is not made up for
    const bool begins_tick = phase % CrowdSocket::kPhases == 0;
    if (begins_tick && ready) crowd.prepare_input(witness.server_tick());
    crowd.pump(phase, ready && arguments.with_inputs);
    witness.pump();
    if (!ready) {
      ready = crowd.connected() == arguments.clients - 1 && witness.is_connected();
      if (ready) say("ready", arguments.clients);
      if (now_ns - began_ns > kConnectTimeoutNs) return 1;
    }
    if (!begins_tick || !take_go()) continue;
    open = !open;
    if (open) bytes_before = crowd.bytes_received(), late = 0;
    witness.go(static_cast<double>(now_ns) / 1e9);
    if (open) continue;
    say("load_bytes", static_cast<double>(crowd.bytes_received() - bytes_before));
    say("load_late", static_cast<double>(late));
    say("lost", crowd.lost());
  }
  return 0;
}

}  // namespace bench
