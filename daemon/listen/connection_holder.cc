// SPDX-License-Identifier: Apache-2.0
#include "daemon/listen/connection_holder.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace sideband::daemon {

std::string AddressName(const boost::asio::ip::address& address) {
  return absl::StrCat("address ", AddressGroup(address));
}

ConnectionTable::Holder HolderOf(const SubjectNames& names, const std::string& address) {
  // `address` is the result of AddressName().
  if (names.uris.empty() && names.dns_names.empty()) return {.name = address, .is_address = true};
  // The prefix keeps names of certificates apart from those of addresses and local users.
  return {.name =
              absl::StrCat("certificate ", absl::StrJoin(names.uris, " "), " ", absl::StrJoin(names.dns_names, " "))};
}

namespace ip = boost::asio::ip;

std::string AddressGroup(const ip::address& address) {
  if (address.is_v4()) return address.to_string();
  const ip::address_v6 v6 = address.to_v6();
  if (v6.is_v4_mapped()) return ip::make_address_v4(ip::v4_mapped, v6).to_string();
  ip::address_v6::bytes_type bytes = v6.to_bytes();
  std::fill(bytes.begin() + 8, bytes.end(), 0);
  // The new address has no scope id: link-local peers of all interfaces share a group.
  return ip::address_v6(bytes).to_string() + "/64";
}

}  // namespace sideband::daemon
