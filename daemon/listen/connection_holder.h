// SPDX-License-Identifier: Apache-2.0
//
// The holder for which a connection counts. It bounds the number of connections; it does not authorize.
//   const auto holder = HolderOf(peer.names(), AddressName(endpoint.address()));
#ifndef SIDEBAND_DAEMON_LISTEN_CONNECTION_HOLDER_H_
#define SIDEBAND_DAEMON_LISTEN_CONNECTION_HOLDER_H_

#include <boost/asio/ip/address.hpp>
#include <string>

#include "daemon/identity/identity.h"
#include "daemon/listen/connection_table.h"

namespace sideband::daemon {

// "address " and the peer's address group.
std::string AddressName(const boost::asio::ip::address& address);

// The names in the certificate; the address where there are none.
ConnectionTable::Holder HolderOf(const SubjectNames& names, const std::string& address);

// Maps an address to the group that counts as one peer, since a peer can choose any address of its group.

// IPv4: the address itself, also in its IPv4-mapped IPv6 form. IPv6: the first 64 bits, the size of the smallest
// network that is assigned.
std::string AddressGroup(const boost::asio::ip::address& address);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_LISTEN_CONNECTION_HOLDER_H_
