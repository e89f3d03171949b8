// SPDX-License-Identifier: Apache-2.0
//
// Laws R11 and R8 (registers.md, "Laws"): the registers of the RTL and of the model agree in every cycle of random
// accesses, and no client waits longer for others than it may.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <ostream>

#include "tests/lab/rtl/fairness.h"
#include "tests/lab/rtl/model_read_path.h"
#include "tests/lab/rtl/random_accesses.h"
#include "tests/lab/rtl/rtl_read_path.h"

namespace sideband::rtl {

void PrintTo(const Observation& seen, std::ostream* out) {
  for (const ClientView& client : seen.clients) {
    *out << std::hex << "hpcc " << client.hpcc << " hpcm " << client.hpcm << " hpcr+4 " << client.hpcr_high
         << " result " << client.result << " fault " << client.fault << "; ";
  }
  for (const auto& client : seen.granted) *out << " granted to " << (client ? static_cast<int>(*client) : -1);
}

namespace {

// What runs have reached: one in which nothing happens would prove nothing.
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
