// SPDX-License-Identifier: Apache-2.0
//
// gRPC's statuses as ours, and which of ours came from the other side: NOT_FOUND from the daemon is an answer,
// NOT_FOUND for a file here is a mistake in what was asked.
#ifndef SIDEBAND_CLIENT_LIB_RPC_STATUS_H_
#define SIDEBAND_CLIENT_LIB_RPC_STATUS_H_

#include <string>

#include "absl/status/status.h"

namespace grpc {
class Status;
}

namespace sideband::client {

// The same code and message; `peer`, where not empty, stands before the message. Marked as remote unless OK.
absl::Status FromRpc(const grpc::Status& status, const std::string& peer);

// Whether the status is from FromRpc or MarkRemote, so from the call and not from its preparation.
bool IsRemote(const absl::Status& status);
absl::Status MarkRemote(absl::Status status);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_LIB_RPC_STATUS_H_
