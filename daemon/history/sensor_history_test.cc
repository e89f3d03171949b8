// SPDX-License-Identifier: Apache-2.0
#include "daemon/history/sensor_history.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <atomic>
#include <bit>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "daemon/board/board_store.h"
#include "daemon/board/sensor_families.h"
#include "daemon/history/fake_life.h"

namespace sideband::daemon {
namespace {

using mailbox::PowerSource;

size_t Frames(const SensorHistory& history, size_t device) {
  size_t frames = 0;
  for (const SensorChunkView& view : history.Chunks(device)) frames += view.frames;
  return frames;
}

BoardTime At(int second) { return {absl::Seconds(second), absl::FromUnixSeconds(1'800'000'000 + second)}; }

// A board with a power, and an energy since `created`.
std::shared_ptr<const BoardReading> Reading(int second, std::optional<double> watts, uint64_t millijoules,
                                            absl::Time created = absl::FromUnixSeconds(5)) {
  auto reading = std::make_shared<BoardReading>();
  reading->samples = {{BoardGroup::kPower, At(second)}, {BoardGroup::kEnergy, At(second)}};
  if (watts) reading->power.watts[PowerSource::kTotal] = *watts;
  reading->energy.millijoules[PowerSource::kTotal] = {.value = millijoules, .created = created};
  return reading;
}

// The values of the only sensor of a group, by second.
std::map<int, SensorValue> ValuesOf(const SensorHistory& history, BoardGroup group) {
  std::map<int, SensorValue> values;
  for (const SensorChunkView& view : history.Chunks(0)) {
    if (view.layout().group != group) continue;
    EXPECT_EQ(view.layout().series.size(), 1u);
    for (SensorChunkReader reader(view); reader.Next();) {
      const auto second = static_cast<int>(absl::ToUnixSeconds(reader.frame().time()) - 1'800'000'000);
      const SensorValue value = reader.frame().Value(0);
      if (value.form != ValueForm::kAbsent) values[second] = value;
    }
  }
  return values;
}

TEST(SensorHistoryTest, FollowsTheStore) {
  BoardStore boards;
  SensorHistory history({});
  boards.SetSettings(0, {.is_read = true});
  boards.AddListener(history);
  boards.Publish(0, Reading(1, 250, 10));
  boards.Publish(0, Reading(2, 251, 11));
  boards.RemoveListener(history);
  boards.Publish(0, Reading(3, 252, 12));
  EXPECT_EQ(Frames(history, 0), 4u) << "two groups";
  EXPECT_EQ(history.Span(0), absl::Seconds(1));
  EXPECT_EQ(history.Span(1), absl::ZeroDuration());
}

TEST(SensorHistoryTest, AGroupThatWasNotReadAgainHasNoOtherSample) {
  SensorHistory history({});
  history.OnPublish(0, Reading(1, 250, 10));
  auto later = std::make_shared<BoardReading>(*Reading(1, 250, 10));
  later->samples[BoardGroup::kEnergy] = At(2);
  history.OnPublish(0, later);
  EXPECT_EQ(ValuesOf(history, BoardGroup::kPower).size(), 1u);
  EXPECT_EQ(ValuesOf(history, BoardGroup::kEnergy).size(), 2u);
}

TEST(SensorHistoryTest, WhatIsUnknownIsAHole) {
  SensorHistory history({});
  for (int second = 1; second <= 5; ++second) {
    history.OnPublish(0, Reading(second, second == 3 ? std::nullopt : std::optional(200.0 + second), 10));
  }
  const auto values = ValuesOf(history, BoardGroup::kPower);
  ASSERT_EQ(values.size(), 4u);
  EXPECT_FALSE(values.contains(3));
  EXPECT_EQ(GaugeOf(values.at(2)), 202);
  EXPECT_EQ(GaugeOf(values.at(4)), 204);
  EXPECT_EQ(history.Chunks(0).size(), 2u) << "a hole begins no chunk";
}

TEST(SensorHistoryTest, ACounterBeginsAnew) {
  SensorHistory history({});
  history.OnPublish(0, Reading(1, 250, UINT64_MAX));
  history.OnPublish(0, Reading(2, 250, 3, absl::FromUnixSeconds(1'800'000'002)));
  const auto values = ValuesOf(history, BoardGroup::kEnergy);
  EXPECT_EQ(values.at(1).word, UINT64_MAX);
  EXPECT_EQ(values.at(1).created_ns, 5'000'000'000u);
  EXPECT_EQ(values.at(2).word, 3u);
  EXPECT_EQ(values.at(2).created_ns, 1'800'000'002'000'000'000u);
}

TEST(SensorHistoryTest, ASensorMoreBeginsAChunk) {
  SensorHistory history({});
  history.OnPublish(0, Reading(1, 250, 10));
  auto more = std::make_shared<BoardReading>(*Reading(2, 250, 10));
  more->power.watts[PowerSource::kMemory] = 15;
  history.OnPublish(0, more);
  size_t power = 0;
  for (const SensorChunkView& view : history.Chunks(0)) power += view.layout().group == BoardGroup::kPower ? 1 : 0;
  EXPECT_EQ(power, 2u);
}

TEST(SensorHistoryTest, BoardsOfAModelShareTheirLayouts) {
  SensorHistory history({});
  history.OnPublish(0, Reading(1, 250, 10));
  history.OnPublish(1, Reading(1, 260, 20));
  EXPECT_EQ(history.Chunks(0)[0].chunk->layout, history.Chunks(1)[0].chunk->layout);
  const size_t both = history.bytes();
  history.Remove(0);
  EXPECT_EQ(Frames(history, 0), 0u);
  EXPECT_EQ(Frames(history, 1), 2u);
  EXPECT_GT(history.bytes(), both / 4);
  EXPECT_LT(history.bytes(), both);
  history.Remove(1);
  history.Remove(1);
  EXPECT_EQ(history.bytes(), 0u);
}

TEST(SensorHistoryTest, TheOldestGoesFirst) {
  constexpr size_t kMaxBytes = 16 << 10;
  SensorHistory history({.max_bytes = kMaxBytes});
  constexpr int kReadings = 20'000;
  for (int second = 1; second <= kReadings; ++second) {
    history.OnPublish(0, Reading(second, 200 + second % 7, 1000 * second));
    ASSERT_LE(history.bytes(), kMaxBytes);
  }
  for (const BoardGroup group : {BoardGroup::kPower, BoardGroup::kEnergy}) {
    const auto values = ValuesOf(history, group);
    ASSERT_FALSE(values.empty());
    EXPECT_EQ(values.rbegin()->first, kReadings);
    EXPECT_EQ(values.size(), static_cast<size_t>(kReadings - values.begin()->first + 1)) << "without gaps";
  }
  EXPECT_GT(history.bytes(), kMaxBytes / 2) << "memory is used";
}

TEST(SensorHistoryTest, ABoardWithLittleLosesNothing) {
  SensorHistory history({.max_bytes = 64 << 10});
  FakeReadings busy(1, 0);
  for (int second = 1; second <= 20; ++second) history.OnPublish(0, Reading(second, 200 + second, 1000 * second));
  for (int i = 0; i < 20'000; ++i) history.OnPublish(1, busy.Next());
  EXPECT_EQ(Frames(history, 0), 40u);
}

TEST(SensorHistoryTest, TooLittleMemoryHoldsNothing) {
  for (const size_t max_bytes : {0, 100, 5000}) {
    SensorHistory history({.max_bytes = max_bytes});
    FakeReadings board(1, 0.2);
    for (int i = 0; i < 500; ++i) {
      for (const size_t device : {0, 1, 2}) history.OnPublish(device, board.Next());
      ASSERT_LE(history.bytes(), max_bytes);
    }
  }
}

TEST(SensorHistoryTest, ACutIsBetweenChunks) {
  SensorHistory history({});
  history.OnPublish(0, Reading(1, 250, 10));
  const uint64_t place = history.Cut();
  EXPECT_EQ(history.Cut(), place);
  history.OnPublish(0, Reading(2, 251, 11));
  ASSERT_EQ(history.Chunks(0).size(), 4u);
  for (const SensorChunkView& view : history.Chunks(0)) {
    EXPECT_EQ(view.frames, 1u);
    EXPECT_EQ(view.newest > place, view.first == At(2).wall);
  }
}

TEST(SensorHistoryTest, AChunkOutlivesItsEviction) {
  SensorHistory history({.max_bytes = 16 << 10});
  history.OnPublish(0, Reading(1, 250, 10));
  const SensorChunkView held = history.Chunks(0).at(0);
  for (int second = 2; second <= 20'000; ++second) history.OnPublish(0, Reading(second, 200 + second % 7, second));
  SensorChunkReader reader(held);
  ASSERT_TRUE(reader.Next());
  EXPECT_EQ(reader.frame().time(), At(1).wall);
  EXPECT_FALSE(reader.Next()) << "what came later is not in the view";
}

TEST(SensorHistoryTest, ReadersAndCollectorsDoNotDisturbEachOther) {
  SensorHistory history({.max_bytes = 64 << 10});
  std::atomic<bool> stop = false;
  std::jthread reader([&] {
    while (!stop) {
      for (size_t device : {0, 1}) {
        for (const SensorChunkView& view : history.Chunks(device)) {
          uint32_t frames = 0;
          for (SensorChunkReader chunk(view); chunk.Next();) ++frames;
          EXPECT_EQ(frames, view.frames);
        }
      }
    }
  });
  {
    std::vector<std::jthread> collectors;
    for (uint32_t device : {0, 1}) {
      collectors.emplace_back([&history, device] {
        FakeReadings board(device, 0.02);
        for (int i = 0; i < 5000; ++i) history.OnPublish(device, board.Next());
      });
    }
  }
  stop = true;
}

// The bits of a gauge, or a count and when it began.
using Number = std::tuple<uint64_t, std::optional<absl::Time>>;
// By name and labels.
using Values = std::map<std::string, Number>;
struct Shot {
  absl::Time time;
  Values values;
  bool operator==(const Shot&) const = default;
};
using Past = std::map<BoardGroup, std::vector<Shot>>;

std::string KeyOf(const std::string& name, const auto& labels) {
  std::string key = name;
  for (const auto& [label, value] : labels) absl::StrAppend(&key, ",", label, "=", value);
  return key;
}

// Takes the samples as a front end does.
class Shown final : public BoardSeries {
 public:
  Shown(const BoardSight& sight, const SensorFamily& family, Values& out)
      : BoardSeries(sight), family_(family), out_(out) {}

 protected:
  void TakeGauge(SensorLabels labels, double value) override {
    out_[KeyOf(family_.name, labels)] = {std::bit_cast<uint64_t>(value), std::nullopt};
  }
  void TakeCount(SensorLabels labels, const RunningCount& count, uint32_t) override {
    out_[KeyOf(family_.name, labels)] = {count.value, count.created};
  }

 private:
  const SensorFamily& family_;
  Values& out_;
};

Values ShownOf(const BoardReading& reading, BoardGroup group) {
  const BoardPart whole = BoardPart::Whole();
  const BoardSight sight = {reading, whole, absl::ZeroDuration()};
  Values values;
  for (const SensorFamily& family : SensorFamilies()) {
    if (family.GroupIn(reading) != group || family.name == kSampleAges) continue;
    Shown shown(sight, family, values);
    family.write(shown);
  }
  return values;
}

// Publishes readings, and notes what each of them has of the group that was read for it. Readings of groups without any
// value leave nothing to be compared.
void Publish(SensorHistory& history, size_t device, FakeReadings& board, int count, Past& past) {
  std::map<BoardGroup, BoardTime> before;
  for (const auto& [group, shots] : past) {
    if (!shots.empty()) before[group] = {.wall = shots.back().time};
  }
  for (int i = 0; i < count; ++i) {
    const auto reading = board.Next();
    for (const auto& [group, time] : reading->samples) {
      const auto known = before.find(group);
      if (known != before.end() && known->second.wall == time.wall) continue;
      before[group] = time;
      Values values = ShownOf(*reading, group);
      if (!values.empty()) past[group].push_back({time.wall, std::move(values)});
    }
    history.OnPublish(device, reading);
    RC_ASSERT(history.bytes() <= history.max_bytes());
  }
}

Shot ShotOf(const SensorLayout& layout, const SensorFrame& frame) {
  Shot shot{.time = frame.time()};
  for (size_t i = 0; i < layout.series.size(); ++i) {
    const SensorValue value = frame.Value(i);
    if (value.form == ValueForm::kAbsent) continue;
    const SensorSeries& series = layout.series[i];
    const std::string key = KeyOf(series.family->name, series.labels);
    RC_ASSERT(!shot.values.contains(key));
    shot.values[key] = series.is_counter()
                           ? Number{value.word, absl::FromUnixNanos(static_cast<int64_t>(value.created_ns))}
                           : Number{std::bit_cast<uint64_t>(GaugeOf(value)), std::nullopt};
  }
  return shot;
}

Past HeldReadings(const SensorHistory& history, size_t device) {
  Past held;
  for (const SensorChunkView& view : history.Chunks(device)) {
    uint32_t frames = 0;
    for (SensorChunkReader reader(view); reader.Next(); ++frames) {
      RC_ASSERT(view.first <= reader.frame().time());
      RC_ASSERT(reader.frame().time() <= view.last);
      Shot shot = ShotOf(view.layout(), reader.frame());
      if (!shot.values.empty()) held[view.layout().group].push_back(std::move(shot));
    }
    RC_ASSERT(frames == view.frames);
  }
  return held;
}

double SomeBoardTurbulence() { return *rc::gen::element(0.0, 0.01, 0.1, 0.7); }

TEST(SensorHistoryPropertyTest, WithRoomEverythingIsHeld) {
  EXPECT_TRUE(rc::check([] {
    FakeReadings board(*rc::gen::arbitrary<uint32_t>(), SomeBoardTurbulence());
    SensorHistory history({.max_bytes = 64 << 20});
    Past past;
    Publish(history, 0, board, *rc::gen::inRange(1, 2000), past);
    RC_ASSERT(HeldReadings(history, 0) == past);
  }));
}

// The held readings of a group are its newest, without a gap.
TEST(SensorHistoryPropertyTest, WithoutRoomTheOldestGoes) {
  EXPECT_TRUE(rc::check([] {
    FakeReadings board(*rc::gen::arbitrary<uint32_t>(), SomeBoardTurbulence());
    SensorHistory history({.max_bytes = *rc::gen::inRange<size_t>(16 << 10, 200 << 10)});
    Past past;
    Publish(history, 0, board, *rc::gen::inRange(1, 4000), past);
    for (const auto& [group, held] : HeldReadings(history, 0)) {
      const std::vector<Shot>& published = past[group];
      RC_ASSERT(held.size() <= published.size());
      RC_ASSERT(std::equal(held.rbegin(), held.rend(), published.rbegin()));
    }
  }));
}

TEST(SensorHistoryPropertyTest, DevicesAreApart) {
  EXPECT_TRUE(rc::check([] {
    SensorHistory history({.max_bytes = 64 << 20});
    std::vector<FakeReadings> boards;
    for (int i = 0; i < 3; ++i) boards.emplace_back(*rc::gen::arbitrary<uint32_t>(), 0.05);
    std::vector<Past> pasts(3);
    const auto turns = *rc::gen::container<std::vector<uint8_t>>(500, rc::gen::arbitrary<uint8_t>());
    for (const uint8_t turn : turns) Publish(history, turn % 3, boards[turn % 3], 1, pasts[turn % 3]);
    history.Remove(1);
    for (const size_t device : {0, 2}) RC_ASSERT(HeldReadings(history, device) == pasts[device]);
    RC_ASSERT(HeldReadings(history, 1).empty());
  }));
}

}  // namespace

}  // namespace sideband::daemon
