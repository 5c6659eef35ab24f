// The work of a process of the replication bench. Processes and the bench exchange lines: "name value" on
// standard output; "go" on standard input begins the measured window and the next "go" ends it.
#pragma once

#include <cstdint>

namespace bench {

struct EndArguments {
  uint32_t clients = 1;            // of the load; the server has room for so many
  uint32_t objects = 0;            // server: besides one for each player
  uint32_t moving_percent = 0;     // of those objects
  uint16_t port = 0;               // of the server; loads only
  uint32_t cap_bytes_per_s = 0;    // most bytes that a connection sends; 0: no cap
  uint32_t snapshot_rate_hz = 30;  // server: snapshots a second for each client
  uint32_t in_set = 0;             // server: about so many objects are near each viewer; 0: no interest
  uint32_t room_players = 0;       // server: players share a room with so many; 0: no rooms
  bool spectators = false;         // server: nobody has an object of its own
  bool with_inputs = true;         // load: 60 inputs a second
  uint32_t datagram_ticks = 1;     // load: a datagram holds the inputs of so many ticks
  bool uneven = false;             // load: twelve different round trips and some loss
  uint32_t trace_fd = 0;           // floor: the descriptor of the recorded traffic that it repeats
  const char* attack = "";         // attackers: what they send
  uint64_t seed = 1;               // scenes in virtual time
  double seconds = 10;             // the same: of virtual time, where that is measured
  double up_per_s = 60;            // floor: datagrams of each client to the server
  uint32_t up_bytes = 64;          // floor: bytes of each
};

/// The server: a world behind the C interface with one thread.
int serve_scene(const EndArguments& arguments);
/// `clients` - 1 generators that decrypt and acknowledge, and one real client world, the witness.
int load_generators(const EndArguments& arguments);
/// `clients` real client worlds.
int load_worlds(const EndArguments& arguments);
/// One real client world that measures what others do to it.
int play_honestly(const EndArguments& arguments);
/// `clients` attackers.
int play_hostile(const EndArguments& arguments);
/// The floor: receives, opens, seals and sends as much as a recorded server did.
int serve_floor(const EndArguments& arguments);
/// The sockets at the other end of the floor.
int load_floor(const EndArguments& arguments);

// In one process and in virtual time; each prints its numbers and "done".

/// One change of all `objects`: bytes until the server is quiet, and bytes of one encoding.
int run_change(const EndArguments& arguments);
/// `objects` spawned in one tick, beside ten that move, under a cap and losses.
int run_storm(const EndArguments& arguments);
/// A client joins a world of `objects`.
int run_join(const EndArguments& arguments);
/// What a client needs to take in snapshots of `objects` that walk.
int run_decode(const EndArguments& arguments);
/// What a client needs to roll `objects` back.
int run_rollback(const EndArguments& arguments);

/// Prints "name value" at once.
void say(const char* name, double value);
/// True once for each line "go" that has come; never blocks.
bool take_go();
/// True once the bench wants this process to end (SIGTERM).
bool should_end();

}  // namespace bench
