// SPDX-License-Identifier: Apache-2.0
#include "daemon/listen/connection_holder.h"

#include <gtest/gtest.h>

namespace sideband::daemon {
namespace {

std::string GroupOf(const char* address) { return AddressGroup(boost::asio::ip::make_address(address)); }

TEST(AddressGroupTest, AnIpv4AddressIsItsOwn) {
  EXPECT_EQ(GroupOf("192.0.2.1"), "192.0.2.1");
  EXPECT_NE(GroupOf("192.0.2.2"), GroupOf("192.0.2.1"));
  EXPECT_EQ(GroupOf("::ffff:192.0.2.1"), "192.0.2.1");
}

TEST(AddressGroupTest, AnIpv6NetworkIsOne) {
  EXPECT_EQ(GroupOf("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
  EXPECT_EQ(GroupOf("2001:db8:1:2::"), GroupOf("2001:db8:1:2:ffff:ffff:ffff:ffff"));
  EXPECT_NE(GroupOf("2001:db8:1:3::"), GroupOf("2001:db8:1:2::"));
  EXPECT_EQ(GroupOf("fe80::1%2"), "fe80::/64") << "whatever interface it came by";
}

}  // namespace

}  // namespace sideband::daemon
