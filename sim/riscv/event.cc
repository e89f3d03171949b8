// SPDX-License-Identifier: Apache-2.0
#include "sim/riscv/event.h"

#include "absl/strings/str_cat.h"

namespace sideband::riscv {
namespace {

constexpr absl::string_view kCoreNames[kCoreEvents] = {"cycles",       "instructions",  "l1i_read",
                                                       "l1i_readmiss", "l1d_read",      "l1d_readmiss",
                                                       "l1d_write",    "l1d_writemiss", "l1d_writeback"};
constexpr absl::string_view kSliceNames[kSliceEvents] = {"l2_read", "l2_readmiss", "l2_write", "l2_writemiss",
                                                         "l2_writeback"};

}  // namespace

absl::string_view NameOf(CoreEvent event) { return kCoreNames[Index(event)]; }
absl::string_view NameOf(SliceEvent event) { return kSliceNames[Index(event)]; }

std::string EventWires::Name(sim::WireId wire) const {
  if (wire < slice(0)) return absl::StrCat("core", wire / kCoreEvents, ".", kCoreNames[wire % kCoreEvents]);
  const sim::WireId own = wire - slice(0);
  return absl::StrCat("slice", own / kSliceEvents, ".", kSliceNames[own % kSliceEvents]);
}

}  // namespace sideband::riscv
