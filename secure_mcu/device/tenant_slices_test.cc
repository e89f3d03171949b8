// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/device/tenant_slices.h"

#include <gtest/gtest.h>

namespace sideband::mcu {
namespace {

ChipFile File() {
  ChipFile file;
  file.vms = {{.name = "a", .contexts = {{.name = "x", .slice = 0}, {.name = "y", .slice = 63}}},
              {.name = "b", .contexts = {}}};
  return file;
}

TEST(TenantSlicesTest, AVmIsWhereItsContextsAre) {
  const SliceSet last = SliceSet{1} << 63;
  EXPECT_EQ(SlicesOfContexts(File()), (std::vector<SliceSet>{1 | last, 1, last, 0}));
}

TEST(TenantSlicesTest, AScheduleKnowsBetterThanTheFile) {
  const std::vector<sim::Residency> schedule = {
      {.vm = "a", .context = "x", .slice = 1}, {.vm = "b", .slice = 0}, {.vm = "a", .context = "x", .slice = 2}};
  EXPECT_EQ(SlicesOfSchedule(File(), schedule), (std::vector<SliceSet>{0b110, 0b110, 0, 0b001}));
}

}  // namespace
}  // namespace sideband::mcu
