// SPDX-License-Identifier: Apache-2.0
//
// Maps an address to the group that counts as one peer, since a peer can choose any address of its group.
//   AddressGroup(boost::asio::ip::make_address("2001:db8::1:2:3:4"));   // "2001:db8::/64"
#ifndef SIDEBAND_DAEMON_LISTEN_ADDRESS_GROUP_H_
#define SIDEBAND_DAEMON_LISTEN_ADDRESS_GROUP_H_

#include <boost/asio/ip/address.hpp>
#include <string>

namespace sideband::daemon {

// IPv4: the address itself, also in its IPv4-mapped IPv6 form. IPv6: the first 64 bits, the size of the smallest
// network that is assigned.
std::string AddressGroup(const boost::asio::ip::address& address);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_LISTEN_ADDRESS_GROUP_H_
