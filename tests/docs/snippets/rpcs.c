/* Code that docs/guide/rpcs.md shows. Compiled, not run. */
#include <stddef.h>
#include <stdio.h>

#include "lattice/lattice.h"

enum { kDoorType = 7, kRpcOpen = 1, kRpcSlammed = 2 };

int register_door(lattice_world* world, lattice_type_desc* type);
void open_door(lattice_world* world, lattice_netid door);
void slam_door(lattice_world* world, lattice_netid door);
void on_rpc(void* ctx, lattice_netid object, uint16_t rpc_id, const void* args, size_t len);

//! [arguments]
typedef struct open_args {
  uint8_t key;
} open_args;
//! [arguments]

static lattice_struct_desc open_structure(void) {
  //! [describe]
  static lattice_member_desc key;
  lattice_member_desc_init(&key);
  key.name = "key";
  key.type = LATTICE_WIRE_UINT8;
  key.offset = offsetof(open_args, key);

  lattice_struct_desc structure;
  lattice_struct_desc_init(&structure);
  structure.name = "OpenArgs";
  structure.host_bytes = sizeof(open_args);
  structure.host_align = _Alignof(open_args);
  structure.members = &key;
  structure.member_count = 1;
  //! [describe]
  return structure;
}

int register_door(lattice_world* world, lattice_type_desc* type) {
  const lattice_struct_desc structure = open_structure();
  //! [declare]
  lattice_rpc_desc rpcs[2];
  lattice_rpc_desc_init(&rpcs[0]);
  rpcs[0].rpc_id = kRpcOpen;
  rpcs[0].name = "Open";
  rpcs[0].target = LATTICE_RPC_TO_SERVER; /* a player asks */
  rpcs[0].arguments = &structure;

  lattice_rpc_desc_init(&rpcs[1]);
  rpcs[1].rpc_id = kRpcSlammed;
  rpcs[1].name = "Slammed";
  rpcs[1].target = LATTICE_RPC_TO_ALL; /* everybody hears */
  rpcs[1].delivery = LATTICE_RPC_TICK_ALIGNED;

  type->rpcs = rpcs;
  type->rpc_count = 2;
  return lattice_register_type(world, type) == LATTICE_OK;
  //! [declare]
}

void open_door(lattice_world* world, lattice_netid door) {
  //! [call]
  open_args args = {.key = 3};
  if (lattice_rpc(world, door, kRpcOpen, LATTICE_RPC_TO_SERVER, LATTICE_CHANNEL_RELIABLE_ORDERED, &args,
                  sizeof args) != LATTICE_OK) {
    fprintf(stderr, "%s\n", lattice_last_error());
  }
  //! [call]
}

void slam_door(lattice_world* world, lattice_netid door) {
  //! [despawn]
  lattice_rpc(world, door, kRpcSlammed, LATTICE_RPC_TO_ALL, LATTICE_CHANNEL_RELIABLE_ORDERED, NULL, 0);
  lattice_despawn(world, door);
  //! [despawn]
}

//! [receive]
void on_rpc(void* ctx, lattice_netid object, uint16_t rpc_id, const void* args, size_t len) {
  lattice_world* world = ctx;
  if (rpc_id == kRpcOpen && len == sizeof(open_args)) {
    const open_args* a = args;
    printf("peer %llu opens %llu with key %u\n", (unsigned long long)lattice_rpc_sender(world),
           (unsigned long long)object, a->key);
  }
}
//! [receive]
