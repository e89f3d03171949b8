// SPDX-License-Identifier: Apache-2.0
//
// A deadline of gRPC's queues, by its monotonic clock.
//   queue.AsyncNext(&tag, &ok, DeadlineAfter(absl::Seconds(1)));
#ifndef SIDEBAND_CLIENT_LIB_GRPC_DEADLINE_H_
#define SIDEBAND_CLIENT_LIB_GRPC_DEADLINE_H_

#include <grpc/support/time.h>

#include "absl/time/time.h"

namespace sideband::client {

// The duration may be infinite; it is cut to milliseconds.
inline gpr_timespec DeadlineAfter(absl::Duration duration) {
  if (duration == absl::InfiniteDuration()) return gpr_inf_future(GPR_CLOCK_MONOTONIC);
  return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                      gpr_time_from_millis(absl::ToInt64Milliseconds(duration), GPR_TIMESPAN));
}

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_LIB_GRPC_DEADLINE_H_
