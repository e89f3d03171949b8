// SPDX-License-Identifier: Apache-2.0
//
// What adaptive turns are worth beside equal ones (docs/experiments/rotation.md, R9).
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/lab/laws/rotation_widths.h"

namespace sideband::mcu {
namespace {

void NarrowsMixedOnes(const std::vector<WidthsOfMix>& mixes) {
  std::vector<double> mixed;
  for (const WidthsOfMix& mix : mixes) {
    EXPECT_LE(mix.ratio(), 1.1) << mix.name;
    if (mix.is_mixed) mixed.push_back(mix.ratio());
  }
  ASSERT_FALSE(mixed.empty());
  std::ranges::sort(mixed);
  EXPECT_LE(mixed[mixed.size() / 2], 0.8);
}

TEST(RotationSharesTest, NarrowsMixedWorkloadsAndLosesNothingElsewhere) {
  NarrowsMixedOnes(MeasureWidths(OneResidency()));
}

TEST(RotationSharesTest, DoesSoInCutSlots) { NarrowsMixedOnes(MeasureWidths(CutResidencies())); }

}  // namespace
}  // namespace sideband::mcu
