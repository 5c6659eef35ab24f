// The why-not query: lattice_conn_why() and its sentence.
#include "lattice/why.h"

#include <cinttypes>
#include <cstdarg>
#include <cstdio>

#include "abi/call.h"
#include "abi/struct_size.h"

namespace {

using namespace lattice;
using abi::fail;
using abi::WorldInstance;

LATTICE_PRINTF(3, 4) bool write(char* out, size_t capacity, const char* format, ...) {
  va_list values;
  va_start(values, format);
  std::vsnprintf(out, capacity, format, values);
  va_end(values);
  return true;
}

bool write_waiting(const lattice_why_info& why, char* out, size_t capacity) {
  char removals[48] = "";
  if (why.removal_count != 0) {
    std::snprintf(removals, sizeof removals, ", beside %u removals", why.removal_count);
  }
  char budget[48] = "";  // 0 bytes: nothing but the datagrams bounds it
  if (why.budget_bytes != 0) {
    std::snprintf(budget, sizeof budget, ", and a snapshot has %u bytes", why.budget_bytes);
  }
  return write(out, capacity,
               "the state of tick %u waits: %u of %u objects passed over go before it%s, with priority %.1f; "
               "a part with it alone takes up to %u bits%s",
               why.changed_tick, why.rank, why.waiting_count, removals, static_cast<double>(why.accumulator),
               why.next_entry_bits, budget);
}

/// What a client may show of an object that it no longer gets, but keeps or has not dropped yet.
constexpr const char kShowsOldState[] = "; the client may still have it, perhaps in an older state";

/// What follows "object 7: ". False for a reason that does not exist.
bool describe(const lattice_why_info& why, char* out, size_t capacity) {
  switch (why.reason) {
    case LATTICE_WHY_UP_TO_DATE:
      return write(out, capacity, "the client has the newest announced state, of tick %u", why.changed_tick);
    case LATTICE_WHY_IN_FLIGHT:
      return write(out, capacity,
                   "the state of tick %u is on its way since tick %u, now %u; %u entries were lost",
                   why.changed_tick, why.sent_tick, why.tick, why.lost_count);
    case LATTICE_WHY_WAITS_FOR_TURN:
      if (why.accumulator == 0) {
        return write(out, capacity, "the state of tick %u waits for the next snapshot", why.changed_tick);
      }
      return write_waiting(why, out, capacity);
    case LATTICE_WHY_WAITS_FOR_SLOT:
      return write(out, capacity, "waits until the client has dropped the former object in its slot");
    case LATTICE_WHY_NO_STATE:
      return write(out, capacity, "no tick has recorded its state yet");
    case LATTICE_WHY_OVER_BUDGET:
      return write(out, capacity, "a part with it alone takes up to %u bits, and a snapshot has %u bytes",
                   why.next_entry_bits, why.budget_bytes);
    case LATTICE_WHY_IN_PIECES:
      return write(
          out, capacity,
          "a state of %u bytes is on its way in pieces since tick %u, now %u: %u of %u were acknowledged",
          why.next_entry_bits / 8, why.sent_tick, why.tick, why.acked_piece_count, why.piece_count);
    case LATTICE_WHY_ENTERS:
      return write(out, capacity, "comes with the next snapshot");
    case LATTICE_WHY_OWNER:
      return write(out, capacity, "not sent: it, or a parent, is for its owner only");
    case LATTICE_WHY_TEAM:
      return write(out, capacity,
                   "not sent: it, or a parent, is for other teams; the client is of teams 0x%x",
                   why.viewer_team_mask);
    case LATTICE_WHY_ROOM:
      if (why.root != why.object) {
        return write(out, capacity,
                     "not sent: it is attached to object %" PRIu64
                     " in room %u, and the client is in room %u",
                     why.root, why.object_room, why.viewer_room);
      }
      return write(out, capacity, "not sent: it is in room %u, and the client in room %u", why.object_room,
                   why.viewer_room);
    case LATTICE_WHY_NO_VIEWER:
      return write(out, capacity, "not sent: it is seen from near only, and the client has no place");
    case LATTICE_WHY_DISTANCE:
      return write(out, capacity, "not sent: %.1f away, and the border is %.1f", why.distance, why.border);
    case LATTICE_WHY_CALLBACK:
      return write(out, capacity, "not sent: on_relevant did not let it through");
    case LATTICE_WHY_PARENT:
      return write(out, capacity,
                   "not sent: it is attached to object %" PRIu64 ", which the client does not get", why.root);
    case LATTICE_WHY_FAR:
      return write(
          out, capacity,
          "the state of tick %u waits: it is %.1f away, so its states leave every %u ticks, the last in "
          "tick %u, now %u",
          why.changed_tick, why.distance, why.interval_ticks, why.sent_tick, why.tick);
    default:
      return false;
  }
}

}  // namespace

extern "C" {

lattice_result lattice_conn_why(lattice_conn* conn, lattice_netid object, lattice_why_info* out) {
  abi::ConnectionCall call(conn);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return call.result();
  if (abi::caller_size(out, "lattice_why_info") == 0) return call.result();
  if (!instance->listens()) {
    return fail(LATTICE_ERROR_NOT_ALLOWED, "Only the authority knows what a client has.");
  }
  const uint32_t slot = instance->world->objects().find(object);
  if (slot == replication::kNoSlot) {
    return fail(LATTICE_ERROR_NOT_FOUND, "There is no object %" PRIu64 ".", object);
  }
  lattice_why_info value;
  lattice_why_info_init(&value);
  if (!instance->world->why(call.connection(), slot, &value)) {
    return fail(LATTICE_ERROR_NOT_CONNECTED, "The connection is not established.");
  }
  return abi::write_struct(value, out, "lattice_why_info");
}

lattice_result lattice_why_text(const lattice_why_info* why, char* out, size_t capacity) {
  const abi::Call call;
  lattice_why_info value;
  lattice_why_info_init(&value);
  if (const lattice_result bad = abi::read_struct(why, &value, "lattice_why_info")) return bad;
  if (out == nullptr) return fail(LATTICE_ERROR_INVALID_ARGUMENT, "There is nowhere to write the text to.");
  if (capacity < LATTICE_WHY_TEXT_BYTES) {
    return fail(LATTICE_ERROR_BUFFER_TOO_SMALL, "A sentence takes up to %u bytes.", LATTICE_WHY_TEXT_BYTES);
  }
  char text[LATTICE_WHY_TEXT_BYTES - 32 - sizeof kShowsOldState];
  if (!describe(value, text, sizeof text)) {
    return fail(LATTICE_ERROR_INVALID_ARGUMENT, "lattice_why_info.reason is %u, which is no reason.",
                value.reason);
  }
  const bool is_old = value.is_in_set == 0 && value.may_be_held != 0 && value.changed_tick != 0 &&
                      value.changed_tick != value.acked_tick;
  std::snprintf(out, capacity, "object %" PRIu64 ": %s%s", value.object, text, is_old ? kShowsOldState : "");
  return LATTICE_OK;
}

}  // extern "C"
