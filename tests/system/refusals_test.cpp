// Refusal counters through the public interface.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "arena.h"

namespace lattice::test::refusals_test {
namespace {

std::set<std::string> names_of(lattice_world* world) {
  std::set<std::string> names;
  uint64_t value = 0;
  for (uint32_t i = 0; const char* name = lattice_world_refusal(world, i, &value); ++i) {
    EXPECT_STRNE(name, "");
    EXPECT_STRNE(name, "unknown");
    EXPECT_TRUE(names.insert(name).second) << name << " is there twice";
    EXPECT_LT(i, 1000u);
  }
  return names;
}

TEST(Refusals, EveryReasonHasANameOfItsOwnInEveryWorld) {
  ArenaConfig config;
  config.clients = 1;
  lattice_impairment_init(&config.impairment);
  Arena arena(config);
  arena.run(0.5);
  const std::set<std::string> names = names_of(arena.server());
  EXPECT_EQ(names, names_of(arena.client(0))) << "an index means the same in both roles";
  for (const char* each :
       {"link_not_authentic", "framing_truncated", "rekey_too_soon", "foreign_address_rate",
        "server_response_queue", "rpc_rate_limited", "transfer_too_many", "client_challenge_rate",
        "snapshot_baseline_age", "input_bad_count", "socket_receive_truncated"}) {
    EXPECT_TRUE(names.contains(each)) << each;
  }
}

}  // namespace
}  // namespace lattice::test::refusals_test
