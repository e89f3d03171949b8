// SPDX-License-Identifier: Apache-2.0
//
// The data of the status page, as JSON: the API's own messages (message_json.h), and metrics of the daemon itself.
//   PageData data({.reader = reader, .history = history, .metrics = metrics, .version = "0.2.0"});
//   response.body = data.Status(caller);
#ifndef SIDEBAND_DAEMON_PAGE_PAGE_DATA_H_
#define SIDEBAND_DAEMON_PAGE_PAGE_DATA_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/base/body.h"
#include "daemon/board/board_store.h"
#include "daemon/metrics/self_metrics.h"
#include "daemon/page/shared_rows.h"
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
    const BoardStore* boards = nullptr;  // nullptr: no board is read
  };
  explicit PageData(Sources sources) : sources_(std::move(sources)) {}

  // An object: who the caller is ("identity", "role"), the host's time in seconds since 1970 ("time"), "devices", the
  // "ages" of their snapshots in seconds by name, the confidential VMs among the "scopes", and the "snapshots". For
  // callers that may read the daemon's metrics also its "version", and "own_metrics", a list of {"name", "labels",
  // "value"}, which is empty for others. For operators "boards" by the device's name (board_json.h), of those that
  // answer; others have the same answer with boards and without. The rows are shared by all answers from one snapshot.
  Body Status(const Caller& caller);
  // GetHistory's response, without contexts. Errors are its own.
  absl::StatusOr<std::string> History(const Caller& caller, const sideband::v1::GetHistoryRequest& request) const;

 private:
  std::string Head(const Caller& caller, const std::vector<VisibleDevice>& devices) const;

  const Sources sources_;
  SharedRows rows_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_PAGE_PAGE_DATA_H_
