// SPDX-License-Identifier: Apache-2.0
//
// What one rendering shows of one device.
//   const DeviceFrame frame(device, labels, filter, MetricsFormat::kText);
//   for (const Row& row : frame.rows(Level::kVm).rows) Write(*row.labels);
#ifndef SIDEBAND_DAEMON_EXPOSITION_FRAME_H_
#define SIDEBAND_DAEMON_EXPOSITION_FRAME_H_

#include <array>
#include <cstddef>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "daemon/exposition/device_labels.h"
#include "daemon/exposition/scrape_filter.h"
#include "daemon/exposition/text_buffer.h"
#include "daemon/snapshot/device_snapshot.h"
#include "daemon/snapshot/utilisation.h"
#include "daemon/view/reader.h"
#include "proto/exposition/text.h"

namespace sideband::daemon {

// A row of a snapshot that the view shows.
struct Row {
  size_t index;  // in the snapshot's blocks
  const std::string* labels;
  const EventSet* events;
  RowUtilisation utilisation;
  std::string created;  // OpenMetrics only
};

struct Rows {
  std::vector<Row> rows;
  size_t label_bytes = 0;  // sum over all rows
};

// Refers to its arguments, which must outlive it.
class DeviceFrame {
 public:
  DeviceFrame(const VisibleDevice& device, const DeviceLabels& labels, const ScrapeFilter& filter,
              MetricsFormat format);

  const VisibleDevice& device() const { return device_; }
  const DeviceLabels& labels() const { return labels_; }
  const ScrapeFilter& filter() const { return filter_; }
  MetricsFormat format() const { return format_; }
  // Only a fresh device has series beside sideband_device_up, so that old counts are not taken for new ones.
  bool is_fresh() const { return device_.state == VisibleDevice::State::kFresh; }
  // Whether the caller may read the event, the filter selects it, and it is counted.
  bool ShowsEvent(size_t event) const;
  // Those that the filter selects; empty for a device that is not fresh.
  const Rows& rows(Level level) const { return rows_[IndexOf(level)]; }

 private:
  void AddRows();

  const VisibleDevice& device_;
  const DeviceLabels& labels_;
  const ScrapeFilter& filter_;
  const MetricsFormat format_;
  std::array<Rows, std::size(kLevels)> rows_;
};

// Appends a series. `labels` lack their closing brace.
void AppendSample(TextBuffer& out, absl::string_view name, absl::string_view labels, absl::string_view value);
// Appends when the counter `name` was zero, in OpenMetrics; nothing where it is not known.
void AppendCreated(TextBuffer& out, MetricsFormat format, absl::string_view name, absl::string_view labels,
                   absl::Time created);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_EXPOSITION_FRAME_H_
