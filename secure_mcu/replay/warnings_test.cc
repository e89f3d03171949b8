// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/replay/warnings.h"

#include <gtest/gtest.h>

#include "secure_mcu/replay/replay.h"
#include "sim/waveform/test_files.h"

namespace sideband::mcu {
namespace {

using sim::WriteTestFile;
using Warnings = std::vector<std::string>;

constexpr char kHeader[] =
    "$scope module t $end $var wire 1 ! clk $end $var wire 1 c still $end $var wire 2 # v [1:0] $end $upscope $end\n"
    "$enddefinitions $end\n";

class WarningsTest : public testing::Test {
 protected:
  Warnings Of(const std::string& body, const std::string& schedule, const std::string& event = R"("op": "high")") {
    signals_ =
        WriteTestFile(R"({"clock": "t.clk", "events": [{"name": "e", "signal": "t.v", )" + event + "}]}", "S.json");
    trace_ = WriteTestFile(kHeader + body + "\n");
    schedule_ = WriteTestFile("start_cycle,end_cycle,vm,context\n" + schedule, "C.csv");
    const auto result = Replay({signals_, trace_, schedule_}, {});
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? result->warnings : Warnings{};
  }

  std::string signals_, trace_, schedule_;
};

// Cycles 0 to 3 at 5, 15, 25 and 35.
constexpr char kBody[] = "#0 0! #5 1! #10 0! #15 1! #20 0! #25 1! #30 0! #35 1!";

TEST_F(WarningsTest, NoneWhereAllIsCounted) {
  EXPECT_EQ(Of(kBody, "0,2,vm1,\n3,4,vm2,\n", R"("op": "equals", "value": 3)"), Warnings{});
}

TEST_F(WarningsTest, ClocksThatNeverRise) {
  const Warnings clock = Of("#0 1! #5 0!", "0,2,vm1,\n");
  EXPECT_EQ(clock, (Warnings{trace_ + ": clock 't.clk' never rises: its events count 0"}));
  const Warnings other = Of(kBody, "0,2,vm1,\n", R"("op": "high", "clock": "t.still")");
  EXPECT_EQ(other, (Warnings{trace_ + ": clock 't.still' never rises: its events count 0"}));
}

TEST_F(WarningsTest, AScheduleAfterTheEnd) {
  const Warnings late = Of(kBody, "4,6,vm1,\n7,8,vm1,\n");
  EXPECT_EQ(late, (Warnings{schedule_ +
                            ": every residency begins after the trace, which ends with cycle 3: all VMs count 0"}));
}

TEST_F(WarningsTest, ResidenciesBeyondTheEnd) {
  const Warnings one = Of(kBody, "0,2,vm1,\n3,5,vm1,\n");
  EXPECT_EQ(one, (Warnings{schedule_ +
                           ":3: the residency ends with cycle 4, the trace with cycle 3: what is missing counts 0"}));
  const Warnings more = Of(kBody, "0,9,vm1,\n9,10,vm1,\n20,30,vm2,\n");
  EXPECT_EQ(more, (Warnings{schedule_ + ":2: the residency ends with cycle 8, the trace with cycle 3: what is missing "
                                        "counts 0; likewise 2 more"}));
  EXPECT_EQ(Of(kBody, "3,4,vm1,\n"), Warnings{});
}

TEST_F(WarningsTest, AValueThatDoesNotFit) {
  const Warnings warnings = Of(kBody, "0,2,vm1,\n", R"("op": "equals", "value": 4)");
  EXPECT_EQ(warnings, (Warnings{signals_ + ":1: event 'e' counts 0: value 4 does not fit into 2 bits of 't.v'"}));
}

TEST_F(WarningsTest, ADumpThatIsOffWithinAResidency) {
  const std::string body = "#0 0! #5 1! #10 0!\n$dumpoff x! bx # $end #12 $dumpon 0! $end #15 1! #20 0! #25 1!";
  const Warnings within = Of(body, "0,1,vm1,\n1,3,vm2,\n");
  EXPECT_EQ(within, Warnings{}) << "between the two";
  const Warnings one = Of(body, "0,3,vm1,\n");
  EXPECT_EQ(one, (Warnings{trace_ + ":4: $dumpoff from cycle 1 to 1, within the residency of " + schedule_ +
                           ":2: events in these cycles are not counted"}));
  const Warnings open = Of("#0 0! #5 1! #10 0! #15 1! $dumpoff $end #20 0! #25 1!", "1,2,vm1,\n2,3,vm2,\n");
  EXPECT_EQ(open, (Warnings{trace_ + ":3: $dumpoff from cycle 2 on, within the residency of " + schedule_ +
                            ":3: events in these cycles are not counted"}));
}

TEST_F(WarningsTest, ManyGapsAreSummedUp) {
  std::string body = "#0 0! #5 1! ";
  for (int i = 0; i < 20; ++i) body += "$dumpoff $end $dumpon $end ";
  const Warnings warnings = Of(body + "#10 0! #15 1!", "0,2,vm1,\n");
  ASSERT_EQ(warnings.size(), 17u);
  EXPECT_EQ(warnings.back(), trace_ + ": 4 more $dumpoff within residencies");
}

}  // namespace
}  // namespace sideband::mcu
