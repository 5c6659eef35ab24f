// The work of a measured process. One function per workload and side; each returns the process's exit code.
// Processes and the bench exchange lines: "name value" on standard output, "go" on standard input.
#pragma once

#include <cstdint>

#include "transport/end.h"

namespace bench {

struct Arguments {
  const Contender* contender = nullptr;
  uint32_t clients = 1;
  uint16_t port = 0;     // of the server; loads only
  uint64_t count = 0;    // messages, round trips, connections
  double rate = 0;       // flood: datagrams per second
  bool reliable = true;  // bulk: which delivery
  bool between = false;  // game server: also receive between ticks, every millisecond
  uint32_t first = 0;    // number of the first client
};

/// Prints "name value" at once.
void say(const char* name, double value);
/// Blocks until a line comes in; false when the bench has gone.
bool wait_for_go();
/// True once the bench wants this process to report and end (SIGTERM).
bool should_end();

/// 60 ticks a second; 1000 bytes to everyone every second tick and one reliable 64-byte message per second.
/// Reports at the end: ticks, ticks that began more than a tick late, and messages missing from clients.
int serve_game(const Arguments& arguments);
/// Every client sends 64 bytes 60 times a second, in four phases, as real ones are spread.
int load_game(const Arguments& arguments);

/// Takes `count` messages of 64 bytes, checks their order when reliable, and reports its processor time from
/// the first to the last of them.
int serve_bulk(const Arguments& arguments);
int load_bulk(const Arguments& arguments);

/// Answers each message at once, spinning; the load reports round-trip percentiles.
int serve_ping(const Arguments& arguments);
int load_ping(const Arguments& arguments);

/// Admits clients, and does nothing else.
int serve_connect(const Arguments& arguments);
/// `count` connections, 32 being made at any time, each ended once made.
int load_connect(const Arguments& arguments);

/// 60 ticks a second with no traffic but keepalives.
int serve_idle(const Arguments& arguments);
/// Lattice only: `clients` connections over 16 sockets, silent.
int load_idle(const Arguments& arguments);

/// Lattice only: ConnectionRequests that pass every check, from 16384 source addresses in as many /24, at
/// `rate`.
int load_flood(const Arguments& arguments);

}  // namespace bench
