// SPDX-License-Identifier: Apache-2.0
//
// Generates snapshots of a device and readings of a board from a seed, with all kinds of changes.
//   FakeLife life(/*seed=*/7, /*events=*/4);
//   for (int i = 0; i < 100; ++i) history.OnPublish(0, life.Next());
//   FakeReadings board(/*seed=*/7);
//   for (int i = 0; i < 100; ++i) sensors.OnPublish(0, board.Next());
#ifndef SIDEBAND_DAEMON_HISTORY_FAKE_LIFE_H_
#define SIDEBAND_DAEMON_HISTORY_FAKE_LIFE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <random>

#include "daemon/board/board_reading.h"
#include "daemon/snapshot/device_snapshot.h"

namespace sideband::daemon {

// Counters that stand still, creep and leap, VMs that come and go, reused VM ids, new catalogues and generations,
// flags, restarts, a host clock that is set back.
//
// Not thread-safe.
class FakeLife {
 public:
  // `turbulence` is the probability of a layout change per snapshot: 0 never, 1 at about every second snapshot.
  FakeLife(uint32_t seed, uint32_t events, double turbulence = 0.05);

  std::shared_ptr<const DeviceSnapshot> Next();

 private:
  // Returns true with the probability `chance`.
  bool Happens(double chance) { return std::uniform_real_distribution<double>()(random_) < chance; }
  uint64_t UpTo(uint64_t most) { return std::uniform_int_distribution<uint64_t>(0, most)(random_); }
  void Count();
  void ChangeLayout();
  void NewTopology();
  void Restart();

  std::mt19937_64 random_;
  const uint32_t events_;
  const double turbulence_;
  DeviceSnapshot now_;
};

// Readings, one group after another: values that stand still, creep and leap, sensors that come and go, counters that
// restart, resets, a wall clock that is set back.
//
// Not thread-safe.
class FakeReadings {
 public:
  // `turbulence` is the probability that a sensor comes or goes, or a counter restarts, at a reading of its group.
  explicit FakeReadings(uint32_t seed, double turbulence = 0.05);

  // Differs from the one before by one group, or by a reset.
  std::shared_ptr<const BoardReading> Next();

 private:
  bool Happens(double chance) { return std::uniform_real_distribution<double>()(random_) < chance; }
  uint64_t UpTo(uint64_t most) { return std::uniform_int_distribution<uint64_t>(0, most)(random_); }
  // In units of 1/256, 1/1000 or none, as the board's kinds of numbers are.
  double Number();
  void Change(std::optional<double>& value);
  void Change(std::optional<RunningCount>& count);
  template <typename Key, typename Value>
  void Change(std::map<Key, Value>& values, const Key& key);
  void Read(BoardGroup group);
  void ReadMetrics();
  void ReadLinks();
  void Reset();

  std::mt19937_64 random_;
  const double turbulence_;
  BoardTime time_;
  BoardReading now_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_HISTORY_FAKE_LIFE_H_
