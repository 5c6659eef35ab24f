/* Code that docs/guide/tokens-and-keys.md shows. Compiled, not run. */
#include <string.h>

#include "lattice/lattice.h"

lattice_world* start_development_server(void);
lattice_conn* join_development_server(lattice_world* world);
lattice_world* start_server(const uint8_t* issuer_public_key, const uint8_t* identity);
lattice_conn* join(lattice_world* world, const uint8_t* token, size_t token_bytes);
int issue(const uint8_t issuer_seed[LATTICE_KEY_BYTES], const uint8_t server_key[LATTICE_KEY_BYTES],
          const uint8_t client_key[LATTICE_KEY_BYTES], uint8_t token[LATTICE_TOKEN_MAX_BYTES], size_t* bytes);

lattice_world* start_development_server(void) {
  lattice_role_context role;
  lattice_role_context_init(&role, LATTICE_ROLE_DEDICATED);
  //! [development_server]
  lattice_world_config config;
  lattice_world_config_init(&config);
  config.bind_address = "127.0.0.1:27015";
  config.development_tokens = 1;
  lattice_world* server = lattice_world_create(&config, &role);
  //! [development_server]
  return server;
}

lattice_conn* join_development_server(lattice_world* world) {
  lattice_conn* conn = NULL;
  //! [development_client]
  uint8_t token[LATTICE_TOKEN_MAX_BYTES];
  size_t bytes = 0;
  if (lattice_dev_token(world, "127.0.0.1:27015", NULL, token, sizeof token, &bytes) == LATTICE_OK) {
    conn = lattice_connect(world, "127.0.0.1:27015", token, bytes);
  }
  //! [development_client]
  return conn;
}

lattice_world* start_server(const uint8_t* issuer_public_key, const uint8_t* identity) {
  lattice_role_context role;
  lattice_role_context_init(&role, LATTICE_ROLE_DEDICATED);
  //! [server]
  lattice_world_config config;
  lattice_world_config_init(&config);
  config.bind_address = "0.0.0.0:27015";
  config.issuer_public_keys = issuer_public_key; /* 32 bytes, from your login service */
  config.issuer_public_key_count = 1;
  config.server_identity = identity; /* from a secret store; NULL: a new one in each process */
  lattice_world* server = lattice_world_create(&config, &role);
  //! [server]
  return server;
}

lattice_conn* join(lattice_world* world, const uint8_t* token, size_t token_bytes) {
  //! [client_key]
  uint8_t client_key[LATTICE_KEY_BYTES];
  if (lattice_world_new_client_key(world, client_key) != LATTICE_OK) return NULL;
  /* Log in, send client_key to your service, get a token for it back. */
  //! [client_key]
  return lattice_connect(world, "game.example.org:27015", token, token_bytes);
}

int issue(const uint8_t issuer_seed[LATTICE_KEY_BYTES], const uint8_t server_key[LATTICE_KEY_BYTES],
          const uint8_t client_key[LATTICE_KEY_BYTES], uint8_t token[LATTICE_TOKEN_MAX_BYTES],
          size_t* bytes) {
  //! [issue]
  lattice_token_request request;
  lattice_token_request_init(&request);
  request.lifetime_s = 60;
  memcpy(request.server_public_key, server_key, LATTICE_KEY_BYTES);
  memcpy(request.client_public_key, client_key, LATTICE_KEY_BYTES);
  request.user_data = (const uint8_t*)"team=red";
  request.user_data_bytes = 8;
  return lattice_token_issue(issuer_seed, &request, token, LATTICE_TOKEN_MAX_BYTES, bytes) == LATTICE_OK;
  //! [issue]
}
