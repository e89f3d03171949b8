// SPDX-License-Identifier: Apache-2.0
//
// V15 of virtual-counters.md on drawn chips, wires and schedules: what a private VM does, and whether it runs at all,
// changes nothing of the device's block and of the out-of-band one. (That these are the sums of the other VMs is V7,
// which laws_test asserts.)
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "tests/lab/laws/laws_case.h"
#include "tests/lab/laws/laws_run.h"

namespace sideband::mcu {
namespace {

constexpr uint32_t kSlices = 2;
constexpr uint32_t kFirstOpen = 2 * kPlacesOfVm;  // the first tenant of VM 3

// VM 1 is private and has slice 0 for itself; VM 2 is private and shares slice 1 with VM 3 by turns.
LawsCase WithPrivateVms(LawsCase test) {
  test.slices = kSlices;
  while (test.collectors.size() <= kSlices) test.collectors.push_back(test.collectors[0]);
  for (uint32_t i = 0; i < test.collectors.size(); ++i) test.collectors[i].channel = i % (kSlices + 1);
  for (uint32_t vm = 0; vm < kVms; ++vm) test.vms[vm].is_private = vm < 2;
  for (uint32_t i = 0; i < test.acts.size(); ++i) {
    CaseAct& act = test.acts[i];
    act.slice = (act.slice + i) % kSlices;
    // The counts of another clock's cycle that is held are the next resident's, if no former one had them.
    if (act.kind == CaseAct::kWithinCycle) act.kind = CaseAct::kLatch;
    if (act.kind != CaseAct::kSwitch || act.tenant >= kTenants) continue;
    act.tenant = act.slice == 0 ? act.tenant % kPlacesOfVm : kPlacesOfVm + act.tenant % (2 * kPlacesOfVm);
  }
  test.out_of_band_commit_period = std::max(1u, test.out_of_band_commit_period);
  // The hypervisor's work is on the same wires, and is no VM's; and what a wrong binding loses is told elsewhere.
  test.host_blocks = test.faults = false;
  return Normalised(test);
}

// The same for VM 3, while the private VMs do something else: other wires, other contexts or none at all, no exits. Of
// a normalised case, which it stays: to normalise it again might change what units can select.
LawsCase WithOtherDeeds(LawsCase test, uint32_t deeds) {
  for (CaseCollector& collector : test.collectors) {
    for (CaseUnit& unit : collector.units) {
      if (collector.channel != 0) continue;
      for (CaseInput& input : unit.inputs) input.wire = (input.wire + deeds) % kWires;
    }
  }
  for (CaseAct& act : test.acts) {
    const bool is_private = act.kind == CaseAct::kSwitch && act.tenant < kFirstOpen;
    const uint32_t other = act.tenant / kPlacesOfVm * kPlacesOfVm + deeds % kPlacesOfVm;
    if (is_private) act.tenant = deeds % 4 == 0 ? kTenants : other;
    if (act.slice == 0 && act.kind >= CaseAct::kExit) act.kind = CaseAct::kEntry;
  }
  return test;
}

LawsRun::Outcome Played(const LawsCase& test) {
  LawsRun run(test, LawsReaders::kNone);
  run.Play();
  return run.outcome();
}

struct Pair {
  LawsRun::Outcome one, other;
};

Pair PlayedWithAndWithoutDeeds(const LawsCase& test) {
  const Pair pair = {Played(test), Played(WithOtherDeeds(test, *rc::gen::inRange(1u, 60u)))};
  const auto& [one, other] = pair;
  RC_CLASSIFY(one.blocks[BlockOf(0)] != other.blocks[BlockOf(0)], "other counts of VM 1");
  RC_CLASSIFY(one.blocks[BlockOf(kFirstOpen)] != EventCounts(test.events), "counts of VM 3");
  return pair;
}

TEST(LawsPrivateTest, TheDeviceIsAFunctionOfTheVmsThatAreNotPrivate) {
  EXPECT_TRUE(rc::check("equal counts and trigger numbers", [] {
    const auto [one, other] = PlayedWithAndWithoutDeeds(*rc::gen::map(AnyCase(), WithPrivateVms));
    RC_ASSERT(one.blocks[0] == other.blocks[0]);
    RC_ASSERT(one.out_of_band == other.out_of_band);
    RC_ASSERT(one.trigger_ids == other.trigger_ids);
  }));
}

// No commit comes while records are under way, and no trigger while an earlier one waits.
LawsCase Unhurried(LawsCase test) {
  test = WithPrivateVms(test);
  test.trigger_period = test.hypervisor_commit_period = 0;
  test.out_of_band_commit_period = kCaseCyclesMax + 1;
  for (CaseCollector& collector : test.collectors) collector.threshold = 0;
  for (CaseAct& act : test.acts) {
    if (act.kind >= CaseAct::kWrittenTrigger && act.kind <= CaseAct::kTriggerGrid) act.kind = CaseAct::kLatch;
  }
  return test;
}

// Flags, sequence and times, too, unless records of the private VM delay others: then these are as late as they would
// be beside any VM.
TEST(LawsPrivateTest, SoIsTheHeaderOfItsBlock) {
  EXPECT_TRUE(rc::check("equal headers and counts", [] {
    const auto [one, other] = PlayedWithAndWithoutDeeds(*rc::gen::map(AnyCase(), Unhurried));
    RC_ASSERT(one.headers[0] == other.headers[0]);
    RC_ASSERT(one.blocks[0] == other.blocks[0]);
    RC_ASSERT(one.out_of_band == other.out_of_band);
  }));
}

}  // namespace
}  // namespace sideband::mcu
