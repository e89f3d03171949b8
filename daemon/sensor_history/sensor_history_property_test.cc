// SPDX-License-Identifier: Apache-2.0
//
// Invariants of the history under arbitrary sequences of readings.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <bit>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "daemon/sensor_history/fake_readings.h"
#include "daemon/sensor_history/sensor_history.h"
#include "daemon/sensors/board_series.h"
#include "daemon/sensors/sensor_families.h"

namespace sideband::daemon {
namespace {

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

// As a front end takes them.
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
    if (family.group != group || family.name == kSampleAges) continue;
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

Past Held(const SensorHistory& history, size_t device) {
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

double SomeTurbulence() { return *rc::gen::element(0.0, 0.01, 0.1, 0.7); }

TEST(SensorHistoryPropertyTest, WithRoomEverythingIsHeld) {
  EXPECT_TRUE(rc::check([] {
    FakeReadings board(*rc::gen::arbitrary<uint32_t>(), SomeTurbulence());
    SensorHistory history({.max_bytes = 64 << 20});
    Past past;
    Publish(history, 0, board, *rc::gen::inRange(1, 2000), past);
    RC_ASSERT(Held(history, 0) == past);
  }));
}

// What is held of a group is its newest readings, without a gap.
TEST(SensorHistoryPropertyTest, WithoutRoomTheOldestGoes) {
  EXPECT_TRUE(rc::check([] {
    FakeReadings board(*rc::gen::arbitrary<uint32_t>(), SomeTurbulence());
    SensorHistory history({.max_bytes = *rc::gen::inRange<size_t>(16 << 10, 200 << 10)});
    Past past;
    Publish(history, 0, board, *rc::gen::inRange(1, 4000), past);
    for (const auto& [group, held] : Held(history, 0)) {
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
    for (const size_t device : {0, 2}) RC_ASSERT(Held(history, device) == pasts[device]);
    RC_ASSERT(Held(history, 1).empty());
  }));
}

}  // namespace
}  // namespace sideband::daemon
