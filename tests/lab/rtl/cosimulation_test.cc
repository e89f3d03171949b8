// SPDX-License-Identifier: Apache-2.0
//
// Laws R11 and R8 (registers.md, "Laws"): the registers of the RTL and of the model agree in every cycle of random
// accesses, and no client waits longer for others than it may.
#include "tests/lab/rtl/cosimulation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <ostream>
#include <random>
#include <vector>

namespace sideband::rtl {

void PrintTo(const Observation& seen, std::ostream* out) {
  for (const ClientView& client : seen.clients) {
    *out << std::hex << "hpcc " << client.hpcc << " hpcm " << client.hpcm << " hpcr+4 " << client.hpcr_high
         << " result " << client.result << " fault " << client.fault << "; ";
  }
  for (const auto& client : seen.granted) *out << " granted to " << (client ? static_cast<int>(*client) : -1);
}

namespace {

using mcu::HpcHalf;
using mcu::HpcPrivilege;
using mcu::HpcRegister;

// Random programs, context switches and events, as a function of the seed. From time to time each client changes what
// it does: nothing, readings from begin to end, anything at all, or a flood of requests that it cancels.
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

// Law R8 (registers.md, "Laws"): how long requests wait for those of other clients, and how often clients that always
// ask are granted.
class Fairness {
 public:
  Fairness(size_t clients, mcu::HpcTiming timing) : clients_(clients), timing_(timing) {}

  void Step(const std::vector<ModelReadPath::Sent>& sent, const decltype(Observation::granted)& granted,
            const decltype(Stimulus::switches)& switches);

  // Waits beyond the bound, and differences of more than one grant.
  uint64_t violations() const { return violations_; }
  uint64_t wait_bound() const;
  // The longest wait for other clients, in cycles.
  uint64_t longest_wait() const { return longest_wait_; }
  // The most grants of a client while it and another asked in every cycle.
  uint64_t longest_contest() const { return longest_contest_; }

 private:
  struct Queue {
    std::deque<uint64_t> arrivals;  // of the requests that are not granted yet
    uint64_t waited = 0;            // the first of them for other clients
  };
  struct Port {
    std::array<Queue, kClients> queues;
    // [a][b]: the grants of a since a and b have asked in every cycle.
    std::array<std::array<uint64_t, kClients>, kClients> grants{};
    size_t last_granted = kClients;
  };

  bool Asks(const Queue& queue) const { return !queue.arrivals.empty() && queue.arrivals.front() <= cycle_; }
  void EndContests(Port& port);
  void Grant(Port& port, size_t client);
  void Wait(Port& port);

  const size_t clients_;
  const mcu::HpcTiming timing_;
  uint64_t cycle_ = 0;
  std::array<Port, kManagers> ports_;
  uint64_t violations_ = 0, longest_wait_ = 0, longest_contest_ = 0;
};

uint64_t Fairness::wait_bound() const {
  return (clients_ - 1) * (uint64_t{hpc::kCountersPerManager} * timing_.lookup_cycles + 2 * timing_.hop_cycles);
}

void Fairness::EndContests(Port& port) {
  for (size_t a = 0; a < kClients; ++a) {
    for (size_t b = 0; b < kClients; ++b) {
      if (!Asks(port.queues[a]) || !Asks(port.queues[b])) port.grants[a][b] = 0;
    }
  }
}

void Fairness::Grant(Port& port, size_t client) {
  Queue& queue = port.queues[client];
  longest_wait_ = std::max(longest_wait_, queue.waited);
  violations_ += queue.waited > wait_bound();
  for (size_t other = 0; other < kClients; ++other) {
    if (other == client || !Asks(port.queues[other])) continue;
    const uint64_t grants = ++port.grants[client][other];
    longest_contest_ = std::max(longest_contest_, grants);
    violations_ += grants > port.grants[other][client] + 1;
  }
  queue.arrivals.pop_front();
  queue.waited = 0;
  port.last_granted = client;
}

// A manager that is not granted although a client asks is busy with the last granted.
void Fairness::Wait(Port& port) {
  for (size_t client = 0; client < kClients; ++client) {
    if (client != port.last_granted && Asks(port.queues[client])) ++port.queues[client].waited;
  }
}

void Fairness::Step(const std::vector<ModelReadPath::Sent>& sent, const decltype(Observation::granted)& granted,
                    const decltype(Stimulus::switches)& switches) {
  for (const auto& [client, manager] : sent) {
    ports_[manager].queues[client].arrivals.push_back(cycle_ + timing_.hop_cycles);
  }
  for (size_t manager = 0; manager < kManagers; ++manager) {
    Port& port = ports_[manager];
    EndContests(port);
    if (granted[manager]) Grant(port, *granted[manager]);
    Wait(port);
    for (size_t client = 0; client < kClients; ++client) {
      if (switches[client]) port.queues[client] = {};
    }
  }
  ++cycle_;
}

// The events that runs have reached: a run in which nothing happens would prove nothing.
struct Reached {
  uint64_t values = 0, readerrors = 0, refusals = 0, faults = 0, grants = 0, aborted = 0, switches = 0;

  void Add(const Stimulus& stimulus, const Observation& seen) {
    for (size_t client = 0; client < kClients; ++client) {
      const auto& access = stimulus.accesses[client];
      const ClientView& view = seen.clients[client];
      if (access) AddAccess(*access, view);
      faults += view.fault;
      const bool under_way = (view.hpcc & hpc::kHpccTrigger) != 0;
      switches += under_way && stimulus.switches[client];
    }
    for (const auto& client : seen.granted) grants += client.has_value();
  }

  void AddAccess(const Access& access, const ClientView& view) {
    const bool pop = !access.write && access.which == mcu::HpcRegister::kHpcr && access.half != mcu::HpcHalf::kHigh;
    const bool empty = (view.hpcc & hpc::kHpccEmpty) != 0;
    values += pop && !empty;
    readerrors += pop && empty;
    const bool cancel = access.write && access.which == mcu::HpcRegister::kHpcc && access.half != mcu::HpcHalf::kHigh &&
                        (access.data & hpc::kHpccTrigger) == 0;
    aborted += cancel && (view.hpcc & hpc::kHpccTrigger) != 0;
    refusals += (view.hpcc & hpc::kHpccRefused) != 0;
  }
};

// Runs the RTL and the model side by side. The test has failed fatally if they differ.
void RunBoth(const std::function<Stimulus()>& next, uint32_t lookup_cycles, uint64_t cycles, Fairness& fairness,
             Reached& reached) {
  RtlReadPath rtl(lookup_cycles);
  ModelReadPath model(lookup_cycles);
  for (uint64_t cycle = 0; cycle < cycles; ++cycle) {
    const Stimulus stimulus = next();
    const Observation seen = rtl.Step(stimulus);
    ASSERT_EQ(seen, model.Step(stimulus)) << "cycle " << cycle;
    fairness.Step(model.sent(), seen.granted, stimulus.switches);
    reached.Add(stimulus, seen);
  }
  EXPECT_EQ(fairness.violations(), 0u) << "a wait of " << fairness.longest_wait() << " for others, at most "
                                       << fairness.wait_bound() << "; or a difference of more than one grant";
}

TEST(CosimulationTest, RegistersAgreeInEveryCycle) {
  Reached reached;
  for (uint32_t lookup_cycles = 1; lookup_cycles <= 16; ++lookup_cycles) {
    for (size_t clients = 1; clients <= kClients; ++clients) {
      const uint64_t seed = 100 * lookup_cycles + clients;
      SCOPED_TRACE(testing::Message() << "seed " << seed);
      RandomAccesses random(seed, clients);
      Fairness fairness(clients, {.lookup_cycles = lookup_cycles});
      RunBoth([&] { return random.Next(); }, lookup_cycles, 16000, fairness, reached);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(reached.values, 10000u);
  EXPECT_GT(reached.readerrors, 10000u);
  EXPECT_GT(reached.refusals, 10000u);
  EXPECT_GT(reached.faults, 1000u);
  EXPECT_GT(reached.grants, 5000u);
  EXPECT_GT(reached.aborted, 1000u);
  EXPECT_GT(reached.switches, 100u);
}

// All clients ask manager 0 for all its counters, cancel, and ask again at once: two requests of each are under way.
Stimulus Flood(size_t clients, uint64_t cycle) {
  constexpr auto kPrivilege = mcu::HpcPrivilege::kFirmware;
  const Access steps[] = {
      {.write = true, .which = mcu::HpcRegister::kHpcm, .privilege = kPrivilege, .data = ~uint64_t{0}},
      {.write = true, .which = mcu::HpcRegister::kHpcc, .privilege = kPrivilege, .data = hpc::kHpccTrigger},
      {.write = true, .which = mcu::HpcRegister::kHpcc, .privilege = kPrivilege, .data = 0}};
  Stimulus stimulus;
  stimulus.events = cycle;
  for (size_t client = 0; client < clients; ++client) stimulus.accesses[client] = steps[cycle % 3];
  return stimulus;
}

TEST(CosimulationTest, ClientsThatAlwaysAskTakeTurns) {
  for (const uint32_t lookup_cycles : {1u, 4u}) {
    for (size_t clients = 2; clients <= kClients; ++clients) {
      Fairness fairness(clients, {.lookup_cycles = lookup_cycles});
      Reached reached;
      uint64_t cycle = 0;
      RunBoth([&] { return Flood(clients, cycle++); }, lookup_cycles, 20000, fairness, reached);
      if (HasFatalFailure()) return;
      EXPECT_GE(fairness.longest_wait(), (clients - 1) * hpc::kCountersPerManager * lookup_cycles);
      const uint64_t turns = 20000 / (clients * hpc::kCountersPerManager * lookup_cycles);
      EXPECT_GE(fairness.longest_contest(), turns - 1);
    }
  }
}

}  // namespace

}  // namespace sideband::rtl
