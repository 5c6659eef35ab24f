// Depot's schema in both forms is the same schema.
#include <gtest/gtest.h>

#include "depot.lattice.h"
#include "schema.h"
#include "schema_id.h"

namespace {

TEST(Latticec, DepotIsTheSameWithMacrosAndAsASchema) {
  const uint64_t of_macros =
      schema_id([](lattice_world* world) { return depot::register_schema(lattice::WorldRef(world)); });
  const uint64_t generated =
      schema_id([](lattice_world* world) { return depot_schema::register_schema(world); });
  EXPECT_EQ(generated, of_macros);
  EXPECT_NE(generated, 0u);
}

}  // namespace
