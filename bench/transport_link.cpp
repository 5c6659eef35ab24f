#include "transport_link.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "reliability/endpoint/endpoint.h"
#include "transfer_end.h"
#include "transport/lattice_keys.h"
#include "transport/socket/simulated_network.h"

namespace bench {
namespace {

using namespace lattice;

constexpr uint64_t kMs = 1'000'000;
constexpr uint64_t kGiveUpMs = 300'000;
constexpr size_t kTransferBytes = 8 << 20;

class Handler final : public reliability::EndpointHandler {
 public:
  connection::Admission on_admission(const connection::AdmissionRequest&) override { return {}; }
  void on_connected(reliability::ConnectionHandle handle, const reliability::ConnectedInfo&) override {
    connection = handle;
    connected = true;
  }
  void on_disconnected(reliability::ConnectionHandle, connection::DisconnectReason, uint64_t,
                       std::string_view) override {
    connected = false;
  }
  reliability::Verdict on_message(reliability::ConnectionHandle handle, reliability::Channel channel,
                                  reliability::MessageFlags, std::span<const uint8_t> body,
                                  uint64_t now_ns) override {
    if (channel != reliability::Channel::kReliableOrdered) return transfer.on_message(handle, channel, body);
    uint64_t sent_ns = 0;
    std::memcpy(&sent_ns, body.data(), sizeof sent_ns);
    latencies_ns.push_back(now_ns - sent_ns);
    return reliability::Verdict::kAccept;
  }
  void on_receipt(reliability::ConnectionHandle, uint32_t, bool) override {}

  reliability::ConnectionHandle connection;
  bool connected = false;
  std::vector<uint64_t> latencies_ns;
  TransferEnd transfer;
};

/// A server and a client with a link between them; starts connected.
class Link {
 public:
  Link(const socket::Impairment& each_way, uint64_t seed) : network_({.seed = seed}) {
    const base::PathId server_at = base::ipv4_path(10, 0, 0, 1, 7000);
    const base::PathId client_at = base::ipv4_path(10, 0, 0, 2, 7000);
    server_socket_ = network_.attach(server_at);
    client_socket_ = network_.attach(client_at);
    network_.set_path(client_at, server_at, each_way, each_way);
    reliability::EndpointConfig config;
    config.accepts_connections = true;
    config.identity = server_identity();
    config.issuers = {token_issuer().public_key()};
    server_heard.transfer.prepare(&config);
    server_ =
        reliability::Endpoint::create(std::move(config), *server_socket_, server_heard, entropy_, nullptr);
    reliability::EndpointConfig client_config;
    client_config.jitter_seed = seed;
    client_heard.transfer.prepare(&client_config);
    client_ = reliability::Endpoint::create(std::move(client_config), *client_socket_, client_heard, entropy_,
                                            nullptr);
    server_heard.transfer.bind(*server_);
    client_heard.transfer.bind(*client_);
    const crypto::KeyPair key = crypto::KeyPair::generate(entropy_);
    reliability::ConnectionHandle pending;
    const std::vector<uint8_t> token = make_token(key.public_key(), 0);
    // Tokens are dated by the wall clock, so this calendar is too.
    wire::TokenFields fields;
    if (wire::parse_token(token, &fields) == wire::TokenStatus::kOk) unix_s_ = fields.issued_s;
    client_->connect(server_at, token, key, &pending);
    while (!(client_heard.connected && server_heard.connected) && now_ns < kGiveUpMs * kMs) pump();
    server_heard.latencies_ns.clear();
  }

  /// One millisecond.
  void pump() {
    now_ns += kMs;
    server_heard.transfer.update();
    client_heard.transfer.update();
    server_->receive(now_ns, unix_s_);
    server_->update_and_send(now_ns, unix_s_);
    client_->receive(now_ns, unix_s_);
    client_->update_and_send(now_ns, unix_s_);
  }
  bool send(std::span<uint8_t> body) {
    std::memcpy(body.data(), &now_ns, sizeof now_ns);
    return client_->send(client_heard.connection, reliability::Channel::kReliableOrdered, {}, body) ==
           reliability::SendResult::kOk;
  }
  reliability::ConnectionStats stats() const { return *client_->stats(client_heard.connection); }

  uint64_t now_ns = 0;
  Handler server_heard, client_heard;

 private:
  socket::SimulatedNetwork network_;
  std::unique_ptr<socket::DatagramSocket> server_socket_, client_socket_;
  crypto::SystemEntropy entropy_;
  std::unique_ptr<reliability::Endpoint> server_, client_;
  uint64_t unix_s_ = 0;
};

double percentile_ms(std::vector<uint64_t> values_ns, double fraction) {
  if (values_ns.empty()) return 0;
  std::ranges::sort(values_ns);
  const auto rank = static_cast<size_t>(std::ceil(fraction * static_cast<double>(values_ns.size())));
  return static_cast<double>(values_ns[std::max<size_t>(rank, 1) - 1]) / 1e6;
}

}  // namespace

LatencyResult run_lossy_link(double jitter_ms, double loss, double seconds, uint64_t seed) {
  socket::Impairment each_way;
  each_way.delay_ms = 25 + jitter_ms;
  each_way.jitter_ms = jitter_ms;
  each_way.loss = loss;
  Link link(each_way, seed);
  std::array<uint8_t, 64> body{};
  const auto messages = static_cast<size_t>(seconds * 100);
  const uint64_t bytes_before = link.stats().traffic.bytes_sent;
  for (size_t ms = 0; ms < messages * 10; ++ms) {
    if (ms % 10 == 0) link.send(body);
    link.pump();
  }
  for (uint64_t ms = 0; link.server_heard.latencies_ns.size() < messages && ms < kGiveUpMs; ++ms) link.pump();
  LatencyResult result;
  result.all_came = link.server_heard.latencies_ns.size() == messages;
  result.p50_ms = percentile_ms(link.server_heard.latencies_ns, 0.50);
  result.p99_ms = percentile_ms(link.server_heard.latencies_ns, 0.99);
  result.max_ms = percentile_ms(link.server_heard.latencies_ns, 1.00);
  result.bytes_ratio = static_cast<double>(link.stats().traffic.bytes_sent - bytes_before) /
                       static_cast<double>(messages * body.size());
  return result;
}

TransferResult run_transfer(double one_way_ms, double loss, uint64_t bits_per_s, uint64_t seed) {
  socket::Impairment each_way;
  each_way.delay_ms = one_way_ms;
  each_way.loss = loss;
  each_way.rate_bits_per_s = bits_per_s;
  Link link(each_way, seed);
  std::vector<uint8_t> data(kTransferBytes);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<uint8_t>(i * 2654435761u >> 24);
  const uint64_t began_ns = link.now_ns;
  const uint64_t bytes_before = link.stats().traffic.bytes_sent;
  std::vector<uint64_t> queued_ns;
  const auto empty_link_ns = static_cast<uint64_t>(2 * one_way_ms * 1e6);
  uint64_t samples = link.stats().rtt_samples;
  const TransferEnd& receiver = link.server_heard.transfer;
  if (!link.client_heard.transfer.start(link.client_heard.connection, data)) return {};
  while (!receiver.done() && link.now_ns - began_ns < kGiveUpMs * kMs) {
    link.pump();
    const reliability::ConnectionStats stats = link.stats();
    if (stats.rtt_samples == samples) continue;
    samples = stats.rtt_samples;
    queued_ns.push_back(stats.latest_rtt_ns - std::min(stats.latest_rtt_ns, empty_link_ns));
  }
  TransferResult result;
  result.all_came = receiver.done() && std::ranges::equal(receiver.received(), data);
  result.kb_per_s =
      static_cast<double>(kTransferBytes) / 1000 / (static_cast<double>(link.now_ns - began_ns) / 1e9);
  result.bytes_ratio = static_cast<double>(link.stats().traffic.bytes_sent - bytes_before) /
                       static_cast<double>(kTransferBytes);
  result.queue_p95_ms = percentile_ms(std::move(queued_ns), 0.95);
  return result;
}

}  // namespace bench
