// SPDX-License-Identifier: Apache-2.0
//
// The history as one caller sees it: sideband.v1.Telemetry.GetHistory, without gRPC.
//   const HistoryReader past(reader, store, history);
//   SIDEBAND_ASSIGN_OR_RETURN(auto response, past.Get(caller, request));
#ifndef SIDEBAND_DAEMON_VIEW_HISTORY_READER_H_
#define SIDEBAND_DAEMON_VIEW_HISTORY_READER_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/history/history.h"
#include "daemon/snapshot/store.h"
#include "daemon/view/history_window.h"
#include "daemon/view/reader.h"
#include "daemon/view/replay.h"
#include "daemon/view/row_filter.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {

enum class HistoryRows { kAll, kWithoutContexts };

// Thread-safe; the constructor's arguments must outlive it.
class HistoryReader {
 public:
  HistoryReader(Reader& reader, const Store& store, const History& history)
      : reader_(reader), store_(store), history_(history) {}

  // Returns the data that the caller may see under the policy in force, by the ids of each instant's own topology; of a
  // tenant's VM from when it was granted to the tenant (Tenures). A
  // response that would be too large is built with a longer step, which it reports.
  // INVALID_ARGUMENT for invalid times or steps. NotFound() where the request names an object that exists neither now
  // nor in the past, or that the caller may not see. RESOURCE_EXHAUSTED where no step makes the response small enough.
  // FAILED_PRECONDITION where the history may use no memory.
  absl::StatusOr<sideband::v1::GetHistoryResponse> Get(const Caller& caller,
                                                       const sideband::v1::GetHistoryRequest& request,
                                                       HistoryRows rows = HistoryRows::kAll) const;
  // The names of the devices that the filter selects and the caller saw at some instant after `since`, under the policy
  // that holds now. Those whose ids are in `known` are left out.
  std::vector<std::string> SeenSince(const Caller& caller, absl::Time since, const RowFilter& filter,
                                     const std::set<size_t>& known) const;
  // What the device has published after `publication`.
  Replay ReplayAfter(size_t device, uint64_t publication) const {
    return Replay(reader_, &history_, device, publication);
  }

 private:
  Reader& reader_;
  const Store& store_;
  const History& history_;
};

// The status of a daemon without a history.
absl::Status NoHistory();

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_VIEW_HISTORY_READER_H_
