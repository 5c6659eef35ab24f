// As many 64-byte messages as one connection carries. A contender without back-pressure gets credit from the
// server, so that lost messages neither stop it nor make it look faster.
#include <algorithm>
#include <array>
#include <cstring>

#include "platform/clock.h"
#include "transport/workloads.h"

namespace bench {
namespace {

using lattice::platform::monotonic_ns;
using lattice::platform::process_cpu_ns;

constexpr size_t kBodyBytes = 64;
constexpr uint64_t kIdleWaitNs = 100'000;
constexpr uint64_t kQuietNs = 300'000'000;
constexpr uint64_t kGiveUpNs = 60'000'000'000;

double seconds(uint64_t from_ns, uint64_t to_ns) {
  return static_cast<double>(to_ns - from_ns) / 1e9;
}

uint64_t number_of(std::span<const uint8_t> body) {
  uint64_t number = 0;
  std::memcpy(&number, body.data(), std::min(body.size(), sizeof number));
  return number;
}

/// Contenders without back-pressure, and all of them when unreliable: no queue of the sender's knows how full
/// the receiver's socket is.
bool needs_credit(const End& end, const Arguments& arguments) {
  return !arguments.reliable || !end.has_back_pressure();
}

class BulkServer final : public EndEvents {
 public:
  BulkServer(End& end, const Arguments& arguments)
      : end_(end), arguments_(arguments), gives_credit_(needs_credit(end, arguments)) {}

  void on_connected(uint32_t) override {}
  void on_disconnected(uint32_t) override {}
  void on_message(uint32_t peer, std::span<const uint8_t> body) override {
    const uint64_t number = number_of(body);
    if (came_ == 0) began_ns_ = monotonic_ns(), began_cpu_ns_ = process_cpu_ns();
    if (arguments_.reliable && number != came_) ++out_of_order_;
    ++came_;
    highest_ = std::max(highest_, number + 1);
    peer_ = peer;
    is_new_ = true;
    if (number + 1 == arguments_.count) is_last_ = true;
  }

  /// One pump; false when nothing came.
  bool pump() {
    const bool any = end_.receive(*this);
    // Missing unreliable messages count as used; otherwise each lost datagram would use up credit for ever.
    if (is_new_ && gives_credit_) end_.send(peer_, Delivery::kUnreliable, bytes_of(&highest_));
    is_new_ = false;
    if (is_last_) {
      is_last_ = false;
      // Measured here and not later, because the rest is waiting.
      cpu_s_ = seconds(began_cpu_ns_, process_cpu_ns());
      wall_s_ = seconds(began_ns_, monotonic_ns());
      end_.send(peer_, Delivery::kReliableOrdered, bytes_of(&highest_));
    }
    end_.flush();
    return any;
  }

  void report() const {
    say("cpu_s", cpu_s_);
    say("wall_s", wall_s_);
    say("came", static_cast<double>(came_));
    say("out_of_order", static_cast<double>(out_of_order_));
  }

 private:
  static std::span<const uint8_t> bytes_of(const uint64_t* value) {
    return {reinterpret_cast<const uint8_t*>(value), sizeof *value};
  }

  End& end_;
  const Arguments& arguments_;
  bool gives_credit_;
  uint32_t peer_ = 0;
  bool is_new_ = false, is_last_ = false;
  uint64_t came_ = 0, highest_ = 0, out_of_order_ = 0;
  uint64_t began_ns_ = 0, began_cpu_ns_ = 0;
  double cpu_s_ = 0, wall_s_ = 0;
};

class BulkClient final : public EndEvents {
 public:
  BulkClient(End& end, const Arguments& arguments)
      : end_(end), arguments_(arguments), needs_credit_(needs_credit(end, arguments)) {}

  void on_connected(uint32_t) override { here_ = true; }
  void on_disconnected(uint32_t) override {}
  void on_message(uint32_t, std::span<const uint8_t> body) override {
    taken_ = std::max(taken_, number_of(body));
    heard_ns_ = monotonic_ns();
  }

  bool here() const { return here_; }
  bool done() const { return taken_ >= arguments_.count; }
  void start() { started_ = true; }

  /// One pump; false when there was nothing to do.
  bool pump() {
    bool any = end_.receive(*this);
    uint64_t until = started_ ? arguments_.count : 0;
    if (needs_credit_) until = std::min(until, taken_ + end_.credit_messages());
    const Delivery delivery = arguments_.reliable ? Delivery::kReliableOrdered : Delivery::kUnreliable;
    while (next_ < until) {
      std::memcpy(body_.data(), &next_, sizeof next_);
      if (!end_.send(0, delivery, body_)) break;
      ++next_;
      any = true;
    }
    end_.flush();
    return any;
  }

  /// Unreliable messages and their credit were lost: counts them as received, and sends the last message
  /// again.
  void forgive_silence(uint64_t now_ns) {
    if (arguments_.reliable || now_ns - heard_ns_ < kQuietNs) return;
    heard_ns_ = now_ns;
    next_ = std::min(next_, arguments_.count - 1);
    taken_ = next_;
  }

 private:
  End& end_;
  const Arguments& arguments_;
  bool needs_credit_;
  bool here_ = false, started_ = false;
  uint64_t next_ = 0, taken_ = 0, heard_ns_ = 0;
  std::array<uint8_t, kBodyBytes> body_{};
};

}  // namespace

int serve_bulk(const Arguments& arguments) {
  const std::unique_ptr<End> end = arguments.contender->serve(1);
  if (!end) return 1;
  say("port", end->port());
  BulkServer server(*end, arguments);
  while (!should_end()) {
    if (!server.pump()) end->wait(kIdleWaitNs);
  }
  server.report();
  return 0;
}

int load_bulk(const Arguments& arguments) {
  const std::unique_ptr<End> end = arguments.contender->connect(arguments.port, arguments.first);
  if (!end) return 1;
  BulkClient client(*end, arguments);
  const uint64_t patience_ends_ns = monotonic_ns() + kGiveUpNs;
  while (!client.here()) {
    if (!client.pump()) end->wait(kIdleWaitNs);
    if (monotonic_ns() > patience_ends_ns) return 1;
  }
  say("ready", 1);
  if (!wait_for_go()) return 1;
  client.start();
  const uint64_t began_ns = monotonic_ns(), began_cpu_ns = process_cpu_ns();
  while (!client.done()) {
    if (client.pump()) continue;
    end->wait(kIdleWaitNs);
    const uint64_t now_ns = monotonic_ns();
    client.forgive_silence(now_ns);
    if (now_ns - began_ns > kGiveUpNs) return 1;
  }
  say("cpu_s", seconds(began_cpu_ns, process_cpu_ns()));
  say("wall_s", seconds(began_ns, monotonic_ns()));
  say("done", 1);
  while (!should_end()) {  // The remaining acknowledgements are still sent.
    client.pump();
    end->wait(kIdleWaitNs);
  }
  return 0;
}

}  // namespace bench
