#include "transport/socket/path_address.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace lattice::socket {
namespace {

std::string text_of(const base::PathId& path) {
  char text[kPathTextBytes];
  return format_path(path, text);
}

TEST(PathAddress, AddressesComeBackAsTheyWent) {
  for (const char* text : {"192.0.2.1:27015", "[2001:db8::1]:1", "[::1]:65535", "0.0.0.0:0"}) {
    platform::Address address;
    ASSERT_TRUE(platform::parse_address(text, &address));
    const base::PathId path = path_of(address);
    EXPECT_EQ(path.route, base::kUdpRoute);
    EXPECT_TRUE(base::is_ip(path));
    EXPECT_EQ(address_of(path), address);
    EXPECT_EQ(text_of(path), text);
  }
  EXPECT_EQ(path_of(platform::make_ipv4(192, 0, 2, 1, 5)), base::ipv4_path(192, 0, 2, 1, 5));
}

TEST(PathAddress, OtherFormsHaveNoAddress) {
  EXPECT_FALSE(base::is_path(path_of({})));
  EXPECT_EQ(address_of({}).family, 0);
  EXPECT_EQ(address_of({1, base::PathForm::kOpaque, 7, {1, 2}}).family, 0);
}

TEST(PathAddress, TextNamesRouteAndContent) {
  EXPECT_EQ(text_of({}), "none");
  EXPECT_EQ(text_of({2, base::PathForm::kOpaque, 7, {}}), "route2/7");
  EXPECT_EQ(text_of({2, base::PathForm::kOpaque, 7, {0x0A, 0, 0xB0}}), "route2/7:0a00b0");
  base::PathId path = base::ipv4_path(192, 0, 2, 1, 5);
  path.route = 1;
  EXPECT_EQ(text_of(path), "route1/192.0.2.1:5");
}

TEST(PathAddress, TheLongestTextFits) {
  base::PathId path{7, base::PathForm::kOpaque, UINT16_MAX, {}};
  path.bytes.fill(0xFF);
  EXPECT_EQ(text_of(path), "route7/65535:" + std::string(32, 'f'));
  path.form = base::PathForm::kIpv6;
  EXPECT_EQ(text_of(path), "route7/[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535");
  static_assert(kPathTextBytes <= 64, "lattice_conn_info.remote_address");
}

}  // namespace
}  // namespace lattice::socket
