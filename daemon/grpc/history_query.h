// SPDX-License-Identifier: Apache-2.0
//
// sideband.v1.Telemetry.GetHistory, without gRPC.
//   SIDEBAND_ASSIGN_OR_RETURN(auto response, GetHistory(reader, &history, caller, request));
#ifndef SIDEBAND_DAEMON_GRPC_HISTORY_QUERY_H_
#define SIDEBAND_DAEMON_GRPC_HISTORY_QUERY_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "daemon/api/reader.h"
#include "daemon/history/history.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {

// An answer is as large as clients take that were told nothing: gRPC's default.
inline constexpr size_t kHistoryAnswerBytesMax = 4 << 20;
// Numbers in an answer; each takes ten bytes at most.
inline constexpr int64_t kHistoryValuesMax = 400'000;

// What the caller may see, under the policy now in force and by the ids of each instant's own topology. NotFound()
// where the request names what is neither there nor in the past, or is not the caller's. An answer that would be too
// large is made with a longer step, and says so; RESOURCE_EXHAUSTED where no step helps. FAILED_PRECONDITION without a
// history (nullptr).
absl::StatusOr<sideband::v1::GetHistoryResponse> GetHistory(Reader& reader, const History* history,
                                                            const Caller& caller,
                                                            const sideband::v1::GetHistoryRequest& request);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_GRPC_HISTORY_QUERY_H_
