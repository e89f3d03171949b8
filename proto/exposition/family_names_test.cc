// SPDX-License-Identifier: Apache-2.0
#include "proto/exposition/family_names.h"

#include <gtest/gtest.h>

namespace sideband {
namespace {

TEST(RowFamiliesTest, AHeaderIsThatOfItsFamily) {
  EXPECT_EQ(FamilyHeader(MetricsFormat::kText, kVmFamilies.flags),
            "# HELP sideband_vm_flags 1 for each reason why counts of a VM may be inexact.\n"
            "# TYPE sideband_vm_flags gauge\n");
}

TEST(RowFamiliesTest, HelpHasDescriptionUnitAndLevel) {
  EXPECT_EQ(CounterHelp({.name = "x", .unit = "bytes", .description = "Bytes of x."}, "Of each VM."),
            "Bytes of x (unit: bytes). Of each VM.");
  EXPECT_EQ(CounterHelp({.name = "x", .unit = "bytes"}, "Of each VM."), "x (unit: bytes). Of each VM.");
  EXPECT_EQ(CounterHelp({.name = "x"}, "Of each VM."), "x. Of each VM.");
}

TEST(RowFamiliesTest, SecondsHaveNineDecimals) {
  EXPECT_EQ(SecondsText(0), "0.000000000");
  EXPECT_EQ(SecondsText(18'446'744'073'709'551'615u), "18446744073.709551615");
}

}  // namespace
}  // namespace sideband
