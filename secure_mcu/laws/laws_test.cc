// SPDX-License-Identifier: Apache-2.0
//
// The four laws of pipeline.md on drawn chips, wires and schedules (laws_case.h), checked against counts derived from
// the drawn numbers alone (laws_truth.h). A failure prints the shrunk case and the command that repeats it.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "secure_mcu/laws/laws_gen.h"
#include "secure_mcu/laws/laws_run.h"

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
}

TEST(LawsTest, HoldOnAnyChipAndSchedule) {
  EXPECT_TRUE(rc::check("the laws hold", [] { Holds(*AnyCase()); }));
}

// Whoever reads live counts, at whatever cycle, changes nothing that is counted, stated or delayed.
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

}  // namespace
}  // namespace sideband::mcu
