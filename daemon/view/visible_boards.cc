// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/visible_boards.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "proto/mailbox/board_items.h"

namespace sideband::daemon {
namespace {

// Every group waits for the device's interval at least, and a reading of many partitions beside another client of the
// mailbox takes most of a minute.
constexpr absl::Duration kSilenceMin = absl::Minutes(1);
constexpr int kIntervals = 3;  // as of snapshots

bool StillAnswers(const BoardReading& reading, absl::Duration interval, absl::Duration now) {
  const auto newest = NewestSample(reading);
  return newest && newest->steady + std::max(kSilenceMin, kIntervals * interval) >= now;
}

std::set<uint8_t> PartitionsOf(const BoardReading& reading) {
  std::set<uint8_t> partitions;
  for (const auto& [scope, values] : reading.metrics.scopes) {
    if (scope.partition) partitions.insert(*scope.partition);
  }
  return partitions;
}

}  // namespace

BoardPart VisiblePart(const Caller& caller, const std::string& device, const std::set<uint8_t>& partitions) {
  if (caller.May(Resource::Board(), Right::kRead)) return BoardPart::Whole();
  BoardPart part;
  for (const uint8_t partition : partitions) {
    for (const mailbox::MetricRow& row : mailbox::kMetrics) {
      const Resource metric = Resource::Partition(device, partition, row.word);
      if (caller.May(metric, Right::kRead)) part.Add(partition, row.metric);
    }
  }
  return part;
}

std::vector<VisibleBoard> VisibleBoards(const BoardStore& boards, const Caller& caller,
                                        const std::vector<VisibleDevice>& devices, absl::Duration steady_now) {
  std::vector<VisibleBoard> visible;
  for (const VisibleDevice& device : devices) {
    auto reading = boards.Newest(device.index);
    if (reading == nullptr || !StillAnswers(*reading, device.info->interval, steady_now)) continue;
    BoardPart part = VisiblePart(caller, device.info->name, PartitionsOf(*reading));
    if (!part.is_nothing()) visible.push_back({device.info->name, std::move(reading), std::move(part)});
  }
  return visible;
}

}  // namespace sideband::daemon
