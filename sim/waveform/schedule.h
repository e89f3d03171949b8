// SPDX-License-Identifier: Apache-2.0
//
// The hypervisor's schedule of a replayed trace: the file C.csv of `sideband-mcu replay`, and the VM exits within it,
// the file E.csv of `--exits`.
// - start_cycle,end_cycle,vm,context,slice
// - 4,887,vm1,ctx0,0
// - slice,start_cycle,end_cycle
// - 0,120,135
//   SIDEBAND_ASSIGN_OR_RETURN(const std::vector<Residency> schedule, LoadSchedule("C.csv"));
//   SIDEBAND_ASSIGN_OR_RETURN(const std::vector<VmExit> exits, LoadExits("E.csv", schedule));
// The first row names the columns, in any order. Unknown columns are ignored; `slice` and `tag` are optional in a
// schedule, and a tag may be empty. csv_rows.h says what else a file may have.
#ifndef SIDEBAND_SIM_WAVEFORM_SCHEDULE_H_
#define SIDEBAND_SIM_WAVEFORM_SCHEDULE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace sideband::sim {

inline constexpr uint32_t kScheduleSliceMax = 63;
inline constexpr size_t kScheduleNameSizeMax = 64;
// The limits of a device's memory blocks.
inline constexpr size_t kScheduleVmsMax = 1024;
inline constexpr size_t kScheduleContextsMax = 16'384;

// The name under which the hypervisor has a slice for itself.
inline constexpr char kHostVm[] = "vm0";

// A context is on a slice in the cycles [start_cycle, end_cycle), at least one cycle.
struct Residency {
  uint64_t start_cycle = 0;
  uint64_t end_cycle = 0;
  std::string vm;       // never empty
  std::string context;  // empty: the VM is resident without a context; always for kHostVm
  uint32_t slice = 0;   // at most kScheduleSliceMax
  size_t line = 0;      // in the file, for messages
  // The number of the context in the tags of its requests (tag_filters.h); absent: not known.
  std::optional<uint64_t> tag = std::nullopt;

  // No VM is resident: the hypervisor works alone.
  bool is_host() const { return vm == kHostVm; }
  bool operator==(const Residency&) const = default;
};

// The rows in the file's order, possibly none; those of a slice are sorted and do not overlap. Every error is
// "FILE:LINE: description".
absl::StatusOr<std::vector<Residency>> LoadSchedule(const std::string& path);
// `path` is for messages only.
absl::StatusOr<std::vector<Residency>> ParseSchedule(const std::string& text, const std::string& path);

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

#endif  // SIDEBAND_SIM_WAVEFORM_SCHEDULE_H_
