// SPDX-License-Identifier: Apache-2.0
#include "daemon/exposition/coverage_family.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "daemon/snapshot/coverage.h"
#include "proto/exposition/text.h"
#include "proto/mailbox/catalog.h"

namespace sideband::daemon {
namespace {

// The gated events that the frame shows, by group.
std::vector<std::vector<size_t>> ShownEvents(const DeviceFrame& frame) {
  const Topology& topology = *frame.device().view->topology();
  const mailbox::Catalog& catalog = topology.catalog();
  std::vector<std::vector<size_t>> groups(catalog.gate_groups.size());
  for (size_t event = 0; event < catalog.events.size(); ++event) {
    if (!topology.coverage().IsGated(event) || !frame.ShowsEvent(event)) continue;
    groups[catalog.events[event].details.gate_group].push_back(event);
  }
  return groups;
}

}  // namespace

void WriteGateCoverage(absl::string_view name, const DeviceFrame& frame, Level level, TextBuffer& out) {
  if (frame.rows(level).rows.empty()) return;
  const DeviceSnapshot& snapshot = *frame.device().snapshot;
  const Coverage& coverage = snapshot.topology->coverage();
  if (!coverage.has_gates()) return;
  const auto groups = ShownEvents(frame);
  for (const Row& row : frame.rows(level).rows) {
    for (size_t group = 0; group < groups.size(); ++group) {
      const auto shown = std::ranges::find_if(groups[group], [&](size_t event) { return (*row.events)[event]; });
      if (shown == groups[group].end()) continue;
      const double share = coverage.OfRate(*shown, snapshot.Rates(row.index));
      if (std::isnan(share)) continue;
      std::string labels = *row.labels;
      AppendLabel(labels, "gate_group", snapshot.topology->catalog().gate_groups[group].name);
      AppendSample(out, name, labels, NumberText(share));
    }
  }
}

}  // namespace sideband::daemon
