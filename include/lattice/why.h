/// @file
/// The why-not query: why is an object absent, stale or slow at one client? Authority only. An answer costs
/// a walk over what the client has; a program that never asks pays nothing.
#ifndef LATTICE_WHY_H
#define LATTICE_WHY_H

#include "lattice/result.h"
#include "lattice/types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LATTICE_WHY_TEXT_BYTES 384u  ///< room for every sentence of lattice_why_text(), with its final zero

/// The main reason. Those from LATTICE_WHY_UP_TO_DATE to LATTICE_WHY_IN_PIECES, and LATTICE_WHY_FAR, are of
/// objects in the client's set, the others of objects outside of it.
typedef enum lattice_why_reason {
  LATTICE_WHY_UP_TO_DATE = 0,      ///< the client has acknowledged the newest state
  LATTICE_WHY_IN_FLIGHT = 1,       ///< the newest state was sent in sent_tick, and nothing came back yet
  LATTICE_WHY_WAITS_FOR_TURN = 2,  ///< the newest state waits for a snapshot, or room in one; see rank
  LATTICE_WHY_WAITS_FOR_SLOT = 3,  ///< the client has not dropped a former object in the slot yet
  LATTICE_WHY_NO_STATE = 4,        ///< the object is new: no tick has recorded its state
  LATTICE_WHY_OVER_BUDGET = 5,     ///< its entry is longer than budget_bytes, and a piece too
  LATTICE_WHY_IN_PIECES = 6,       ///< a state is under way in pieces; see piece_count
  LATTICE_WHY_ENTERS = 7,      ///< the rules admit it: it enters the set with the next snapshot. Before the
                               ///< client's first snapshot, which looks at the rules, of every object
  LATTICE_WHY_OWNER = 8,       ///< it, or a parent, is for its owner only
  LATTICE_WHY_TEAM = 9,        ///< it, or a parent, is for other teams
  LATTICE_WHY_ROOM = 10,       ///< the client is in another room than it, or than what it is attached to
  LATTICE_WHY_NO_VIEWER = 11,  ///< the client never had a place, and the object is seen from near only
  LATTICE_WHY_DISTANCE = 12,   ///< it is farther away than `border`
  LATTICE_WHY_CALLBACK = 13,   ///< on_relevant refused it, or has not been asked about it yet
  LATTICE_WHY_PARENT = 14,     ///< it is attached to `root`, which is too far away or which on_relevant
                               ///< refused: ask about that. For rooms, teams and owners see above
  LATTICE_WHY_FAR = 15         ///< far away: its states leave every interval_ticks, and the next is not due
} lattice_why_reason;

/// Why a client sees an object as it does. Ticks are 0 when there is none. Rules and places are those of the
/// client's last snapshot. The library fills it.
typedef struct lattice_why_info {
  uint32_t struct_size;         ///< set by lattice_why_info_init()
  uint32_t reason;              ///< a lattice_why_reason
  lattice_netid object;         ///< the object that was asked about
  lattice_netid root;           ///< the object at the top of its chain of parents; `object` when not attached
  uint32_t tick;                ///< the tick of this answer
  uint32_t is_in_set;           ///< 1: the client gets the object
  uint32_t may_be_held;         ///< 1: the client may have it; 0: not yet, or it says that it drops it
  uint32_t object_room;         ///< the room of `root`
  uint32_t viewer_room;         ///< the room of the client
  uint32_t object_team_mask;    ///< the teams that may see the object; 0: all
  uint32_t viewer_team_mask;    ///< the teams of the client
  uint32_t changed_tick;        ///< the tick of the newest state, whether the client gets it or not
  uint32_t sent_tick;           ///< the tick of the newest snapshot with a state of the object
  uint32_t acked_tick;          ///< the tick of the snapshot whose state the client acknowledged last
  uint32_t is_in_flight;        ///< 1: the state of sent_tick was neither acknowledged nor lost
  uint32_t needs_full;          ///< 1: the next entry holds the whole state, not what changed
  uint32_t baseline_age_ticks;  ///< ticks since the state that the next entry builds on; 0 with needs_full
  uint32_t next_entry_bits;  ///< the most bits of a snapshot with the next entry alone. It counts the longest
                             ///< heads, often some 8 bytes more than there are. 0: nothing to send. In
                             ///< LATTICE_WHY_IN_PIECES, of the state under way
  uint32_t last_entry_bits;  ///< of the newest entry that was sent: up to 8 more than it had, 2040 at most
  uint32_t budget_bytes;     ///< what the client's last snapshot could hold; 0: no bound but the datagrams
  uint32_t lost_count;       ///< states of the object that were lost since it entered the set, 63 at most
  uint32_t rank;             ///< passed over objects of the client that have more priority
  uint32_t waiting_count;    ///< objects of the client that its last snapshots passed over, in every answer
  uint32_t piece_count;      ///< of the state that is under way in pieces since sent_tick; 0: none is
  uint32_t acked_piece_count;  ///< the client acknowledged so many of them; it shows the object with the last
  float accumulator;           ///< the priority gathered in snapshots that passed it over; 0: none has
  double distance;             ///< from the client's viewer to `root`, to an eighth of interest_cell on each
                               ///< side; below 0: one of them has no place
  double border;               ///< the distance that decides: interest_leave_radius in the set, else
                               ///< interest_radius; 0 where the distance does not matter
  uint32_t interval_ticks;     ///< least ticks between two states of the object, by its distance; 0 outside
                               ///< of the set
  uint32_t removal_count;      ///< objects that the client is to drop and has not been told of: a quarter of
                               ///< each snapshot is theirs first
} lattice_why_info;

/// All zero, with struct_size. Does nothing when `info` is NULL. Does not set lattice_last_result().
static inline void lattice_why_info_init(lattice_why_info* info) {
  if (info == NULL) return;
  memset(info, 0, sizeof *info);
  info->struct_size = (uint32_t)sizeof *info;
}

/// Says why the client has the object, does not have it, or has an old state of it. `out` must have been
/// initialised. Changes nothing.
///
/// LATTICE_ERROR_NOT_FOUND when there is no such object, LATTICE_ERROR_NOT_CONNECTED before the connection is
/// established, LATTICE_ERROR_NOT_ALLOWED on a client.
///
///     lattice_why_info why;
///     lattice_why_info_init(&why);
///     if (lattice_conn_why(conn, chest, &why) == LATTICE_OK && why.reason == LATTICE_WHY_TEAM)
///     show_teams(&why);
LATTICE_API lattice_result lattice_conn_why(lattice_conn* conn, lattice_netid object, lattice_why_info* out);

/// Writes the answer as a sentence for people, with a final zero: "object 7: not sent: 81.2 away, and the
/// border is 64.0". LATTICE_ERROR_INVALID_ARGUMENT for a reason that does not exist,
/// LATTICE_ERROR_BUFFER_TOO_SMALL when `capacity` is below LATTICE_WHY_TEXT_BYTES.
LATTICE_API lattice_result lattice_why_text(const lattice_why_info* why, char* out, size_t capacity);

#ifdef __cplusplus
}
#endif
#endif
