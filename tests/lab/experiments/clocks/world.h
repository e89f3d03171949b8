// SPDX-License-Identifier: Apache-2.0
//
// Clocks of the experiments: what they do, how long the trigger takes to them, and the packets of their monitors.
//   const World world = DrawWorld({.hertz = 500'000'000, .packets = 1000}, /*seed=*/1);
//   for (const Trigger& trigger : world.triggers) Use(trigger.packet, trigger.sample);
#ifndef SIDEBAND_TESTS_LAB_EXPERIMENTS_CLOCKS_WORLD_H_
#define SIDEBAND_TESTS_LAB_EXPERIMENTS_CLOCKS_WORLD_H_

#include <cstdint>
#include <vector>

#include "proto/clocks/clock_limits.h"
#include "proto/clocks/test_clock.h"
#include "tests/lab/experiments/rivals/rivals.h"

namespace sideband::experiments {

enum class Behaviour : uint8_t { kSteady, kWanders, kSteps, kStops };
inline constexpr Behaviour kBehaviours[] = {Behaviour::kSteady, Behaviour::kWanders, Behaviour::kSteps,
                                            Behaviour::kStops};
const char* NameOf(Behaviour behaviour);

enum class Delays : uint8_t { kUniform, kOneSided };

// The reference clock has 1 GHz, so that its cycles are nanoseconds; a trigger is sent each millisecond.
struct WorldOptions {
  int64_t hertz = 1'000'000'000;
  Behaviour behaviour = Behaviour::kSteady;
  Delays delays = Delays::kUniform;  // of 0 to 50 ns; one-sided: mostly below 5
  int packets = 1000;
  bool announces = true;
};

struct Trigger {
  clocks::ClockPacket packet;
  Sample sample;  // the same for rivals
};

struct World {
  clocks::ClockLimits limits;
  clocks::TestClock clock;
  double nominal_period_ns = 0;
  uint64_t first_edge = 0;  // samples are relative to it
  clocks::Instant first_reference;
  std::vector<Trigger> triggers;

  // On the samples' axis.
  double NanosecondsOf(clocks::Instant instant) const;
  double TrueNanoseconds(uint64_t edge) const;
};

// Off the nominal frequency by 50 ppm at most, and only that is declared of steady clocks. A clock that wanders does so
// by 5 ns in 20 s; one that steps does so three times, by a quarter or less; one that stops, three times for 20 ms.
World DrawWorld(const WorldOptions& options, uint64_t seed);

}  // namespace sideband::experiments

#endif  // SIDEBAND_TESTS_LAB_EXPERIMENTS_CLOCKS_WORLD_H_
