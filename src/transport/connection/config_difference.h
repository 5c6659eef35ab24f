// Texts for two sides with different configurations: the name of the setting, and both values.
#pragma once

#include <cstdint>

#include "transport/connection/reason_text.h"

namespace lattice::connection {

/// "tick_rate_hz: server 60, client 30"
ReasonText tick_rates_differ(uint16_t server_hz, uint16_t client_hz);
/// "max_objects: server 4096, client 1000"
ReasonText too_few_objects(uint32_t server_max, uint32_t client_max);

}  // namespace lattice::connection
