// SPDX-License-Identifier: Apache-2.0
//
// Addresses that one peer can have at will count as one.
//   AddressGroup(boost::asio::ip::make_address("2001:db8::1:2:3:4"));   // "2001:db8::/64"
#ifndef SIDEBAND_DAEMON_HTTP_ADDRESS_GROUP_H_
#define SIDEBAND_DAEMON_HTTP_ADDRESS_GROUP_H_

#include <boost/asio/ip/address.hpp>
#include <string>

namespace sideband::daemon {

// IPv4: the address itself, also where it is written as an IPv6 one; IPv6: the first 64 bits, since that much is given
// to the smallest network.
std::string AddressGroup(const boost::asio::ip::address& address);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_HTTP_ADDRESS_GROUP_H_
