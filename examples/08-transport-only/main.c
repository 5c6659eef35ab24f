/* Connections and messages without a world of objects, and without callbacks: a server that returns every message, and a
   client that says a few. Run "transport-only server" and "transport-only client", or "transport-only" for both. */
#include <lattice/lattice.h>
#include <stdio.h>
#include <stdlib.h>

enum { kSayings = 3 };

static void require(int holds) {
  if (holds) return;
  fprintf(stderr, "%s\n", lattice_last_error());
  exit(1);
}

//! [create]
static lattice_world* create(lattice_role kind, const char* address) {
  lattice_role_context role;
  lattice_role_context_init(&role, kind);
  lattice_world_config config;
  lattice_world_config_init(&config);
  config.bind_address = address;
  config.transport_only = 1;
  config.record_events = 1;
  config.development_tokens = kind == LATTICE_ROLE_DEDICATED;
  lattice_world* world = lattice_world_create(&config, &role);
  require(world != NULL);
  return world;
}
//! [create]

//! [serve]
static void serve(lattice_world* world) {
  lattice_event events[16];
  lattice_world_recv(world);
  for (size_t n; (n = lattice_world_events(world, events, 16)) != 0;) {
    for (size_t i = 0; i < n; ++i) {
      if (events[i].kind != LATTICE_EVENT_MESSAGE) continue;
      lattice_send(events[i].conn, (lattice_channel)events[i].channel, events[i].data, events[i].bytes);
    }
  }
  lattice_world_send(world);
}
//! [serve]

static void connect(lattice_world* world, const char* address) {
  uint8_t token[LATTICE_TOKEN_MAX_BYTES];
  size_t bytes = 0;
  require(lattice_dev_token(world, address, NULL, token, sizeof token, &bytes) == LATTICE_OK);
  require(lattice_connect(world, address, token, bytes) != NULL);
}

/* Returns 0 once the connection has ended. */
static int play(lattice_world* world, int* heard) {
  lattice_event events[16];
  int goes_on = 1;
  lattice_world_recv(world);
  for (size_t n; (n = lattice_world_events(world, events, 16)) != 0;) {
    for (size_t i = 0; i < n; ++i) {
      const lattice_event* event = &events[i];
      if (event->kind == LATTICE_EVENT_CONNECTED) {
        for (int say = 0; say < kSayings; ++say)
          lattice_send(event->conn, LATTICE_CHANNEL_RELIABLE_ORDERED, "marco", 5);
      } else if (event->kind == LATTICE_EVENT_MESSAGE) {
        printf("came back: %s\n", (const char*)event->data);
        if (++*heard == kSayings) lattice_disconnect(event->conn);
      } else if (event->kind == LATTICE_EVENT_DISCONNECTED) {
        printf("ended: %s\n", lattice_disconnect_reason_name(event->reason));
        goes_on = 0;
      }
    }
  }
  lattice_world_send(world);
  return goes_on;
}

int main(int argc, char** argv) {
  const char role = argc > 1 ? argv[1][0] : 'b';
  char address[64] = "127.0.0.1:27015";
  lattice_world* server = NULL;
  lattice_world* client = NULL;
  int heard = 0;
  if (role != 'c') server = create(LATTICE_ROLE_DEDICATED, role == 's' ? address : "127.0.0.1:0");
  if (server) lattice_world_address(server, address, sizeof address);
  if (role != 's') client = create(LATTICE_ROLE_CLIENT, NULL), connect(client, address);
  const uint64_t nap_ns = role == 'b' ? 1000000 : 100000000; /* with both in one loop, the other one must not wait */
  for (int goes_on = 1; goes_on;) {
    if (server) lattice_world_wait(server, nap_ns), serve(server);
    if (client) lattice_world_wait(client, nap_ns), goes_on = play(client, &heard);
  }
  lattice_world_destroy(client);
  lattice_world_destroy(server);
  return heard == kSayings ? 0 : 1;
}
