#include "transport/connection/rate_subject.h"

#include <gtest/gtest.h>

#include "unit/transport/connection/handshake_rig.h"
#include "unit/transport/connection/routed_socket.h"

namespace lattice::connection {
namespace {

using test::opaque_path;

TEST(RateSubject, PrefixesAre24And56Bits) {
  const auto v4 = [](uint8_t c, uint8_t d, uint16_t port) {
    return prefix_of(base::ipv4_path(10, 1, c, d, port));
  };
  EXPECT_EQ(v4(2, 3, 4), v4(2, 200, 9));
  EXPECT_NE(v4(2, 3, 4), v4(3, 3, 4));
  base::PathId v6{.form = base::PathForm::kIpv6, .number = 1, .bytes = {0x20, 1, 0xd, 0xb8, 1, 2, 3, 4, 5}};
  base::PathId same = v6, other = v6;
  same.bytes[7] = 99;
  other.bytes[6] = 99;
  EXPECT_EQ(prefix_of(v6), prefix_of(same));
  EXPECT_NE(prefix_of(v6), prefix_of(other));
}

TEST(RateSubject, OfUdpIsThePrefixAndNobodyIsAsked) {
  test::ScriptedEntropy entropy(1);
  const test::RoutedSocket socket(3, 2);
  const RateSubjects subjects(&socket, entropy);
  const RateSubject subject = subjects.of(base::ipv4_path(10, 1, 2, 3, 4));
  EXPECT_EQ(subject.id, prefix_of(base::ipv4_path(10, 1, 2, 3, 4)));
  EXPECT_EQ(subject.network, subjects.of(base::ipv4_path(10, 1, 77, 3, 4)).network) << "a /16";
  EXPECT_NE(subject.network, subjects.of(base::ipv4_path(10, 2, 2, 3, 4)).network);
  EXPECT_EQ(subject.route, 0);
  EXPECT_EQ(socket.asked, 0);
}

TEST(RateSubject, ABackEndStatesIt) {
  test::ScriptedEntropy entropy(1);
  const test::RoutedSocket socket(3, 2);
  const RateSubjects subjects(&socket, entropy);
  EXPECT_EQ(subjects.of(opaque_path(2, 11)), subjects.of(opaque_path(2, 19)));
  EXPECT_NE(subjects.of(opaque_path(2, 11)), subjects.of(opaque_path(2, 20)));
  EXPECT_EQ(subjects.of(opaque_path(2, 11)).route, 2);
}

TEST(RateSubject, WithoutAStatementItIsThePathOrItsPrefix) {
  test::ScriptedEntropy entropy(1);
  const test::RoutedSocket socket(3, 2);
  const RateSubjects subjects(&socket, entropy);
  EXPECT_EQ(subjects.of(opaque_path(1, 11)), subjects.of(opaque_path(1, 11)));
  EXPECT_NE(subjects.of(opaque_path(1, 11)).id, subjects.of(opaque_path(1, 12)).id);
  base::PathId ip = base::ipv4_path(10, 1, 2, 3, 4);
  ip.route = 1;
  EXPECT_EQ(subjects.of(ip).id, prefix_of(ip));
  EXPECT_NE(subjects.of(ip), subjects.of(base::ipv4_path(10, 1, 2, 3, 4))) << "another route";
  // The hash of a path has a key, so that nobody can choose a path that shares the limits of another.
  test::ScriptedEntropy other_entropy(2);
  EXPECT_NE(RateSubjects(&socket, other_entropy).of(opaque_path(1, 11)).id,
            subjects.of(opaque_path(1, 11)).id);
}

}  // namespace
}  // namespace lattice::connection
