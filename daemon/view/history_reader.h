// SPDX-License-Identifier: Apache-2.0
//
// The history as one caller sees it: sideband.v1.Telemetry.GetHistory, without gRPC.
//   const HistoryReader past(reader, store, history);
//   SIDEBAND_ASSIGN_OR_RETURN(auto response, past.Get(caller, request));
#ifndef SIDEBAND_DAEMON_VIEW_HISTORY_READER_H_
#define SIDEBAND_DAEMON_VIEW_HISTORY_READER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/history/chunk.h"
#include "daemon/history/history.h"
#include "daemon/snapshot/device_snapshot.h"
#include "daemon/snapshot/store.h"
#include "daemon/view/history_window.h"
#include "daemon/view/reader.h"
#include "daemon/view/replay.h"
#include "daemon/view/row_filter.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {

// A device's past as one caller may see it, as a message of the API.

// A row of a layout that the caller may see, with those of its counters that the caller may see.
struct ShownRow {
  size_t row = 0;
  std::vector<size_t> events;  // by index in the catalogue
  size_t gated = 0;            // how many of them have a coverage
  size_t estimated = 0;        // how many of them are estimates
  sideband::v1::Scope scope;
  // Equal for rows of two layouts if and only if the counters of one row continue in the other.
  std::string identity;
};

std::vector<ShownRow> ShownRows(const DeviceInfo& device, const Layout& layout, const View& view,
                                const RowFilter& filter);

// Numbers in the message for a point with these rows, including the point's own fields.
int64_t ValuesPerPoint(const std::vector<ShownRow>& rows);

// The selection of frames does not depend on data that the caller may not see: the first frame of each step becomes a
// point, and the last frame before one of the caller's own rows ends. Not thread-safe. `device`, `filter`, `views` and
// `values_left` must outlive the builder.
class DeviceHistoryBuilder {
 public:
  // Subtracts the numbers that it adds from `values_left`, and adds nothing more once that is negative.
  DeviceHistoryBuilder(const DeviceInfo& device, const RowFilter& filter, TopologyViews& views,
                       const HistoryWindow& window, int64_t& values_left)
      : device_(device), filter_(filter), views_(views), window_(window), values_left_(values_left) {
    message_.set_device(device.name);
  }

  // To be called for all chunks of the device, oldest first, each with the following chunk (nullptr after the last).
  void Add(const ChunkView& chunk, const ChunkView* next);
  // Without points and without `oldest` where the caller may see nothing of the device.
  sideband::v1::DeviceHistory Take() && { return std::move(message_); }

 private:
  struct Row {
    ShownRow shown;
    absl::Duration since;       // up to then the row's VM was another's
    std::optional<int> series;  // index in the message; nullopt before the first point
    uint64_t status = 0;
    // At the last point, by shown event.
    struct Cycles {
      uint64_t running = 0, resident = 0;
    };
    std::vector<bool> was_shown;  // of a multiplexed event: whether the last point had a number
    std::vector<std::optional<Cycles>> cycles;
  };

  void Enter(const ChunkView& chunk);
  // Whether the frame has something that was the caller's then.
  bool IsOwn(const ChunkReader& frame) const;
  bool IsWanted(const ChunkReader& frame, const ChunkView* next) const;
  bool EndsARow(const ChunkReader& frame, const ChunkView& next) const;
  void AddPoint(const ChunkReader& frame);
  void AddToSeries(const ChunkReader& frame, Row& row);
  // `i` is an index of the row's shown events.
  static void AddEstimate(const ChunkReader& frame, Row& row, size_t i, sideband::v1::HistoryColumn& column);
  static void AddCoverage(const ChunkReader& frame, Row& row, size_t i, sideband::v1::HistoryColumn& column);
  sideband::v1::HistorySeries& StartSeries(const Layout& layout, Row& row);
  uint32_t EventIndex(const std::string& name);

  const DeviceInfo& device_;
  const RowFilter& filter_;
  TopologyViews& views_;
  const HistoryWindow window_;
  int64_t& values_left_;

  sideband::v1::DeviceHistory message_;
  std::map<std::string, uint32_t> event_indices_;  // indices in message_.events
  std::optional<ChunkView> current_;               // the chunk whose layout rows_ has
  std::shared_ptr<const View> view_;               // of rows_; shared with views_
  std::vector<Row> rows_;
  std::optional<int64_t> last_step_;
};

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
  // Replays the device's publications after `publication`.
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
