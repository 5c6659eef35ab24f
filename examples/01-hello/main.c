/* A server and a client greet each other. Run "hello server" and "hello client", or "hello" for both. */
#include <lattice/lattice.h>
#include <stdio.h>
#include <stdlib.h>
#include <threads.h>

typedef struct {
  lattice_world* world;
  int is_server, heard, ended;
} side;

static void require(int holds) {
  if (holds) return;
  fprintf(stderr, "%s\n", lattice_last_error());
  exit(1);
}

static void on_connected(void* ctx, lattice_conn* conn) {
  const char* text = ((side*)ctx)->is_server ? "howdy" : "hello";
  for (int channel = 0; channel < 4; ++channel)
    require(lattice_send(conn, (lattice_channel)channel, text, 5) == LATTICE_OK);
}

static void on_message(void* ctx, lattice_conn* conn, lattice_channel channel, const void* data, size_t n) {
  side* self = ctx;
  printf("channel %d: %.*s\n", (int)channel, (int)n, (const char*)data);
  if (++self->heard == 4 && !self->is_server) lattice_disconnect(conn);
}

static void on_disconnected(void* ctx, lattice_conn* conn, int reason) {
  printf("connection %p ended: %s\n", (void*)conn, lattice_disconnect_reason_name(reason));
  ((side*)ctx)->ended = 1;
}

static void start(side* self, const char* bind_address) {
  lattice_role_context role;
  lattice_role_context_init(&role, self->is_server ? LATTICE_ROLE_DEDICATED : LATTICE_ROLE_CLIENT);
  lattice_world_config config;
  lattice_world_config_init(&config);
  config.bind_address = bind_address;
  config.development_tokens = (uint32_t)self->is_server;
  require((self->world = lattice_world_create(&config, &role)) != NULL);
  const lattice_callbacks callbacks = {sizeof callbacks, .on_connected = on_connected,
                                       .on_disconnected = on_disconnected, .on_message = on_message};
  require(lattice_set_callbacks(self->world, &callbacks, self) == LATTICE_OK);
}

static void join(side* self, const char* address) {
  uint8_t token[LATTICE_TOKEN_MAX_BYTES];
  size_t bytes = 0;
  require(lattice_dev_token(self->world, address, NULL, token, sizeof token, &bytes) == LATTICE_OK);
  require(lattice_connect(self->world, address, token, bytes) != NULL);
}

int main(int argc, char** argv) {
  const char role = argc > 1 ? argv[1][0] : 'b';
  char address[64] = "127.0.0.1:27015";
  side server = {.is_server = 1}, client = {.is_server = 0};
  if (role != 'c') start(&server, role == 's' ? address : "127.0.0.1:0");
  if (server.world) lattice_world_address(server.world, address, sizeof address);
  if (role != 's') start(&client, NULL), join(&client, address);
  while (!client.ended) {
    if (server.world) lattice_world_pump(server.world);
    if (client.world) lattice_world_pump(client.world);
    thrd_sleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  }
  lattice_world_destroy(client.world);
  lattice_world_destroy(server.world);
  return client.heard == 4 ? 0 : 1;
}
