// A client reaches servers of IPv4 and IPv6, or is told at once that it cannot.
#include <gtest/gtest.h>

#include "message_side.h"
#include "support/durations.h"

namespace lattice::test::address_family_test {
namespace {

using lattice::test::kMs;
using lattice::test::Side;

struct AddressFamilyAbi : testing::Test {
  /// False when this machine has no such address.
  bool make_server(const char* address) {
    server.prepare(LATTICE_ROLE_DEDICATED);
    server.bind_address = address;
    return server.create({}, false);
  }
  void make_client(const char* address) {
    client.prepare(LATTICE_ROLE_CLIENT);
    client.bind_address = address;
    ASSERT_TRUE(client.create({}, false)) << lattice_last_error();
  }
  bool joins() {
    if (client.connect(server, server.address().c_str()) == nullptr) return false;
    for (int i = 0; i < 2000 && client.conns.empty(); ++i) {
      now_ns += kMs;
      client.pump(now_ns);
      lattice_world_wait(server.world, kMs);
      server.pump(now_ns);
      lattice_world_wait(client.world, kMs);
    }
    return !client.conns.empty();
  }

  Side server, client;
  uint64_t now_ns = 1'000'000'000;
};

struct AddressFamilyOf : AddressFamilyAbi, testing::WithParamInterface<const char*> {};

TEST_P(AddressFamilyOf, WithoutABindAddressAClientReachesIt) {
  if (!make_server(GetParam())) GTEST_SKIP() << "no such address: " << lattice_last_error();
  make_client(nullptr);
  EXPECT_TRUE(joins()) << lattice_last_error();
}

TEST_P(AddressFamilyOf, OfTheSameFamilyItReachesItToo) {
  if (!make_server(GetParam())) GTEST_SKIP() << "no such address: " << lattice_last_error();
  make_client(GetParam());
  EXPECT_TRUE(joins()) << lattice_last_error();
}

TEST_P(AddressFamilyOf, FromTheOtherFamilyItIsRefusedAtOnce) {
  const bool is_v4 = GetParam()[0] != '[';
  if (!make_server(GetParam())) GTEST_SKIP() << "no such address: " << lattice_last_error();
  client.prepare(LATTICE_ROLE_CLIENT);
  client.bind_address = is_v4 ? "[::1]:0" : "127.0.0.1:0";
  if (!client.create({}, false)) GTEST_SKIP() << "no such address: " << lattice_last_error();
  EXPECT_EQ(client.connect(server, server.address().c_str()), nullptr);
  EXPECT_EQ(lattice_last_result(), LATTICE_ERROR_ADDRESS);
  const std::string text = lattice_last_error();
  EXPECT_NE(text.find(is_v4 ? "is an IPv4 address" : "is an IPv6 address"), std::string::npos) << text;
  EXPECT_NE(text.find(client.address()), std::string::npos) << text;
}

INSTANTIATE_TEST_SUITE_P(Loopback, AddressFamilyOf, testing::Values("127.0.0.1:0", "[::1]:0"),
                         [](const auto& instance) { return instance.index == 0 ? "Ipv4" : "Ipv6"; });

TEST_F(AddressFamilyAbi, AServerOfBothTakesBoth) {
  if (!make_server("[::]:0")) GTEST_SKIP() << "no IPv6: " << lattice_last_error();
  const std::string port = server.address().substr(server.address().rfind(':'));
  for (const std::string host : {"127.0.0.1", "[::1]"}) {
    Side each;
    each.prepare(LATTICE_ROLE_CLIENT);
    each.bind_address = nullptr;
    ASSERT_TRUE(each.create({}, false)) << lattice_last_error();
    ASSERT_NE(each.connect(server, (host + port).c_str()), nullptr) << lattice_last_error();
    for (int i = 0; i < 2000 && each.conns.empty(); ++i) {
      now_ns += kMs;
      each.pump(now_ns);
      lattice_world_wait(server.world, kMs);
      server.pump(now_ns);
      lattice_world_wait(each.world, kMs);
    }
    EXPECT_EQ(each.conns.size(), 1u) << host;
  }
}

}  // namespace
}  // namespace lattice::test::address_family_test
