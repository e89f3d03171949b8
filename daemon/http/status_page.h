// SPDX-License-Identifier: Apache-2.0
//
// The status page: one HTML file with its script and style, the same for every caller, and the data that it requests
// from the daemon, as JSON: the API's own messages, metrics of the daemon itself, and, for operators alone, boards: a
// board's values show what every VM on it does. The files in web/ are the page's source.
//   HttpResponse response{.content_security_policy = std::string(StatusPagePolicy()),
//                         .body = Body::Of(std::string(StatusPage()))};
//   PageData data({.reader = reader, .history = history, .metrics = metrics, .version = "0.2.0"});
//   response.body = data.Status(caller);
//   boards["gpu0"] = BoardJson(*store.Newest(0), clock.Steady());
#ifndef SIDEBAND_DAEMON_HTTP_STATUS_PAGE_H_
#define SIDEBAND_DAEMON_HTTP_STATUS_PAGE_H_

#include <google/protobuf/message.h>

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "daemon/board/board_reading.h"
#include "daemon/board/board_store.h"
#include "daemon/exposition/text_buffer.h"
#include "daemon/metrics/self_metrics.h"
#include "daemon/view/history_reader.h"
#include "daemon/view/reader.h"
#include "daemon/view/view_groups.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {

// An object, in which what is unknown is absent. Items of a list have a "name". Counts are decimal text, as in the
// API's messages, since JavaScript's numbers have 53 bits.
//   "name", "driver"           of the board, and the version of its driver
//   "temperatures"             °C: {"name", "value"}; likewise "thresholds"; "margin", and "margin_thresholds" at which
//                              something happens; "is_hot": a slowdown is due
//   "powers"                   W: {"name", "value", "limit"}
//   "clocks"                   Hz: {"name", "value", "maximum"}; "performance_state"
//   "throttling"               names of the reasons that are active now
//   "memory"                   bytes: {"used", "reserved", "total"}
//   "ecc"                      {"name", "corrected", "uncorrected"}
//   "remapped_rows"            {"corrected", "uncorrected", "is_pending", "has_failed", "has_excess"}
//   "retired_pages"            {"single_bit", "double_bit"}
//   "nvlinks"                  {"count", "up", "down": numbers of links that are neither up nor disabled, "errors"}
//   "pcie"                     {"generation", "lanes", "errors", "replays"}
//   "attention"                what an operator has to do something about
//   "messages"                 of the driver, the newest kMessagesShown, newest first: {"xid", "time", "text"};
//                              "messages_taken", all so far
//   "ratios"                   of the whole device, 0 to 1: {"name", "value"}
//   "partitions"               {"partition", "instance", "ratios"}
//   "oldest"                   the group that was read longest ago, of those that are read again and again:
//                              {"name", "age"} in seconds
// `steady_now` is of the clock of BoardTime::steady.
nlohmann::json BoardJson(const BoardReading& reading, absl::Duration steady_now);

inline constexpr size_t kMessagesShown = 5;

// Messages of the API in the JSON form of Protocol Buffers, with the names of the .proto file. Fields that have their
// defaults are there, too, so that a reader finds what it reads.
std::string MessageJson(const google::protobuf::Message& message);

// The rows that a view shows, as JSON, made once per snapshot for all who ask for them.
//
// Thread-safe.
class SharedRows {
 public:
  // The members "scopes", the confidential VMs, and "snapshots", without ages, of an object: messages of the API.
  // `devices` are the caller's.
  std::shared_ptr<const std::string> JsonOf(const Caller& caller, const std::vector<VisibleDevice>& devices);

 private:
  // The sources of a device's rows. Held, so that an equal address means equal content.
  struct Shown {
    std::shared_ptr<const DeviceInfo> info;
    std::shared_ptr<const DeviceSnapshot> snapshot;
    std::shared_ptr<const View> view;
    VisibleDevice::State state = VisibleDevice::State::kAway;
    bool operator==(const Shown&) const = default;
  };
  struct Group {
    explicit Group(const Caller&) {}

    absl::Mutex mu;  // held while the rows are made, so that they are made once
    std::vector<Shown> shown ABSL_GUARDED_BY(mu);
    std::shared_ptr<const std::string> json ABSL_GUARDED_BY(mu);
  };

  ViewGroups<Group> groups_;
};

inline constexpr size_t kContextsWithHistory = 64;

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
  // "value"}, which is empty for others. For operators "boards" by the device's name (BoardJson), of those that
  // answer; others have the same answer with boards and without. The rows are shared by all answers from one snapshot.
  Body Status(const Caller& caller);
  // GetHistory's response; without contexts where the caller sees more than kContextsWithHistory, so that the VMs'
  // points stay close. Errors are its own.
  absl::StatusOr<std::string> History(const Caller& caller, const sideband::v1::GetHistoryRequest& request) const;

 private:
  std::string Head(const Caller& caller, const std::vector<VisibleDevice>& devices) const;

  const Sources sources_;
  SharedRows rows_;
};

// Both live forever.
absl::string_view StatusPage();
// The value of the Content-Security-Policy field: permits the page's own script and style by their hashes, requests to
// the daemon that sent the page, and nothing else.
absl::string_view StatusPagePolicy();

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_HTTP_STATUS_PAGE_H_
