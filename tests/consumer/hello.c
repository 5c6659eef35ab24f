/* What a user's program needs to link and run: two worlds on a simulated network connect and exchange a
 * message. The common subset of C17 and C++20; hello.cpp includes this file. Exits 0, or 1 after it names the
 * step that failed. */
#include <lattice/lattice.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SERVER_ADDRESS "10.0.0.1:27015"
#define CLIENT_ADDRESS "10.0.0.2:40000"

static lattice_conn* g_to_server = NULL; /* the client's connection, once it stands */
static int g_greeted = 0;                /* the server has the message */

static void on_connected(void* ctx, lattice_conn* conn) {
  (void)ctx;
  g_to_server = conn;
}

static void on_message(void* ctx, lattice_conn* conn, lattice_channel channel, const void* data,
                       size_t bytes) {
  (void)ctx, (void)conn, (void)channel;
  g_greeted = bytes == 6 && memcmp(data, "hello", 6) == 0;
}

static void require(int holds, const char* step) {
  if (holds) return;
  fprintf(stderr, "hello: %s failed: %s\n", step, lattice_last_error());
  exit(1);
}

static lattice_world* make_world(lattice_netsim* netsim, int is_server, const uint8_t* issuer_public_key) {
  lattice_world_config config;
  lattice_world_config_init(&config);
  config.netsim = netsim;
  config.clock = lattice_netsim_clock;
  config.clock_ctx = netsim;
  config.bind_address = is_server ? SERVER_ADDRESS : CLIENT_ADDRESS;
  config.issuer_public_keys = issuer_public_key;
  config.issuer_public_key_count = issuer_public_key != NULL ? 1 : 0;
  lattice_role_context context;
  lattice_role_context_init(&context, is_server ? LATTICE_ROLE_DEDICATED : LATTICE_ROLE_CLIENT);
  lattice_world* world = lattice_world_create(&config, &context);
  require(world != NULL, "creating a world");
  return world;
}

static void set_callbacks(lattice_world* server, lattice_world* client) {
  lattice_callbacks of_client;
  lattice_callbacks_init(&of_client);
  of_client.on_connected = on_connected;
  lattice_set_callbacks(client, &of_client, NULL);
  lattice_callbacks of_server;
  lattice_callbacks_init(&of_server);
  of_server.on_message = on_message;
  lattice_set_callbacks(server, &of_server, NULL);
}

static void connect_client(lattice_world* server, lattice_world* client, const uint8_t* issuer_seed) {
  lattice_token_request request;
  lattice_token_request_init(&request);
  require(lattice_world_public_key(server, request.server_public_key) == LATTICE_OK, "server key");
  require(lattice_world_new_client_key(client, request.client_public_key) == LATTICE_OK, "client key");
  uint8_t token[LATTICE_TOKEN_MAX_BYTES];
  size_t bytes = 0;
  require(lattice_token_issue(issuer_seed, &request, token, sizeof token, &bytes) == LATTICE_OK,
          "issuing a token");
  require(lattice_connect(client, SERVER_ADDRESS, token, bytes) != NULL, "starting to connect");
}

int main(void) {
  require(lattice_abi_version() == LATTICE_ABI_VERSION, "comparing versions of header and library");
  lattice_netsim* netsim = lattice_netsim_create(1);
  uint8_t issuer_seed[LATTICE_KEY_BYTES], issuer_public_key[LATTICE_KEY_BYTES];
  require(lattice_issuer_generate(issuer_seed, issuer_public_key) == LATTICE_OK, "making an issuer");
  lattice_world* server = make_world(netsim, 1, issuer_public_key);
  lattice_world* client = make_world(netsim, 0, NULL);
  set_callbacks(server, client);
  connect_client(server, client, issuer_seed);

  int sent = 0;
  for (int step = 0; step < 2500 && !g_greeted; ++step) { /* at most ten virtual seconds */
    if (g_to_server != NULL && !sent) {
      sent = lattice_send(g_to_server, LATTICE_CHANNEL_RELIABLE_ORDERED, "hello", 6) == LATTICE_OK;
    }
    lattice_world_pump(server);
    lattice_world_pump(client);
    lattice_netsim_advance(netsim, 4000000u);
  }
  require(g_greeted, "a message to the server");
  lattice_world_destroy(client);
  lattice_world_destroy(server);
  lattice_netsim_destroy(netsim);
  printf("hello from lattice %s\n", lattice_version());
  return 0;
}
