/* Two worlds in one process that speak over a pipe in memory: a back end of the application in place of UDP.
   A relay, a browser's data channel or the sockets of a console take the place of the pipe. */
#include <lattice/lattice.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kSayings = 3, kRoom = 256, kServer = 1, kClient = 2 };

static void require(int holds) {
  if (holds) return;
  fprintf(stderr, "%s\n", lattice_last_error());
  exit(1);
}

//! [end]
/* One end of the pipe: its number, and what has arrived there. */
typedef struct pipe_end {
  uint16_t number;
  struct pipe_end* other;
  uint32_t first, count;
  uint32_t sizes[kRoom];
  uint8_t data[kRoom][LATTICE_BACKEND_BUFFER_BYTES];
} pipe_end;
//! [end]

//! [receive]
static uint32_t pipe_receive(void* ctx, lattice_backend_datagram* out, uint32_t capacity) {
  pipe_end* end = (pipe_end*)ctx;
  uint32_t given = 0;
  for (; given < capacity && end->count != 0; ++given, --end->count) {
    const uint32_t at = end->first++ % kRoom;
    memcpy(out[given].data, end->data[at], end->sizes[at]);
    out[given].bytes = end->sizes[at];
    out[given].path.form = LATTICE_PATH_OPAQUE;
    out[given].path.number = end->other->number;
  }
  return given;
}
//! [receive]

//! [send]
/* A full end loses what comes, as a full router does. */
static uint32_t pipe_send(void* ctx, const lattice_backend_datagram* datagrams, uint32_t count) {
  pipe_end* to = ((pipe_end*)ctx)->other;
  for (uint32_t i = 0; i < count; ++i) {
    if (to->count == kRoom) continue; /* a full queue loses what comes, and only that */
    const uint32_t at = (to->first + to->count++) % kRoom;
    memcpy(to->data[at], datagrams[i].data, datagrams[i].bytes);
    to->sizes[at] = datagrams[i].bytes;
  }
  return count;
}
//! [send]

static void pipe_close(void* ctx) {
  printf("end %u of the pipe is closed\n", ((pipe_end*)ctx)->number);
}

//! [create]
static lattice_world* create(lattice_role kind, pipe_end* end, const uint8_t* issuer_key) {
  lattice_datagram_backend pipe;
  lattice_datagram_backend_init(&pipe);
  pipe.ctx = end;
  pipe.receive = pipe_receive;
  pipe.send = pipe_send;
  pipe.close = pipe_close;
  const lattice_datagram_backend* backends[] = {&pipe};

  lattice_world_config config;
  lattice_world_config_init(&config);
  config.backends = backends;
  config.backend_count = 1;
  config.without_udp = 1;
  config.transport_only = 1;
  config.record_events = 1;
  config.issuer_public_keys = issuer_key;
  config.issuer_public_key_count = issuer_key != NULL;
  lattice_role_context role;
  lattice_role_context_init(&role, kind);
  lattice_world* world = lattice_world_create(&config, &role);
  require(world != NULL);
  return world;
}
//! [create]

//! [connect]
static void connect(lattice_world* client, lattice_world* server, const uint8_t* issuer_seed) {
  lattice_token_request request;
  lattice_token_request_init(&request);
  require(lattice_world_public_key(server, request.server_public_key) == LATTICE_OK);
  require(lattice_world_new_client_key(client, request.client_public_key) == LATTICE_OK);
  uint8_t token[LATTICE_TOKEN_MAX_BYTES];
  size_t bytes = 0;
  require(lattice_token_issue(issuer_seed, &request, token, sizeof token, &bytes) == LATTICE_OK);
  /* Route 1 is backends[0]. The other end of the pipe is all that there is on it. */
  const lattice_path path = {1, LATTICE_PATH_OPAQUE, kServer, {0}};
  require(lattice_connect_path(client, &path, token, bytes) != NULL);
}
//! [connect]

/* The server returns every message. */
static void serve(lattice_world* world) {
  lattice_event events[16];
  lattice_world_recv(world);
  for (size_t n; (n = lattice_world_events(world, events, 16)) != 0;) {
    for (size_t i = 0; i < n; ++i) {
      const lattice_event* event = &events[i];
      lattice_conn_info info;
      lattice_conn_info_init(&info);
      if (event->kind == LATTICE_EVENT_CONNECTED && lattice_conn_get_info(event->conn, &info) == LATTICE_OK)
        printf("a client came from %s\n", info.remote_address);
      if (event->kind == LATTICE_EVENT_MESSAGE)
        lattice_send(event->conn, (lattice_channel)event->channel, event->data, event->bytes);
    }
  }
  lattice_world_send(world);
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

int main(void) {
  static pipe_end server_end = {.number = kServer}, client_end = {.number = kClient};
  server_end.other = &client_end;
  client_end.other = &server_end;
  uint8_t issuer_seed[LATTICE_KEY_BYTES], issuer_key[LATTICE_KEY_BYTES];
  require(lattice_issuer_generate(issuer_seed, issuer_key) == LATTICE_OK);
  lattice_world* server = create(LATTICE_ROLE_DEDICATED, &server_end, issuer_key);
  lattice_world* client = create(LATTICE_ROLE_CLIENT, &client_end, NULL);
  connect(client, server, issuer_seed);
  int heard = 0;
  for (int goes_on = 1; goes_on;) {
    lattice_world_wait(server, 1000000); /* a pipe has no descriptor, so this looks each millisecond */
    serve(server);
    goes_on = play(client, &heard);
  }
  lattice_world_destroy(client);
  lattice_world_destroy(server);
  return heard == kSayings ? 0 : 1;
}
