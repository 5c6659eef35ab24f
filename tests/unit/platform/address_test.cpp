#include "platform/address.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <set>
#include <string>

namespace lattice::platform {
namespace {

std::string formatted(const Address& address) {
  char text[kAddressTextBytes];
  return format_address(address, text);
}

TEST(Address, ParsesAndFormatsIpv4) {
  Address address;
  ASSERT_TRUE(parse_address("192.168.7.250:27015", &address));
  EXPECT_EQ(address, make_ipv4(192, 168, 7, 250, 27015));
  EXPECT_EQ(formatted(address), "192.168.7.250:27015");
}

TEST(Address, ParsesAndFormatsIpv6) {
  Address address;
  ASSERT_TRUE(parse_address("[2001:db8::1]:65535", &address));
  EXPECT_EQ(address.family, 6);
  EXPECT_EQ(address.port, 65535);
  EXPECT_EQ(formatted(address), "[2001:db8::1]:65535");
  ASSERT_TRUE(parse_address("[::]:0", &address));
  EXPECT_EQ(formatted(address), "[::]:0");
}

TEST(Address, MappedIpv6IsIpv4) {
  Address address;
  ASSERT_TRUE(parse_address("[::ffff:10.0.0.1]:5", &address));
  EXPECT_EQ(address, make_ipv4(10, 0, 0, 1, 5));
}

TEST(Address, ResolvesHostNames) {
  Address address;
  if (!parse_address("localhost:1234", &address)) GTEST_SKIP() << "no resolver entry for localhost";
  EXPECT_EQ(address.port, 1234);
  EXPECT_TRUE(formatted(address) == "127.0.0.1:1234" || formatted(address) == "[::1]:1234");
}

TEST(Address, RefusesMalformedTextAndKeepsTheOutput) {
  const Address before = make_ipv4(9, 9, 9, 9, 9);
  const std::string long_host(300, 'a');
  const char* const bad[] = {"",
                             "127.0.0.1",
                             "127.0.0.1:",
                             "127.0.0.1:65536",
                             "127.0.0.1:000001",
                             "127.0.0.1:12x",
                             "127.0.0.1:-1",
                             "127.0.0.1: 1",
                             "127.0.0:1",
                             "1:1",
                             "256.0.0.1:1",
                             ":1",
                             "[]:1",
                             "[::1]",
                             "[::1]1",
                             "[::1:1",
                             "[::g]:1",
                             "::1:1",
                             "[127.0.0.1]:1",
                             "[::1%lo]:1"};
  for (const char* text : bad) {
    Address address = before;
    EXPECT_FALSE(parse_address(text, &address)) << '"' << text << '"';
    EXPECT_EQ(address, before) << '"' << text << '"';
  }
  Address address = before;
  EXPECT_FALSE(parse_address((long_host + ":1").c_str(), &address));
  EXPECT_FALSE(parse_address(nullptr, &address));
}

TEST(Address, WhatIsWrongIsTold) {
  const auto error_of = [](const char* text) {
    Address address;
    AddressError error = AddressError::kNone;
    parse_address(text, &address, &error);
    return error;
  };
  EXPECT_EQ(error_of("127.0.0.1:0"), AddressError::kNone);
  for (const char* text : {"127.0.0.1", "::1:1", "[::1]", ":1"}) {
    EXPECT_EQ(error_of(text), AddressError::kForm) << text;
  }
  for (const char* text : {"127.0.0.1:99999", "127.0.0.1:65536", "127.0.0.1:", "[::1]:x", "host:1234567"}) {
    EXPECT_EQ(error_of(text), AddressError::kPort) << text;
  }
  for (const char* text : {"256.0.0.1:1", "[::g]:1", "1.2.3:1"}) {
    EXPECT_EQ(error_of(text), AddressError::kHost) << text;
  }
}

TEST(Address, LongestTextFits) {
  Address address;
  address.family = 6;
  address.port = 65535;
  address.ip.fill(0xAB);
  EXPECT_EQ(formatted(address), "[abab:abab:abab:abab:abab:abab:abab:abab]:65535");
  EXPECT_EQ(formatted(Address{}), "none");
}

TEST(Address, FormatThenParseIsIdentity) {
  EXPECT_TRUE(rc::check("parse(format(a)) == a", [](std::array<uint8_t, 16> ip, uint16_t port, bool v4) {
    Address address;
    if (v4) {
      address = make_ipv4(ip[0], ip[1], ip[2], ip[3], port);
    } else {
      address.family = 6;
      address.port = port;
      address.ip = ip;
      address.ip[0] = 0x20;  // Keeps clear of the v4-mapped range.
    }
    Address parsed;
    RC_ASSERT(parse_address(formatted(address).c_str(), &parsed));
    RC_ASSERT(parsed == address);
  }));
}

TEST(Address, HashSpreadsNeighbours) {
  std::set<uint64_t> low_bits;
  std::set<uint64_t> hashes;
  for (uint16_t port = 0; port < 4096; ++port) {
    const uint64_t hash = hash_address(make_ipv4(127, 0, 0, 1, port));
    hashes.insert(hash);
    low_bits.insert(hash & 4095);
  }
  EXPECT_EQ(hashes.size(), 4096u);
  // 4096 balls into 4096 boxes fill 1 - 1/e of them, 2589; far less would mean clustering.
  EXPECT_GT(low_bits.size(), 2450u);
  EXPECT_NE(hash_address(make_ipv4(1, 2, 3, 4, 5)), hash_address(make_ipv4(1, 2, 3, 5, 4)));
}

}  // namespace
}  // namespace lattice::platform
