// SPDX-License-Identifier: Apache-2.0
//
// The time after which a rejected request may succeed, as a part of its status.
//   return WithRetryAfter(absl::ResourceExhaustedError("the share is used up"), absl::Milliseconds(120));
//   if (const auto after = RetryAfter(status)) TellTheClient(*after);
#ifndef SIDEBAND_DAEMON_BASE_RETRY_AFTER_H_
#define SIDEBAND_DAEMON_BASE_RETRY_AFTER_H_

#include <optional>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace sideband::daemon {

// `status` with "; retry in 120ms" at the end of its message. The time is rounded up to whole milliseconds, since a
// retry that comes early would be rejected again. `status` must not be OK.
absl::Status WithRetryAfter(const absl::Status& status, absl::Duration after);

// The rounded time; nullopt if the status has none.
std::optional<absl::Duration> RetryAfter(const absl::Status& status);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_BASE_RETRY_AFTER_H_
