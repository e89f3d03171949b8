// SPDX-License-Identifier: Apache-2.0
//
// Generates snapshots of a device from a seed, with all kinds of changes: counters that stand still, creep and leap,
// VMs that come and go, reused VM ids, new catalogues and generations, flags, restarts, a host clock that is set back.
//   FakeLife life(/*seed=*/7, /*events=*/4);
//   for (int i = 0; i < 100; ++i) history.OnPublish(0, life.Next());
#ifndef SIDEBAND_DAEMON_HISTORY_FAKE_LIFE_H_
#define SIDEBAND_DAEMON_HISTORY_FAKE_LIFE_H_

#include <cstdint>
#include <memory>
#include <random>

#include "daemon/snapshot/device_snapshot.h"

namespace sideband::daemon {

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

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_HISTORY_FAKE_LIFE_H_
