// SPDX-License-Identifier: Apache-2.0
#include "daemon/http/status_page.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"

namespace sideband::daemon {
namespace {

constexpr char kTop[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>sidebandd</title>\n"
    "<style>body{font-family:sans-serif;margin:2em}td,th{text-align:left;padding:.2em 1em}</style></head>\n"
    "<body>\n<h1>sidebandd</h1>\n<table>\n"
    "<tr><th>device</th><th>state</th><th>UUID</th><th>snapshot</th><th>series</th></tr>\n";
constexpr char kBottom[] =
    "</table>\n<p><a href=\"/metrics\">/metrics</a> · <a href=\"/-/healthy\">/-/healthy</a> · "
    "<a href=\"/-/ready\">/-/ready</a></p>\n</body>\n</html>\n";

// The number of counters of the newest snapshot that the view permits; each is one series.
size_t CountSeries(const VisibleDevice& device) {
  size_t series = 0;
  const auto& blocks = device.snapshot->data.blocks;
  for (size_t row = 0; row < blocks.size(); ++row) {
    const EventSet* events = device.view->Events(blocks[row].vm, blocks[row].context);
    for (size_t i = 0; events != nullptr && i < events->size(); ++i) {
      series += (*events)[i] && device.snapshot->IsShown(row, i);
    }
  }
  return series;
}

std::string Row(const VisibleDevice& device) {
  std::string cells = absl::StrCat("<td>", EscapeHtml(device.info->name), "</td><td>", DescribeState(device), "</td>");
  if (device.snapshot != nullptr) {
    absl::StrAppend(&cells, "<td>", device.snapshot->topology->catalog().device.ToString(), "</td><td>",
                    device.snapshot->data.snapshot_id, "</td><td>", CountSeries(device), "</td>");
  }
  return absl::StrCat("<tr>", cells, "</tr>\n");
}

}  // namespace

std::string EscapeHtml(absl::string_view text) {
  return absl::StrReplaceAll(text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&#39;"}});
}

std::string DescribeState(const VisibleDevice& device) {
  const double age = absl::ToDoubleSeconds(device.age);
  switch (device.state) {
    case VisibleDevice::State::kFresh:
      return absl::StrFormat("fresh, %.1fs old", age);
    case VisibleDevice::State::kStale:
      return absl::StrFormat("stale, %.1fs old", age);
    case VisibleDevice::State::kAway:
      return "away, no snapshot yet";
  }
  return "unknown";
}

std::string StatusPage(const std::vector<VisibleDevice>& devices) {
  std::string page = kTop;
  for (const VisibleDevice& device : devices) page += Row(device);
  return page + kBottom;
}

}  // namespace sideband::daemon
