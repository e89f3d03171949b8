// SPDX-License-Identifier: Apache-2.0
//
// The address of a listener: a literal IP address and a port.
//   SIDEBAND_ASSIGN_OR_RETURN(const ListenAddress address, ListenAddress::Parse("[::1]:9877"));
#ifndef SIDEBAND_DAEMON_CONFIG_LISTEN_ADDRESS_H_
#define SIDEBAND_DAEMON_CONFIG_LISTEN_ADDRESS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace sideband::daemon {

struct ListenAddress {
  std::string host;   // an IPv4 or IPv6 literal, without brackets
  uint16_t port = 0;  // 0: the system chooses

  // Parses "127.0.0.1:9877" or "[::1]:9877". INVALID_ARGUMENT for a host name, since its resolution may change.
  static absl::StatusOr<ListenAddress> Parse(absl::string_view text);
  std::string ToString() const;
  bool operator==(const ListenAddress&) const = default;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_CONFIG_LISTEN_ADDRESS_H_
