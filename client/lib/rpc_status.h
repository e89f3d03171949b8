// SPDX-License-Identifier: Apache-2.0
//
// Converts gRPC statuses and marks their origin: NOT_FOUND from the daemon is a response, whereas NOT_FOUND for a local
// file is a mistake in the input.
//   const absl::Status status = FromRpc(ended, "host:9878", context.GetServerTrailingMetadata());
//   if (IsRemote(status)) Wait(RetryAfter(status).value_or(absl::Seconds(1)));
#ifndef SIDEBAND_CLIENT_LIB_RPC_STATUS_H_
#define SIDEBAND_CLIENT_LIB_RPC_STATUS_H_

#include <map>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace grpc {
class Status;
class string_ref;
}  // namespace grpc

namespace sideband::client {

// The same code and message, with `peer` before the message if it is not empty. Marked as remote unless OK.
absl::Status FromRpc(const grpc::Status& status, const std::string& peer);
// Likewise, with what the call's trailing metadata says of a retry.
using RpcMetadata = std::multimap<grpc::string_ref, grpc::string_ref>;
absl::Status FromRpc(const grpc::Status& status, const std::string& peer, const RpcMetadata& trailers);

// Whether the status comes from FromRpc or MarkRemote, that is, from the call and not from its preparation.
bool IsRemote(const absl::Status& status);
absl::Status MarkRemote(absl::Status status);

// The time after which the server says that the call can succeed, at most kRetryAfterMax; nullopt if it says none.
std::optional<absl::Duration> RetryAfter(const absl::Status& status);
inline constexpr absl::Duration kRetryAfterMax = absl::Hours(1);

// Whether gRPC itself has refused a message for its size. The status is then that of a limit of the server.
bool IsTooLarge(const absl::Status& status);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_LIB_RPC_STATUS_H_
