// SPDX-License-Identifier: Apache-2.0
#include "daemon/http/audit_query.h"

#include <string>

#include "absl/strings/numbers.h"
#include "daemon/http/query_parameters.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

// SimpleAtoi would also accept signs and blanks.
bool ParseSequence(const std::string& text, uint64_t& sequence) {
  return text.find_first_not_of("0123456789") == std::string::npos && absl::SimpleAtoi(text, &sequence);
}

}  // namespace

absl::StatusOr<uint64_t> ParseAuditQuery(absl::string_view target) {
  SIDEBAND_ASSIGN_OR_RETURN(const QueryParameters parameters, ParseQuery(target));
  uint64_t after = 0;
  if (parameters.empty()) return after;
  const bool is_right =
      parameters.size() == 1 && parameters[0].first == "after" && ParseSequence(parameters[0].second, after);
  if (!is_right) return absl::InvalidArgumentError("the query of /audit takes after=SEQUENCE");
  return after;
}

}  // namespace sideband::daemon
