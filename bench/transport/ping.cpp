// The shortest round trip: 64 bytes reliable there and back, one at a time, both sides spinning.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "platform/clock.h"
#include "transport/workloads.h"

namespace bench {
namespace {

using lattice::platform::monotonic_ns;

constexpr size_t kBodyBytes = 64;
constexpr uint64_t kWarmUpRounds = 1000;
constexpr uint64_t kGiveUpNs = 30'000'000'000;

class Echo final : public EndEvents {
 public:
  explicit Echo(End& end) : end_(end) {}
  void on_connected(uint32_t) override {}
  void on_disconnected(uint32_t) override {}
  void on_message(uint32_t peer, std::span<const uint8_t> body) override {
    end_.send(peer, Delivery::kReliableOrdered, body);
  }

 private:
  End& end_;
};

class Asker final : public EndEvents {
 public:
  void on_connected(uint32_t) override { here = true; }
  void on_disconnected(uint32_t) override {}
  void on_message(uint32_t, std::span<const uint8_t>) override { answered = true; }
  bool here = false, answered = false;
};

double percentile_us(std::vector<uint64_t>& sorted_ns, double fraction) {
  const auto index = static_cast<size_t>(std::ceil(fraction * static_cast<double>(sorted_ns.size()))) - 1;
  return static_cast<double>(sorted_ns[index]) / 1000.0;
}

}  // namespace

int serve_ping(const Arguments& arguments) {
  const std::unique_ptr<End> end = arguments.contender->serve(1);
  if (!end) return 1;
  say("port", end->port());
  Echo echo(*end);
  while (!should_end()) {
    end->receive(echo);
    end->flush();
  }
  return 0;
}

int load_ping(const Arguments& arguments) {
  const std::unique_ptr<End> end = arguments.contender->connect(arguments.port, arguments.first);
  if (!end) return 1;
  Asker asker;
  const std::array<uint8_t, kBodyBytes> body{};
  const uint64_t began_ns = monotonic_ns();
  const auto pump = [&] {
    end->receive(asker);
    end->flush();
    return monotonic_ns() - began_ns < kGiveUpNs;
  };
  while (!asker.here) {
    if (!pump()) return 1;
  }
  say("ready", 1);
  if (!wait_for_go()) return 1;
  std::vector<uint64_t> rounds_ns;
  for (uint64_t round = 0; round < kWarmUpRounds + arguments.count; ++round) {
    asker.answered = false;
    const uint64_t sent_ns = monotonic_ns();
    end->send(0, Delivery::kReliableOrdered, body);
    end->flush();
    while (!asker.answered) {
      if (!pump()) return 1;
    }
    if (round >= kWarmUpRounds) rounds_ns.push_back(monotonic_ns() - sent_ns);
  }
  std::ranges::sort(rounds_ns);
  say("p50_us", percentile_us(rounds_ns, 0.50));
  say("p99_us", percentile_us(rounds_ns, 0.99));
  say("done", 1);
  while (!should_end()) pump();
  return 0;
}

}  // namespace bench
