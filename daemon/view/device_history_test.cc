// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/device_history.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daemon/history/frame.h"
#include "daemon/view/fake_world.h"

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

  // As History keeps them: a chunk per layout, of multiples of `every` and the last before a change of layout.
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

}  // namespace
}  // namespace sideband::daemon
