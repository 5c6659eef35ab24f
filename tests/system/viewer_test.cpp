// From where a client looks when the object that it looks from is gone (lattice_conn_set_viewer()).
#include "interest_pair.h"

namespace lattice::test::viewer_test {
namespace {

// Between two snapshots nobody looks where the viewer is.
TEST(Viewer, stays_where_an_object_was_that_is_gone_before_the_next_snapshot) {
  for (uint32_t lives_ms = 0; lives_ms <= 60; lives_ms += 10) {
    InterestPair pair(LATTICE_INTEREST_GRID, 0,
                      [](lattice_world_config* config) { config->snapshot_rate_hz = 10; });
    const lattice_netid eye = pair.spawn_at(300), here = pair.spawn_at(10), there = pair.spawn_at(510);
    ASSERT_TRUE(pair.connect()) << lattice_last_error();
    pair.run(500);
    ASSERT_TRUE(pair.client_has(here));
    pair.write(eye, 500);  // and not recorded yet
    lattice_viewer viewer;
    lattice_viewer_init(&viewer);
    viewer.kind = LATTICE_VIEWER_OBJECT;
    viewer.object = eye;
    ASSERT_EQ(lattice_conn_set_viewer(pair.conn(), &viewer), LATTICE_OK) << lattice_last_error();
    pair.run(lives_ms);
    ASSERT_EQ(lattice_despawn(pair.server(), eye), LATTICE_OK);
    pair.run(1000);
    EXPECT_TRUE(pair.client_has(there)) << "gone after " << lives_ms << " ms";
    EXPECT_FALSE(pair.client_has(here)) << "gone after " << lives_ms << " ms";
  }
}

}  // namespace
}  // namespace lattice::test::viewer_test
