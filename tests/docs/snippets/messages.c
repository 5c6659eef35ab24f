/* Code that docs/guide/messages-and-transfers.md shows. Compiled, not run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lattice/lattice.h"

typedef struct side {
  FILE* file;         /* the server: the file that it sends */
  unsigned char* map; /* the client: where the map goes */
} side;

lattice_result say(lattice_conn* conn, const char* text, size_t bytes);
lattice_world* make_world(const lattice_role_context* role);
int offer_file(lattice_conn* conn, uint64_t bytes);
int set_callbacks(lattice_world* world, side* self);
int wait_for_room(lattice_conn* conn, lattice_transfer transfer, int is_fighting);

lattice_result say(lattice_conn* conn, const char* text, size_t bytes) {
  //! [send]
  lattice_result sent = lattice_send(conn, LATTICE_CHANNEL_RELIABLE_ORDERED, text, bytes);
  if (sent == LATTICE_ERROR_WOULD_BLOCK) {
    /* Nothing was sent. Keep the text, and send it after the next pump. */
  }
  //! [send]
  return sent;
}

lattice_world* make_world(const lattice_role_context* role) {
  //! [config]
  lattice_world_config config;
  lattice_world_config_init(&config);
  config.transfer_channel = 13;          /* 4 to 13, the same on both sides */
  config.max_transfer_bytes = 64u << 20; /* larger offers are refused without a question */
  //! [config]
  return lattice_world_create(&config, role);
}

int offer_file(lattice_conn* conn, uint64_t bytes) {
  //! [start]
  lattice_transfer map = 0;
  if (lattice_transfer_start(conn, NULL, bytes, "map", 3, &map) != LATTICE_OK) {
    fprintf(stderr, "%s\n", lattice_last_error());
  }
  //! [start]
  return map != 0;
}

//! [read]
static int read_file(void* ctx, lattice_conn* conn, lattice_transfer transfer, uint64_t offset, void* out,
                     size_t bytes) {
  side* self = ctx;
  (void)conn;
  (void)transfer;
  return fseek(self->file, (long)offset, SEEK_SET) == 0 && fread(out, 1, bytes, self->file) == bytes;
}
//! [read]

//! [offer]
static void on_offer(void* ctx, lattice_conn* conn, lattice_transfer transfer, uint64_t bytes,
                     const void* label, size_t label_bytes) {
  side* self = ctx;
  unsigned char* memory = NULL;
  const int is_map = label_bytes == 3 && memcmp(label, "map", 3) == 0;
  if (is_map && self->map == NULL) memory = malloc((size_t)bytes); /* at most max_transfer_bytes */
  if (memory == NULL || lattice_transfer_accept(conn, transfer, memory, bytes) != LATTICE_OK) {
    free(memory);
    lattice_transfer_cancel(conn, transfer); /* refuses the offer */
    return;
  }
  self->map = memory;
}
//! [offer]

//! [progress]
static void on_progress(void* ctx, lattice_conn* conn, lattice_transfer transfer, uint64_t done_bytes,
                        uint64_t total_bytes) {
  (void)ctx, (void)conn, (void)transfer;
  printf("%.0f %%\n", 100.0 * (double)done_bytes / (double)total_bytes);
}

static void on_end(void* ctx, lattice_conn* conn, lattice_transfer transfer, lattice_transfer_ending ending) {
  side* self = ctx;
  (void)conn, (void)transfer;
  printf("ended: %d\n", (int)ending);
  if (ending == LATTICE_TRANSFER_DONE) return; /* on the client, every byte is in self->map */
  free(self->map);
  self->map = NULL;
}
//! [progress]

int set_callbacks(lattice_world* world, side* self) {
  //! [callbacks]
  lattice_transfer_callbacks callbacks;
  lattice_transfer_callbacks_init(&callbacks);
  callbacks.on_offer = on_offer;
  callbacks.read = read_file;
  callbacks.on_progress = on_progress;
  callbacks.on_end = on_end;
  return lattice_set_transfer_callbacks(world, &callbacks, self) == LATTICE_OK;
  //! [callbacks]
}

int wait_for_room(lattice_conn* conn, lattice_transfer transfer, int is_fighting) {
  //! [hold]
  return lattice_transfer_hold(conn, transfer, is_fighting) == LATTICE_OK;
  //! [hold]
}
