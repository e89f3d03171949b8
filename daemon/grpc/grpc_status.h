// SPDX-License-Identifier: Apache-2.0
//
// Converts absl::Status to grpc::Status. Both number their codes alike.
//   Finish(ToGrpcStatus(absl::UnavailableError("shutting down")));
#ifndef SIDEBAND_DAEMON_GRPC_GRPC_STATUS_H_
#define SIDEBAND_DAEMON_GRPC_GRPC_STATUS_H_

#include <grpcpp/support/status.h>

#include <string>

#include "absl/status/status.h"

namespace sideband::daemon {

inline grpc::Status ToGrpcStatus(const absl::Status& status) {
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()), std::string(status.message()));
}

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_GRPC_GRPC_STATUS_H_
