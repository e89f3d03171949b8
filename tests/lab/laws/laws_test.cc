// SPDX-License-Identifier: Apache-2.0
//
// The four laws of pipeline.md on drawn chips, wires and schedules (laws_case.h), checked against counts derived from
// the drawn numbers alone (laws_truth.h). A failure prints the shrunk case and the command that repeats it.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "tests/lab/laws/laws_case.h"
#include "tests/lab/laws/laws_run.h"

namespace sideband::mcu {
namespace {

void Holds(const LawsCase& test) {
  LawsRun run(test, LawsReaders::kOnEverySlice);
  run.Play();
  const ChipStats stats = run.stats();
  RC_CLASSIFY(stats.trigger_overruns > 0, "trigger overruns");
  RC_CLASSIFY(stats.threshold_triggers > 0, "threshold triggers");
  RC_CLASSIFY(stats.stall_cycles > 0, "stalls");
  RC_CLASSIFY(run.readings() > 0, "readings by registers");
  RC_CLASSIFY(stats.exits > 0, "exits");
  RC_CLASSIFY(stats.mmu_faults > 0, "MMU faults");
  RC_CLASSIFY(test.host_blocks, "host blocks");
  RC_CLASSIFY(std::ranges::any_of(test.vms, &CaseVm::is_private), "private VMs");
  RC_CLASSIFY(EventsToSelect(test) != 0, "selectable events");
}

TEST(LawsTest, HoldOnAnyChipAndSchedule) {
  EXPECT_TRUE(rc::check("the laws hold", [] { Holds(*AnyCase()); }));
}

// Commits of a wrong binding go nowhere, are counted and flagged; every other count is exact, beside any other VM.
LawsCase Spoilt(LawsCase test) {
  test.faults = true;
  for (CaseAct& act : test.acts) {
    if (act.kind == CaseAct::kEnd || act.kind == CaseAct::kWithinCycle) act.kind = CaseAct::kSpoilEntry;
    if (act.kind == CaseAct::kWrittenTrigger || act.kind == CaseAct::kLatch) act.kind = CaseAct::kBindVm;
  }
  return Normalised(test);
}

TEST(LawsTest, HoldWithWrongBindings) {
  EXPECT_TRUE(rc::check("the laws hold", [] { Holds(*rc::gen::map(AnyCase(), Spoilt)); }));
}

// A reader of live counts, at whatever cycle, changes nothing that is counted, stated or delayed.
TEST(LawsTest, ReadersLeaveNoTrace) {
  EXPECT_TRUE(rc::check("equal outcomes", [] {
    const LawsCase test = *AnyCase();
    LawsRun read(test, LawsReaders::kOnEverySlice), alone(test, LawsReaders::kNone);
    read.Play();
    alone.Play();
    RC_CLASSIFY(read.readings() > 0, "readings by registers");
    RC_ASSERT(read.outcome() == alone.outcome());
  }));
}

// Every duration at its minimum, a combination that few drawn cases have.
LawsCase Shortest(LawsCase test) {
  test.trigger_period = test.commit_period = test.buffer_depth = 1;
  for (CaseCollector& collector : test.collectors) {
    for (CaseUnit& unit : collector.units) unit.period = 1;
  }
  for (CaseAct& act : test.acts) act.gap = 1;
  return Normalised(test);
}

TEST(LawsTest, HoldWithPeriodsAndResidenciesOfOneCycle) {
  EXPECT_TRUE(rc::check("the laws hold", [] { Holds(*rc::gen::map(AnyCase(), Shortest)); }));
}

// Residencies shorter than a period, and than a frame on the serialiser.
LawsCase SlowUnits(LawsCase test) {
  for (CaseCollector& collector : test.collectors) {
    for (CaseUnit& unit : collector.units) {
      unit.counter_bits = 9;
      unit.period = 511;
      unit.lanes = 1;
    }
  }
  return Normalised(test);
}

TEST(LawsTest, HoldWithFullSerialisers) {
  EXPECT_TRUE(rc::check("the laws hold", [] { Holds(*rc::gen::map(AnyCase(), SlowUnits)); }));
}

// A single channel: the tenant affected by each switch is known, and no record follows the acknowledgement.
LawsCase OneSlice(LawsCase test) {
  test.slices = 1;
  for (CaseCollector& collector : test.collectors) collector.channel = 0;
  return Normalised(test);
}

TEST(LawsTest, HoldOnAChipOfOneSlice) {
  EXPECT_TRUE(rc::check("the laws hold", [] { Holds(*rc::gen::map(AnyCase(), OneSlice)); }));
}

// One residency, in which a prescaled number and another event have one counter in turn.
LawsCase ReturningNumber(LawsCase test) {
  test.slices = test.events = 2;
  const std::vector<CaseInput> inputs = {{.wire = 0, .event = 0}, {.wire = 1, .event = 1, .digits = 2}};
  test.collectors = {
      {.channel = 0, .units = {{.counter_bits = 4, .period = 15, .inputs = inputs, .wants_selections = true}}}};
  test.groups = {};
  test.faults = false;
  test.selections = {1, 2};
  for (CaseAct& act : test.acts) {
    if (act.kind == CaseAct::kSwitch || act.kind == CaseAct::kEnd) act.kind = CaseAct::kSelect;
  }
  test.acts.insert(test.acts.begin(), {.kind = CaseAct::kSwitch, .tenant = 1});
  return Normalised(test);
}

TEST(LawsTest, HoldForANumberThatReturnsWithinAResidency) {
  EXPECT_TRUE(rc::check("the laws hold", [] { Holds(*rc::gen::map(AnyCase(), ReturningNumber)); }));
}

// V4 and V7 of virtual-counters.md: the same sources three times, counted in both modes, in guest mode, in host mode.
LawsCase SplitByMode(LawsCase test) {
  test.events = 3;
  test.groups = {{.in_host = true}, {}, {.in_guest = false, .in_host = true}};
  for (CaseCollector& collector : test.collectors) {
    for (CaseUnit& unit : collector.units) {
      std::vector<CaseInput> inputs;
      for (const CaseInput& input : unit.inputs) {
        for (uint32_t mode = 0; mode < 3 && inputs.size() < 45; ++mode) {
          inputs.push_back({.wire = input.wire, .event = mode, .group = mode + 1});
        }
      }
      unit.inputs = std::move(inputs);
    }
  }
  for (CaseAct& act : test.acts) {
    // Exits and entries in their place.
    if (act.kind == CaseAct::kWrite || act.kind == CaseAct::kWriteContext) act.kind -= 2;
  }
  test.vms = {};
  test.contexts = {};
  test.hosts = {};
  test.selections = {};
  return Normalised(test);
}

TEST(LawsTest, WhatTheGuestAndTheHostDoAddsUp) {
  EXPECT_TRUE(rc::check("both modes are the sum of each", [] {
    const LawsCase test = *rc::gen::map(AnyCase(), SplitByMode);
    LawsRun run(test, LawsReaders::kNone);
    run.Play();
    const std::vector<EventCounts> blocks = run.outcome().blocks;
    for (size_t block = 1; block < blocks.size(); ++block) {
      RC_ASSERT(blocks[block][0] == blocks[block][1] + blocks[block][2]);
      RC_CLASSIFY(blocks[block][2] > 0, "the host's work");
    }
  }));
}

}  // namespace
}  // namespace sideband::mcu
