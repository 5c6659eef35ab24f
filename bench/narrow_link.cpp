#include "narrow_link.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "base/random.h"
#include "reliability/endpoint/endpoint.h"
#include "transport/crypto/token_signature.h"
#include "transport/socket/bottleneck_link.h"
#include "transport/socket/simulated_network.h"

namespace bench {
namespace {

namespace reliability = lattice::reliability;
namespace socket = lattice::socket;
namespace crypto = lattice::crypto;
namespace wire = lattice::wire;
namespace base = lattice::base;

constexpr uint64_t kMs = 1'000'000;
constexpr uint64_t kSecond = 1'000 * kMs;
constexpr uint64_t kUnixS = 1'800'000'000;
constexpr uint8_t kFirstBulkChannel = 4;
constexpr uint8_t kBulkChannels = 4;
constexpr size_t kUnreliableBody = 1140;
constexpr size_t kVoiceBody = 1000;

class Handler final : public reliability::EndpointHandler {
 public:
  lattice::connection::Admission on_admission(const lattice::connection::AdmissionRequest&) override {
    lattice::connection::Admission out;
    out.peer_id = 2;
    return out;
  }
  void on_connected(reliability::ConnectionHandle handle, const reliability::ConnectedInfo&) override {
    connection = handle;
    connected = true;
  }
  void on_disconnected(reliability::ConnectionHandle, lattice::connection::DisconnectReason, uint64_t,
                       std::string_view) override {
    connected = false;
  }
  reliability::Verdict on_message(reliability::ConnectionHandle, wire::Channel channel,
                                  reliability::MessageFlags, std::span<const uint8_t> body,
                                  uint64_t) override {
    bytes += body.size();
    if (times_voice && channel == wire::Channel::kUnreliable) {
      uint64_t sent_ns = 0;
      std::memcpy(&sent_ns, body.data(), sizeof sent_ns);
      voice_ns.push_back(now_ns - sent_ns);
    }
    return reliability::Verdict::kAccept;
  }
  void on_receipt(reliability::ConnectionHandle, uint32_t, bool) override {}

  reliability::ConnectionHandle connection;
  bool connected = false;
  uint64_t bytes = 0;
  bool times_voice = false;
  uint64_t now_ns = 0;
  std::vector<uint64_t> voice_ns;  ///< How long each voice message took.
};

double quantile_ms(const std::vector<uint64_t>& sorted_ns, double quantile) {
  const auto index = static_cast<size_t>(quantile * static_cast<double>(sorted_ns.size() - 1));
  return static_cast<double>(sorted_ns[index]) / 1e6;
}

/// A client that sends to a server through the link; acknowledgements come back over a path that is only
/// long.
class Session {
 public:
  explicit Session(const NarrowRun& run)
      : run_(run),
        sender_{.every_ns = ms_to_ns(run.pump_ms)},
        receiver_{.every_ns = ms_to_ns(run.receiver_pump_ms != 0 ? run.receiver_pump_ms : run.pump_ms)},
        network_({.seed = run.seed, .queue_datagrams = 1u << 17}),
        link_({run.rate_bits_per_s, run.trace, run.queue_bytes}) {
    socket::Impairment path;
    path.delay_ms = run.delay_ms;
    path.jitter_ms = run.jitter_ms;
    path.jitter_reorders = true;
    path.loss = run.loss;
    network_.set_default(path);
    link_.set_observer(
        [](void* self, uint64_t waited_ns, size_t) { static_cast<Session*>(self)->note_wait(waited_ns); },
        this);
  }

  std::string connect() {
    const base::PathId server_address = base::ipv4_path(198, 51, 100, 7, 27015);
    const base::PathId client_address = base::ipv4_path(192, 0, 2, 1, 40000);
    server_socket_ = network_.attach(server_address);
    client_socket_ = network_.attach(client_address);
    const crypto::SigningKeyPair issuer = crypto::SigningKeyPair::generate(entropy_);
    reliability::EndpointConfig config = common_config();
    config.accepts_connections = true;
    config.identity = crypto::KeyPair::generate(entropy_);
    config.issuers = {issuer.public_key()};
    wire::TokenFields fields;
    entropy_.fill(fields.token_id);
    fields.issued_s = kUnixS;
    fields.expires_s = kUnixS + 600;
    fields.aud = config.identity.public_key();
    const crypto::KeyPair key = crypto::KeyPair::generate(entropy_);
    fields.cnf = key.public_key();
    std::vector<uint8_t> token(wire::kMaxTokenBytes);
    token.resize(crypto::sign_token(fields, issuer, token));
    const char* error = nullptr;
    server_ =
        reliability::Endpoint::create(std::move(config), *server_socket_, server_handler_, entropy_, &error);
    client_ =
        reliability::Endpoint::create(common_config(), *client_socket_, client_handler_, entropy_, &error);
    if (!server_ || !client_) return std::string("the endpoint refused its configuration: ") + error + ".";
    if (client_->connect(server_address, token, key, &handle_) != reliability::ConnectResult::kOk) {
      return "the client did not start connecting. Run the reliability tests.";
    }
    for (int i = 0; i < 2000 && !(client_handler_.connected && server_handler_.connected); ++i) step();
    if (!client_handler_.connected || !server_handler_.connected) return "no connection within 2000 steps.";
    network_.set_bottleneck(client_address, server_address, &link_);
    return "";
  }

  /// Lets the end that is due next pump; both, if they are due together.
  void step() {
    const uint64_t before_ns = now_ns_;
    now_ns_ = std::min(sender_.due_ns, receiver_.due_ns);
    if (receiver_.due_ns == now_ns_) {
      server_handler_.now_ns = now_ns_;
      server_->receive(now_ns_, kUnixS);
      server_->update_and_send(now_ns_, kUnixS);
      plan_next(receiver_);
    }
    passed_ns_ += now_ns_ - before_ns;
    if (sender_.due_ns == now_ns_) {
      client_->receive(now_ns_, kUnixS);
      offer();
      client_->update_and_send(now_ns_, kUnixS);
      plan_next(sender_);
    }
  }

  void measure(NarrowResult* out) {
    const uint64_t began_ns = now_ns_;
    offering_ = true;
    if (run_.voice_per_s != 0) begin_voice();
    run_for(run_.skip_s);
    waits_ns_.clear();
    server_handler_.voice_ns.clear();
    voice_sent_ = 0;
    const uint64_t from_ns = now_ns_;
    const uint64_t bytes_before = server_handler_.bytes;
    const uint64_t sent_before = client_->stats().traffic.bytes_sent;
    if (run_.transfer_bytes != 0) {
      while (server_handler_.bytes < run_.transfer_bytes && now_ns_ - began_ns < 600 * kSecond) step();
      if (server_handler_.bytes < run_.transfer_bytes)
        out->problem = "the transfer did not end within 600 s.";
    } else {
      run_for(run_.seconds);
    }
    out->seconds = static_cast<double>(now_ns_ - from_ns) / 1e9;
    const auto arrived = static_cast<double>(server_handler_.bytes - bytes_before);
    out->goodput_kb_per_s = arrived / out->seconds / 1000.0;
    out->bytes_ratio = static_cast<double>(client_->stats().traffic.bytes_sent - sent_before) / arrived;
    out->drops = link_.stats().dropped;
    if (waits_ns_.empty()) return;
    std::sort(waits_ns_.begin(), waits_ns_.end());
    out->queue_p50_ms = quantile_ms(waits_ns_, 0.5);
    out->queue_p95_ms = quantile_ms(waits_ns_, 0.95);
    out->queue_max_ms = quantile_ms(waits_ns_, 1.0);
    if (run_.voice_per_s != 0) end_voice(out);
  }

 private:
  reliability::EndpointConfig common_config() {
    reliability::EndpointConfig config;
    config.congestion = run_.congestion;
    for (uint8_t i = 0; i < kBulkChannels; ++i) {
      config.channels.declare(static_cast<uint8_t>(kFirstBulkChannel + i),
                              wire::ChannelMode::kReliableOrdered);
    }
    return config;
  }

  /// The pumps of one end.
  struct Pumps {
    uint64_t every_ns;
    uint64_t turn = 0;
    uint64_t due_ns = 0;
  };
  static uint64_t ms_to_ns(double ms) { return static_cast<uint64_t>(ms * 1e6); }
  void plan_next(Pumps& pumps) {
    ++pumps.turn;
    pumps.due_ns = pumps.turn * pumps.every_ns;
    if (run_.late_pump_ms != 0) pumps.due_ns += random_.next_below(ms_to_ns(run_.late_pump_ms) + 1);
  }

  void run_for(double seconds) {
    const uint64_t end_ns = now_ns_ + static_cast<uint64_t>(seconds * 1e9);
    while (now_ns_ < end_ns) step();
  }

  void begin_voice() {
    reliability::ChannelSettings urgent;
    urgent.is_urgent = true;
    client_->set_channel(handle_, wire::Channel::kUnreliable, urgent);
    server_handler_.times_voice = true;
    next_voice_ns_ = now_ns_;
  }

  void end_voice(NarrowResult* out) {
    offering_ = false;
    run_for(1);
    std::vector<uint64_t>& took_ns = server_handler_.voice_ns;
    std::sort(took_ns.begin(), took_ns.end());
    if (!took_ns.empty()) out->voice_p99_ms = quantile_ms(took_ns, 0.99);
    // What was on its way when the measurement began arrived too.
    out->voice_lost = voice_sent_ - std::min<uint64_t>(voice_sent_, took_ns.size());
  }

  void offer_voice() {
    std::array<uint8_t, kVoiceBody> body{};
    while (!run_.voice_alone && client_->send(handle_, wire::Channel::kReliableOrdered, {}, body) ==
                                    reliability::SendResult::kOk) {
    }
    std::memcpy(body.data(), &now_ns_, sizeof now_ns_);
    for (; next_voice_ns_ <= now_ns_; next_voice_ns_ += kSecond / run_.voice_per_s) {
      client_->send(handle_, wire::Channel::kUnreliable, {}, body);
      ++voice_sent_;
    }
  }

  void offer() {
    if (!offering_) return;
    if (run_.voice_per_s != 0) {
      offer_voice();
      return;
    }
    if (run_.transfer_bytes != 0) {
      offer_transfer();
      return;
    }
    const std::array<uint8_t, kUnreliableBody> body{};
    const uint64_t rate = run_.offered_bytes_per_s == 0 ? UINT64_MAX / kSecond : run_.offered_bytes_per_s;
    credit_bytes_ += static_cast<double>(rate) * static_cast<double>(passed_ns_) / 1e9;
    passed_ns_ = 0;
    // A bounded backlog: enough for a step of a fast link, and not a growing one on a slow link.
    while (credit_bytes_ >= kUnreliableBody &&
           client_->stats(handle_)->waiting_bytes < 256 * kUnreliableBody) {
      client_->send(handle_, wire::Channel::kUnreliable, {}, body);
      credit_bytes_ -= kUnreliableBody;
    }
    credit_bytes_ = std::min(credit_bytes_, 256.0 * kUnreliableBody);
  }

  void offer_transfer() {
    const std::array<uint8_t, reliability::kMaxReliableBody> body{};
    for (uint8_t i = 0; i < kBulkChannels; ++i) {
      const auto channel = static_cast<wire::Channel>(kFirstBulkChannel + i);
      while (queued_bytes_ < run_.transfer_bytes) {
        const size_t bytes = std::min<uint64_t>(body.size(), run_.transfer_bytes - queued_bytes_);
        if (client_->send(handle_, channel, {}, std::span(body).first(bytes)) !=
            reliability::SendResult::kOk) {
          break;
        }
        queued_bytes_ += bytes;
      }
    }
  }

  void note_wait(uint64_t waited_ns) {
    if (offering_) waits_ns_.push_back(waited_ns);
  }

  const NarrowRun& run_;
  Pumps sender_, receiver_;
  lattice::base::Random random_{run_.seed};
  uint64_t now_ns_ = 0;
  uint64_t passed_ns_ = 0;  ///< Since the last offer.
  crypto::SystemEntropy entropy_;
  socket::SimulatedNetwork network_;
  socket::BottleneckLink link_;
  std::unique_ptr<socket::DatagramSocket> server_socket_, client_socket_;
  Handler server_handler_, client_handler_;
  std::unique_ptr<reliability::Endpoint> server_, client_;
  reliability::ConnectionHandle handle_;
  bool offering_ = false;
  double credit_bytes_ = 0;
  uint64_t queued_bytes_ = 0;
  uint64_t next_voice_ns_ = 0;
  uint64_t voice_sent_ = 0;
  std::vector<uint64_t> waits_ns_;
};

}  // namespace

NarrowResult run_narrow(const NarrowRun& run) {
  NarrowResult result;
  Session session(run);
  result.problem = session.connect();
  if (result.problem.empty()) session.measure(&result);
  return result;
}

}  // namespace bench
