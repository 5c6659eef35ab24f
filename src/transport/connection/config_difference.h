// Texts for two sides with different configurations or placed objects: what differs, and both values.
#pragma once

#include <cstdint>

#include "transport/connection/reason_text.h"
#include "transport/wire/handshake_bodies.h"

namespace lattice::connection {

/// "tick_rate_hz: server 60, client 30"
ReasonText tick_rates_differ(uint16_t server_hz, uint16_t client_hz);
/// "max_objects: server 4096, client 1000"
ReasonText too_few_objects(uint32_t server_max, uint32_t client_max);

/// "protocol version: server 2.0, client 1.0", of two ids (P-02).
ReasonText versions_differ(uint32_t server_protocol_id, uint32_t client_protocol_id);

/// What differs between the placed objects of the two sides, which are not equal. Names the object where one
/// side has a single one more: "placed: server 120, client 119 lacks 17", "placed: 120, with other keys",
/// "placed: 120, with other types or states".
ReasonText placed_objects_differ(const wire::PlacedSummary& server, const wire::PlacedSummary& client);

}  // namespace lattice::connection
