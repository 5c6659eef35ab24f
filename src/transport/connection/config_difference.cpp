#include "transport/connection/config_difference.h"

#include <cstdio>

namespace lattice::connection {
namespace {

ReasonText both_values(const char* field, uint32_t server, uint32_t client) {
  char text[wire::kMaxReasonTextBytes];
  std::snprintf(text, sizeof text, "%s: server %u, client %u", field, server, client);
  return ReasonText(text);
}

}  // namespace

ReasonText tick_rates_differ(uint16_t server_hz, uint16_t client_hz) {
  return both_values("tick_rate_hz", server_hz, client_hz);
}

ReasonText too_few_objects(uint32_t server_max, uint32_t client_max) {
  return both_values("max_objects", server_max, client_max);
}

}  // namespace lattice::connection
