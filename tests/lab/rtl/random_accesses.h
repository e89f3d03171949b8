// SPDX-License-Identifier: Apache-2.0
//
// Random programs, context switches and events, as a function of the seed. From time to time each client changes what
// it does: nothing, readings from begin to end, anything at all, or a flood of requests that it cancels.
//   RandomAccesses random(seed);
//   const Stimulus stimulus = random.Next();
#ifndef SIDEBAND_TESTS_LAB_RTL_RANDOM_ACCESSES_H_
#define SIDEBAND_TESTS_LAB_RTL_RANDOM_ACCESSES_H_

#include <cstdint>
#include <random>

#include "tests/lab/rtl/cosimulation.h"

namespace sideband::rtl {

class RandomAccesses {
 public:
  // The clients from `clients` on do nothing.
  RandomAccesses(uint64_t seed, size_t clients) : random_(seed), clients_(clients) {}

  Stimulus Next();

 private:
  enum class Habit { kIdle, kReading, kAnything, kFlood };
  struct Program {
    Habit habit = Habit::kIdle;
    uint32_t step = 0;
    size_t manager = 0;
    mcu::HpcPrivilege privilege = mcu::HpcPrivilege::kFirmware;
  };

  uint64_t Below(uint64_t bound) { return random_() % bound; }
  bool OneIn(uint64_t n) { return Below(n) == 0; }
  void ChangeHabit(Program& program);
  std::optional<Access> NextAccess(Program& program);
  Access ReadingStep(Program& program);
  Access FloodStep(Program& program);
  Access Anything();
  uint64_t Bitmap(size_t manager);
  uint64_t Configuration(size_t manager);
  static Access Write(mcu::HpcRegister which, uint64_t data, const Program& program);

  std::mt19937_64 random_;
  const size_t clients_;
  std::array<Program, kClients> programs_{};
};

}  // namespace sideband::rtl

#endif  // SIDEBAND_TESTS_LAB_RTL_RANDOM_ACCESSES_H_
