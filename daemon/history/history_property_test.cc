// SPDX-License-Identifier: Apache-2.0
//
// Invariants of the history under arbitrary sequences of publications.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>
#include <set>

#include "daemon/history/fake_life.h"
#include "daemon/history/history.h"

namespace sideband::daemon {
namespace {

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
