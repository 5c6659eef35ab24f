// The hash of a schema, as a world with it has it.
#pragma once

#include <gtest/gtest.h>

#include "lattice/lattice.h"

/// `register_schema` registers the schema in the lattice_world* that it gets.
template <typename Register>
uint64_t schema_id(const Register& register_schema) {
  lattice_world_config config;
  lattice_world_config_init(&config);
  config.bind_address = "127.0.0.1:0";
  lattice_role_context role;
  lattice_role_context_init(&role, LATTICE_ROLE_CLIENT);
  lattice_world* world = lattice_world_create(&config, &role);
  EXPECT_NE(world, nullptr) << lattice_last_error();
  if (world == nullptr) return 0;
  EXPECT_EQ(register_schema(world), LATTICE_OK) << lattice_last_error();
  const uint64_t id = lattice_world_schema_id(world);
  lattice_world_destroy(world);
  return id;
}
