// SPDX-License-Identifier: Apache-2.0
#include "daemon/history/history.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <set>
#include <thread>

#include "daemon/collector/confidentiality.h"
#include "daemon/history/fake_life.h"
#include "daemon/history/sensor_history.h"
#include "daemon/snapshot/fake_topology.h"

namespace sideband::daemon {
namespace {

size_t Frames(const History& history, size_t device) {
  size_t frames = 0;
  for (const ChunkView& view : history.Chunks(device)) frames += view.frames;
  return frames;
}

size_t DeviceBytes(const History& history, size_t device) {
  size_t bytes = 0;
  for (const ChunkView& view : history.Chunks(device)) bytes += view.footprint();
  return bytes;
}

TEST(HistoryTest, StartsWithNothing) {
  const History history({.max_bytes = 1 << 20}, 2);
  EXPECT_TRUE(history.Chunks(0).empty());
  EXPECT_EQ(history.Span(1), absl::ZeroDuration());
  EXPECT_LT(history.bytes(), 2'000u);
}

TEST(HistoryTest, FollowsTheStore) {
  Store store({{"gpu0", absl::Seconds(1)}});
  History history({}, 1);
  store.AddListener(history);
  FakeLife life(1, 3, 0);
  for (int i = 0; i < 10; ++i) store.Publish(0, life.Next());
  store.RemoveListener(history);
  store.Publish(0, life.Next());
  EXPECT_EQ(Frames(history, 0), 10u);
}

TEST(HistoryTest, OldTimeGetsCoarser) {
  History history({.max_bytes = 256 << 10}, 1);
  FakeLife life(1, 8, 0);
  for (int i = 0; i < 20'000; ++i) history.OnPublish(0, life.Next());
  std::vector<uint32_t> tiers;
  for (const ChunkView& view : history.Chunks(0)) {
    if (tiers.empty() || tiers.back() != view.every) tiers.push_back(view.every);
  }
  EXPECT_EQ(tiers, (std::vector<uint32_t>{60, 10, 1}));
  EXPECT_GT(history.bytes(), (256u << 10) * 9 / 10) << "memory is used";
}

TEST(HistoryTest, TooLittleMemoryHoldsNothing) {
  History history({.max_bytes = 100}, 1);
  FakeLife life(1, 8, 0.5);
  for (int i = 0; i < 100; ++i) history.OnPublish(0, life.Next());
  EXPECT_EQ(Frames(history, 0), 0u);
}

TEST(HistoryTest, ADeviceThatHasNothingNewLeavesItsShareToOthers) {
  constexpr size_t kMaxBytes = 512 << 10;
  History history({.max_bytes = kMaxBytes}, 3);
  FakeLife quiet(1, 1, 0), busy(2, 16, 0), busier(3, 64, 0);
  for (int i = 0; i < 3000; ++i) {
    if (i < 50) history.OnPublish(0, quiet.Next());
    history.OnPublish(1, busy.Next());
    history.OnPublish(2, busier.Next());
  }
  EXPECT_EQ(Frames(history, 0), 50u) << "who holds less than its share loses nothing";
  EXPECT_GT(DeviceBytes(history, 1), kMaxBytes * 4 / 10);
  EXPECT_GT(DeviceBytes(history, 2), kMaxBytes * 4 / 10);
}

std::vector<int64_t> Publications(const History& history, size_t device) {
  std::vector<int64_t> publications;
  for (const ChunkView& view : history.Chunks(device)) {
    for (ChunkReader reader(view); reader.Next();) publications.push_back(reader.header().publication);
  }
  return publications;
}

// Even if memory was just freed for another device from a chunk that was still open.
TEST(HistoryTest, TheLastSnapshotBeforeAChangeIsKept) {
  History history({.max_bytes = 15 << 10}, 2);
  FakeLife life(1, 16, 0), other(2, 2, 0);
  std::shared_ptr<const DeviceSnapshot> last;
  for (int i = 0; i < 13; ++i) history.OnPublish(0, last = life.Next());
  ASSERT_NE(last->publication % 10, 0u);
  history.OnPublish(1, other.Next());
  EXPECT_LT(Frames(history, 0), 13u) << "the other device has made it coarser";
  EXPECT_EQ(Publications(history, 0).back(), static_cast<int64_t>(last->publication));
}

TEST(HistoryTest, TopologiesCount) {
  mailbox::Catalog catalog = SomeCatalog(false);
  catalog.events[0].description.assign(50'000, 'x');
  History history({.max_bytes = 1 << 20}, 1);
  for (uint64_t i = 1; i <= 100; ++i) {
    auto snapshot = std::make_shared<DeviceSnapshot>();
    catalog.device.bytes[0] = static_cast<uint8_t>(i);
    snapshot->topology = std::make_shared<Topology>(catalog, static_cast<uint32_t>(i));
    snapshot->data = SomeSnapshot();
    snapshot->publication = i;
    history.OnPublish(0, snapshot);
    ASSERT_LE(history.bytes(), 1u << 20);
  }
  EXPECT_LE(Frames(history, 0), 20u);
  EXPECT_GE(Frames(history, 0), 10u);
}

// Any VM's plan may change: it must cost others nothing of their past.
TEST(HistoryTest, PlansOfTurnsBeginNoChunk) {
  mailbox::Catalog catalog = RotatingCatalog();
  History history({}, 1);
  for (uint64_t i = 1; i <= 20; ++i) {
    catalog.plans.push_back({.number = static_cast<uint16_t>(i), .sets = {{0b0110}}});
    auto snapshot = std::make_shared<DeviceSnapshot>(
        RotatingSnapshot(std::make_shared<Topology>(catalog, static_cast<uint32_t>(i))));
    snapshot->publication = i;
    history.OnPublish(0, snapshot);
  }
  ASSERT_EQ(history.Chunks(0).size(), 1u);
  EXPECT_EQ(history.Chunks(0)[0].frames, 20u);
  catalog.events[0].unit = "bytes";
  history.OnPublish(0, std::make_shared<DeviceSnapshot>(RotatingSnapshot(std::make_shared<Topology>(catalog, 21))));
  EXPECT_EQ(history.Chunks(0).size(), 2u) << "counters mean something else";
}

// The history receives published snapshots only; Redact() has removed the counters of confidential VMs before.
TEST(HistoryTest, NothingOfAConfidentialVmIsThere) {
  const auto topology = std::make_shared<Topology>(SomeCatalog(/*with_secret=*/true), 77);
  mailbox::Snapshot raw = SomeSnapshot();
  constexpr uint64_t kSecret = 0x5EC2E7;
  std::fill(raw.counters.begin() + 6, raw.counters.end(), kSecret);  // the secret VM's two blocks
  raw.counters[0] += kSecret;
  auto snapshot = std::make_shared<DeviceSnapshot>();
  snapshot->topology = topology;
  Redacted redacted = Redact(*topology, std::move(raw), nullptr, {.generation = 1, .is_first_of_boot = false});
  snapshot->data = std::move(redacted.shown);
  snapshot->device_scope_withheld = redacted.device_scope_withheld;
  snapshot->publication = 1;
  History history({}, 1);
  history.OnPublish(0, snapshot);
  const ChunkView view = history.Chunks(0).at(0);
  for (const Layout::Row& row : view.layout().rows) EXPECT_NE(row.vm, kSecretVm);
  ChunkReader reader(view);
  ASSERT_TRUE(reader.Next());
  for (size_t row = 0; row < view.layout().rows.size(); ++row) {
    for (size_t event = 0; event < 2; ++event) EXPECT_LT(reader.Count(row, event), kSecret);
  }
  EXPECT_FALSE(view.layout().IsShown(0, 1)) << "a device-scope event on the device's row";
}

TEST(HistoryTest, ReadersAndCollectorsDoNotDisturbEachOther) {
  History history({.max_bytes = 128 << 10}, 2);
  std::atomic<bool> stop = false;
  std::jthread reader([&] {
    while (!stop) {
      for (size_t device : {0, 1}) {
        uint64_t last = 0;
        for (const ChunkView& view : history.Chunks(device)) {
          uint32_t frames = 0;
          for (ChunkReader chunk(view); chunk.Next(); ++frames) {
            EXPECT_GT(chunk.header().publication, last);
            last = chunk.header().publication;
          }
          EXPECT_EQ(frames, view.frames);
        }
      }
    }
  });
  {
    std::vector<std::jthread> collectors;
    for (uint32_t device : {0, 1}) {
      collectors.emplace_back([&history, device] {
        FakeLife life(device, 8, 0.01);
        for (int i = 0; i < 5000; ++i) history.OnPublish(device, life.Next());
      });
    }
  }
  stop = true;
}

TEST(HistoryTest, AChunkOutlivesItsEviction) {
  History history({.max_bytes = 64 << 10}, 1);
  FakeLife life(1, 8, 0);
  const auto first = life.Next();
  history.OnPublish(0, first);
  const ChunkView held = history.Chunks(0).at(0);
  for (int i = 0; i < 5000; ++i) history.OnPublish(0, life.Next());
  ChunkReader reader(held);
  ASSERT_TRUE(reader.Next());
  EXPECT_EQ(reader.header(), FrameHeader::Of(*first));
  EXPECT_FALSE(reader.Next()) << "what came later is not in the view";
}

TEST(HistoryTest, ADeviceThatIsRemovedHoldsNothing) {
  History history({.max_bytes = 1 << 20});
  FakeLife life(1, 8, 0);
  for (int i = 0; i < 20; ++i) {
    const auto snapshot = life.Next();
    history.OnPublish(3, snapshot);
    history.OnPublish(7, snapshot);
  }
  const size_t both = history.bytes();
  history.Remove(3);
  EXPECT_TRUE(history.Chunks(3).empty());
  EXPECT_FALSE(history.Chunks(7).empty());
  EXPECT_LT(history.bytes(), both);
  history.Remove(7);
  history.Remove(7);
  EXPECT_EQ(history.bytes(), 0u);
}

// A history of either kind, whose bound is 1 MiB; `publish_once` adds one publication to it.
template <typename AnyHistory, typename PublishOnce>
void ExpectThatTheBoundMayChange(AnyHistory& history, const PublishOnce& publish_once) {
  const auto publish = [&](int times) {
    for (int i = 0; i < times; ++i) publish_once();
  };
  publish(5000);
  ASSERT_GT(history.bytes(), size_t{32} << 10);
  history.SetMaxBytes(32 << 10);
  EXPECT_LE(history.bytes(), size_t{32} << 10);
  EXPECT_FALSE(history.Chunks(0).empty()) << "the newest stays";
  publish(100);
  EXPECT_LE(history.bytes(), size_t{32} << 10);
  history.SetMaxBytes(0);
  publish(10);
  EXPECT_TRUE(history.Chunks(0).empty());
  EXPECT_EQ(history.bytes(), 0u);
  history.SetMaxBytes(1 << 20);
  publish(100);
  EXPECT_FALSE(history.Chunks(0).empty()) << "from then on";
}

TEST(HistoryTest, ItsBoundMayChange) {
  History history({.max_bytes = 1 << 20});
  FakeLife life(1, 8, 0);
  ExpectThatTheBoundMayChange(history, [&] { history.OnPublish(0, life.Next()); });
}

TEST(SensorHistoryTest, ItsBoundMayChange) {
  SensorHistory history({.max_bytes = 1 << 20});
  FakeReadings board(1, 0.02);
  ExpectThatTheBoundMayChange(history, [&] { history.OnPublish(0, board.Next()); });
}

using Published = std::map<uint64_t, std::shared_ptr<const DeviceSnapshot>>;  // by publication

struct Held {
  uint32_t every = 0;
  uint64_t publication = 0;
};

void CheckFrame(const ChunkReader& frame, const DeviceSnapshot& published) {
  RC_ASSERT(frame.header() == FrameHeader::Of(published));
  RC_ASSERT(frame.view().layout().Describes(published));
  for (size_t row = 0; row < published.data.blocks.size(); ++row) {
    RC_ASSERT(frame.Status(row) == StatusOf(published.data.blocks[row]));
    for (size_t event = 0; event < published.data.counters_per_block; ++event) {
      RC_ASSERT(frame.Count(row, event) == published.data.Counters(row)[event]);
    }
  }
}

// Checks that every frame equals its publication, and that frames are in order.
std::vector<Held> CheckFrames(const History& history, size_t device, const Published& published) {
  std::vector<Held> held;
  for (const ChunkView& view : history.Chunks(device)) {
    uint32_t frames = 0;
    for (ChunkReader reader(view); reader.Next(); ++frames) {
      const uint64_t publication = reader.header().publication;
      RC_ASSERT((held.empty() || publication > held.back().publication));
      CheckFrame(reader, *published.at(publication));
      RC_ASSERT(view.first <= reader.header().host_time());
      RC_ASSERT(reader.header().host_time() <= view.last);
      held.push_back({view.every, publication});
    }
    RC_ASSERT(frames == view.frames);
  }
  return held;
}

// Checks that, after the oldest frame, only publications that the tier leaves out are missing.
void CheckNothingElseIsMissing(const std::vector<Held>& held, const Published& published) {
  if (held.empty()) return;
  std::map<uint64_t, uint32_t> tiers;
  for (const Held& frame : held) tiers[frame.publication] = frame.every;
  for (auto at = published.lower_bound(held.front().publication); at != published.end(); ++at) {
    // Between two frames the coarser of the two tiers applies.
    const auto after = tiers.lower_bound(at->first);
    if (after != tiers.end() && after->first == at->first) continue;
    // After the last frame its own tier applies: with very little memory even the newest chunk is thinned.
    const uint32_t every = std::prev(after)->second;
    RC_ASSERT(every > 1u);
    RC_ASSERT(at->first % every != 0u);
  }
}

Published PublishAll(History& history, size_t device, FakeLife& life, int count) {
  Published published;
  for (int i = 0; i < count; ++i) {
    const auto snapshot = life.Next();
    published[snapshot->publication] = snapshot;
    history.OnPublish(device, snapshot);
    RC_ASSERT(history.bytes() <= history.max_bytes());
  }
  return published;
}

double SomeTurbulence() { return *rc::gen::element(0.0, 0.01, 0.1, 1.0); }

TEST(HistoryPropertyTest, WithRoomEverythingIsHeld) {
  EXPECT_TRUE(rc::check([] {
    FakeLife life(*rc::gen::arbitrary<uint32_t>(), *rc::gen::inRange<uint32_t>(0, 9), SomeTurbulence());
    History history({.max_bytes = 64 << 20}, 1);
    const Published published = PublishAll(history, 0, life, *rc::gen::inRange(1, 700));
    RC_ASSERT(CheckFrames(history, 0, published).size() == published.size());
  }));
}

TEST(HistoryPropertyTest, WithoutRoomTheOldestGoes) {
  EXPECT_TRUE(rc::check([] {
    FakeLife life(*rc::gen::arbitrary<uint32_t>(), *rc::gen::inRange<uint32_t>(1, 9), SomeTurbulence());
    History history({.max_bytes = *rc::gen::inRange<size_t>(1 << 10, 200 << 10)}, 1);
    const Published published = PublishAll(history, 0, life, *rc::gen::inRange(1, 3000));
    const std::vector<Held> held = CheckFrames(history, 0, published);
    CheckNothingElseIsMissing(held, published);
    for (size_t i = 1; i < held.size(); ++i) RC_ASSERT(held[i].every <= held[i - 1].every);
  }));
}

TEST(HistoryPropertyTest, DevicesAreApart) {
  EXPECT_TRUE(rc::check([] {
    History history({.max_bytes = *rc::gen::inRange<size_t>(32 << 10, 200 << 10)}, 3);
    std::vector<FakeLife> lives;
    for (int i = 0; i < 3; ++i) lives.emplace_back(*rc::gen::arbitrary<uint32_t>(), 1 + i * 4, 0.02);
    std::vector<Published> published(3);
    const auto turns = *rc::gen::container<std::vector<uint8_t>>(1500, rc::gen::arbitrary<uint8_t>());
    for (const uint8_t turn : turns) {
      const size_t device = turn % 3;
      published[device].merge(PublishAll(history, device, lives[device], 1));
    }
    for (size_t device = 0; device < 3; ++device) {
      CheckNothingElseIsMissing(CheckFrames(history, device, published[device]), published[device]);
    }
  }));
}

// Wherever counters may end, the final snapshot is kept as long as anything of that age is kept.
TEST(HistoryPropertyTest, FinalCountsAreKept) {
  EXPECT_TRUE(rc::check([] {
    FakeLife life(*rc::gen::arbitrary<uint32_t>(), 3, 0.01);
    History history({.max_bytes = 64 << 10}, 1);
    const Published published = PublishAll(history, 0, life, 3000);
    std::set<uint64_t> held;
    for (const Held& frame : CheckFrames(history, 0, published)) held.insert(frame.publication);
    RC_PRE(!held.empty());
    for (auto at = published.lower_bound(*held.begin()); std::next(at) != published.end(); ++at) {
      if (!Layout::Of(*at->second).Describes(*std::next(at)->second)) RC_ASSERT(held.count(at->first) == 1u);
    }
  }));
}

}  // namespace

}  // namespace sideband::daemon
