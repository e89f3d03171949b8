// SPDX-License-Identifier: Apache-2.0
#include "client/lib/stream_end.h"

#include "client/lib/rpc_status.h"

namespace sideband::client {

bool IsStarting(const absl::Status& ended) { return !IsRemote(ended) || absl::IsNotFound(ended); }

bool MayOpenAgain(const absl::Status& ended, const StreamPast& past) {
  if (!past.was_open && !(past.waits_for_first && IsRemote(ended))) return false;
  if (IsStarting(ended)) return past.starting_for && *past.starting_for < kStartingPatience;
  switch (ended.code()) {
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kCancelled:
    case absl::StatusCode::kDeadlineExceeded:
      return true;
    case absl::StatusCode::kResourceExhausted:
      return !IsTooLarge(ended);
    case absl::StatusCode::kUnauthenticated:
      return past.has_new_credentials;
    default:
      return false;
  }
}

}  // namespace sideband::client
