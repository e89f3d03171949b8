// SPDX-License-Identifier: Apache-2.0
//
// The VM exits of a replayed trace: the file E.csv of `sideband-mcu replay --exits`.
// - slice,start_cycle,end_cycle
// - 0,120,135
//   SIDEBAND_ASSIGN_OR_RETURN(const std::vector<VmExit> exits, LoadExits("E.csv", schedule));
// Columns and rows are read as those of a schedule (schedule.h).
#ifndef SIDEBAND_SIM_WAVEFORM_EXITS_H_
#define SIDEBAND_SIM_WAVEFORM_EXITS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/waveform/schedule.h"

namespace sideband::sim {

// In the cycles [start_cycle, end_cycle), at least one, the hypervisor runs on the slice, whose resident stays.
struct VmExit {
  uint32_t slice = 0;
  uint64_t start_cycle = 0;
  uint64_t end_cycle = 0;

  bool operator==(const VmExit&) const = default;
};

// The rows in the file's order, possibly none. Those of a slice are sorted and do not overlap, and each is within one
// residency of a VM in `schedule`. Every error is "FILE:LINE: description".
absl::StatusOr<std::vector<VmExit>> LoadExits(const std::string& path, const std::vector<Residency>& schedule);
// `path` is for messages only.
absl::StatusOr<std::vector<VmExit>> ParseExits(const std::string& text, const std::string& path,
                                               const std::vector<Residency>& schedule);

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WAVEFORM_EXITS_H_
