// SPDX-License-Identifier: Apache-2.0
#include "daemon/exposition/frame.h"

namespace sideband::daemon {

DeviceFrame::DeviceFrame(const VisibleDevice& device, const DeviceLabels& labels, const ScrapeFilter& filter,
                         MetricsFormat format)
    : device_(device), labels_(labels), filter_(filter), format_(format) {
  if (is_fresh()) AddRows();
}

bool DeviceFrame::ShowsEvent(size_t event) const {
  const mailbox::EventInfo& info = device_.view->topology()->catalog().events[event];
  return device_.view->AllEvents()[event] && !info.masked && filter_.SelectsEvent(info.name);
}

void DeviceFrame::AddRows() {
  const DeviceSnapshot& snapshot = *device_.snapshot;
  for (size_t i = 0; i < snapshot.data.blocks.size(); ++i) {
    const mailbox::BlockHeader& block = snapshot.data.blocks[i];
    const Level level = LevelOf(block);
    const std::string* const labels = labels_.Row(block.vm, block.context);
    if (labels == nullptr || !filter_.Selects(level)) continue;
    const bool has_created = format_ == MetricsFormat::kOpenMetrics && i < snapshot.created.size();
    Rows& rows = rows_[IndexOf(level)];
    rows.rows.push_back({i, labels, device_.view->Events(block.vm, block.context), RowUtilisation(snapshot, i),
                         has_created ? TimeText(snapshot.created[i]) : std::string()});
    rows.label_bytes += labels->size();
  }
}

void AppendSample(TextBuffer& out, absl::string_view name, absl::string_view labels, absl::string_view value) {
  for (const absl::string_view piece : {name, labels, absl::string_view("} "), value, absl::string_view("\n")}) {
    out.Append(piece);
  }
}

void AppendCreated(TextBuffer& out, MetricsFormat format, absl::string_view name, absl::string_view labels,
                   absl::Time created) {
  if (format != MetricsFormat::kOpenMetrics || created == absl::InfinitePast()) return;
  AppendSample(out, CreatedName(name), labels, TimeText(created));
}

}  // namespace sideband::daemon
