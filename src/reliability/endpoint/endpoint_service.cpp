// Decides which connections an update services: those with an event since they were last serviced, and those
// with a deadline that has come.
//
//   packet opened, message or chunk offered, disconnect(), new connection
//     ─▶ Connection::wake() ─▶ service() ─▶ next_service_ns() ─▶ ServiceSchedule
#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/durations.h"
#include "reliability/endpoint/endpoint_core.h"

namespace lattice::reliability {
namespace {

using base::kSecondNs;
/// Memory that nobody needed for so long goes back to the system.
constexpr uint64_t kIdleMemorySeconds = 10;

}  // namespace

void Endpoint::Core::begin_update() {
  if (std::exchange(update_begun, true)) return;
  const uint64_t now_ns = context.clock.now_ns();
  batch.set_now(now_ns);
  if (context.clock.begin_update()) {
    for (const auto& connection : connections) {
      if (connection) connection->wake();
    }
  }
  if (server && (last_server_update_ns == 0 || now_ns - last_server_update_ns >= kSecondNs)) {
    server->update(moment());
    last_server_update_ns = now_ns;
  }
  finish_phase();
}

void Endpoint::Core::update_and_send() {
  begin_update();
  update_begun = false;
  schedule.begin_update();
  service_due();
  const uint64_t second = context.clock.now_ns() / kSecondNs;
  if (second / kIdleMemorySeconds != context.clock.last_update_second() / kIdleMemorySeconds) {
    pool.give_back_idle();
    receive_memory.give_back_idle();
  }
  context.clock.end_update();
  finish_phase();
  batch.flush();
}

void Endpoint::Core::service_due() {
  for (size_t slot = next_due(0); slot != ServiceSchedule::kNone; slot = next_due(slot + 1)) {
    prefetch_service(slot);
    service_now(*connections[slot]);
  }
}

void Endpoint::Core::service_now(Connection& connection) {
  // If finish_phase() does not free the connection, the next update services it.
  if (connection.is_listed()) return;
  const uint32_t slot = connection.handle().slot;
  ++stats.connections_serviced;
#if defined(LATTICE_VALIDATION)
  const bool was_due = schedule.at(slot) <= context.clock.now_ns();
  const uint64_t packets_before = connection.packets_sent();
#endif
  connection.service();
#if defined(LATTICE_VALIDATION)
  LATTICE_CHECK(was_due || (connection.packets_sent() == packets_before && !connection.is_listed()));
#endif
  schedule.set(slot, connection.next_service_ns());
}

size_t Endpoint::Core::next_due(size_t first) {
  if (!context.config.service_all) return schedule.next_due(first, context.clock.now_ns());
  while (first < connections.size() && !connections[first]) ++first;
  return first < connections.size() ? first : ServiceSchedule::kNone;
}

/// Fetches the connection after the next one, and what the next one leads to. Only a hint: servicing this
/// connection may make others due.
void Endpoint::Core::prefetch_service(size_t slot) {
  const size_t near = next_due(slot + 1);
  if (near == ServiceSchedule::kNone) return;
  connections[near]->prefetch_for_send();
  const size_t far = next_due(near + 1);
  if (far != ServiceSchedule::kNone) connections[far]->prefetch_members(context.config.congestion);
}

void Endpoint::Core::set_timeout_paused(bool paused, uint64_t since_ns) {
  const bool goes_on = context.is_timeout_paused && !paused;
  context.is_timeout_paused = paused;
  for (const auto& connection : connections) {
    if (!connection || !connection->connected()) continue;
    if (goes_on) connection->restart_silence(since_ns);
    connection->wake();  // Its next deadline may have changed.
  }
}

}  // namespace lattice::reliability
