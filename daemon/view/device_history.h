// SPDX-License-Identifier: Apache-2.0
//
// A device's past as one caller may see it, as a message of the API.
//   DeviceHistoryBuilder builder(info, filter, views, {.since = since, .until = until, .step = step}, values_left);
//   for (size_t i = 0; i < chunks.size(); ++i) {
//     builder.Add(chunks[i], i + 1 < chunks.size() ? &chunks[i + 1] : nullptr);
//   }
//   if (values_left >= 0) *response.add_devices() = std::move(builder).Take();
#ifndef SIDEBAND_DAEMON_VIEW_DEVICE_HISTORY_H_
#define SIDEBAND_DAEMON_VIEW_DEVICE_HISTORY_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "daemon/history/chunk.h"
#include "daemon/history/layout.h"
#include "daemon/snapshot/device_snapshot.h"
#include "daemon/view/history_window.h"
#include "daemon/view/row_filter.h"
#include "daemon/view/topology_views.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {

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
    std::vector<bool> was_shown;  // of an event that takes turns: whether the last point had a number
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

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_VIEW_DEVICE_HISTORY_H_
