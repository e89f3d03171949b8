// SPDX-License-Identifier: Apache-2.0
//
// Converts gRPC statuses and marks their origin: NOT_FOUND from the daemon is a response, whereas NOT_FOUND for a local
// file is a mistake in the input.
#ifndef SIDEBAND_CLIENT_LIB_RPC_STATUS_H_
#define SIDEBAND_CLIENT_LIB_RPC_STATUS_H_

#include <string>

#include "absl/status/status.h"

namespace grpc {
class Status;
}

namespace sideband::client {

// The same code and message, with `peer` before the message if it is not empty. Marked as remote unless OK.
absl::Status FromRpc(const grpc::Status& status, const std::string& peer);

// Whether the status comes from FromRpc or MarkRemote, that is, from the call and not from its preparation.
bool IsRemote(const absl::Status& status);
absl::Status MarkRemote(absl::Status status);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_LIB_RPC_STATUS_H_
