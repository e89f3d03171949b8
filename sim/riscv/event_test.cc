// SPDX-License-Identifier: Apache-2.0
#include "sim/riscv/event.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace sideband::riscv {
namespace {

TEST(EventTest, WiresAreCoreByCoreThenSliceBySlice) {
  const EventWires wires({.cores = 2, .l2_slices = 4});
  EXPECT_EQ(wires.count(), 2 * 9 + 4 * 5u);
  EXPECT_EQ(wires.Name(0), "core0.cycles");
  EXPECT_EQ(wires.Name(wires.core(1)), "core1.cycles");
  EXPECT_EQ(wires.Name(wires.core(1) + Index(CoreEvent::kL1dWriteback)), "core1.l1d_writeback");
  EXPECT_EQ(wires.Name(wires.slice(0)), "slice0.l2_read");
  EXPECT_EQ(wires.Name(wires.slice(3) + Index(SliceEvent::kWriteback)), "slice3.l2_writeback");
  EXPECT_EQ(wires.slice(3) + kSliceEvents, wires.count());
}

TEST(EventTest, NamesAreDistinct) {
  const EventWires wires({.cores = 8, .l2_slices = 16});
  std::set<std::string> names;
  for (sim::WireId wire = 0; wire < wires.count(); ++wire) names.insert(wires.Name(wire));
  EXPECT_EQ(names.size(), wires.count());
  EXPECT_EQ(NameOf(CoreEvent::kL1iReadMiss), "l1i_readmiss");
  EXPECT_EQ(NameOf(SliceEvent::kWriteMiss), "l2_writemiss");
}

}  // namespace
}  // namespace sideband::riscv
