// SPDX-License-Identifier: Apache-2.0
//
// The status with which a call or a stream has ended: where it comes from, when a retry can succeed, and whether a
// stream is opened again. NOT_FOUND from the daemon is a response, whereas NOT_FOUND for a local file is a mistake in
// the input.
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
// The same, with what the call's trailing metadata says of a retry.
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

// For so long, errors of a daemon that is starting, and of files that are being replaced, are not final.
inline constexpr absl::Duration kStartingPatience = absl::Seconds(30);

// Whether it is one of these: NOT_FOUND of the daemon, or an error for which IsRemote() is false.
bool IsStarting(const absl::Status& ended);

// The past of the stream, over all of its connections.
struct StreamPast {
  // A message was received.
  bool was_open = false;
  // A stream that has never been open is opened again, too.
  bool waits_for_first = false;
  // The time that was waited since the last end that was not IsStarting(): a daemon may be away for long before it
  // starts. Absent: no connection was lost before this end.
  std::optional<absl::Duration> starting_for;
  // The files of the credentials have changed since the connection was made.
  bool has_new_credentials = false;
};

// By the status with which a stream has ended, or could not be opened:
//   UNAVAILABLE, CANCELLED, DEADLINE_EXCEEDED   yes: the daemon stops, the connection is lost, the reader was too slow
//   RESOURCE_EXHAUSTED                          yes: a quota has no room for now; no for a message beyond gRPC's limit
//   UNAUTHENTICATED                             with new credentials
//   NOT_FOUND                                   after a loss, for kStartingPatience: the devices are not known yet
//   an error that is not remote                 the same: files are replaced one after the other
//   others                                      no
// Never before the first message, but for waits_for_first and errors that are remote.
bool MayOpenAgain(const absl::Status& ended, const StreamPast& past);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_LIB_RPC_STATUS_H_
