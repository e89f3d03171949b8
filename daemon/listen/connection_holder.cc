// SPDX-License-Identifier: Apache-2.0
#include "daemon/listen/connection_holder.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "daemon/listen/address_group.h"

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

}  // namespace sideband::daemon
