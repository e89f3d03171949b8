// SPDX-License-Identifier: Apache-2.0
#include "client/lib/stream_end.h"

#include "client/lib/rpc_status.h"

namespace sideband::client {

bool MayOpenAgain(const absl::Status& ended, const StreamPast& past) {
  const bool is_remote = IsRemote(ended);
  if (!past.was_open && !(past.waits_for_first && is_remote)) return false;
  const bool may_be_starting = past.lost_for && *past.lost_for < kStartingPatience;
  if (!is_remote) return may_be_starting;
  switch (ended.code()) {
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kCancelled:
    case absl::StatusCode::kDeadlineExceeded:
      return true;
    case absl::StatusCode::kResourceExhausted:
      return !IsTooLarge(ended);
    case absl::StatusCode::kUnauthenticated:
      return past.has_new_credentials;
    case absl::StatusCode::kNotFound:
      return may_be_starting;
    default:
      return false;
  }
}

}  // namespace sideband::client
