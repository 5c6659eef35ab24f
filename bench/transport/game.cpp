// The shape of a game's traffic: small messages to the server, large ones half as often to the clients, few
// reliable.
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "platform/clock.h"
#include "transport/workloads.h"

namespace bench {
namespace {

using lattice::platform::monotonic_ns;
using lattice::platform::sleep_until_ns;

constexpr uint64_t kTickNs = 1'000'000'000 / 60;
constexpr uint64_t kTicksPerSecond = 60;
constexpr uint64_t kBetweenNs = 1'000'000;
constexpr size_t kStateBytes = 1000;
constexpr size_t kInputBytes = 64;
constexpr uint64_t kPhases = 4;
constexpr uint64_t kWarmUpTicks = 5 * kTicksPerSecond;
constexpr size_t kMaxPumpSamples = 10'000;
constexpr uint64_t kConnectTimeoutNs = 30'000'000'000;

/// Numbered messages of one kind from one peer: how many there should be, how many came.
struct Count {
  uint32_t first = 0, highest = 0, came = 0;
  void note(uint32_t number) {
    if (came++ == 0) first = highest = number;
    highest = std::max(highest, number);
  }
  uint32_t due() const { return came == 0 ? 0 : highest - first + 1; }
};

uint32_t number_of(std::span<const uint8_t> body) {
  uint32_t number = 0;
  if (body.size() >= sizeof number) std::memcpy(&number, body.data(), sizeof number);
  return number;
}

class GameServer final : public EndEvents {
 public:
  GameServer(End& end, uint32_t clients) : end_(end), seats_(clients) { pump_us_.reserve(kMaxPumpSamples); }

  void on_connected(uint32_t peer) override { seats_[peer].here = true; }
  void on_disconnected(uint32_t peer) override { seats_[peer].here = false; }
  void on_message(uint32_t peer, std::span<const uint8_t> body) override {
    seats_[peer].inputs.note(number_of(body));
  }

  void receive() { end_.receive(*this); }

  void tick() {
    const uint64_t began_ns = monotonic_ns();
    receive();
    ++tick_;
    const bool sends = tick_ % 2 == 0;
    for (uint32_t peer = 0; sends && peer < seats_.size(); ++peer) {
      if (seats_[peer].here) send_to(peer);
    }
    end_.flush();
    if (sends && tick_ > kWarmUpTicks && pump_us_.size() < pump_us_.capacity()) {
      pump_us_.push_back(static_cast<double>(monotonic_ns() - began_ns) / 1000);
    }
  }

  void report() {
    if (!pump_us_.empty()) {
      const auto middle = pump_us_.begin() + static_cast<ptrdiff_t>(pump_us_.size() / 2);
      std::nth_element(pump_us_.begin(), middle, pump_us_.end());
      say("pump_p50_us", *middle);
    }
    uint64_t due = 0, came = 0, here = 0;
    for (const Seat& seat : seats_) due += seat.inputs.due(), came += seat.inputs.came, here += seat.here;
    say("clients_at_end", static_cast<double>(here));
    say("inputs_due", static_cast<double>(due));
    say("inputs_came", static_cast<double>(came));
  }

 private:
  struct Seat {
    bool here = false;
    uint32_t sent = 0;
    Count inputs;
  };

  void send_to(uint32_t peer) {
    Seat& seat = seats_[peer];
    const uint32_t number = ++seat.sent;
    std::memcpy(state_.data(), &number, sizeof number);
    end_.send(peer, Delivery::kUnreliable, state_);
    // Thirty sends a second: each client's reliable message goes with another one of them.
    if (tick_ / 2 % 30 == peer % 30) {
      end_.send(peer, Delivery::kReliableOrdered, std::span(state_).first(kInputBytes));
    }
  }

  End& end_;
  std::vector<Seat> seats_;
  std::vector<double> pump_us_;  // Wall time of ticks that send states.
  std::array<uint8_t, kStateBytes> state_{};
  uint64_t tick_ = 0;
};

class GameClient final : public EndEvents {
 public:
  explicit GameClient(std::unique_ptr<End> end) : end_(std::move(end)) {}

  void on_connected(uint32_t) override { here_ = true; }
  void on_disconnected(uint32_t) override { here_ = false; }
  void on_message(uint32_t, std::span<const uint8_t> body) override {
    if (body.size() == kStateBytes) states_.note(number_of(body));
  }

  void pump() {
    end_->receive(*this);
    if (here_) {
      ++sent_;
      std::memcpy(input_.data(), &sent_, sizeof sent_);
      end_->send(0, Delivery::kUnreliable, input_);
    }
    end_->flush();
  }
  bool here() const { return here_; }
  const Count& states() const { return states_; }

 private:
  std::unique_ptr<End> end_;
  std::array<uint8_t, kInputBytes> input_{};
  uint32_t sent_ = 0;
  bool here_ = false;
  Count states_;
};

}  // namespace

int serve_game(const Arguments& arguments) {
  const std::unique_ptr<End> end = arguments.contender->serve(arguments.clients);
  if (!end) return 1;
  say("port", end->port());
  GameServer server(*end, arguments.clients);
  uint64_t ticks = 0, late = 0;
  uint64_t due_ns = monotonic_ns();
  while (!should_end()) {
    due_ns += kTickNs;
    if (arguments.between) {
      for (uint64_t now_ns; (now_ns = monotonic_ns()) + kBetweenNs < due_ns;) {
        sleep_until_ns(now_ns + kBetweenNs);
        server.receive();
      }
    }
    sleep_until_ns(due_ns);
    ++ticks;
    if (const uint64_t now_ns = monotonic_ns(); now_ns >= due_ns + kTickNs) {
      const uint64_t behind = (now_ns - due_ns) / kTickNs;
      late += behind, due_ns += behind * kTickNs;
    }
    server.tick();
  }
  say("ticks", static_cast<double>(ticks));
  say("ticks_missed", static_cast<double>(late));
  server.report();
  return 0;
}

int load_game(const Arguments& arguments) {
  std::vector<GameClient> clients;
  for (uint32_t i = 0; i < arguments.clients; ++i) {
    std::unique_ptr<End> end = arguments.contender->connect(arguments.port, arguments.first + i);
    if (!end) return 1;
    clients.emplace_back(std::move(end));
  }
  bool told = false;
  const uint64_t began_ns = monotonic_ns();
  uint64_t due_ns = began_ns;
  for (uint64_t phase = 0; !should_end(); ++phase) {
    due_ns += kTickNs / kPhases;
    sleep_until_ns(due_ns);
    for (uint64_t i = phase % kPhases; i < clients.size(); i += kPhases) clients[i].pump();
    if (told || phase % kTicksPerSecond != 0) continue;
    if (std::ranges::all_of(clients, [](const GameClient& client) { return client.here(); })) {
      told = true;
      say("ready", static_cast<double>(clients.size()));
    } else if (monotonic_ns() - began_ns > kConnectTimeoutNs) {
      return 1;
    }
  }
  uint64_t due = 0, came = 0;
  for (const GameClient& client : clients) due += client.states().due(), came += client.states().came;
  say("states_due", static_cast<double>(due));
  say("states_came", static_cast<double>(came));
  return 0;
}

}  // namespace bench
