// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "secure_mcu/replay/replay.h"

namespace sideband::mcu {
namespace {

ReplayResult Example() {
  return {.cycles = 10,
          .events = {"busy", "stalled_cycles"},
          .blocks = {{.vm = "vm0", .counters = {1, 18446744073709551615u}},
                     {.vm = "vm1", .context = "c\"0", .counters = {0, 7}, .flags = {"overflow"}}}};
}

TEST(ReportTest, JsonIsTheContract) {
  EXPECT_EQ(FormatJson(Example()),
            "{\"cycles\":10,\"blocks\":["
            "{\"vm\":\"vm0\",\"context\":null,\"counters\":{\"busy\":1,\"stalled_cycles\":18446744073709551615},"
            "\"flags\":[]},"
            "{\"vm\":\"vm1\",\"context\":\"c\\\"0\",\"counters\":{\"busy\":0,\"stalled_cycles\":7},"
            "\"flags\":[\"overflow\"]}]}\n");
}

TEST(ReportTest, TableAlignsItsColumns) {
  EXPECT_EQ(FormatTable(Example()),
            "10 cycles\n"
            "\n"
            "event                            vm0  vm1/c\"0\n"
            "busy                               1        0\n"
            "stalled_cycles  18446744073709551615        7\n"
            "vm1/c\"0 is flagged: overflow\n");
}

}  // namespace
}  // namespace sideband::mcu
