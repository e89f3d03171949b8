// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/history_reader.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/history/chunk.h"
#include "daemon/view/fake_world.h"
#include "daemon/view/row_filter.h"

namespace sideband::daemon {
namespace {

using sideband::v1::DeviceHistory;
using Snapshots = std::vector<std::shared_ptr<const DeviceSnapshot>>;
using Change = std::function<void(DeviceSnapshot&)>;

// Rows of FakeWorld's device.
constexpr size_t kVm0Row = 1, kRenderRow = 2, kTrainRow = 5;

ChunkView ChunkOf(const Snapshots& frames, uint32_t every, bool is_final) {
  const auto chunk = std::make_shared<Chunk>(Layout::Of(*frames.front()), /*capacity=*/1 << 16);
  ChunkView view{.chunk = chunk, .every = every, .is_final = is_final};
  const DeviceSnapshot* before = nullptr;
  for (const auto& frame : frames) {
    BoundedSink sink({chunk->bytes.get() + view.size, chunk->capacity - view.size});
    EncodeFrame(before, *frame, sink);
    view.Add(FrameHeader::Of(*frame), view.size + sink.size());
    before = frame.get();
  }
  return view;
}

// Publication P of gpu0 is P seconds after a full minute.
class DeviceHistoryTest : public testing::Test {
 protected:
  void Publish(
      uint64_t first, uint64_t last, const Change& change = [](DeviceSnapshot&) {}) {
    for (uint64_t publication = first; publication <= last; ++publication) {
      world_.clock.Advance(absl::Seconds(1));
      world_.Publish(0, publication);
      auto snapshot = std::make_shared<DeviceSnapshot>(*world_.store.Newest(0));
      change(*snapshot);
      snapshots_.push_back(std::move(snapshot));
    }
  }

  // History keeps them so: a chunk per layout, of multiples of `every` and the last before a change of layout.
  std::vector<ChunkView> Chunks(uint32_t every = 1) const {
    std::vector<ChunkView> chunks;
    Snapshots frames;
    for (size_t i = 0; i < snapshots_.size(); ++i) {
      const bool is_last = i + 1 == snapshots_.size();
      const bool is_final = !is_last && !Layout::Of(*snapshots_[i]).Describes(*snapshots_[i + 1]);
      if (is_final || snapshots_[i]->publication % every == 0) frames.push_back(snapshots_[i]);
      if (!frames.empty() && (is_final || is_last)) {
        chunks.push_back(ChunkOf(std::exchange(frames, {}), every, is_final));
      }
    }
    return chunks;
  }

  DeviceHistory BuildOf(const std::vector<ChunkView>& chunks, const std::string& who, const HistoryWindow& window = {},
                        const v1::Filter& request = {}) {
    const Caller caller = *world_.reader.Identify(CredentialsOf(who));
    TopologyViews views(world_.reader, caller);
    const RowFilter filter(request);
    const DeviceInfo device{.name = "gpu0", .interval = absl::Seconds(1)};
    DeviceHistoryBuilder builder(device, filter, views, window, values_left_);
    for (size_t i = 0; i < chunks.size(); ++i) {
      builder.Add(chunks[i], i + 1 < chunks.size() ? &chunks[i + 1] : nullptr);
    }
    return std::move(builder).Take();
  }
  DeviceHistory Build(const std::string& who, const HistoryWindow& window = {}, const v1::Filter& request = {}) {
    return BuildOf(Chunks(), who, window, request);
  }

  static std::vector<uint32_t> Ids(const DeviceHistory& history) {
    std::vector<uint32_t> ids;
    for (const auto& point : history.points()) ids.push_back(point.snapshot_id());
    return ids;
  }
  static std::vector<uint64_t> Counts(const DeviceHistory& history, int series, int column = 0) {
    const auto& counts = history.series(series).columns(column).counts();
    return {counts.begin(), counts.end()};
  }

  FakeWorld world_;
  const absl::Time start_ = world_.clock.Now();
  Snapshots snapshots_;
  int64_t values_left_ = std::numeric_limits<int64_t>::max();
};

using Ids32 = std::vector<uint32_t>;
using Counts64 = std::vector<uint64_t>;

Change RestartOf(size_t row) {
  return [row](DeviceSnapshot& snapshot) { ++snapshot.data.blocks[row].generation; };
}

TEST_F(DeviceHistoryTest, APointHasTheTimesOfItsSnapshot) {
  Publish(1, 2);
  const DeviceHistory history = Build("tenant-b");
  EXPECT_EQ(history.device(), "gpu0");
  ASSERT_EQ(history.points_size(), 2);
  EXPECT_EQ(history.points(1).host_time().seconds(), absl::ToUnixSeconds(start_) + 2);
  EXPECT_EQ(history.points(1).host_time_error().nanos(), 2'000'000);
  EXPECT_EQ(history.points(1).reference_time_ns(), 2'000'000'000u);
  EXPECT_EQ(history.points(1).snapshot_id(), 2u);
  EXPECT_EQ(history.oldest().seconds(), absl::ToUnixSeconds(start_) + 1);
}

TEST_F(DeviceHistoryTest, AnEstimateIsShownAboveWhatWasCounted) {
  world_.topology = RotatingTopology();
  Publish(1, 2, [](DeviceSnapshot& snapshot) {
    if (snapshot.publication != 1) return;
    for (auto& numbers : snapshot.data.rotation) numbers.parts[0].running = {0, 1000};  // no turn yet
  });
  Publish(3, 3);
  const DeviceHistory history = Build("tenant-a");
  const sideband::v1::HistoryColumn& cycles = history.series(0).columns(0);
  const sideband::v1::HistoryColumn& dram = history.series(0).columns(1);
  EXPECT_TRUE(cycles.lowers().empty()) << "they are exact";
  EXPECT_FALSE(cycles.has_coverage());
  EXPECT_EQ(Counts(history, 0, 1), (Counts64{0, 2 * 2011, 2 * 3011}));
  EXPECT_EQ(dram.lowers(1), 2011u);
  EXPECT_EQ(dram.coverage().of_counts(0), 0) << "no number";
  EXPECT_TRUE(std::isnan(dram.coverage().of_counts(1)));
  EXPECT_EQ(dram.coverage().of_intervals(1), 0) << "nor a difference";
  EXPECT_TRUE(std::isnan(dram.coverage().of_intervals(2)));
}

TEST_F(DeviceHistoryTest, TheFirstFrameOfEachStepIsAPoint) {
  Publish(1, 12);
  struct Row {
    absl::Duration step;
    Ids32 points;
  };
  for (const Row& row : std::vector<Row>{
           {absl::ZeroDuration(), {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}},  // every frame
           {absl::Seconds(1), {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}},      // the frames' own interval
           {absl::Milliseconds(1500), {1, 2, 3, 5, 6, 8, 9, 11, 12}},        // no multiple of it
           {absl::Seconds(5), {1, 5, 10}},  // steps of the clock, not of the first frame
           {absl::Seconds(12), {1, 12}},    // the last frame begins a step
           {absl::Seconds(13), {1, 7}},     // steps count from 1970, not from the minute
           {absl::Seconds(60), {1}},        // all in one step
       }) {
    EXPECT_EQ(Ids(Build("tenant-b", {.step = row.step})), row.points) << row.step;
  }
}

TEST_F(DeviceHistoryTest, StepsGoOnFromChunkToChunk) {
  Publish(1, 3);
  // Another tenant's restart begins a chunk; its first frame is in the step of the frame before.
  Publish(4, 12, RestartOf(kRenderRow));
  EXPECT_EQ(Ids(Build("tenant-b", {.step = absl::Seconds(5)})), (Ids32{1, 5, 10}));
}

TEST_F(DeviceHistoryTest, AWindowHasBothItsEnds) {
  Publish(1, 9);
  const absl::Time third = start_ + absl::Seconds(3), fifth = start_ + absl::Seconds(5);
  const absl::Duration tick = absl::Nanoseconds(1);
  struct Row {
    absl::Time since, until;
    Ids32 points;
  };
  for (const Row& row : std::vector<Row>{
           {third, fifth, {3, 4, 5}},
           {third + tick, fifth, {4, 5}},
           {third, fifth - tick, {3, 4}},
           {third, third, {3}},                                             // an instant
           {third + tick, third + 2 * tick, {}},                            // between two frames
           {start_ + absl::Seconds(9), absl::InfiniteFuture(), {9}},        // the last
           {start_ + absl::Seconds(9) + tick, absl::InfiniteFuture(), {}},  // after it
           {absl::InfinitePast(), start_ + absl::Seconds(1), {1}},          // the first
           {absl::InfinitePast(), start_ + absl::Seconds(1) - tick, {}},    // before it
       }) {
    const DeviceHistory history = Build("tenant-b", {.since = row.since, .until = row.until});
    EXPECT_EQ(Ids(history), row.points) << row.since << " " << row.until;
    EXPECT_EQ(history.oldest().seconds(), absl::ToUnixSeconds(start_) + 1) << "whatever the window is";
    EXPECT_EQ(history.series_size(), row.points.empty() ? 0 : 1);
  }
}

TEST_F(DeviceHistoryTest, AStepCountsFromTheWindowsFirstFrame) {
  Publish(1, 12);
  EXPECT_EQ(Ids(Build("tenant-b", {.since = start_ + absl::Seconds(7), .step = absl::Seconds(5)})), (Ids32{7, 10}));
}

TEST_F(DeviceHistoryTest, WhatRestartsARowBeginsASeries) {
  const std::vector<std::pair<const char*, Change>> changes = {
      {"generation", RestartOf(kTrainRow)},
      {"boot", [](DeviceSnapshot& snapshot) { ++snapshot.data.boot_id; }},
  };
  for (const auto& [name, change] : changes) {
    snapshots_.clear();
    Publish(1, 2);
    Publish(3, 5, change);
    const DeviceHistory history = Build("tenant-b");
    ASSERT_EQ(history.series_size(), 2) << name;
    EXPECT_EQ(Counts(history, 0), (Counts64{1050, 2050})) << name;
    EXPECT_EQ(history.series(1).first_point(), 2u) << name;
    EXPECT_EQ(Counts(history, 1), (Counts64{3050, 4050, 5050})) << name;
    EXPECT_EQ(history.events_size(), 1) << "both series have cycles";
    EXPECT_EQ(history.series(1).statuses(0).point(), 2u) << name;
  }
  EXPECT_EQ(Build("tenant-b").series(1).boot_id(), 78u);
}

TEST_F(DeviceHistoryTest, ARowGoesOnWhereAnotherRowOfItsOwnerRestarts) {
  Publish(1, 2);
  Publish(3, 4, RestartOf(kRenderRow));
  const DeviceHistory history = Build("tenant-a");
  ASSERT_EQ(history.series_size(), 4) << "vm0, two of render, compute";
  EXPECT_EQ(history.series(0).scope().context(), "");
  EXPECT_EQ(Counts(history, 0), (Counts64{1010, 2010, 3010, 4010}));
  EXPECT_EQ(history.series(1).scope().context(), "render");
  EXPECT_EQ(Counts(history, 1), (Counts64{1020, 2020}));
  EXPECT_EQ(history.series(3).scope().generation(), 2u);
  EXPECT_EQ(Counts(history, 3), (Counts64{3020, 4020}));
}

TEST_F(DeviceHistoryTest, ARowGoesOnOverAnEqualTopologyAndEndsWithItsName) {
  Publish(1, 1);
  const mailbox::Catalog catalog = world_.topology->catalog();
  world_.topology = std::make_shared<Topology>(catalog, 6);
  Publish(2, 2);
  mailbox::Catalog renamed = catalog;
  renamed.contexts[0].name = "draw";
  world_.topology = std::make_shared<Topology>(renamed, 7);
  Publish(3, 3);
  v1::Filter vm0;
  vm0.set_vm("vm0");
  const DeviceHistory history = Build("tenant-a", {}, vm0);
  ASSERT_EQ(history.series_size(), 4);
  EXPECT_EQ(Counts(history, 0), (Counts64{1010, 2010, 3010}));
  EXPECT_EQ(Counts(history, 1), (Counts64{1020, 2020}));
  EXPECT_EQ(history.series(3).scope().context(), "draw");
}

// With a step the last frame before the restart would be left out, and with it the final counts.
TEST_F(DeviceHistoryTest, TheFinalCountsOfARowAreAPointForItsOwner) {
  Publish(1, 13);
  Publish(14, 21, RestartOf(kTrainRow));
  const HistoryWindow window{.step = absl::Seconds(10)};
  EXPECT_EQ(Counts(Build("tenant-b", window), 0), (Counts64{1050, 10050, 13050}));
  EXPECT_EQ(Ids(Build("tenant-b", window)), (Ids32{1, 10, 13, 20}));
  EXPECT_EQ(Ids(Build("tenant-a", window)), (Ids32{1, 10, 20}));
  EXPECT_EQ(Ids(Build("ops", window)), (Ids32{1, 10, 20})) << "contexts are not the operator's";
}

TEST_F(DeviceHistoryTest, AFinalFrameThatIsAPointAnywayIsOne) {
  Publish(1, 10);
  Publish(11, 12, RestartOf(kTrainRow));
  EXPECT_EQ(Ids(Build("tenant-b", {.step = absl::Seconds(10)})), (Ids32{1, 10}));
}

TEST_F(DeviceHistoryTest, ARowThatDisappearsHasItsFinalCounts) {
  Publish(1, 13);
  Publish(14, 21, [](DeviceSnapshot& snapshot) {
    snapshot.data.blocks.resize(kTrainRow);
    snapshot.data.counters.resize(kTrainRow * 3);
  });
  const DeviceHistory history = Build("tenant-b", {.step = absl::Seconds(10)});
  EXPECT_EQ(Ids(history), (Ids32{1, 10, 13}));
  ASSERT_EQ(history.series_size(), 1);
}

TEST_F(DeviceHistoryTest, TheLastChunkHasNoFinalCountsYet) {
  Publish(1, 13);
  const std::vector<ChunkView> closed = {ChunkOf(snapshots_, /*every=*/1, /*is_final=*/true)};
  EXPECT_EQ(Ids(BuildOf(closed, "tenant-b", {.step = absl::Seconds(10)})), (Ids32{1, 10}));
}

TEST_F(DeviceHistoryTest, FinalFramesInCoarseTimeAreTheirOwnersAlone) {
  Publish(1, 13);
  Publish(14, 24, RestartOf(kTrainRow));
  EXPECT_EQ(Ids(BuildOf(Chunks(/*every=*/10), "tenant-b")), (Ids32{10, 13, 20}));
  EXPECT_EQ(Ids(BuildOf(Chunks(/*every=*/10), "tenant-a")), (Ids32{10, 20}));
}

TEST_F(DeviceHistoryTest, AStatusIsGivenWhereItChanges) {
  using mailbox::BlockState;
  struct Row {
    BlockState state;
    uint16_t flags;
  };
  const std::vector<Row> rows = {
      {BlockState::kActive, 0},
      {BlockState::kActive, 0},                                               // equal
      {BlockState::kIdle, 0},                                                 // the state only
      {BlockState::kIdle, mailbox::kFlagOverflow | mailbox::kFlagEstimated},  // the flags only
      {BlockState::kIdle, mailbox::kFlagOverflow | mailbox::kFlagEstimated},  // equal
      {BlockState::kActive, 0},                                               // as at the beginning
  };
  for (size_t i = 0; i < rows.size(); ++i) {
    Publish(i + 1, i + 1, [&](DeviceSnapshot& snapshot) {
      snapshot.data.blocks[kTrainRow].state = rows[i].state;
      snapshot.data.blocks[kTrainRow].flags = rows[i].flags;
    });
  }
  const DeviceHistory history = Build("tenant-b");
  const auto& statuses = history.series(0).statuses();
  ASSERT_EQ(statuses.size(), 4);
  EXPECT_EQ(statuses[0].point(), 0u);
  EXPECT_EQ(statuses[0].state(), v1::ScopeCounters::STATE_ACTIVE);
  EXPECT_EQ(statuses[1].point(), 2u);
  EXPECT_EQ(statuses[1].state(), v1::ScopeCounters::STATE_IDLE);
  EXPECT_EQ(statuses[2].point(), 3u);
  ASSERT_EQ(statuses[2].flags_size(), 2);
  EXPECT_EQ(statuses[2].flags(0), "overflow");
  EXPECT_EQ(statuses[2].flags(1), "estimated");
  EXPECT_EQ(statuses[3].point(), 5u);
  EXPECT_EQ(statuses[3].flags_size(), 0);
}

// A status is compared with that of the point before, also over a change of layout.
TEST_F(DeviceHistoryTest, AStatusOutsideOfThePointsIsNotGiven) {
  const auto retire = [](DeviceSnapshot& snapshot) {
    snapshot.data.blocks[kTrainRow].state = mailbox::BlockState::kRetired;
  };
  Publish(1, 2);
  Publish(3, 4, retire);
  Publish(5, 12, RestartOf(kRenderRow));
  EXPECT_EQ(Build("tenant-b", {.step = absl::Seconds(5)}).series(0).statuses_size(), 1);
  EXPECT_EQ(Build("tenant-b").series(0).statuses_size(), 3);
}

TEST_F(DeviceHistoryTest, EventsAreThoseOfTheColumns) {
  Publish(1, 2);
  v1::Filter request;
  request.set_vm("vm0");
  request.add_events("dram_bytes");
  const DeviceHistory history = Build("tenant-a", {}, request);
  ASSERT_EQ(history.events_size(), 1);
  EXPECT_EQ(history.events(0), "dram_bytes");
  ASSERT_EQ(history.series(0).columns_size(), 1);
  EXPECT_EQ(history.series(0).columns(0).event(), 0u);
  EXPECT_EQ(Counts(history, 0), (Counts64{1011, 2011}));
}

TEST_F(DeviceHistoryTest, DeviceEventsAreInTheDevicesRowOnlyAndOnlyWhereTheyAreNotWithheld) {
  Publish(1, 1);
  EXPECT_EQ(Build("ops").events_size(), 2);
  Publish(2, 2, [](DeviceSnapshot& snapshot) { snapshot.device_scope_withheld = false; });
  const DeviceHistory history = Build("ops");
  ASSERT_EQ(history.events_size(), 3);
  EXPECT_EQ(history.events(2), "pcie_bytes");
  ASSERT_EQ(history.series_size(), 4) << "another one of the device, from there on; the VMs' go on";
  EXPECT_EQ(history.series(3).columns_size(), 3);
  EXPECT_EQ(history.series(3).columns(2).event(), 2u);
  EXPECT_EQ(Counts(history, 3, 2), (Counts64{2002}));
}

TEST_F(DeviceHistoryTest, WhoMaySeeNothingGetsNothing) {
  Publish(1, 3);
  for (const char* who : {"tenant-c",    // a confidential VM only
                          "auditor"}) {  // no counters
    const DeviceHistory history = Build(who);
    EXPECT_FALSE(history.has_oldest()) << who;
    EXPECT_EQ(history.points_size(), 0) << who;
    EXPECT_EQ(history.events_size(), 0) << who;
  }
}

// Whatever happens to the rows of others, tenant-b's message and its size are the same.
TEST_F(DeviceHistoryTest, WhatACallerMayNotSeeLeavesNoTrace) {
  const std::vector<std::pair<const char*, Change>> others = {
      {"restart", RestartOf(kVm0Row)},
      {"counts", [](DeviceSnapshot& snapshot) { ++snapshot.data.counters[3 * kRenderRow]; }},
      {"own row, another event", [](DeviceSnapshot& snapshot) { snapshot.data.counters[3 * kTrainRow + 1] = 7; }},
      {"status", [](DeviceSnapshot& snapshot) { snapshot.data.blocks[kVm0Row].flags = mailbox::kFlagMmuFault; }},
      {"the device's row", [](DeviceSnapshot& snapshot) { snapshot.data.blocks[0].flags = mailbox::kFlagOverflow; }},
      {"device events", [](DeviceSnapshot& snapshot) { snapshot.device_scope_withheld = false; }},
      {"an end",
       [](DeviceSnapshot& snapshot) {
         snapshot.data.blocks.erase(snapshot.data.blocks.begin() + kRenderRow);
         snapshot.data.counters.erase(snapshot.data.counters.begin() + 3 * kRenderRow,
                                      snapshot.data.counters.begin() + 3 * (kRenderRow + 1));
       }},
  };
  const auto say = [this](uint32_t every, const HistoryWindow& window) {
    values_left_ = 1'000'000;
    const std::string message = BuildOf(Chunks(every), "tenant-b", window).SerializeAsString();
    return message + std::to_string(values_left_);
  };
  const HistoryWindow all{}, stepped{.step = absl::Seconds(5)};
  const auto publish = [this](const Change& change) {
    snapshots_.clear();
    world_.clock.Step(start_ - world_.clock.Now());
    Publish(1, 13);
    Publish(14, 33, change);
  };
  publish([](DeviceSnapshot&) {});
  const std::string quiet[] = {say(1, all), say(1, stepped), say(10, all), say(10, stepped)};
  for (const auto& [name, change] : others) {
    publish(change);
    EXPECT_EQ(say(1, all), quiet[0]) << name;
    EXPECT_EQ(say(1, stepped), quiet[1]) << name;
    EXPECT_EQ(say(10, all), quiet[2]) << name;
    EXPECT_EQ(say(10, stepped), quiet[3]) << name;
  }
}

TEST_F(DeviceHistoryTest, TheBuilderEndsWithItsNumbers) {
  Publish(1, 9);
  constexpr int64_t kMany = 1'000'000, kPoint = 4 + 1;  // a point, and tenant-b's one counter
  values_left_ = kMany;
  Build("tenant-b", {.until = start_ + absl::Seconds(1)});
  const int64_t first = kMany - values_left_;
  EXPECT_GT(first, kPoint) << "the series has names and a status besides";
  struct Row {
    int64_t values;
    int points;
    int64_t left;
  };
  for (const Row& row : std::vector<Row>{
           {-1, 0, -1},                   // used up by another device
           {0, 1, -first},                // the last one may exceed it
           {first - 1, 1, -1},            //
           {first, 2, -kPoint},           //
           {first + kPoint - 1, 2, -1},   //
           {first + kPoint, 3, -kPoint},  //
           {first + 8 * kPoint, 9, 0},    // just enough for all
       }) {
    values_left_ = row.values;
    EXPECT_EQ(Build("tenant-b").points_size(), row.points) << row.values;
    EXPECT_EQ(values_left_, row.left) << row.values;
  }
}

TEST_F(DeviceHistoryTest, AStatusCostsItsFlags) {
  constexpr int64_t kMany = 1'000'000;
  const auto cost = [this](uint16_t flags) {
    snapshots_.clear();
    values_left_ = kMany;
    Publish(1, 1, [flags](DeviceSnapshot& snapshot) { snapshot.data.blocks[kTrainRow].flags = flags; });
    Build("tenant-b");
    return kMany - values_left_;
  };
  EXPECT_EQ(cost(mailbox::kFlagOverflow) - cost(0), 2);
  EXPECT_EQ(cost(mailbox::kFlagOverflow | mailbox::kFlagMmuFault) - cost(0), 4);
}

class ShownRowsTest : public DeviceHistoryTest {
 protected:
  std::vector<ShownRow> RowsOf(const std::string& who, const v1::Filter& request = {}) {
    const Caller caller = *world_.reader.Identify(CredentialsOf(who));
    const DeviceInfo device{.name = "gpu0"};
    TopologyViews views(world_.reader, caller);
    const Layout layout = Layout::Of(*snapshots_.back());
    return ShownRows(device, layout, *views.Of(device, layout.topology, world_.clock.Steady()), RowFilter(request));
  }
};

TEST_F(ShownRowsTest, AreTheCallersOwnWithTheirEvents) {
  Publish(1, 1);
  const std::vector<ShownRow> tenant = RowsOf("tenant-b");
  ASSERT_EQ(tenant.size(), 1u);
  EXPECT_EQ(tenant[0].row, kTrainRow);
  EXPECT_EQ(tenant[0].events, std::vector<size_t>({0}));
  EXPECT_EQ(tenant[0].scope.vm_uuid(), kVm1Uuid);
  EXPECT_EQ(tenant[0].scope.generation(), 1u);
  EXPECT_EQ(ValuesPerPoint(tenant), 4 + 1);
  const std::vector<ShownRow> ops = RowsOf("ops");
  ASSERT_EQ(ops.size(), 3u) << "the device and two VMs";
  EXPECT_EQ(ops[0].events, std::vector<size_t>({0, 1}));
  EXPECT_EQ(ValuesPerPoint(ops), 4 + 3 * 2);
  EXPECT_EQ(ValuesPerPoint({}), 4);
}

TEST_F(ShownRowsTest, AFilterLeavesNoRowWithoutEvents) {
  Publish(1, 1);
  v1::Filter request;
  request.add_events("pcie_bytes");
  EXPECT_TRUE(RowsOf("tenant-a", request).empty());
  EXPECT_TRUE(RowsOf("ops", request).empty()) << "withheld";
}

TEST_F(DeviceHistoryTest, AGatedEventHasACoveragePerPoint) {
  world_.topology = GatedTopology();
  uint64_t publication = 0;
  Publish(1, 3, [&](DeviceSnapshot& snapshot) {
    constexpr uint64_t kResident[] = {3, 8, 10}, kRunning[] = {0, 4, 4};
    const size_t row = kVm0Row * snapshot.data.counters_per_block;
    snapshot.data.counters[row + 1] = kResident[publication];
    snapshot.data.counters[row + 2] = kRunning[publication++];
  });
  const DeviceHistory history = Build("tenant-a");
  ASSERT_EQ(history.series(0).columns_size(), 3);
  const auto& coverage = history.series(0).columns(0).coverage();
  const std::vector<double> of_counts(coverage.of_counts().begin(), coverage.of_counts().end());
  EXPECT_EQ(of_counts, (std::vector<double>{0, 0.5, 0.4}));
  ASSERT_EQ(coverage.of_intervals_size(), 3);
  EXPECT_TRUE(std::isnan(coverage.of_intervals(0))) << "the first point";
  EXPECT_EQ(coverage.of_intervals(1), 0.8) << "4 of 5";
  EXPECT_EQ(coverage.of_intervals(2), 0) << "closed since";
  EXPECT_FALSE(history.series(0).columns(1).has_coverage());
  EXPECT_FALSE(history.series(0).columns(2).has_coverage());
}

TEST_F(DeviceHistoryTest, WithoutGatesThereIsNoCoverage) {
  Publish(1, 2);
  const DeviceHistory history = Build("tenant-a");
  for (const auto& column : history.series(0).columns()) EXPECT_FALSE(column.has_coverage());
}

using sideband::v1::DeviceHistory;
using sideband::v1::GetHistoryRequest;
using sideband::v1::GetHistoryResponse;

class HistoryReaderTest : public testing::Test {
 protected:
  HistoryReaderTest() { world_.store.AddListener(history_); }
  ~HistoryReaderTest() override { world_.store.RemoveListener(history_); }

  absl::StatusOr<GetHistoryResponse> Ask(const std::string& who, const GetHistoryRequest& request = {}) {
    return HistoryReader(world_.reader, world_.store, history_)
        .Get(*world_.reader.Identify(CredentialsOf(who)), request);
  }
  // The history of the only device.
  DeviceHistory Device(const std::string& who, const GetHistoryRequest& request = {}) {
    const auto response = Ask(who, request);
    EXPECT_TRUE(response.ok()) << response.status();
    if (!response.ok() || response->devices_size() != 1) return {};
    return response->devices(0);
  }

  // Publishes once a second.
  void Publish(uint64_t first, uint64_t last) {
    for (uint64_t publication = first; publication <= last; ++publication) {
      world_.clock.Advance(absl::Seconds(1));
      world_.Publish(0, publication);
    }
  }
  // Publishes a changed snapshot of FakeWorld's.
  void PublishChanged(uint64_t publication, const std::function<void(DeviceSnapshot&)>& change) {
    world_.clock.Advance(absl::Seconds(1));
    world_.Publish(1, publication);
    auto snapshot = std::make_shared<DeviceSnapshot>(*world_.store.Newest(1));
    change(*snapshot);
    world_.store.Publish(0, snapshot);
  }

  static std::vector<uint64_t> Counts(const v1::HistorySeries& series, int column) {
    return {series.columns(column).counts().begin(), series.columns(column).counts().end()};
  }

  FakeWorld world_;
  History history_{{}, 2};
};

GetHistoryRequest Of(const std::string& vm, const std::string& context = "") {
  GetHistoryRequest request;
  request.mutable_filter()->set_device("gpu0");
  request.mutable_filter()->set_vm(vm);
  request.mutable_filter()->set_context(context);
  return request;
}

TEST_F(HistoryReaderTest, ATenantsOwnRowsAndEvents) {
  Publish(1, 3);
  const DeviceHistory history = Device("tenant-b");
  EXPECT_EQ(history.device(), "gpu0");
  ASSERT_EQ(history.points_size(), 3);
  EXPECT_EQ(history.points(2).snapshot_id(), 3u);
  EXPECT_EQ(history.points(2).reference_time_ns(), 3'000'000'000u);
  EXPECT_EQ(history.points(0).host_time().seconds(), history.oldest().seconds());
  EXPECT_EQ(history.points(1).host_time().seconds(), history.points(0).host_time().seconds() + 1);
  ASSERT_EQ(history.events_size(), 1);
  EXPECT_EQ(history.events(0), "cycles");
  ASSERT_EQ(history.series_size(), 1);
  const v1::HistorySeries& series = history.series(0);
  EXPECT_EQ(series.scope().vm_uuid(), kVm1Uuid);
  EXPECT_EQ(series.scope().context(), "train");
  EXPECT_EQ(series.scope().generation(), 1u);
  EXPECT_EQ(series.boot_id(), 77u);
  EXPECT_EQ(Counts(series, 0), (std::vector<uint64_t>{1050, 2050, 3050}));
}

TEST_F(HistoryReaderTest, TheOperatorsRowsAreWithoutContextsAndWithheldEvents) {
  Publish(1, 2);
  const DeviceHistory history = Device("ops");
  ASSERT_EQ(history.series_size(), 3) << "the device and two VMs";
  EXPECT_EQ(history.series(0).columns_size(), 2) << "pcie_bytes is withheld";
  for (const auto& series : history.series()) EXPECT_EQ(series.scope().context(), "");
}

TEST_F(HistoryReaderTest, AConfidentialVmHasNoHistory) {
  Publish(1, 2);
  EXPECT_EQ(Ask("tenant-c")->devices_size(), 0);
  EXPECT_EQ(Ask("tenant-c", Of("secret")).status(), NotFound());
  EXPECT_EQ(Ask("ops")->DebugString().find("secret"), std::string::npos);
}

TEST_F(HistoryReaderTest, DeniedAndAbsentAnswerAlike) {
  Publish(1, 2);
  for (const char* vm : {"vm1", kVm1Uuid, "absent", kSecretUuid}) {
    EXPECT_EQ(Ask("tenant-a", Of(vm)).status(), NotFound()) << vm;
  }
  GetHistoryRequest other;
  other.mutable_filter()->set_device("gpu1");
  EXPECT_EQ(Ask("tenant-a", other).status(), NotFound());
  EXPECT_EQ(Ask("ops", other)->devices_size(), 0) << "away, but the operator's";
}

TEST_F(HistoryReaderTest, FiltersAreThoseOfASnapshot) {
  Publish(1, 2);
  GetHistoryRequest request = Of("vm0", "render");
  request.mutable_filter()->add_events("dram_bytes");
  const DeviceHistory history = Device("tenant-a", request);
  ASSERT_EQ(history.series_size(), 1);
  EXPECT_EQ(Counts(history.series(0), 0), (std::vector<uint64_t>{1021, 2021}));
}

TEST_F(HistoryReaderTest, AWindowHasBothItsEnds) {
  Publish(1, 9);
  const DeviceHistory all = Device("tenant-b");
  GetHistoryRequest request;
  *request.mutable_since() = all.points(2).host_time();
  *request.mutable_until() = all.points(5).host_time();
  const DeviceHistory some = Device("tenant-b", request);
  EXPECT_EQ(Counts(some.series(0), 0), (std::vector<uint64_t>{3050, 4050, 5050, 6050}));
  EXPECT_EQ(some.oldest().seconds(), all.oldest().seconds()) << "whatever was asked for";
}

TEST_F(HistoryReaderTest, StepsAreThoseOfTheClock) {
  Publish(1, 40);
  GetHistoryRequest request;
  request.mutable_step()->set_seconds(10);
  const auto response = Ask("tenant-b", request);
  EXPECT_EQ(response->step().seconds(), 10);
  const DeviceHistory& history = response->devices(0);
  ASSERT_EQ(history.points_size(), 5);
  for (int i = 1; i < 5; ++i) EXPECT_EQ(history.points(i).host_time().seconds() % 10, 0);
}

TEST_F(HistoryReaderTest, BadRequestsNameTheField) {
  GetHistoryRequest request;
  request.mutable_step()->set_seconds(0);
  EXPECT_EQ(Ask("ops", request).status(), absl::InvalidArgumentError("step: must be above zero"));
  request.clear_step();
  request.mutable_since()->set_nanos(-1);
  EXPECT_EQ(Ask("ops", request).status(), absl::InvalidArgumentError("since: is not a time"));
  request.mutable_since()->set_nanos(2);
  request.mutable_until()->set_nanos(1);
  EXPECT_EQ(Ask("ops", request).status(), absl::InvalidArgumentError("since: is after until"));
}

TEST_F(HistoryReaderTest, AHistoryOfNoBytesIsNone) {
  const Caller ops = *world_.reader.Identify(CredentialsOf("ops"));
  const History nothing({.max_bytes = 0}, 2);
  EXPECT_EQ(HistoryReader(world_.reader, world_.store, nothing).Get(ops, {}).status(),
            absl::FailedPreconditionError("this daemon keeps no history"));
}

TEST_F(HistoryReaderTest, RestartsBeginANewSeries) {
  Publish(1, 2);
  PublishChanged(3, [](DeviceSnapshot& snapshot) { snapshot.data.blocks[5].generation = 2; });
  PublishChanged(4, [](DeviceSnapshot& snapshot) {
    snapshot.data.blocks[5].generation = 2;
    snapshot.data.boot_id = 78;
  });
  const DeviceHistory history = Device("tenant-b", Of(""));
  ASSERT_EQ(history.series_size(), 3);
  EXPECT_EQ(Counts(history.series(0), 0), (std::vector<uint64_t>{1050, 2050}));
  EXPECT_EQ(history.series(1).scope().generation(), 2u);
  EXPECT_EQ(history.series(1).first_point(), 2u);
  EXPECT_EQ(history.series(2).boot_id(), 78u);
  EXPECT_EQ(history.series(2).first_point(), 3u);
}

TEST_F(HistoryReaderTest, OthersRestartsAreNotSeen) {
  Publish(1, 3);
  const std::string quiet = Ask("tenant-b")->DebugString();
  FakeWorld other;
  History history({}, 2);
  other.store.AddListener(history);
  for (uint64_t publication = 1; publication <= 3; ++publication) {
    other.clock.Advance(absl::Seconds(1));
    other.Publish(1, publication);
    auto snapshot = std::make_shared<DeviceSnapshot>(*other.store.Newest(1));
    snapshot->data.blocks[2].generation = static_cast<uint32_t>(publication);  // vm0's
    other.store.Publish(0, snapshot);
  }
  other.store.RemoveListener(history);
  GetHistoryRequest request = Of("");
  const Caller tenant = *other.reader.Identify(CredentialsOf("tenant-b"));
  EXPECT_EQ(HistoryReader(other.reader, other.store, history).Get(tenant, request)->DebugString(), quiet);
}

// With a step, the last counts before a restart are a point of their own, for their owner alone.
TEST_F(HistoryReaderTest, FinalCountsAreToldToTheirOwner) {
  Publish(1, 13);
  for (uint64_t p = 14; p <= 30; ++p) {
    PublishChanged(p, [](DeviceSnapshot& snapshot) { snapshot.data.blocks[5].generation = 2; });  // vm1's train
  }
  GetHistoryRequest request;
  request.mutable_filter()->set_device("gpu0");
  request.mutable_step()->set_seconds(10);
  const DeviceHistory owner = Device("tenant-b", request);
  EXPECT_EQ(Counts(owner.series(0), 0), (std::vector<uint64_t>{1050, 10050, 13050}));
  EXPECT_EQ(Counts(owner.series(1), 0), (std::vector<uint64_t>{20050, 30050}));
  EXPECT_EQ(Device("tenant-a", request).points_size(), 4);
}

// In time that has become coarser, final counts are kept at instants of their own: those, too, are their owner's alone.
TEST_F(HistoryReaderTest, FinalCountsOfOthersAreNotSeenInCoarserTime) {
  History small({.max_bytes = 64 << 10}, 2);
  world_.store.RemoveListener(history_);
  world_.store.AddListener(small);
  uint32_t generation = 1;
  for (uint64_t p = 1; p <= 6000; ++p) {
    if (p % 997 == 0) ++generation;
    PublishChanged(p, [&](DeviceSnapshot& snapshot) { snapshot.data.blocks[5].generation = generation; });
  }
  world_.store.RemoveListener(small);
  const auto coarse_instants = [&](const std::string& who) {
    const auto response =
        HistoryReader(world_.reader, world_.store, small).Get(*world_.reader.Identify(CredentialsOf(who)), Of(""));
    std::set<uint32_t> odd;
    const auto& points = response->devices(0).points();
    for (int i = 0; i + 1 < points.size() && points[i + 1].snapshot_id() > points[i].snapshot_id() + 1; ++i) {
      if (points[i].snapshot_id() % 10 != 0) odd.insert(points[i].snapshot_id());
    }
    return odd;
  };
  EXPECT_EQ(coarse_instants("tenant-a"), std::set<uint32_t>());
  EXPECT_TRUE(coarse_instants("tenant-b").contains(5 * 997 - 1));
}

// The id of a VM that has gone is another's now: each instant has its own names.
TEST_F(HistoryReaderTest, ReusedIdsBelongToWhoHadThem) {
  Publish(1, 2);
  mailbox::Catalog swapped = world_.topology->catalog();
  std::swap(swapped.vms[0].uuid, swapped.vms[1].uuid);
  std::swap(swapped.vms[0].name, swapped.vms[1].name);
  const auto topology = std::make_shared<Topology>(swapped, 6);
  for (uint64_t p : {3, 4}) {
    PublishChanged(p, [&](DeviceSnapshot& snapshot) { snapshot.topology = topology; });
  }
  const DeviceHistory history = Device("tenant-a", Of(""));
  std::set<uint64_t> counts;
  for (const auto& series : history.series()) {
    EXPECT_EQ(series.scope().vm_uuid(), kVm0Uuid);
    for (const uint64_t count : series.columns(0).counts()) counts.insert(count);
  }
  // First rows 1 to 3, then rows 4 and 5.
  EXPECT_EQ(counts, (std::set<uint64_t>{1010, 1020, 1030, 2010, 2020, 2030, 3040, 3050, 4040, 4050}));
}

TEST_F(HistoryReaderTest, WhatHasGoneIsStillItsOwners) {
  Publish(1, 2);
  mailbox::Catalog without = world_.topology->catalog();
  without.vms.erase(without.vms.begin() + 1);
  without.contexts.erase(without.contexts.begin() + 2);
  const auto topology = std::make_shared<Topology>(without, 6);
  PublishChanged(3, [&](DeviceSnapshot& snapshot) {
    snapshot.topology = topology;
    snapshot.data.blocks.resize(4);
    snapshot.data.counters.resize(12);
  });
  EXPECT_EQ(Counts(Device("tenant-b", Of("vm1")).series(0), 0), (std::vector<uint64_t>{1050, 2050}));
  const std::vector<AuditEntry> told = world_.audit.Entries(AuditKind::kView);
  ASSERT_EQ(told.size(), 3u) << "what tenant-b may see of both devices now, and what it might of gpu0";
  EXPECT_EQ(told[2].principal, "spiffe://example.org/tenant-b");
  EXPECT_EQ(told[2].resource, "device gpu0");
  EXPECT_EQ(told[2].reason, "first request of this role for this past");
  EXPECT_EQ(Ask("tenant-a", Of("vm1")).status(), NotFound());
}

TEST_F(HistoryReaderTest, ThePolicyOfTodayHolds) {
  Publish(1, 2);
  world_.policy.Replace(FakePolicy(/*vm0=*/"00000000-0000-0000-0000-0000000000ff"));
  EXPECT_EQ(Ask("tenant-a", Of("vm0")).status(), NotFound());
}

// The device's row, also one without a confidential VM, goes on whatever becomes of the others.
TEST_F(HistoryReaderTest, AnotherRowsEndDoesNotEndTheDevices) {
  Publish(1, 2);
  PublishChanged(3, [](DeviceSnapshot& snapshot) { snapshot.data.blocks[4].generation = 2; });
  const DeviceHistory history = Device("ops", Of(""));
  EXPECT_TRUE(history.series(0).scope().vm().empty());
  EXPECT_EQ(history.series(0).columns(0).counts_size(), 3);
  EXPECT_EQ(history.series_size(), 4) << "the device, one VM, and two generations of the other";
}

TEST_F(HistoryReaderTest, StatusesAreToldWhereTheyChange) {
  Publish(1, 3);
  PublishChanged(4, [](DeviceSnapshot& snapshot) {
    snapshot.data.blocks[5].flags = mailbox::kFlagMmuFault;
    snapshot.data.blocks[5].state = mailbox::BlockState::kRetired;
  });
  const DeviceHistory history = Device("tenant-b", Of(""));
  ASSERT_EQ(history.series(0).statuses_size(), 2);
  EXPECT_EQ(history.series(0).statuses(0).point(), 0u);
  EXPECT_EQ(history.series(0).statuses(0).state(), v1::ScopeCounters::STATE_ACTIVE);
  EXPECT_EQ(history.series(0).statuses(1).point(), 3u);
  EXPECT_EQ(history.series(0).statuses(1).state(), v1::ScopeCounters::STATE_RETIRED);
  EXPECT_EQ(history.series(0).statuses(1).flags(0), "mmu_fault");
}

// A device with so many rows that an answer has room for few points.
class LargeHistoryTest : public HistoryReaderTest {
 protected:
  void PublishLarge(uint32_t events, uint64_t snapshots) {
    mailbox::Catalog catalog;
    for (uint32_t event = 0; event < events; ++event) catalog.events.push_back({.name = absl::StrCat("event_", event)});
    catalog.vms = {{1, *Uuid::Parse(kVm0Uuid), "vm0", false, 0, 1}};
    DeviceSnapshot snapshot;
    snapshot.topology = std::make_shared<Topology>(std::move(catalog), 1);
    snapshot.data = {.counters_per_block = events, .blocks = {{}, {.vm = 1}}};
    snapshot.data.counters.assign(2 * events, 1);
    for (uint64_t publication = 1; publication <= snapshots; ++publication) {
      snapshot.publication = publication;
      snapshot.data.reference_time_ns += 1'000'000'000;
      snapshot.host_time = absl::FromUnixSeconds(1'800'000'000 + static_cast<int64_t>(publication));
      world_.store.Publish(0, std::make_shared<DeviceSnapshot>(snapshot));
    }
  }
};

TEST_F(LargeHistoryTest, AnAnswerThatIsTooLargeHasALongerStep) {
  PublishLarge(4000, 600);
  const auto response = Ask("ops");
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(response->step().seconds(), 15);
  EXPECT_LE(response->ByteSizeLong(), kHistoryAnswerBytesMax);
  EXPECT_GE(response->devices(0).points_size(), 38);
  GetHistoryRequest one = Of("vm0");
  one.mutable_filter()->add_events("event_7");
  EXPECT_EQ(Device("tenant-a", one).points_size(), 600);
  EXPECT_FALSE(Ask("tenant-a", one)->has_step());
}

}  // namespace

}  // namespace sideband::daemon
