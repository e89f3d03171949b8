// SPDX-License-Identifier: Apache-2.0
#include "tests/lab/rtl/random_accesses.h"

namespace sideband::rtl {
namespace {

using mcu::HpcHalf;
using mcu::HpcPrivilege;
using mcu::HpcRegister;

}  // namespace

Stimulus RandomAccesses::Next() {
  Stimulus stimulus;
  stimulus.events = random_();
  for (size_t client = 0; client < clients_; ++client) {
    if (OneIn(500)) ChangeHabit(programs_[client]);
    stimulus.accesses[client] = NextAccess(programs_[client]);
    if (OneIn(1000)) stimulus.switches[client] = OneIn(2);
  }
  return stimulus;
}

void RandomAccesses::ChangeHabit(Program& program) {
  program = {.habit = static_cast<Habit>(Below(4)),
             .manager = OneIn(2) ? 0 : Below(kManagers),
             .privilege = static_cast<HpcPrivilege>(Below(3))};
}

std::optional<Access> RandomAccesses::NextAccess(Program& program) {
  switch (program.habit) {
    case Habit::kIdle:
      return std::nullopt;
    case Habit::kReading:
      if (OneIn(3)) return ReadingStep(program);
      return std::nullopt;
    case Habit::kAnything:
      if (OneIn(2)) return Anything();
      return std::nullopt;
    case Habit::kFlood:
      return FloodStep(program);
  }
  return std::nullopt;
}

Access RandomAccesses::Write(HpcRegister which, uint64_t data, const Program& program) {
  return {.write = true, .which = which, .privilege = program.privilege, .data = data};
}

// hpcm, trigger, and then hpcc and hpcr until the next request.
Access RandomAccesses::ReadingStep(Program& program) {
  const uint32_t step = program.step++;
  if (step == 0) return Write(HpcRegister::kHpcm, Bitmap(program.manager), program);
  if (step == 1) return Write(HpcRegister::kHpcc, Configuration(program.manager) | hpc::kHpccTrigger, program);
  if (OneIn(80)) program.step = 0;
  return {.which = OneIn(4) ? HpcRegister::kHpcc : HpcRegister::kHpcr};
}

// Requests of all counters as fast as they can be made.
Access RandomAccesses::FloodStep(Program& program) {
  switch (program.step++ % 3) {
    case 0:
      return Write(HpcRegister::kHpcm, BitmapOf(kCounters[program.manager]), program);
    case 1:
      return Write(HpcRegister::kHpcc, Configuration(program.manager) | hpc::kHpccTrigger, program);
    default:
      return Write(HpcRegister::kHpcc, Configuration(program.manager) & ~hpc::kHpccTrigger, program);
  }
}

Access RandomAccesses::Anything() {
  const size_t manager = Below(kManagers);
  Access access{.write = OneIn(2),
                .which = static_cast<HpcRegister>(Below(3)),
                .half = static_cast<HpcHalf>(Below(3)),
                .privilege = static_cast<HpcPrivilege>(Below(3))};
  if (access.which == HpcRegister::kHpcm) {
    access.data = Bitmap(manager);
    if (access.half == HpcHalf::kHigh) access.data >>= 32;
  } else {
    access.data = Configuration(manager) | (OneIn(8) ? 0 : hpc::kHpccTrigger);
    if (OneIn(16)) access.data |= hpc::kHpccInterrupted;
  }
  if (OneIn(10)) access.data = random_();
  return access;
}

uint64_t RandomAccesses::Bitmap(size_t manager) {
  const uint64_t all = BitmapOf(kCounters[manager]);
  switch (Below(8)) {
    case 0:
      return 0;
    case 1:
      return all;
    case 2:
      return random_();
    case 3:
      return all & random_();
    default:
      return all & random_() & random_() & random_();
  }
}

uint64_t RandomAccesses::Configuration(size_t manager) {
  const mcu::HpcManagerId id = kManagerIds[manager];
  uint64_t value = uint64_t{id.module} << hpc::kHpccModuleLsb | uint64_t{id.extend} << hpc::kHpccExtendLsb;
  if (!OneIn(4)) value |= hpc::kHpccUseren;
  if (OneIn(3)) value |= hpc::kHpccStamp;
  return value;
}

}  // namespace sideband::rtl
