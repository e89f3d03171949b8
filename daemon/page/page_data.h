// SPDX-License-Identifier: Apache-2.0
//
// The data of the status page, as JSON: the API's own messages in the JSON form of Protocol Buffers, with the names of
// the .proto file, and metrics of the daemon itself.
//   const PageData data({.reader = reader, .history = history, .metrics = metrics, .version = "0.2.0"});
//   SIDEBAND_ASSIGN_OR_RETURN(const std::string json, data.Status(caller));
#ifndef SIDEBAND_DAEMON_PAGE_PAGE_DATA_H_
#define SIDEBAND_DAEMON_PAGE_PAGE_DATA_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "daemon/metrics/self_metrics.h"
#include "daemon/view/history_reader.h"
#include "daemon/view/reader.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {

// Thread-safe.
class PageData {
 public:
  // They must outlive the object.
  struct Sources {
    Reader& reader;
    const HistoryReader& history;
    SelfMetrics& metrics;
    std::string version;
  };
  explicit PageData(Sources sources) : sources_(std::move(sources)) {}

  // {"version", "identity", "role", "devices", "scopes", "snapshots", "own_metrics"}: who the caller is, and what it
  // sees now: ListDevices, ListScopes and GetSnapshot. "own_metrics" is empty for callers that may not read the
  // daemon's metrics; else a list of {"name", "labels", "value"}.
  absl::StatusOr<std::string> Status(const Caller& caller) const;
  // GetHistory's response. Errors are its own.
  absl::StatusOr<std::string> History(const Caller& caller, const sideband::v1::GetHistoryRequest& request) const;

 private:
  const Sources sources_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_PAGE_PAGE_DATA_H_
