// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/listen_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace sideband::daemon {
namespace {

bool IsLiteral(int family, const std::string& host) {
  in6_addr address;  // large enough for both families
  return inet_pton(family, host.c_str(), &address) == 1;
}

absl::Status Malformed(absl::string_view text) {
  return absl::InvalidArgumentError(
      absl::StrCat("'", text, "' is not ADDRESS:PORT, such as 127.0.0.1:9877 or [::1]:0"));
}

// SimpleAtoi also accepts signs and blanks, which are invalid here.
bool ParsePort(absl::string_view text, uint16_t& port) {
  uint32_t value = 0;
  if (text.find_first_not_of("0123456789") != absl::string_view::npos) return false;
  if (!absl::SimpleAtoi(text, &value) || value > 65535) return false;
  port = static_cast<uint16_t>(value);
  return true;
}

}  // namespace

absl::StatusOr<ListenAddress> ListenAddress::Parse(absl::string_view text) {
  const size_t colon = text.rfind(':');
  ListenAddress address;
  if (colon == absl::string_view::npos || !ParsePort(text.substr(colon + 1), address.port)) return Malformed(text);
  absl::string_view host = text.substr(0, colon);
  const bool bracketed = absl::ConsumePrefix(&host, "[") && absl::ConsumeSuffix(&host, "]");
  address.host = std::string(host);
  if (!IsLiteral(bracketed ? AF_INET6 : AF_INET, address.host)) return Malformed(text);
  return address;
}

std::string ListenAddress::ToString() const {
  return absl::StrContains(host, ':') ? absl::StrCat("[", host, "]:", port) : absl::StrCat(host, ":", port);
}

}  // namespace sideband::daemon
