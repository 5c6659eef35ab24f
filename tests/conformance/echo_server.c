/* The server of conformance.live_client: returns every message on the channel it came by, and has one object
 * that walks, so that there are snapshots.
 *
 *   echo_server [LOSS_PERCENT [ADDRESS IDENTITY]]
 *
 * LOSS_PERCENT is of its own datagrams, both ways; above 0 they are reordered and duplicated too. IDENTITY is
 * what a restarted server keeps, 128 hexadecimal digits.
 *
 * Prints one line of JSON, the note tools/conformance/lattice_client.py takes, and one line {"ended": REASON}
 * for every connection that ended. The message "kick me" on the reliable-ordered channel is answered by a
 * Disconnect. Ends when its standard input does. Plain C17 over the public header. */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lattice/lattice.h>

#define WALKER_TYPE 1u
#define APPLICATION_REASON 300
#define PUMP_MS 2
#define QUEUED_ECHOES 4096 /* more than one test sends in all */

typedef struct {
  float x, y;
} vec2;

typedef struct {
  vec2 position;
  int32_t steps;
  uint8_t resting;
} walker;

/* The same as a schema for the reader of the note; compressed to 1/64 within 100 of the origin. */
static const char kSchemaJson[] =
    "{\"types\":[{\"type_id\":1,\"name\":\"Walker\",\"rpcs\":[],\"behaviours\":[{\"name\":\"Walker\","
    "\"structure\":{\"name\":\"Walker\",\"delta\":false,\"members\":["
    "{\"name\":\"position\",\"type\":\"vector2\",\"encoding\":\"default\",\"flags\":1,\"bits\":0,"
    "\"quant\":[[-100,100,0.015625],[-100,100,0.015625]]},"
    "{\"name\":\"steps\",\"type\":\"int32\",\"encoding\":\"default\",\"flags\":0,\"bits\":0},"
    "{\"name\":\"resting\",\"type\":\"bool\",\"encoding\":\"default\",\"flags\":0,\"bits\":0}]}}]}],"
    "\"input\":null}";

typedef struct {
  lattice_world* world;
  lattice_netid object;
  struct {
    lattice_conn* conn;
    lattice_channel channel;
    size_t bytes;
    uint8_t data[64];
  } waiting[QUEUED_ECHOES]; /* what a full queue did not take yet */
  size_t waiting_count;
} server;

static void require(int holds, const char* step) {
  if (holds) return;
  fprintf(stderr, "echo_server: %s failed: %s\n", step, lattice_last_error());
  exit(1);
}

static lattice_result register_schema(lattice_world* world) {
  lattice_member_desc members[3];
  for (size_t i = 0; i < 3; ++i) lattice_member_desc_init(&members[i]);
  members[0].name = "position";
  members[0].type = LATTICE_WIRE_VECTOR2;
  members[0].offset = offsetof(walker, position);
  members[0].flags = LATTICE_MEMBER_POSITION;
  members[0].quant[0] = (lattice_quant){-100.0, 100.0, 1.0 / 64.0};
  members[1].name = "steps";
  members[1].type = LATTICE_WIRE_INT32;
  members[1].offset = offsetof(walker, steps);
  members[2].name = "resting";
  members[2].type = LATTICE_WIRE_BOOL;
  members[2].offset = offsetof(walker, resting);

  lattice_struct_desc structure;
  lattice_struct_desc_init(&structure);
  structure.name = "Walker";
  structure.host_bytes = sizeof(walker);
  structure.host_align = _Alignof(walker);
  structure.members = members;
  structure.member_count = 3;

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

static void on_message(void* ctx, lattice_conn* conn, lattice_channel channel, const void* data,
                       size_t bytes) {
  server* self = ctx;
  if (channel == LATTICE_CHANNEL_RELIABLE_ORDERED && bytes == 7 && memcmp(data, "kick me", 7) == 0) {
    lattice_disconnect_with(conn, APPLICATION_REASON, "as you wish");
    return;
  }
  require(self->waiting_count < QUEUED_ECHOES && bytes <= sizeof self->waiting[0].data, "queueing an echo");
  self->waiting[self->waiting_count].conn = conn;
  self->waiting[self->waiting_count].channel = channel;
  self->waiting[self->waiting_count].bytes = bytes;
  memcpy(self->waiting[self->waiting_count].data, data, bytes);
  self->waiting_count += 1;
}

/* Sends what the queues take, in order; the rest waits for the next pump. */
static void send_echoes(server* self) {
  size_t kept = 0;
  for (size_t i = 0; i < self->waiting_count; ++i) {
    const lattice_result result = lattice_send(self->waiting[i].conn, self->waiting[i].channel,
                                               self->waiting[i].data, self->waiting[i].bytes);
    if (result == LATTICE_ERROR_WOULD_BLOCK) self->waiting[kept++] = self->waiting[i];
  }
  self->waiting_count = kept;
}

static void on_disconnected(void* ctx, lattice_conn* conn, int reason) {
  (void)ctx;
  (void)conn;
  printf("{\"ended\":%d}\n", reason);
  fflush(stdout);
}

/* Half a unit per step up to 90, then back to the start: x is steps mod 181, halved. */
static void on_tick(void* ctx, lattice_world* world, const lattice_tick_context* tick) {
  const server* self = ctx;
  walker* state = lattice_object_state(world, self->object, 0);
  (void)tick;
  state->steps += 1;
  state->position.x = (float)(state->steps % 181) / 2.0f;
  state->resting = (uint8_t)(state->steps / 30 % 2);
}

/* What the first client told that was refused for its schema: names and numbers, which need no escapes. */
static void print_schema_differences(lattice_world* world, int* is_told) {
  const char* difference;
  for (uint32_t i = 0; !*is_told && (difference = lattice_world_schema_difference(world, i)) != NULL; ++i) {
    printf("%s\"%s\"", i == 0 ? "{\"schema_differences\":[" : ",", difference);
  }
  if (*is_told || lattice_world_schema_difference(world, 0) == NULL) return;
  *is_told = 1;
  printf("]}\n");
  fflush(stdout);
}

/* ---- Set-up -------------------------------------------------------------------------------------- */

static void impair(lattice_world* world, double loss_percent) {
  lattice_impairment link;
  lattice_impairment_init(&link);
  link.loss_percent = loss_percent;
  link.duplicate_percent = loss_percent / 4;
  link.delay_ms = 5.0;
  link.jitter_ms = 4.0;
  link.jitter_reorders = 1;
  require(lattice_set_impairment(world, LATTICE_DIRECTION_SEND, &link) == LATTICE_OK, "impairing");
  require(lattice_set_impairment(world, LATTICE_DIRECTION_RECEIVE, &link) == LATTICE_OK, "impairing");
}

static void print_hex(const char* name, const uint8_t key[LATTICE_KEY_BYTES]) {
  printf("\"%s\":\"", name);
  for (size_t i = 0; i < LATTICE_KEY_BYTES; ++i) printf("%02x", key[i]);
  printf("\",");
}

static void print_note(lattice_world* world, const uint8_t issuer_seed[LATTICE_KEY_BYTES]) {
  char address[64];
  uint8_t public_key[LATTICE_KEY_BYTES];
  require(lattice_world_address(world, address, sizeof address) == LATTICE_OK, "reading the address");
  require(lattice_world_public_key(world, public_key) == LATTICE_OK, "reading the public key");
  printf("{\"address\":\"%s\",", address);
  print_hex("server_public_key", public_key);
  print_hex("issuer_seed", issuer_seed);
  printf("\"schema_id\":%" PRIu64 ",\"schema\":%s}\n", lattice_world_schema_id(world), kSchemaJson);
  fflush(stdout);
}

static void read_identity(const char* hex, uint8_t identity[LATTICE_SERVER_IDENTITY_BYTES]) {
  require(strlen(hex) == 2 * LATTICE_SERVER_IDENTITY_BYTES, "reading the identity");
  for (size_t i = 0; i < LATTICE_SERVER_IDENTITY_BYTES; ++i) {
    const char byte[] = {hex[2 * i], hex[2 * i + 1], 0};
    identity[i] = (uint8_t)strtoul(byte, NULL, 16);
  }
}

int main(int argc, char** argv) {
  uint8_t issuer_seed[LATTICE_KEY_BYTES], issuer_public_key[LATTICE_KEY_BYTES];
  require(lattice_issuer_generate(issuer_seed, issuer_public_key) == LATTICE_OK, "making an issuer");
  lattice_world_config config;
  lattice_world_config_init(&config);
  config.bind_address = "127.0.0.1:0";
  config.issuer_public_keys = issuer_public_key;
  config.issuer_public_key_count = 1;
  uint8_t identity[LATTICE_SERVER_IDENTITY_BYTES];
  if (argc > 3) {
    read_identity(argv[3], identity);
    config.bind_address = argv[2];
    config.server_identity = identity;
  }
  lattice_role_context role;
  lattice_role_context_init(&role, LATTICE_ROLE_DEDICATED);

  static server self;
  self.world = lattice_world_create(&config, &role);
  require(self.world != NULL, "creating the world");
  require(register_schema(self.world) == LATTICE_OK, "registering the schema");
  lattice_callbacks callbacks;
  lattice_callbacks_init(&callbacks);
  callbacks.on_disconnected = on_disconnected;
  callbacks.on_tick = on_tick;
  callbacks.on_message = on_message;
  lattice_set_callbacks(self.world, &callbacks, &self);
  self.object = lattice_spawn(self.world, WALKER_TYPE, LATTICE_AUTHORITY_SERVER);
  require(self.object != 0, "spawning");
  if (argc > 1 && strtod(argv[1], NULL) > 0) impair(self.world, strtod(argv[1], NULL));
  print_note(self.world, issuer_seed);

  struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
  int is_told = 0;
  while (poll(&input, 1, PUMP_MS) == 0) {
    lattice_world_pump(self.world);
    print_schema_differences(self.world, &is_told);
    send_echoes(&self);
  }
  lattice_world_destroy(self.world);
  return 0;
}
