/* The smallest complete use of Lattice: a server and a client in one process on a simulated network, a
 * connect token, a message over each channel and back, and one replicated object that the client sees
 * move. Plain C17, nothing but the public header. Exits 0, or 1 after naming the step that failed. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lattice/lattice.h>

#define SERVER_ADDRESS "10.0.0.1:27015"
#define CLIENT_ADDRESS "10.0.0.2:40000"
#define CHANNELS 4
#define STEP_NS 4000000u /* virtual time between two pumps */
#define MAX_STEPS 2500   /* ten virtual seconds */

/* ---- What is replicated: one structure ----------------------------------------------------------- */

typedef struct {
  float x, y;
} vec2;

typedef struct {
  vec2 position;
  int32_t steps;
} walker;

#define WALKER_TYPE 1u

/* Server and client register the same description; the handshake compares its hash. */
static lattice_result register_schema(lattice_world* world) {
  lattice_member_desc members[2];
  lattice_member_desc_init(&members[0]);
  members[0].name = "position";
  members[0].type = LATTICE_WIRE_VECTOR2;
  members[0].offset = offsetof(walker, position);
  members[0].flags = LATTICE_MEMBER_POSITION;
  members[0].quant[0] = (lattice_quant){-100.0, 100.0, 1.0 / 64.0};
  lattice_member_desc_init(&members[1]);
  members[1].name = "steps";
  members[1].type = LATTICE_WIRE_INT32;
  members[1].offset = offsetof(walker, steps);

  lattice_struct_desc structure;
  lattice_struct_desc_init(&structure);
  structure.name = "Walker";
  structure.host_bytes = sizeof(walker);
  structure.host_align = _Alignof(walker);
  structure.members = members;
  structure.member_count = 2;

  lattice_behaviour_desc behaviour;
  lattice_behaviour_desc_init(&behaviour);
  behaviour.structure = &structure;

  lattice_type_desc type;
  lattice_type_desc_init(&type);
  type.type_id = WALKER_TYPE;
  type.name = "Walker";
  type.behaviours = &behaviour;
  type.behaviour_count = 1;
  return lattice_register_type(world, &type);
}

/* ---- Callbacks ----------------------------------------------------------------------------------- */

typedef struct {
  lattice_world* world;
  lattice_conn* conn; /* to the other side, NULL when not connected */
  int is_server;
  lattice_netid object; /* the walker */
  int echoed[CHANNELS]; /* client: answers received per channel */
  int ended_because;
} side;

static void on_connected(void* ctx, lattice_conn* conn) {
  ((side*)ctx)->conn = conn;
}

static void on_disconnected(void* ctx, lattice_conn* conn, int reason) {
  side* self = ctx;
  (void)conn;
  self->conn = NULL;
  self->ended_because = reason;
}

static void on_spawn(void* ctx, lattice_netid object, uint32_t type_id) {
  if (type_id == WALKER_TYPE) ((side*)ctx)->object = object;
}

/* The server sends back what it gets, on the channel it came by. */
static void on_message(void* ctx, lattice_conn* conn, lattice_channel channel, const void* data,
                       size_t bytes) {
  side* self = ctx;
  if (self->is_server) {
    lattice_send(conn, channel, data, bytes);
  } else if (bytes == 6 && memcmp(data, "hello", 6) == 0) {
    self->echoed[channel] += 1;
  }
}

/* One step of the simulation. Only the authority has something to simulate here. */
static void on_tick(void* ctx, lattice_world* world, const lattice_tick_context* tick) {
  side* self = ctx;
  walker* state = self->is_server ? lattice_object_state(world, self->object, 0) : NULL;
  if (state == NULL) return;
  state->position.x += (float)(2.0 * tick->dt_s);
  state->steps += 1;
}

static void set_callbacks(side* self) {
  lattice_callbacks callbacks;
  lattice_callbacks_init(&callbacks);
  callbacks.on_connected = on_connected;
  callbacks.on_disconnected = on_disconnected;
  callbacks.on_spawn = on_spawn;
  callbacks.on_tick = on_tick;
  callbacks.on_message = on_message;
  lattice_set_callbacks(self->world, &callbacks, self);
}

/* ---- Set-up -------------------------------------------------------------------------------------- */

static void require(int holds, const char* step) {
  if (holds) return;
  fprintf(stderr, "echo: %s failed: %s\n", step, lattice_last_error());
  exit(1);
}

static lattice_world* make_world(lattice_netsim* netsim, lattice_role role, const char* address,
                                 const uint8_t* issuer_public_key) {
  lattice_world_config config;
  lattice_world_config_init(&config);
  config.netsim = netsim;
  config.clock = lattice_netsim_clock;
  config.clock_ctx = netsim;
  config.bind_address = address;
  config.issuer_public_keys = issuer_public_key;
  config.issuer_public_key_count = issuer_public_key != NULL ? 1 : 0;
  lattice_role_context context;
  lattice_role_context_init(&context, role);
  lattice_world* world = lattice_world_create(&config, &context);
  require(world != NULL, "creating a world");
  require(register_schema(world) == LATTICE_OK, "registering the schema");
  return world;
}

/* What a backend does: binds a fresh key of the client to this server, for five minutes. */
static size_t issue_token(lattice_world* server, lattice_world* client, const uint8_t* issuer_seed,
                          uint8_t token[LATTICE_TOKEN_MAX_BYTES]) {
  lattice_token_request request;
  lattice_token_request_init(&request);
  memcpy(request.player, "player-one", 10);
  request.schema_id = lattice_world_schema_id(client);
  require(lattice_world_public_key(server, request.server_public_key) == LATTICE_OK, "server key");
  require(lattice_world_new_client_key(client, request.client_public_key) == LATTICE_OK, "client key");
  size_t bytes = 0;
  require(lattice_token_issue(issuer_seed, &request, token, LATTICE_TOKEN_MAX_BYTES, &bytes) == LATTICE_OK,
          "issuing a token");
  return bytes;
}

/* ---- The run ------------------------------------------------------------------------------------- */

typedef int (*condition)(const side* server, const side* client);

static int both_connected(const side* server, const side* client) {
  return server->conn != NULL && client->conn != NULL;
}

static int all_echoed(const side* server, const side* client) {
  (void)server;
  for (int channel = 0; channel < CHANNELS; ++channel) {
    if (client->echoed[channel] == 0) return 0;
  }
  return 1;
}

/* The client holds the server's object, it has walked a second's worth, and position follows steps. */
static int state_arrived(const side* server, const side* client) {
  walker seen;
  uint32_t tick = 0;
  (void)server;
  if (lattice_object_confirmed(client->world, client->object, 0, &seen, sizeof seen, &tick) == 0) return 0;
  const float expected = (float)seen.steps / 30.0f;
  const float error = seen.position.x > expected ? seen.position.x - expected : expected - seen.position.x;
  return seen.steps >= 60 && error < 0.5f;
}

static int both_ended(const side* server, const side* client) {
  return server->conn == NULL && client->conn == NULL;
}

/* Pumps both worlds and moves virtual time until `done`. */
static void run_until(lattice_netsim* netsim, side* server, side* client, condition done, const char* step) {
  for (int i = 0; i < MAX_STEPS && !done(server, client); ++i) {
    lattice_world_pump(server->world);
    lattice_world_pump(client->world);
    lattice_netsim_advance(netsim, STEP_NS);
  }
  require(done(server, client), step);
}

int main(void) {
  require(lattice_abi_version() == LATTICE_ABI_VERSION, "comparing versions of header and library");

  lattice_netsim* netsim = lattice_netsim_create(1);
  lattice_impairment link;
  lattice_impairment_init(&link);
  link.delay_ms = 20.0;
  require(lattice_netsim_set_impairment(netsim, &link) == LATTICE_OK, "impairing the network");

  uint8_t issuer_seed[LATTICE_KEY_BYTES];
  uint8_t issuer_public_key[LATTICE_KEY_BYTES];
  require(lattice_issuer_generate(issuer_seed, issuer_public_key) == LATTICE_OK, "making an issuer");

  side server = {.is_server = 1};
  side client = {.is_server = 0};
  server.world = make_world(netsim, LATTICE_ROLE_DEDICATED, SERVER_ADDRESS, issuer_public_key);
  client.world = make_world(netsim, LATTICE_ROLE_CLIENT, CLIENT_ADDRESS, NULL);
  set_callbacks(&server);
  set_callbacks(&client);
  server.object = lattice_spawn(server.world, WALKER_TYPE, LATTICE_AUTHORITY_SERVER);
  require(server.object != 0, "spawning");

  uint8_t token[LATTICE_TOKEN_MAX_BYTES];
  const size_t token_bytes = issue_token(server.world, client.world, issuer_seed, token);
  require(lattice_connect(client.world, SERVER_ADDRESS, token, token_bytes) != NULL, "starting to connect");
  run_until(netsim, &server, &client, both_connected, "connecting");

  for (int channel = 0; channel < CHANNELS; ++channel) {
    require(lattice_send(client.conn, (lattice_channel)channel, "hello", 6) == LATTICE_OK, "sending");
  }
  run_until(netsim, &server, &client, all_echoed, "echoing on every channel");
  run_until(netsim, &server, &client, state_arrived, "replicating the walker");

  lattice_disconnect(client.conn);
  run_until(netsim, &server, &client, both_ended, "disconnecting");
  require(server.ended_because == LATTICE_DISCONNECT_REQUESTED, "the server learning why");

  lattice_world_destroy(client.world);
  lattice_world_destroy(server.world);
  lattice_netsim_destroy(netsim);
  puts("echo: four channels and one object, there and back");
  return 0;
}
