// SPDX-License-Identifier: Apache-2.0
#include "sim/riscv/shape.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>

#include "absl/status/status.h"

namespace sideband::riscv {
namespace {

TEST(ShapeTest, TheDefaultIsValid) { EXPECT_EQ(Validate({}), absl::OkStatus()); }

TEST(ShapeTest, BothSidesOfEachBound) {
  const struct {
    std::function<void(MachineShape&)> change;
    std::string error;  // empty: valid
  } kRows[] = {
      {[](auto& s) { s.cores = 0; }, "cores must be 1 to 8"},
      {[](auto& s) { s.cores = 8; }, ""},
      {[](auto& s) { s.cores = 9; }, "cores must be 1 to 8"},
      {[](auto& s) { s.memory_bytes = 1 << 15; }, "memory_bytes must be a power of two, 65536 to 1073741824"},
      {[](auto& s) { s.memory_bytes = 1 << 16; }, ""},
      {[](auto& s) { s.memory_bytes = 3 << 16; }, "memory_bytes must be a power of two, 65536 to 1073741824"},
      {[](auto& s) { s.memory_bytes = 1 << 30; }, ""},
      {[](auto& s) { s.memory_bytes = uint64_t{1} << 31; }, "memory_bytes must be a power of two, 65536 to 1073741824"},
      {[](auto& s) { s.line_bytes = 8; }, "line_bytes must be a power of two, 16 to 256"},
      {[](auto& s) { s.line_bytes = 16; }, ""},
      {[](auto& s) { s.line_bytes = 48; }, "line_bytes must be a power of two, 16 to 256"},
      {[](auto& s) { s.line_bytes = 512; }, "line_bytes must be a power of two, 16 to 256"},
      {[](auto& s) { s.l2_slices = 0; }, "l2_slices must be a power of two, 1 to 16"},
      {[](auto& s) { s.l2_slices = 3; }, "l2_slices must be a power of two, 1 to 16"},
      {[](auto& s) { s.l2_slices = 16; }, ""},
      {[](auto& s) { s.l1i.ways = 0; }, "l1i.ways must be 1 to 32"},
      {[](auto& s) { s.l1d.ways = 33; }, "l1d.ways must be 1 to 32"},
      {[](auto& s) { s.l1d = {.bytes = 64, .ways = 1}; }, ""},  // one line
      {[](auto& s) { s.l1d = {.bytes = 32, .ways = 1}; },
       "l1d.bytes must be 64 times a power of two, at most 67108864"},
      {[](auto& s) { s.l1d = {.bytes = 0, .ways = 1}; }, "l1d.bytes must be 64 times a power of two, at most 67108864"},
      {[](auto& s) { s.l1i = {.bytes = 3 * 64, .ways = 3}; }, ""},
      {[](auto& s) { s.l1i = {.bytes = 3 * 64, .ways = 1}; },
       "l1i.bytes must be 64 times a power of two, at most 67108864"},
      {[](auto& s) { s.l2 = {.bytes = 64, .ways = 1}; }, "l2.bytes must be 128 times a power of two, at most 67108864"},
      {[](auto& s) { s.l2 = {.bytes = 64 << 20, .ways = 8}; }, ""},
      {[](auto& s) { s.l2 = {.bytes = 128 << 20, .ways = 8}; },
       "l2.bytes must be 1024 times a power of two, at most 67108864"},
      {[](auto& s) { s.hop_cycles = 0; }, "hop_cycles must be 1 to 10000"},
      {[](auto& s) { s.l2_cycles = 0; }, "l2_cycles must be 1 to 10000"},
      {[](auto& s) { s.memory_cycles = 10'001; }, "memory_cycles must be 1 to 10000"},
      {[](auto& s) { s.memory_cycles = 10'000; }, ""},
  };
  for (const auto& row : kRows) {
    MachineShape shape;
    row.change(shape);
    const absl::Status status = Validate(shape);
    EXPECT_EQ(status, row.error.empty() ? absl::OkStatus() : absl::InvalidArgumentError(row.error));
  }
}

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
