#include "transport/connection/config_difference.h"

#include <cinttypes>
#include <cstdio>

namespace lattice::connection {
namespace {

ReasonText both_values(const char* field, uint32_t server, uint32_t client) {
  char text[wire::kMaxReasonTextBytes];
  std::snprintf(text, sizeof text, "%s: server %u, client %u", field, server, client);
  return ReasonText(text);
}

/// True when `more` is `less` and one more object, whose key goes to `key`.
bool lacks_one(const wire::PlacedSummary& less, const wire::PlacedSummary& more, uint64_t* key) {
  *key = more.key_sum - less.key_sum;
  return more.count == less.count + 1 && more.key_squares - less.key_squares == *key * *key;
}

}  // namespace

ReasonText tick_rates_differ(uint16_t server_hz, uint16_t client_hz) {
  return both_values("tick_rate_hz", server_hz, client_hz);
}

ReasonText too_few_objects(uint32_t server_max, uint32_t client_max) {
  return both_values("max_objects", server_max, client_max);
}

ReasonText versions_differ(uint32_t server_protocol_id, uint32_t client_protocol_id) {
  const wire::ProtocolVersion server = wire::version_of(server_protocol_id);
  const wire::ProtocolVersion client = wire::version_of(client_protocol_id);
  char text[wire::kMaxReasonTextBytes];
  std::snprintf(text, sizeof text, "protocol version: server %u.%u, client %u.%u", server.major, server.minor,
                client.major, client.minor);
  return ReasonText(text);
}

ReasonText placed_objects_differ(const wire::PlacedSummary& server, const wire::PlacedSummary& client) {
  char text[wire::kMaxReasonTextBytes + 1];
  uint64_t key = 0;
  if (lacks_one(client, server, &key)) {
    std::snprintf(text, sizeof text, "placed: server %u, client %u lacks %" PRIu64, server.count,
                  client.count, key);
  } else if (lacks_one(server, client, &key)) {
    std::snprintf(text, sizeof text, "placed: client %u, server %u lacks %" PRIu64, client.count,
                  server.count, key);
  } else if (server.count != client.count) {
    return both_values("placed", server.count, client.count);
  } else {
    const bool keys = server.key_sum != client.key_sum || server.key_squares != client.key_squares;
    std::snprintf(text, sizeof text, "placed: %u, with other %s", server.count,
                  keys ? "keys" : "types or states");
  }
  return ReasonText(text);
}

}  // namespace lattice::connection
