#include "base/path_id.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace lattice::base {
namespace {

TEST(PathId, EqualsInEveryPart) {
  const PathId path = ipv4_path(192, 0, 2, 1, 27015);
  EXPECT_EQ(path, ipv4_path(192, 0, 2, 1, 27015));
  EXPECT_NE(path, ipv4_path(192, 0, 2, 1, 27016));
  EXPECT_NE(path, ipv4_path(192, 0, 2, 2, 27015));
  PathId other = path;
  other.route = 1;
  EXPECT_NE(path, other);
  other = path;
  other.form = PathForm::kOpaque;
  EXPECT_NE(path, other);
}

TEST(PathId, Ipv4IsV4Mapped) {
  const PathId path = ipv4_path(192, 0, 2, 1, 27015);
  EXPECT_EQ(path.route, kUdpRoute);
  EXPECT_EQ(path.form, PathForm::kIpv4);
  EXPECT_EQ(path.number, 27015);
  EXPECT_EQ(path.bytes, (std::array<uint8_t, 16>{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 192, 0, 2, 1}));
}

TEST(PathId, TheDefaultIsNoPath) {
  EXPECT_FALSE(is_path({}));
  EXPECT_FALSE(is_ip({}));
  EXPECT_TRUE(is_ip(ipv4_path(0, 0, 0, 0, 0)));
  EXPECT_FALSE(is_ip({1, PathForm::kOpaque, 0, {}}));
  EXPECT_TRUE(is_path({1, PathForm::kOpaque, 0, {}}));
}

TEST(PathId, TheHashCoversEveryPart) {
  const PathId path = ipv4_path(10, 0, 0, 1, 1);
  std::vector<PathId> paths(5, path);
  paths[1].route = 1;
  paths[2].form = PathForm::kIpv6;
  paths[3].number = 2;
  paths[4].bytes[0] = 1;
  std::set<uint64_t> hashes;
  for (const PathId& each : paths) hashes.insert(hash_path(each));
  EXPECT_EQ(hashes.size(), paths.size());
}

}  // namespace
}  // namespace lattice::base
