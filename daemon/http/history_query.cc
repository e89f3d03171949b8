// SPDX-License-Identifier: Apache-2.0
#include "daemon/http/history_query.h"

#include <cstdint>
#include <string>

#include "absl/strings/numbers.h"
#include "daemon/http/query_parameters.h"
#include "daemon/message/time_message.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

constexpr int64_t kSecondsMax = 86400;
constexpr int64_t kPointsMax = 300;

absl::Status Malformed() {
  return absl::InvalidArgumentError("the query of /page/history takes event=NAME and seconds=1 to 86400");
}

}  // namespace

absl::StatusOr<sideband::v1::GetHistoryRequest> ParseHistoryQuery(absl::string_view target, absl::Time now) {
  SIDEBAND_ASSIGN_OR_RETURN(const QueryParameters parameters, ParseQuery(target));
  std::string event;
  int64_t seconds = 0;
  for (const auto& [key, value] : parameters) {
    if (key == "event" && event.empty()) {
      event = value;
    } else if (key != "seconds" || seconds != 0 || !absl::SimpleAtoi(value, &seconds)) {
      return Malformed();
    }
  }
  if (event.empty() || seconds < 1 || seconds > kSecondsMax) return Malformed();
  sideband::v1::GetHistoryRequest request;
  request.mutable_filter()->add_events(event);
  SetTime(now - absl::Seconds(seconds), *request.mutable_since());
  SetDuration(absl::Seconds(seconds) / kPointsMax, *request.mutable_step());
  return request;
}

}  // namespace sideband::daemon
