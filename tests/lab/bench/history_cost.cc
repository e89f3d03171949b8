// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "daemon/history/history.h"
#include "daemon/snapshot/device_snapshot.h"
#include "tests/lab/bench/benchmarks.h"
#include "tests/lab/bench/measurement.h"

namespace sideband::bench {
namespace {

using daemon::ChunkReader;
using daemon::ChunkView;
using daemon::DeviceSnapshot;
using daemon::History;
using Snapshots = std::vector<std::shared_ptr<const DeviceSnapshot>>;

constexpr uint32_t kHistoryEvents = 64;
constexpr int kSnapshots = 60;
constexpr size_t kPlenty = size_t{1} << 30;
constexpr size_t kDefault = size_t{16} << 20;

// VMs of eight contexts each, one in `one_active_in` of which counts (0: none). An active counter increases by 0 to all
// cycles of a clock of 1.4 GHz per second, and rarely by the same share as before.
Snapshots Publications(size_t rows, size_t one_active_in) {
  std::mt19937_64 random(1);
  DeviceSnapshot now;
  mailbox::Catalog catalog;
  for (uint32_t event = 0; event < kHistoryEvents; ++event)
    catalog.events.push_back({.name = absl::StrCat("event_", event)});
  now.topology = std::make_shared<daemon::Topology>(std::move(catalog), 1);
  now.data.counters_per_block = kHistoryEvents;
  for (size_t row = 0; row < rows; ++row) {
    now.data.blocks.push_back({.vm = static_cast<uint16_t>(row / 8), .context = static_cast<uint16_t>(row % 8)});
  }
  // Counter values as after some days of work.
  for (size_t i = 0; i < rows * kHistoryEvents; ++i) now.data.counters.push_back(random() >> 14);
  now.host_time = absl::FromUnixSeconds(1'800'000'000);
  Snapshots snapshots;
  for (int second = 0; second < kSnapshots; ++second) {
    ++now.publication;
    ++now.data.snapshot_id;
    now.data.reference_time_ns += 999'000'000 + random() % 2'000'000;
    now.host_time += absl::Nanoseconds(999'000'000 + random() % 2'000'000);
    for (size_t row = 0; one_active_in > 0 && row < rows; row += one_active_in) {
      for (size_t event = 0; event < kHistoryEvents; ++event) {
        now.data.counters[row * kHistoryEvents + event] += random() % 1'400'000'000;
      }
    }
    snapshots.push_back(std::make_shared<DeviceSnapshot>(now));
  }
  return snapshots;
}

size_t FramesOf(const History& history) {
  size_t frames = 0;
  for (const ChunkView& view : history.Chunks(0)) frames += view.frames;
  return frames;
}

void PublishAll(const Snapshots& snapshots, History& history) {
  for (const auto& snapshot : snapshots) history.OnPublish(0, snapshot);
}

// The total memory of the history, per counter and snapshot in it.
absl::StatusOr<Row> BytesPerSample(const std::string& name, const Snapshots& snapshots) {
  History history({.max_bytes = kPlenty}, 1);
  PublishAll(snapshots, history);
  if (FramesOf(history) != snapshots.size()) return absl::InternalError("the history does not hold every snapshot");
  size_t bytes = 0;
  for (const ChunkView& view : history.Chunks(0)) bytes += view.size;
  const double series = static_cast<double>(snapshots[0]->data.counters.size());
  return Row{"history: " + name, static_cast<double>(bytes) / series / kSnapshots, "bytes",
             absl::StrFormat("a counter and snapshot, %.0f counters, %d snapshots", series, kSnapshots)};
}

double CopySeconds(const Snapshots& snapshots) {
  std::vector<uint64_t> copy(snapshots[0]->data.counters.size());
  BestTime best;
  for (int round = 0; round < 9; ++round) {
    best.Measure([&] {
      for (const auto& snapshot : snapshots) {
        std::memcpy(copy.data(), snapshot->data.counters.data(), copy.size() * sizeof(uint64_t));
      }
    });
  }
  return best.seconds() / kSnapshots;
}

// Time to append a snapshot, including the eviction that keeps the history within the default bound.
absl::StatusOr<Row> AppendTime(const std::string& name, const Snapshots& snapshots) {
  BestTime best;
  for (int round = 0; round < 5; ++round) {
    History history({.max_bytes = kDefault}, 1);
    best.Measure([&] { PublishAll(snapshots, history); });
    if (history.bytes() > kDefault || FramesOf(history) == 0) return absl::InternalError("the history's bound");
  }
  const double append = best.seconds() / kSnapshots;
  return Row{"history: " + name, append * 1e3, "ms",
             absl::StrFormat("a snapshot, %.1f times a copy of its counters", append / CopySeconds(snapshots))};
}

}  // namespace

absl::StatusOr<Rows> MeasureHistoryCost() {
  constexpr size_t kRows = 100'000 / kHistoryEvents;
  struct Case {
    const char* name;
    size_t one_active_in;
  };
  Rows rows;
  for (const Case& c : {Case{"every counter counts", 1}, Case{"one context in eight counts", 8}, Case{"idle", 0}}) {
    const Snapshots snapshots = Publications(kRows, c.one_active_in);
    const auto size = BytesPerSample(c.name, snapshots);
    if (!size.ok()) return size.status();
    const auto time = AppendTime(absl::StrCat("append, ", c.name), snapshots);
    if (!time.ok()) return time.status();
    rows.push_back(*size);
    rows.push_back(*time);
  }
  return rows;
}

}  // namespace sideband::bench
