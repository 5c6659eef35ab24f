#include "reliability/endpoint/endpoint_config.h"

#include "reliability/path/mtu_search.h"
#include "transport/connection/server_handshake.h"
#include "transport/crypto/packet_key.h"
#include "transport/wire/constants.h"

namespace lattice::reliability {

const char* endpoint_config_error(const EndpointConfig& config) {
  if (config.max_connections < 1 || config.max_connections > 65536) return "max_connections: 1 to 65536";
  if (config.tick_rate_hz == 0) return "tick_rate_hz: at least 1";
  if (config.timers.keepalive_idle_ns == 0) return "timers.keepalive_idle_ns: above 0";
  if (config.timers.timeout_ns <= config.timers.keepalive_idle_ns) {
    return "timers.timeout_ns: longer than keepalive_idle_ns";
  }
  if (config.timers.disconnect_grace_ns == 0) return "timers.disconnect_grace_ns: above 0";
  if (config.max_datagram_bytes < wire::kFloorDatagramBytes ||
      config.max_datagram_bytes > MtuSearch::kSizes.back()) {
    return "max_datagram_bytes: 1200 to 1472";
  }
  if (config.initial_datagram_bytes < wire::kFloorDatagramBytes ||
      config.initial_datagram_bytes > config.max_datagram_bytes) {
    return "initial_datagram_bytes: 1200 to max_datagram_bytes";
  }
  if (config.rto.min_ns < kMinSettableRtoNs || config.rto.max_ns < config.rto.min_ns ||
      config.rto.max_ns > kMaxSettableRtoNs) {
    return "rto: 5 ms to 5 s, min_ns at most max_ns";
  }
  if (config.link_limits.replay_window_packets < crypto::kMinReplayWindowPackets ||
      config.link_limits.replay_window_packets > crypto::kReplayWindowPackets) {
    return "link_limits.replay_window_packets: 64 to 1024";
  }
  if (config.rotation.period_ns == 0 || config.rotation.bytes == 0 || config.rotation.packets == 0) {
    return "rotation: limits above 0";
  }
  if (config.rotation.min_overlap_ns > config.rotation.max_overlap_ns) {
    return "rotation.min_overlap_ns: at most max_overlap_ns";
  }
  if (config.tasks.worker_count < 1 || config.tasks.worker_count > CallerTasks::kMaxWorkers) {
    return "tasks.worker_count: 1 to 64";
  }
  if (config.tasks.enabled() && (config.tasks.enqueue == nullptr || config.tasks.finish == nullptr)) {
    return "tasks.enqueue and tasks.finish: both when worker_count is above 1";
  }
  if (config.connect_budget_ns == 0) return "connect_budget_ns: above 0";
  if (config.connect_retry_ns == 0) return "connect_retry_ns: above 0";
  if (const char* error = congestion_config_error(config.congestion)) return error;
  if (config.accepts_connections) {
    if (config.issuers.empty() || config.issuers.size() > connection::ServerHandshake::kMaxIssuers) {
      return "issuers: 1 to 4 keys on an accepting endpoint";
    }
    if (config.identity.public_key() == crypto::PublicKey{})
      return "identity: a key pair on an accepting endpoint";
    if (config.max_claims == 0) return "max_claims: at least 1";
    if (config.max_half_open == 0 || config.max_half_open_per_prefix == 0) return "max_half_open: at least 1";
    if (config.requests_per_s == 0 || config.responses_per_s == 0 || config.verified_per_s == 0) {
      return "requests_per_s, responses_per_s, verified_per_s: at least 1";
    }
    if (config.hashed_per_s == 0) return "hashed_per_s: at least 1";
    const connection::ResetLimits& resets = config.reset_limits;
    if (resets.per_s == 0 || resets.burst == 0 || resets.in_all_per_s == 0) return "reset_limits: at least 1";
  }
  return nullptr;
}

uint32_t offered_features(const EndpointConfig& config) {
  return config.offer_aes256gcm && crypto::has_aes256gcm() ? wire::kFeatureAes256Gcm : 0;
}

}  // namespace lattice::reliability
